import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { formatOf } from '../charts/chart.ts'
import type { Chart } from '../charts/chart-search.ts'
import { FigureChart } from '../charts/figure-chart.tsx'
import { Card, useTableSwitch } from './card.tsx'
import { ChangeOf } from './change-of.tsx'
import { Movers } from './movers.tsx'
import classes from './overview.module.css'
import { trendQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const skeleton = <Skeleton height={288} />

interface TrendKind extends Chart {
  title: string
  /** What the figure above the days is. */
  figure: string
  isMoreBetter: boolean | null
  /** The detail of a call that has it. */
  detail: string
}

const kinds: Record<'cost' | 'latency', TrendKind> = {
  cost: {
    title: 'Cost',
    figure: 'in this period',
    of: 'costUsd',
    show: 'sum',
    by: 'day',
    isMoreBetter: null,
    detail: 'costUsd',
  },
  latency: {
    title: 'Latency',
    figure: '95th percentile of calls',
    of: 'latencyMs',
    show: 'p95',
    by: 'day',
    isMoreBetter: false,
    detail: 'latencyMs',
  },
}

/** A number of the period with its change, and the same of each day. */
export function Trend({ kind, period }: { kind: keyof typeof kinds; period: Period }) {
  const project = useProject()
  const { zone } = useDates()
  const { title, figure: words, isMoreBetter, detail, ...chart } = kinds[kind]
  const { of, show } = chart
  const query = useQuery(trendQuery(project.id, { of, show }, period, zone))
  const { isTable, tableSwitch } = useTableSwitch()
  const isEmpty = query.data?.figure.value === null
  const { format } = formatOf(chart)
  return (
    <Card
      title={title}
      aside={
        !isEmpty && (
          <span className="cb-row">
            <AlertLink figure={chart} />
            {tableSwitch}
          </span>
        )
      }
      query={query}
      skeleton={skeleton}
    >
      {({ days, figure }) =>
        figure.value === null ? (
          <p className={classes.cardNone}>
            No call of this period has a {title.toLowerCase()}. Most platforms send it; an agent of your own
            sends it as <code>details.{detail}</code>.
          </p>
        ) : (
          <>
            <p className={classes.trend}>
              <strong>{format(figure.value)}</strong>
              <span className="cb-dimmed">{words}</span>
              <span className={classes.trendChange}>
                <ChangeOf
                  figure={figure}
                  unit="amount"
                  isMoreBetter={isMoreBetter}
                  days={period.days}
                  format={format}
                />
              </span>
            </p>
            <FigureChart
              title={`${title} by day`}
              chart={chart}
              data={days}
              filters={{ from: period.from, to: period.to }}
              isTable={isTable}
            />
            <Movers
              chart={{ of, show }}
              figure={figure}
              period={period}
              calls={days.reduce((sum, { calls }) => sum + calls, 0)}
              format={format}
            />
          </>
        )
      }
    </Card>
  )
}
