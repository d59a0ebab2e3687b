import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { CallsOf } from '../../../../calls/overview.ts'
import { asCount } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import { valueLabel } from '../calls/filter-labels.ts'
import { Card } from './card.tsx'
import { originsQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const shownMax = 5

/** Which platforms sent calls and which agents took them. Each links to its calls; nothing while no call names any. */
export function Origins({ period }: { period: Period }) {
  const project = useProject()
  const query = useQuery(originsQuery(project.id, period))
  if (query.data && query.data.sources.length + query.data.agents.length === 0) return null
  return (
    <>
      <Card title="Sources" query={query} skeleton={<OriginsSkeleton />}>
        {({ sources }) => <Bars name="source" rows={sources} period={period} />}
      </Card>
      <Card title="Agents" query={query} skeleton={<OriginsSkeleton />}>
        {({ agents }) => <Bars name="agentId" rows={agents} period={period} />}
      </Card>
    </>
  )
}

interface BarsProps {
  name: 'source' | 'agentId'
  rows: CallsOf[]
  period: Period
}

function Bars({ name, rows, period: { from, to } }: BarsProps) {
  const project = useProject()
  const shown = rows.slice(0, shownMax)
  const most = Math.max(1, ...shown.map(({ calls }) => calls))
  if (shown.length === 0) return <p className="cb-chart-none">No data in this period</p>
  return (
    <ul className="cb-bars cb-bars-few">
      {shown.map(({ value, name: own, calls }) => (
        <li key={value}>
          <span className="cb-bar" style={{ width: `${(calls / most) * 100}%` }} aria-hidden />
          <Link
            to="/p/$project/calls"
            params={{ project: project.id }}
            search={{ [name]: value, from, to }}
            className="cb-bar-label cb-bar-link"
          >
            {own ?? valueLabel(name, value)}
          </Link>
          <span className="cb-bar-count">{asCount(calls)}</span>
        </li>
      ))}
    </ul>
  )
}

function OriginsSkeleton() {
  return (
    <div className="cb-bars cb-bars-few">
      {[100, 60, 34].map((width) => (
        <Skeleton key={width} height={28} width={`${width}%`} mb={4} />
      ))}
    </div>
  )
}
