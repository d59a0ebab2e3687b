import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Figure } from '../../../../calls/reading/overview.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import { filterLabels, valueLabel } from '../calls/filter-labels.ts'
import type { Chart } from '../charts/chart-search.ts'
import { firstMover, type Mover } from './movers.ts'
import classes from './overview.module.css'
import { groupsQuery, movedBy } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

/** Groups are read from every call, so those of more calls are read when somebody asks. */
const callsUnasked = 100_000
const rowPx = 24

interface MoversProps {
  chart: Pick<Chart, 'of' | 'show'>
  figure: Figure
  period: Period
  /** How many calls the period has. */
  calls: number
  format: (value: number) => string
}

/** Which agent, end reason and source moved a figure most against the period before. */
export function Movers({ chart, figure, period, calls, format }: MoversProps) {
  const { id: project } = useProject()
  const [isAsked, setIsAsked] = useState(false)
  const hasMoved = figure.value !== null && figure.before !== null && figure.value !== figure.before
  const isRead = hasMoved && (isAsked || calls <= callsUnasked)
  const { data, error } = useQuery({ ...groupsQuery(project, chart, period), enabled: isRead })
  if (!hasMoved) return null
  if (!isRead)
    return (
      <Button variant="default" size="compact-xs" onClick={() => setIsAsked(true)}>
        Show what changed most
      </Button>
    )
  // The figure and its days stand without it.
  if (error && !data) return null
  if (!data) return <Skeleton height={rowPx * movedBy.length} />
  const movers = data.flatMap(({ by, now, before }) => {
    const mover = firstMover(now, before, figure, chart.show)
    return mover ? [{ by, mover }] : []
  })
  if (movers.length === 0) return null
  return (
    <>
      <p className={classes.moversTitle}>Changed most</p>
      <dl className={classes.movers}>
        {movers.map(({ by, mover }) => (
          <Row key={by} by={by} mover={mover} period={period} format={format} />
        ))}
      </dl>
    </>
  )
}

interface RowProps extends Pick<MoversProps, 'period' | 'format'> {
  by: (typeof movedBy)[number]
  mover: Mover
}

function Row({ by, mover: { group, value, before }, period: { from, to }, format }: RowProps) {
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
          search={{ [by]: group, from, to }}
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
