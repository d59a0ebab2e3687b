import { Button, Group, Skeleton, Stack } from '@mantine/core'
import { IconBookmark, IconPencil, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy } from 'react'
import { useConfirm } from '../../components/dialogs.tsx'
import { counted } from '../../components/figures.ts'
import { ZoneNote } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { to } from '../../components/to.ts'
import { parseSearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { AlertButton } from '../alerts/alert-link.tsx'
import { CallFilters } from '../calls/call-filters.tsx'
import { filterKey } from '../calls/chosen-filters.ts'
import { viewsQuery } from '../calls/view-queries.ts'
import { Card, useTableSwitch } from './card.tsx'
import { ChartChoices } from './chart-choices.tsx'
import { useChart } from './chart-queries.ts'
import { type ChartSearch, chartSearch } from './chart-search.ts'
import classes from './charts.module.css'
import { FigureChart } from './figure-chart.tsx'

const loadForms = () => import('./chart-forms.tsx')
const SaveChart = lazy(async () => ({ default: (await loadForms()).SaveChart }))
const RenameChart = lazy(async () => ({ default: (await loadForms()).RenameChart }))

/** Makes a chart of figures. Its address is the chart, so a link shares it. */
export function ChartView() {
  const project = useProject()
  const navigate = useNavigate()
  const search = useSearch({ from: '/p/$project/overview/chart' })
  const { chart, filters, resolvedFilters, faults, hasTooMany, query, title, period } = useChart(search)
  const { data: views } = useQuery(viewsQuery(project.id, 'chart'))
  const { date: _, from: __, to: ___, ...undated } = search
  // On the overview, one without a date has that of its period.
  const names = [filterKey(search), filterKey(undated)]
  const saved = views?.find(({ query }) => names.includes(filterKey(chartSearch(parseSearch(query)))))
  const { isTable, tableSwitch } = useTableSwitch()
  const go = (next: Record<string, unknown>, replace = false) =>
    void navigate({
      ...to.chart,
      search: chartSearch(next),
      replace,
      resetScroll: false,
    })
  const { data } = query
  return (
    <div className={classes.charts}>
      <PageHeader
        title={saved?.name ?? title}
        description={
          <>
            {period}
            <ZoneNote />
          </>
        }
        action={
          <Group gap="xs">
            <AlertButton figure={chart} filters={filters} />
            {saved ? <SavedChart {...saved} /> : <SaveButton search={search} title={title} period={period} />}
          </Group>
        }
      />
      <Stack>
        <ChartChoices chart={chart} onChange={(change) => go({ ...search, ...change })} />
        <CallFilters
          filters={filters}
          faults={faults}
          foundBy={null}
          onChange={(change, isTyping) => go({ ...search, ...change }, isTyping)}
          onClear={() => go({ ...chart })}
        />
        {hasTooMany && (
          <p className="cb-dimmed" role="status">
            That is more than 1,000 groups. Choose a shorter period, or another grouping.
          </p>
        )}
        {faults.length === 0 && !hasTooMany && (
          <Card
            title={title}
            isTitled={saved !== undefined && saved.name !== title}
            aside={
              <Group gap="xs" wrap="nowrap">
                {data && (
                  <PageLink {...to.calls} search={filters} size="sm">
                    {counted(data.total, 'call')}
                  </PageLink>
                )}
                {tableSwitch}
              </Group>
            }
            query={query}
            skeleton={<Skeleton height={240} />}
          >
            {(figures) =>
              figures.data.length === 0 ? (
                <p>No calls match these filters. Remove one, or choose a longer period.</p>
              ) : (
                <FigureChart
                  title={title}
                  chart={chart}
                  figures={figures}
                  filters={resolvedFilters}
                  isTable={isTable}
                />
              )
            }
          </Card>
        )}
      </Stack>
    </div>
  )
}

function SaveButton({ search, title, period }: { search: ChartSearch; title: string; period: string }) {
  return (
    <ButtonWithPopup
      kind="dialog"
      load={loadForms}
      button={<Button leftSection={<IconBookmark size={14} aria-hidden />}>Save chart</Button>}
    >
      {(popup) => <SaveChart {...popup} search={search} proposed={`${title}, ${period.toLowerCase()}`} />}
    </ButtonWithPopup>
  )
}

interface SavedChartProps {
  id: string
  name: string
  isShared: boolean
  canChange: boolean
}

/** What can be done with a saved chart. */
function SavedChart({ id, name, isShared, canChange }: SavedChartProps) {
  const { id: project, of } = useProject()
  const ask = useConfirm()
  if (!canChange) return null
  const remove = () =>
    ask({
      title: 'Delete this chart?',
      verb: 'Delete chart',
      text: (
        <p>
          “{name}” disappears from {isShared ? 'everybody’s' : 'your'} overview. The calls stay, and so does
          this page until you leave it.
        </p>
      ),
      send: () => of.views({ id }).delete(),
      changes: { queryKey: viewsQuery(project, 'chart').queryKey },
      says: `Deleted the chart “${name}”`,
    })
  return (
    <>
      <ButtonWithPopup
        kind="dialog"
        load={loadForms}
        button={
          <Button variant="default" leftSection={<IconPencil size={14} aria-hidden />}>
            Rename
          </Button>
        }
      >
        {(popup) => <RenameChart {...popup} id={id} name={name} />}
      </ButtonWithPopup>
      <Button variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={remove}>
        Delete chart
      </Button>
    </>
  )
}
