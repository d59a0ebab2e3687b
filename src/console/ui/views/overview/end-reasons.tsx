import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { noValue } from '../../../../calls/filters.ts'
import type { EndReason } from '../../../../calls/overview.ts'
import { asCount, asPercent } from '../../components/figures.ts'
import { asReason } from '../../components/reason.ts'
import { useProject } from '../../session.ts'
import { Card } from './card.tsx'
import { endReasonsQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const reasonsShown = 7

/** Why calls ended. Each reason links to its calls. */
export function EndReasons({ period }: { period: Period }) {
  const project = useProject()
  const query = useQuery(endReasonsQuery(project.id, period))
  return (
    <Card title="End reasons" query={query} skeleton={<ReasonsSkeleton />}>
      {({ data, others }) => <Reasons reasons={data} others={others} period={period} />}
    </Card>
  )
}

function Reasons({
  reasons,
  others,
  period: { from, to },
}: {
  reasons: EndReason[]
  others: number
  period: Period
}) {
  const project = useProject()
  const shown = reasons.slice(0, reasonsShown)
  const rest = others + reasons.slice(reasonsShown).reduce((sum, { calls }) => sum + calls, 0)
  const total = shown.reduce((sum, { calls }) => sum + calls, rest)
  const most = Math.max(1, ...shown.map(({ calls }) => calls))
  if (total === 0) return <p className="cb-chart-none">No calls in this period</p>
  return (
    <ul className="cb-bars">
      {shown.map(({ value, calls }) => (
        <li key={value ?? ''}>
          <span className="cb-bar" style={{ width: `${(calls / most) * 100}%` }} aria-hidden />
          {value === noValue ? (
            // The filter takes it for no reason.
            <span className="cb-bar-label">{asReason(value)}</span>
          ) : (
            <Link
              to="/p/$project/calls"
              params={{ project: project.id }}
              search={{ endedReason: value ?? noValue, from, to }}
              className="cb-bar-label cb-bar-link"
            >
              {value === null ? 'No reason given' : asReason(value)}
            </Link>
          )}
          <span className="cb-bar-share cb-dimmed">{asPercent(calls / total)}</span>
          <span className="cb-bar-count">{asCount(calls)}</span>
        </li>
      ))}
      {rest > 0 && (
        <li>
          <span className="cb-bar-label cb-dimmed">Others</span>
          <span className="cb-bar-share cb-dimmed">{asPercent(rest / total)}</span>
          <span className="cb-bar-count">{asCount(rest)}</span>
        </li>
      )}
    </ul>
  )
}

function ReasonsSkeleton() {
  return (
    <div className="cb-bars">
      {[100, 60, 34, 20, 12].map((width) => (
        <Skeleton key={width} height={28} width={`${width}%`} mb={4} />
      ))}
    </div>
  )
}
