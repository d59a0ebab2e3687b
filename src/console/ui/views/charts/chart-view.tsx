import { Button, Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBookmark, IconPencil, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy } from 'react'
import { api, unwrap } from '../../api.ts'
import { asCount } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { ZoneNote } from '../../components/zone-note.tsx'
import { parseSearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { AlertButton } from '../alerts/alert-link.tsx'
import { CallFilters } from '../calls/call-filters.tsx'
import { filterKey } from '../calls/chosen-filters.ts'
import { viewsQuery } from '../calls/view-queries.ts'
import { Card, useTableSwitch } from '../overview/card.tsx'
import overview from '../overview/overview.module.css'
import { ChartChoices } from './chart-choices.tsx'
import { type ChartSearch, chartSearch } from './chart-search.ts'
import classes from './charts.module.css'
import { FigureChart } from './figure-chart.tsx'
import { useChart } from './use-chart.ts'

const loadKeep = () => import('./keep-chart.tsx')
const KeepChart = lazy(loadKeep)
const loadRename = () => import('./rename-chart.tsx')
const RenameChart = lazy(loadRename)
const loadDialog = () => import('../../components/confirm-dialog.tsx')
const ConfirmDialog = lazy(async () => ({ default: (await loadDialog()).ConfirmDialog }))

/** Makes a chart of metrics. Its address is the chart, so a link shares it. */
export function ChartView() {
  const project = useProject()
  const navigate = useNavigate()
  const search = useSearch({ from: '/p/$project/overview/chart' })
  const { chart, filters, asked, faults, hasTooMany, query, title, period } = useChart(search)
  const { data: views } = useQuery(viewsQuery(project.id, 'chart'))
  const kept = views?.find((view) => filterKey(chartSearch(parseSearch(view.query))) === filterKey(search))
  const { isTable, tableSwitch } = useTableSwitch()
  const go = (next: Record<string, unknown>, replace = false) =>
    void navigate({
      to: '/p/$project/overview/chart',
      params: { project: project.id },
      search: chartSearch(next),
      replace,
      resetScroll: false,
    })
  const { data } = query
  return (
    <div className={overview.overview}>
      <PageHeader
        title={kept?.name ?? title}
        description={
          <>
            {kept && kept.name !== title && `${title} · `}
            {period}
            <ZoneNote />
          </>
        }
        action={
          <div className="cb-row">
            <AlertButton figure={chart} filters={filters} />
            {kept ? <Kept {...kept} /> : <Keep search={search} title={title} period={period} />}
          </div>
        }
      />
      <div className={classes.builder}>
        <ChartChoices chart={chart} onChange={(change) => go({ ...search, ...change })} />
        <CallFilters
          filters={filters}
          faults={faults}
          foundBy={null}
          onChange={(change, isTyping) => go({ ...search, ...change }, isTyping)}
          onClear={() => go({ ...chart })}
        />
        {hasTooMany && (
          <p className={overview.cardNone} role="status">
            That is more than 1,000 groups. Choose a shorter period, or another grouping.
          </p>
        )}
        {faults.length === 0 && !hasTooMany && (
          <Card
            title={title}
            aside={
              <span className="cb-row">
                {data && (
                  <PageLink
                    to="/p/$project/calls"
                    params={{ project: project.id }}
                    search={filters}
                    size="sm"
                  >
                    {asCount(data.total)} {data.total === 1 ? 'call' : 'calls'}
                  </PageLink>
                )}
                {tableSwitch}
              </span>
            }
            query={query}
            skeleton={<Skeleton height={240} />}
          >
            {({ data: groups }) =>
              groups.length === 0 ? (
                <p className={overview.cardNone}>
                  No calls match these filters. Remove one, or choose a longer period.
                </p>
              ) : (
                <FigureChart title={title} chart={chart} data={groups} filters={asked} isTable={isTable} />
              )
            }
          </Card>
        )}
      </div>
    </div>
  )
}

function Keep({ search, title, period }: { search: ChartSearch; title: string; period: string }) {
  return (
    <ButtonWithPopup
      kind="dialog"
      load={loadKeep}
      button={<Button leftSection={<IconBookmark size={14} aria-hidden />}>Keep chart</Button>}
    >
      {(popup) => <KeepChart {...popup} search={search} proposed={`${title}, ${period.toLowerCase()}`} />}
    </ButtonWithPopup>
  )
}

interface KeptProps {
  id: string
  name: string
  isShared: boolean
  canChange: boolean
}

/** What can be done with a chart that is kept. */
function Kept(chart: KeptProps) {
  if (!chart.canChange) return null
  return (
    <>
      <ButtonWithPopup
        kind="dialog"
        load={loadRename}
        button={
          <Button variant="default" leftSection={<IconPencil size={14} aria-hidden />}>
            Rename
          </Button>
        }
      >
        {(popup) => <RenameChart {...popup} {...chart} />}
      </ButtonWithPopup>
      <DeleteChart {...chart} />
    </>
  )
}

function DeleteChart({ id, name, isShared }: KeptProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const remove = async () => {
    await unwrap(api.projects({ project }).views({ id }).delete())
    await queryClient.invalidateQueries({ queryKey: viewsQuery(project, 'chart').queryKey })
    notifications.show({ message: `Deleted the chart “${name}”` })
  }
  return (
    <ButtonWithPopup
      kind="dialog"
      load={loadDialog}
      button={
        <Button variant="default" leftSection={<IconTrash size={14} aria-hidden />}>
          Delete chart
        </Button>
      }
    >
      {({ opened, onChange, target }) => (
        <>
          {target}
          <ConfirmDialog
            opened={opened}
            onClose={() => onChange(false)}
            title="Delete this chart?"
            confirmLabel="Delete chart"
            onConfirm={remove}
          >
            <p>
              “{name}” disappears from {isShared ? 'everybody’s' : 'your'} overview. The calls stay, and so
              does this page until you leave it.
            </p>
          </ConfirmDialog>
        </>
      )}
    </ButtonWithPopup>
  )
}
