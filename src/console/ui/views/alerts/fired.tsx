import { Button } from '@mantine/core'
import { IconBellCheck } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Problem } from '../../components/problem.tsx'
import { useNow } from '../../components/use-now.ts'
import { parseSearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { readFilters } from '../calls/chosen-filters.ts'
import { chartOf } from '../charts/chart.ts'
import { changesQuery, type FiredChange } from './alert-queries.ts'
import { AlertState } from './alert-state.tsx'
import { lastedInWords, valueInWords } from './alert-words.ts'
import classes from './alerts.module.css'

/** When alerts fired, for how long, and the calls that were counted. @param alert only this one */
export function Fired({ alert }: { alert?: string }) {
  const { id: project } = useProject()
  const query = useInfiniteQuery(changesQuery(project, alert))
  const { data, error, refetch, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  const rows = data?.pages.flatMap((page) => page.data.filter(hasFired))
  if (error && !data)
    return <Problem error={error} title="What fired could not be loaded" onRetry={() => void refetch()} />
  const columns = columnsOf({ project, isOfOne: alert !== undefined })
  return (
    <>
      <ListTable
        label="What fired"
        columns={columns}
        rows={rows}
        rowKey={({ seq }) => String(seq)}
        expectedRows={3}
        empty={
          !hasNextPage && (
            <Empty icon={<IconBellCheck size={24} />} title="Nothing has fired">
              Each time a limit is crossed stands here for 90 days.
            </Empty>
          )
        }
      />
      {isFetchNextPageError && <Problem error={error} title="Earlier ones could not be loaded" />}
      {hasNextPage && (
        <div className={classes.more}>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show earlier ones
          </Button>
        </div>
      )}
    </>
  )
}

/** Whether it is no end of an alert. */
function hasFired({ state }: FiredChange): boolean {
  return state === 'alert' || state === 'warning'
}

interface FiredColumns {
  project: string
  /** Whether all are of one alert, which needs no name. */
  isOfOne: boolean
}

function columnsOf({ project, isOfOne }: FiredColumns): Column<FiredChange>[] {
  const beside = isOfOne ? {} : ({ from: 640 } as const)
  const name: Column<FiredChange> = {
    key: 'name',
    header: 'Alert',
    render: (change) => (
      <>
        <PageLink
          to="/p/$project/settings/alerts/$alert"
          params={{ project, alert: change.id }}
          dir="auto"
          className="cb-truncate"
        >
          {change.name}
        </PageLink>
        <span className="cb-narrow-line">
          <Instant at={change.at} as="moment" /> · <Counted project={project} change={change} />
        </span>
      </>
    ),
  }
  return [
    { key: 'state', header: 'State', width: '104px', render: ({ state }) => <AlertState state={state} /> },
    ...(isOfOne ? [] : [name]),
    {
      key: 'value',
      header: 'Value',
      width: '176px',
      from: 800,
      render: (change) => (
        <span className="cb-figure">
          {written(change, change.value)}{' '}
          {change.limit !== null && (
            <span className="cb-dimmed">(limit {written(change, change.limit)})</span>
          )}
        </span>
      ),
    },
    {
      key: 'when',
      header: 'When',
      width: '128px',
      ...beside,
      render: ({ at }) => <Instant at={at} as="moment" />,
    },
    { key: 'for', header: 'For', width: '112px', from: 480, render: (change) => <Lasted {...change} /> },
    {
      key: 'calls',
      header: 'Counted',
      width: '96px',
      align: 'right',
      ...beside,
      render: (change) => <Counted project={project} change={change} />,
    },
  ]
}

function written({ of, show }: FiredChange, value: number | null): string {
  return valueInWords(chartOf({ of, show }).chart, value)
}

function Counted({ project, change }: { project: string; change: FiredChange }) {
  const { url, calls, name, at } = change
  return (
    <PageLink
      to="/p/$project/calls"
      params={{ project }}
      // The address in the message, wherever the console is reached now.
      search={readFilters(parseSearch(new URL(url, location.origin).search))}
      className="cb-figure"
    >
      {counted(calls, 'call')}
      <span className="cb-hidden">
        {' '}
        of {name}, {at}
      </span>
    </PageLink>
  )
}

function Lasted({ at, until }: Pick<FiredChange, 'at' | 'until'>) {
  const now = useNow()
  const words = lastedInWords(at, until ?? now)
  return <span className="cb-figure">{until === null ? `${words} so far` : words}</span>
}
