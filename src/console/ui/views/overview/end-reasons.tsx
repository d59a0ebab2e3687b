import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { noValue } from '../../../../calls/filters.ts'
import type { EndReason, FirstValues } from '../../../../calls/reading/overview.ts'
import { asCount, asPercent, counted } from '../../components/figures.ts'
import { asPhrase } from '../../components/phrase.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { Card, useFirstRows } from './card.tsx'
import classes from './overview.module.css'
import { endReasonsQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const reasonsShown = 6

/** Why calls ended. Each reason links to its calls. */
export function EndReasons({ period }: { period: Period }) {
  const project = useProject()
  const query = useQuery(endReasonsQuery(project.id, period))
  return (
    <Card
      title="End reasons"
      aside={<AlertLink figure={{ of: 'calls', show: 'count' }} />}
      query={query}
      skeleton={<ReasonsSkeleton />}
    >
      {(reasons) => <Reasons reasons={reasons} period={period} />}
    </Card>
  )
}

function Reasons({ reasons, period: { from, to } }: { reasons: FirstValues<EndReason>; period: Period }) {
  const project = useProject()
  const { shown, isAll, allSwitch } = useFirstRows(reasons, reasonsShown)
  const { data, others } = reasons
  const total = callsOf(data) + others.calls
  const most = data[0]?.calls ?? 1
  if (total === 0) return <p className={classes.cardNone}>No calls in this period.</p>
  const counts = (calls: number) => (
    <>
      <span className={`${classes.barShare} cb-dimmed`}>{asPercent(calls / total)}</span>
      <span className={classes.barCount}>{asCount(calls)}</span>
    </>
  )
  return (
    <ul className={classes.bars}>
      {shown.map(({ value, calls }) => (
        <li key={JSON.stringify(value)}>
          <span className={classes.bar} style={{ width: `${(calls / most) * 100}%` }} aria-hidden />
          {isFilter(value) ? (
            <Link
              to="/p/$project/calls"
              params={{ project: project.id }}
              search={{ endedReason: value ?? noValue, from, to }}
              className={`${classes.barLabel} ${classes.barLink}`}
            >
              <bdi>{value === null ? 'No reason given' : asPhrase(value)}</bdi>
            </Link>
          ) : (
            <span className={classes.barLabel}>
              <bdi>{asPhrase(value ?? '') || 'Empty'}</bdi>
            </span>
          )}
          {counts(calls)}
        </li>
      ))}
      {isAll && others.values > 0 && (
        <li>
          <span className={`${classes.barLabel} cb-dimmed`}>{counted(others.values, 'other reason')}</span>
          {counts(others.calls)}
        </li>
      )}
      {allSwitch && (
        <li className={classes.rowsAll}>
          <span className={classes.barLabel}>{allSwitch}</span>
          {!isAll && counts(total - callsOf(shown))}
        </li>
      )}
    </ul>
  )
}

/** Whether the filter can name the reason: it reads `none` as no reason, and trims spaces. */
function isFilter(reason: string | null): boolean {
  return reason === null || (reason !== noValue && reason !== '' && reason === reason.trim())
}

function callsOf(reasons: EndReason[]): number {
  return reasons.reduce((sum, { calls }) => sum + calls, 0)
}

function ReasonsSkeleton() {
  return (
    <div className={classes.barsFew}>
      {[100, 60, 34, 20, 12].map((width) => (
        <Skeleton key={width} height={28} width={`${width}%`} mb={4} />
      ))}
    </div>
  )
}
