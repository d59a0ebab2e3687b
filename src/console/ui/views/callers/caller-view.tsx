import { Button, Skeleton } from '@mantine/core'
import { IconPhone } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { CallerRecord } from '../../../../calls/keeping/callers.ts'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { Empty } from '../../components/empty.tsx'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useFormatNumber } from '../../components/phone-number.ts'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject, useRefusal } from '../../session.ts'
import { CallSummary, Duration, Numbers, RunningDuration } from '../calls/call-line.tsx'
import { Evaluation, LiveBadge } from '../calls/evaluation.tsx'
import { CallerHolds } from '../calls/holds.tsx'
import classes from './caller.module.css'
import { CallerErasure } from './caller-erasure.tsx'
import { CallerExport } from './caller-export.tsx'
import { callerCallsQuery, callerQuery } from './caller-queries.ts'

const route = getRouteApi('/p/$project/callers/$caller')

/** A person: every call of their number, and what one does with them. */
export function CallerView() {
  const { project, caller: id } = route.useParams()
  const { data, error, refetch } = useQuery(callerQuery(project, id))
  const formatNumber = useFormatNumber()
  const maySeeHolds = useRefusal('change') === null
  const mayManage = useRefusal('manage') === null
  if (error && !data)
    return <Problem error={error} title="The person could not be loaded" onRetry={() => void refetch()} />
  return (
    <>
      <PageHeader
        title={data ? formatNumber(data.number) : 'Person'}
        // A browser keeps the titles of pages in its history.
        tabTitle="Person"
        description={data ? <Summary caller={data} /> : ' '}
      />
      <div className={classes.page}>
        <section aria-label="Calls" className={classes.calls}>
          <CallsOf caller={id} project={project} />
        </section>
        <aside aria-label="The person’s data" className={classes.side}>
          {data ? (
            <>
              <CallerExport caller={data} project={project} />
              {maySeeHolds && <CallerHolds caller={data} />}
              {mayManage && <CallerErasure caller={data} project={project} />}
            </>
          ) : (
            <Skeleton height={240} />
          )}
        </aside>
      </div>
    </>
  )
}

function Summary({ caller: { calls, onHold, firstAt, lastAt } }: { caller: CallerRecord }) {
  const dates = useDates()
  if (firstAt === null || lastAt === null) return <>No calls from or to this number.</>
  const isOneDay = dates.dayOf(firstAt) === dates.dayOf(lastAt)
  return (
    <>
      {counted(calls, 'call')} from or to this number, {!isOneDay && <Instant at={firstAt} as="day" />}
      {!isOneDay && ' to '}
      <Instant at={lastAt} as="day" />.{onHold > 0 && ` ${counted(onHold, 'call')} on hold.`}
    </>
  )
}

function CallsOf({ caller, project }: { caller: string; project: string }) {
  const { data, error, refetch, ...next } = useInfiniteQuery(callerCallsQuery(project, caller))
  if (error && !data)
    return <Problem error={error} title="The calls could not be loaded" onRetry={() => void refetch()} />
  return (
    <>
      <ListTable
        label="Calls"
        columns={columns}
        rows={data?.pages.flatMap((page) => page.data)}
        rowKey={({ id }) => id}
        expectedRows={8}
        empty={
          <Empty icon={<IconPhone size={24} />} title="No calls">
            Nothing is stored of exactly this number. Check that it is complete, with its country code.
          </Empty>
        }
      />
      {next.isFetchNextPageError && <Problem error={error} title="Older calls could not be loaded" />}
      {next.hasNextPage && (
        <div className={classes.more}>
          <Button
            variant="default"
            loading={next.isFetchingNextPage}
            onClick={() => void next.fetchNextPage()}
          >
            Load older calls
          </Button>
        </div>
      )}
    </>
  )
}

const columns: Column<CallRow>[] = [
  {
    key: 'when',
    header: 'When',
    width: '136px',
    render: (row) => (
      <>
        <CallLink row={row} />
        <span className="cb-narrow-line" dir="auto">
          {row.summary ?? (row.said && `“${row.said}”`)}
        </span>
      </>
    ),
  },
  {
    key: 'numbers',
    header: 'Caller and called',
    width: '240px',
    from: 640,
    render: ({ callerNumber, calledNumber }) => <Numbers from={callerNumber} to={calledNumber} />,
  },
  {
    key: 'duration',
    header: 'Duration',
    width: '76px',
    align: 'right',
    from: 480,
    render: (row) =>
      row.status === 'live' ? <RunningDuration since={row.createdAt} /> : <Duration seconds={row.duration} />,
  },
  {
    key: 'evaluation',
    header: 'Evaluation',
    width: '112px',
    render: (row) => (row.status === 'live' ? <LiveBadge /> : <Evaluation value={row.evaluation} />),
  },
  {
    key: 'summary',
    header: 'Summary',
    from: 640,
    render: (call) => <CallSummary call={call} />,
  },
]

function CallLink({ row: { id, createdAt } }: { row: CallRow }) {
  const { id: project } = useProject()
  return (
    <PageLink to="/p/$project/calls/$call" params={{ project, call: id }}>
      <Instant at={createdAt} as="moment" />
    </PageLink>
  )
}
