import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { criterionPrefix } from '../../../../calls/filters.ts'
import { asPercent } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { Card, useFirstRows } from './card.tsx'
import { ChangeOf } from './change-of.tsx'
import classes from './overview.module.css'
import { criteriaQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const rowsShown = 8
/** In px, with the gap to the next one. */
const rowHeight = 32

interface Row {
  id: string
  name: string
  value: number | null
  before: number | null
}

/** The share of calls that passed each criterion of the rubric. Each leads to the calls that failed it. */
export function Criteria({ period }: { period: Period }) {
  const { id: project } = useProject()
  const rubric = useQuery(rubricQuery(project))
  const criteria = rubric.data && (rubric.data.rubric?.criteria ?? [])
  const ids = (criteria ?? []).map(({ id }) => id)
  const shares = useQuery({ ...criteriaQuery(project, ids, period), enabled: ids.length > 0 })
  const data = criteria?.length === 0 ? [] : shares.data
  const query = rubric.error ? { ...rubric, data: undefined } : { ...shares, data }
  const nameOf = (id: string) => criteria?.find((criterion) => criterion.id === id)?.name ?? id
  return (
    <Card
      title="Criteria passed"
      aside={
        ids[0] !== undefined && <AlertLink figure={{ of: `${criterionPrefix}${ids[0]}`, show: 'share' }} />
      }
      query={query}
      skeleton={<Skeleton height={rowHeight * (Math.min(ids.length, rowsShown + 1) || rowsShown / 2)} />}
    >
      {(rows) =>
        rows.length === 0 ? (
          <p className={classes.cardNone}>
            A model can judge every call by your own criteria.{' '}
            <PageLink to="/p/$project/settings/analysis" params={{ project }} underline="always">
              Write a rubric
            </PageLink>
          </p>
        ) : (
          <Rows rows={rows.map((row) => ({ ...row, name: nameOf(row.id) }))} period={period} />
        )
      }
    </Card>
  )
}

function Rows({ rows, period }: { rows: Row[]; period: Period }) {
  const { id: project } = useProject()
  const { shown, allSwitch } = useFirstRows({ data: rows, others: { values: 0, calls: 0 } }, rowsShown)
  const { from, to, days } = period
  return (
    <ul className={classes.bars}>
      {shown.map(({ id, name, value, before }) => (
        <li key={id}>
          {value !== null && value > 0 && (
            <span className={classes.bar} style={{ width: `${value * 100}%` }} aria-hidden />
          )}
          <Link
            to="/p/$project/calls"
            params={{ project }}
            search={{ [`${criterionPrefix}${id}`]: 'fail', from, to }}
            preload={false}
            className={`${classes.barLabel} ${classes.barLink}`}
          >
            <bdi>{name}</bdi>
            <span className="cb-hidden">: calls that failed</span>
          </Link>
          <span className={`${classes.barShare} ${classes.trendChange}`}>
            {value !== null && (
              <ChangeOf figure={{ value, before }} unit="share" isMoreBetter days={days} format={asPercent} />
            )}
          </span>
          <span className={classes.barCount}>{value === null ? 'Not judged' : asPercent(value)}</span>
        </li>
      ))}
      {allSwitch && (
        <li className={classes.rowsAll}>
          <span className={classes.barLabel}>{allSwitch}</span>
        </li>
      )}
    </ul>
  )
}
