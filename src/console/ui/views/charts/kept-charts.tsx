import { Skeleton } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { parseSearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { viewsQuery } from '../calls/view-queries.ts'
import { Card, useTableSwitch } from '../overview/card.tsx'
import overview from '../overview/overview.module.css'
import { type ChartSearch, chartSearch } from './chart-search.ts'
import classes from './charts.module.css'
import { FigureChart } from './figure-chart.tsx'
import { useChart } from './use-chart.ts'

/** What a new chart begins with. */
const first: ChartSearch = { of: 'success', show: 'failed', by: 'agentId', date: 'last-14-days' }

/** The charts that people keep, each of a period of its own. */
export function KeptCharts() {
  const { id: project } = useProject()
  const { data: charts, error, refetch } = useQuery(viewsQuery(project, 'chart'))
  return (
    <section className={classes.kept} aria-labelledby="kept-charts">
      <header className={classes.keptHead}>
        <h2 id="kept-charts">Kept charts</h2>
        <PageButton
          to="/p/$project/overview/chart"
          params={{ project }}
          search={first}
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
        >
          New chart
        </PageButton>
      </header>
      {error && !charts && (
        <Problem title="The charts could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      {charts?.length === 0 && (
        <p className={overview.cardNone}>
          Ask a question of your own, such as which agents failed most in the last 14 days, and keep the
          answer here.
        </p>
      )}
      <div className={overview.grid}>
        {charts?.map(({ id, name, query }) => (
          <KeptChart key={id} name={name} search={chartSearch(parseSearch(query))} />
        ))}
      </div>
    </section>
  )
}

function KeptChart({ name, search }: { name: string; search: ChartSearch }) {
  const { id: project } = useProject()
  const { chart, filters, asked, faults, hasTooMany, query, title, period } = useChart(search)
  const { isTable, tableSwitch } = useTableSwitch()
  const link = (
    <PageLink
      to="/p/$project/overview/chart"
      params={{ project }}
      search={search}
      size="sm"
      aria-label={`Open the chart ${name}`}
    >
      Open
    </PageLink>
  )
  if (faults.length > 0 || hasTooMany)
    return (
      <Panel title={name} aside={link}>
        <p className={overview.cardNone}>It cannot be shown as it is. Open it to see why.</p>
      </Panel>
    )
  return (
    <Card
      title={name}
      aside={
        <span className="cb-row">
          {link}
          <AlertLink figure={chart} filters={filters} />
          {tableSwitch}
        </span>
      }
      query={query}
      skeleton={<Skeleton height={264} />}
    >
      {({ data }) => (
        <>
          <p className={`${classes.words} cb-dimmed`}>
            {title} · {period}
          </p>
          {data.length === 0 ? (
            <p className={overview.cardNone}>No calls match its filters.</p>
          ) : (
            <FigureChart title={name} chart={chart} data={data} filters={asked} isTable={isTable} />
          )}
        </>
      )}
    </Card>
  )
}
