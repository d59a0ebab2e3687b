import { Group, Skeleton } from '@mantine/core'
import { IconCheck, IconClock } from '@tabler/icons-react'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { criterionPrefix } from '../../../../calls/filters.ts'
import type { CallRow, CallRows } from '../../../../calls/reading/call-rows.ts'
import { asCount, asPercent, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { Caller, CallSummary, RunningDuration } from '../calls/call-line.tsx'
import { liveCallsQuery } from '../calls/call-queries.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { totalLabel } from '../calls/pages.ts'
import { Card } from '../charts/card.tsx'
import charts from '../charts/charts.module.css'
import { BarList, barsShown } from '../charts/figure-chart.tsx'
import { BigFigure, ChangeOf, type ComparedPeriod } from './figures.tsx'
import classes from './overview.module.css'
import { criteriaQuery, failedCallsQuery, knowledgeQuery } from './overview-queries.ts'

const callsShown = 5
/** In px, with the gap to the next one. */
const rowHeight = 32

interface CardProps {
  /** In place of what can be done with it. */
  arranging: ReactNode
}

/** The newest calls in progress. */
export function LiveCalls() {
  const { id: project } = useProject()
  const search = { status: 'live' }
  return (
    <CallsCard
      title="Live calls"
      aside={(rows) => (
        <PageLink {...to.calls} search={search} size="sm">
          {totalLabel(rows)}
        </PageLink>
      )}
      query={useQuery(liveCallsQuery(project, callsShown))}
      empty="No live calls right now."
    >
      {(call) => (
        <>
          <span className="cb-pulse" aria-hidden />
          <CallLink call={call.id} search={search}>
            <Caller call={call} />
          </CallLink>
          <span className="cb-dimmed">
            <Instant at={call.createdAt} />
          </span>
          <RunningDuration since={call.createdAt} />
        </>
      )}
    </CallsCard>
  )
}

/** The newest calls of the period that failed, each in a line. */
export function FailedCalls({ period }: { period: ComparedPeriod }) {
  const project = useProject()
  const search: ChosenFilters = { evaluation: 'fail', ...period.filters }
  return (
    <CallsCard
      title="Failed calls"
      aside={() => (
        <span className="cb-row">
          <PageLink {...to.calls} search={search} size="sm">
            All failed calls
          </PageLink>
          <AlertLink figure={{ of: 'success', show: 'failed' }} />
        </span>
      )}
      query={useQuery(failedCallsQuery(project, period, callsShown))}
      empty="No failed calls in this period."
    >
      {(call) => (
        <>
          <CallLink call={call.id} search={search}>
            <Caller call={call} />
          </CallLink>
          <CallSummary call={call} />
          <span className="cb-dimmed">
            <Instant at={call.createdAt} />
          </span>
        </>
      )}
    </CallsCard>
  )
}

interface CallsCardProps {
  title: string
  /** On the right of the title, if there are any. */
  aside: (rows: CallRows) => ReactNode
  query: UseQueryResult<CallRows>
  empty: string
  children: (call: CallRow) => ReactNode
}

function CallsCard({ title, aside, query, empty, children }: CallsCardProps) {
  const { data } = query
  return (
    <Card
      title={title}
      aside={data && data.data.length > 0 && aside(data)}
      query={query}
      skeleton={callsSkeleton}
    >
      {({ data: calls }) =>
        calls.length === 0 ? (
          <p>{empty}</p>
        ) : (
          <ul className={classes.calls}>
            {calls.map((call) => (
              <li key={call.id}>{children(call)}</li>
            ))}
          </ul>
        )
      }
    </Card>
  )
}

function CallLink({ call, search, children }: { call: string; search: ChosenFilters; children: ReactNode }) {
  return (
    <Link {...to.call(call)} search={search} className={charts.cover}>
      {children}
    </Link>
  )
}

/** As high as three lines. */
const callsSkeleton = (
  <div className={classes.calls}>
    {[240, 216, 232].map((width) => (
      <Skeleton key={width} height={12} width={width} my={12} maw="100%" />
    ))}
  </div>
)

/** The share of calls that passed each criterion of the rubric. Each leads to the calls that failed it. */
export function Criteria({ period, arranging }: CardProps & { period: ComparedPeriod }) {
  const project = useProject()
  const rubric = useQuery(rubricQuery(project.id))
  const criteria = rubric.data && (rubric.data.rubric?.criteria ?? [])
  const ids = (criteria ?? []).map(({ id }) => id)
  const { from, to, earlier } = period
  const shares = useQuery({
    ...criteriaQuery(project, ids, { from, to }, earlier),
    enabled: ids.length > 0,
  })
  const data = criteria?.length === 0 ? [] : shares.data
  const query = rubric.error ? { ...rubric, data: undefined } : { ...shares, data }
  const names = new Map(criteria?.map(({ id, name }) => [id, name]))
  return (
    <Card
      title="Criteria passed"
      aside={
        arranging ||
        (ids[0] !== undefined && <AlertLink figure={{ of: `${criterionPrefix}${ids[0]}`, show: 'share' }} />)
      }
      query={query}
      skeleton={<Skeleton height={rowHeight * (Math.min(ids.length, barsShown + 1) || barsShown / 2)} />}
    >
      {(rows) =>
        rows.length === 0 ? (
          <p>
            A model can judge every call by your own criteria.{' '}
            <PageLink to="/p/$project/settings/analysis" params={{ project: project.id }} underline="always">
              Write a rubric
            </PageLink>
          </p>
        ) : (
          <BarList
            title="Criteria passed"
            most={1}
            rows={rows
              .toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1))
              .map(({ id, value, before }) => ({
                key: id,
                name: names.get(id) ?? id,
                hint: ': calls that failed',
                filters: { [`${criterionPrefix}${id}`]: 'fail', ...period.filters },
                parts: value ? [{ key: id, look: 'only', value }] : [],
                aside: value !== null && (
                  <ChangeOf
                    figure={{ value, before }}
                    unit="share"
                    isMoreBetter
                    period={period}
                    format={asPercent}
                  />
                ),
                value: value === null ? 'Not judged' : asPercent(value),
              }))}
          />
        )
      }
    </Card>
  )
}

/** How much knowledge there is, and how much of it is not indexed yet. */
export function KnowledgeCard({ arranging }: CardProps) {
  const { id: project } = useProject()
  const query = useQuery(knowledgeQuery(project))
  return (
    <Card
      title="Knowledge"
      aside={
        arranging || (
          <PageLink {...to.knowledge} size="sm">
            All items
          </PageLink>
        )
      }
      query={query}
      skeleton={<Skeleton height={84} />}
    >
      {({ items, chunks, pendingChunks }) => (
        <>
          <Group component="p" justify="space-between" align="baseline" mb="md">
            <BigFigure>{counted(items, 'item')}</BigFigure>
            <span className="cb-dimmed">{counted(chunks, 'chunk')}</span>
          </Group>
          {pendingChunks > 0 ? (
            <StatusBadge
              tone="warning"
              icon={IconClock}
              label={`Indexing ${asCount(chunks - pendingChunks)}/${counted(chunks, 'chunk')}`}
            />
          ) : chunks > 0 ? (
            <StatusBadge tone="success" icon={IconCheck} label="All chunks are indexed" />
          ) : (
            <p className="cb-dimmed">No knowledge yet</p>
          )}
        </>
      )}
    </Card>
  )
}
