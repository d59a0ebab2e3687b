import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import { filterLabels, valueLabel } from '../calls/filter-labels.ts'
import type { Chart } from '../charts/chart-search.ts'
import { type Compared, firstMover, type Mover } from './changes.ts'
import type { ComparedPeriod } from './figures.tsx'
import classes from './overview.module.css'
import { groupsQuery, movedBy } from './overview-queries.ts'

const rowPx = 24

interface MoversProps {
  figure: Omit<Chart, 'by'>
  compared: Compared
  period: ComparedPeriod
  format: (value: number) => string
}

/** Which agent, end reason and source moved a figure most against the period before. */
export function Movers({ figure: { of, show }, compared, period, format }: MoversProps) {
  const project = useProject()
  const { value, before } = compared
  const { from, to, earlier } = period
  const hasMoved = value !== null && typeof before === 'number' && value !== before
  const range = { from, to }
  const groups = useQuery({
    ...groupsQuery(project, { of, show }, range, earlier ?? range),
    enabled: hasMoved && earlier !== null,
  })
  if (!hasMoved) return null
  // The figure and its days stand without it.
  if (groups.error && !groups.data) return null
  if (!groups.data) return <Skeleton height={rowPx * movedBy.length} />
  const movers = groups.data.flatMap(({ by, now, before }) => {
    const mover = firstMover(now, before, compared, show)
    return mover ? [{ by, mover }] : []
  })
  if (movers.length === 0) return null
  return (
    <div className={classes.movers}>
      <p>Changed most</p>
      <dl>
        {movers.map(({ by, mover }) => (
          <Row key={by} by={by} mover={mover} period={period} format={format} />
        ))}
      </dl>
    </div>
  )
}

interface RowProps extends Pick<MoversProps, 'period' | 'format'> {
  by: (typeof movedBy)[number]
  mover: Mover
}

function Row({ by, mover: { group, value, before }, period, format }: RowProps) {
  const { id: project } = useProject()
  const { data: facets } = useQuery({ ...facetsQuery(project), enabled: by === 'agentId' })
  const agent = facets?.agentId?.find((one) => one.value === group)?.label
  return (
    <div>
      <dt>{filterLabels[by]}</dt>
      <dd>
        <Link
          to="/p/$project/calls"
          params={{ project }}
          search={{ [by]: group, ...period.filters }}
          preload={false}
          className="cb-truncate"
          dir="auto"
        >
          {(by === 'agentId' && agent) || valueLabel(by, group)}
        </Link>
        <span className="cb-figure cb-dimmed">
          {before === null ? 'new' : `was ${format(before)}`},{' '}
          {value === null ? 'now none' : `now ${format(value)}`}
        </span>
      </dd>
    </div>
  )
}
