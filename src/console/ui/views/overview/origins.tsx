import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { CallsOf, FirstValues } from '../../../../calls/reading/overview.ts'
import { asCount, asPercent, counted } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { valueLabel } from '../calls/filter-labels.ts'
import { Card, useFirstRows } from './card.tsx'
import classes from './overview.module.css'
import { originsQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const rowsShown = 5

/**
 * Failures by agent and by platform, most first. Each links to its calls. A card without rows is not shown.
 */
export function Origins({ period }: { period: Period }) {
  const project = useProject()
  const query = useQuery(originsQuery(project.id, period))
  const failures = <AlertLink figure={{ of: 'success', show: 'failed' }} />
  const isShown = (of: 'agents' | 'sources') => !query.data || query.data[of].data.length > 0
  return (
    <>
      {isShown('agents') && (
        <Card title="Failures by agent" aside={failures} query={query} skeleton={<OriginsSkeleton />}>
          {({ agents }) => <Failures name="agentId" label="Agent" rows={agents} period={period} />}
        </Card>
      )}
      {isShown('sources') && (
        <Card title="Failures by source" aside={failures} query={query} skeleton={<OriginsSkeleton />}>
          {({ sources }) => <Failures name="source" label="Source" rows={sources} period={period} />}
        </Card>
      )}
    </>
  )
}

interface FailuresProps {
  rows: FirstValues<CallsOf>
  name: 'source' | 'agentId'
  label: 'Agent' | 'Source'
  period: Period
}

function Failures({ name, label, rows, period: { from, to } }: FailuresProps) {
  const { id: project } = useProject()
  const { shown, isAll, allSwitch } = useFirstRows(rows, rowsShown)
  const others = counted(rows.others.values, `other ${label.toLowerCase()}`)
  return (
    <>
      <table className={classes.origins}>
        <thead className={classes.originsHead}>
          <tr>
            <th scope="col" className={classes.originsName}>
              {label}
            </th>
            {['Failed', 'Share', 'Calls'].map((column) => (
              <th key={column} scope="col" className={classes.originsHead}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ value, name: own, calls, failed }) => (
            <tr key={value} className={classes.originsRow}>
              <th scope="row" className={classes.originsName}>
                <Link
                  to="/p/$project/calls"
                  params={{ project }}
                  search={{ [name]: value, from, to }}
                  className={`${classes.barLink} cb-truncate`}
                >
                  {own ?? valueLabel(name, value)}
                </Link>
              </th>
              <td>
                {failed === 0 ? (
                  0
                ) : (
                  <Link
                    to="/p/$project/calls"
                    params={{ project }}
                    search={{ [name]: value, evaluation: 'fail', from, to }}
                    className={classes.originsFailed}
                  >
                    {asCount(failed)}
                    <span className="cb-hidden"> failed</span>
                  </Link>
                )}
              </td>
              <td>{asPercent(failed / calls)}</td>
              <td>{asCount(calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isAll && rows.others.values > 0 && <p className={classes.cardNone}>{others}</p>}
      {allSwitch && <p className={classes.rowsAll}>{allSwitch}</p>}
    </>
  )
}

function OriginsSkeleton() {
  return (
    <div className={classes.barsFew}>
      {[100, 60, 34].map((width) => (
        <Skeleton key={width} height={28} width={`${width}%`} mb={4} />
      ))}
    </div>
  )
}
