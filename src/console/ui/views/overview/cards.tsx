import { Skeleton } from '@mantine/core'
import { IconCheck, IconClock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { criterionPrefix } from '../../../../calls/filters.ts'
import { asCount, asPercent, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { Caller, CallSummary, RunningDuration } from '../calls/call-line.tsx'
import { liveCallsQuery } from '../calls/call-queries.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { totalLabel } from '../calls/pages.ts'
import { Card, useFirstRows } from '../charts/card.tsx'
import charts from '../charts/charts.module.css'
import plot from '../charts/plot.module.css'
import { ChangeOf, type ComparedPeriod } from './figures.tsx'
import classes from './overview.module.css'
import { criteriaQuery, failedCallsQuery, knowledgeQuery } from './overview-queries.ts'

const callsShown = 5
const criteriaShown = 8
/** In px, with the gap to the next one. */
const rowHeight = 32

interface CardProps {
  /** In place of what can be done with it. */
  arranging: ReactNode
}

/** The newest calls in progress. */
export function LiveCalls() {
  const { id: project } = useProject()
  const query = useQuery(liveCallsQuery(project, callsShown))
  const search = { status: 'live' }
  return (
    <Card
      title="Live calls"
      aside={
        query.data &&
        query.data.data.length > 0 && (
          <PageLink to="/p/$project/calls" params={{ project }} search={search} size="sm">
            {totalLabel(query.data)}
          </PageLink>
        )
      }
      query={query}
      skeleton={callsSkeleton}
    >
      {({ data }) =>
        data.length === 0 ? (
          <p>No live calls right now.</p>
        ) : (
          <ul className={classes.calls}>
            {data.map((call) => (
              <li key={call.id}>
                <span className="cb-pulse" aria-hidden />
                <CallLink call={call.id} search={search}>
                  <Caller call={call} />
                </CallLink>
                <span className="cb-dimmed">
                  <Instant at={call.createdAt} />
                </span>
                <RunningDuration since={call.createdAt} />
              </li>
            ))}
          </ul>
        )
      }
    </Card>
  )
}

/** The newest calls of the period that failed, each in a line. */
export function FailedCalls({ period }: { period: ComparedPeriod }) {
  const project = useProject()
  const query = useQuery(failedCallsQuery(project, period, callsShown))
  const search: ChosenFilters = { evaluation: 'fail', ...period.filters }
  return (
    <Card
      title="Failed calls"
      aside={
        query.data &&
        query.data.data.length > 0 && (
          <span className="cb-row">
            <PageLink to="/p/$project/calls" params={{ project: project.id }} search={search} size="sm">
              All failed calls
            </PageLink>
            <AlertLink figure={{ of: 'success', show: 'failed' }} />
          </span>
        )
      }
      query={query}
      skeleton={callsSkeleton}
    >
      {({ data }) =>
        data.length === 0 ? (
          <p>No failed calls in this period.</p>
        ) : (
          <ul className={classes.calls}>
            {data.map((call) => (
              <li key={call.id}>
                <CallLink call={call.id} search={search}>
                  <Caller call={call} />
                </CallLink>
                <CallSummary call={call} />
                <span className="cb-dimmed">
                  <Instant at={call.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Card>
  )
}

interface CallLinkProps {
  call: string
  search: ChosenFilters
  children: ReactNode
}

function CallLink({ call, search, children }: CallLinkProps) {
  const { id: project } = useProject()
  return (
    <Link to="/p/$project/calls/$call" params={{ project, call }} search={search}>
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
      skeleton={
        <Skeleton height={rowHeight * (Math.min(ids.length, criteriaShown + 1) || criteriaShown / 2)} />
      }
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
          <CriteriaRows
            rows={rows
              .map((row) => ({ ...row, name: names.get(row.id) ?? row.id }))
              .sort((a, b) => (b.value ?? -1) - (a.value ?? -1))}
            period={period}
          />
        )
      }
    </Card>
  )
}

interface CriteriaRowsProps {
  rows: { id: string; name: string; value: number | null; before: number | null }[]
  period: ComparedPeriod
}

function CriteriaRows({ rows, period }: CriteriaRowsProps) {
  const { id: project } = useProject()
  const { shown, allSwitch } = useFirstRows(rows, criteriaShown)
  return (
    <ul className={charts.bars}>
      {shown.map(({ id, name, value, before }) => (
        <li key={id}>
          <span className={charts.bar} aria-hidden>
            {value !== null && value > 0 && (
              <span className={plot.part} data-kind="only" style={{ width: `${value * 100}%` }} />
            )}
          </span>
          <Link
            to="/p/$project/calls"
            params={{ project }}
            search={{ [`${criterionPrefix}${id}`]: 'fail', ...period.filters }}
            preload={false}
            className={`cb-truncate ${charts.barLink}`}
          >
            <bdi>{name}</bdi>
            <span className="cb-hidden">: calls that failed</span>
          </Link>
          <span className={`${charts.barAside} ${classes.change}`}>
            {value !== null && (
              <ChangeOf
                figure={{ value, before }}
                unit="share"
                isMoreBetter
                period={period}
                format={asPercent}
              />
            )}
          </span>
          <span className={charts.barValue}>{value === null ? 'Not judged' : asPercent(value)}</span>
        </li>
      ))}
      {allSwitch && <li className={charts.rowsAll}>{allSwitch}</li>}
    </ul>
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
          <PageLink to="/p/$project/knowledge" params={{ project }} size="sm">
            All items
          </PageLink>
        )
      }
      query={query}
      skeleton={<Skeleton height={84} />}
    >
      {({ items, chunks, pendingChunks }) => (
        <>
          <p className={classes.whole}>
            <strong>{counted(items, 'item')}</strong>
            <span className="cb-dimmed">{counted(chunks, 'chunk')}</span>
          </p>
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
