import { Group, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { noValue } from '../../../../calls/filters.ts'
import { PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { Card, useTableSwitch } from '../charts/card.tsx'
import { formatOf, groupingsOf, isSpan } from '../charts/chart.ts'
import type { Chart, ChartSearch } from '../charts/chart-search.ts'
import { FigureChart } from '../charts/figure-chart.tsx'
import { useChart, useCompared } from '../charts/use-chart.ts'
import { ChangeOf, type ComparedPeriod } from './figures.tsx'
import { Movers } from './movers.tsx'
import classes from './overview.module.css'

export interface ChartCardProps {
  name: string
  search: ChartSearch
  /** Whether it is left out where no call has what it groups by. */
  isOfSome?: boolean
  period: ComparedPeriod
  /** In place of what can be done with it. */
  arranging: ReactNode
  /** What is said below it. */
  note?: ReactNode
}

/** A chart of the overview. Without a date of its own, it is of the overview's period, and compared with the one before. */
export function ChartCard({ name, search, isOfSome = false, period, arranging, note }: ChartCardProps) {
  const { id: project } = useProject()
  const hasDate = Boolean(search.date ?? search.from ?? search.to)
  const dated = hasDate ? search : { ...search, ...period.filters, by: byIn(search.by ?? 'day', period) }
  const drawn = useChart(dated)
  const { chart, filters, resolvedFilters, faults, hasTooMany, query, title } = drawn
  const { isTable, tableSwitch } = useTableSwitch()
  const link = (
    <PageLink
      to="/p/$project/overview/chart"
      params={{ project }}
      search={dated}
      size="sm"
      aria-label={`Open the chart ${name}`}
    >
      Open
    </PageLink>
  )
  if (isOfSome && !arranging && query.data?.data.every(({ key }) => key === noValue)) return null
  if (faults.length > 0 || hasTooMany)
    return (
      <Panel title={name} aside={arranging || link}>
        <p className="cb-dimmed">It cannot be shown as it is. Open it to see why.</p>
      </Panel>
    )
  const shape = (figures: NonNullable<typeof query.data>) => (
    <FigureChart title={name} chart={chart} figures={figures} filters={resolvedFilters} isTable={isTable} />
  )
  const isCompared = !hasDate && chart.of !== 'calls' && isSpan(groupingsOf(chart.by)[0])
  return (
    <Card
      title={name}
      aside={
        arranging || (
          <Group gap="xs" wrap="nowrap">
            {link}
            <AlertLink figure={chart} filters={filters} />
            {tableSwitch}
          </Group>
        )
      }
      query={query}
      skeleton={<Skeleton height={264} />}
    >
      {(figures) => {
        const isEmpty = figures.data.every(
          ({ value }) => value === null || (chart.of === 'calls' && value === 0),
        )
        if (isEmpty) return note ?? <p>{describeNone(chart)}</p>
        return (
          <>
            {hasDate && name !== `${title}, ${drawn.period.toLowerCase()}` && (
              <Text size="xs" c="dimmed" mb="sm">
                {title} · {drawn.period}
              </Text>
            )}
            {isCompared ? (
              <Whole chart={chart} period={period} filters={resolvedFilters}>
                {shape(figures)}
              </Whole>
            ) : (
              shape(figures)
            )}
            {note}
          </>
        )
      }}
    </Card>
  )
}

/** One day is shown by its hours, and a long period by its weeks. */
function byIn(by: string, { days }: ComparedPeriod): string {
  const daysShownMax = 100
  if (days > 1 && days <= daysShownMax) return by
  return groupingsOf(by)
    .map((one) => (one === 'day' ? (days === 1 ? 'hour' : 'week') : one))
    .join(',')
}

interface WholeProps {
  chart: Chart
  period: ComparedPeriod
  filters: ReturnType<typeof useChart>['resolvedFilters']
  children: ReactNode
}

/** The figure of the whole period with its change, above the chart and below it what moved it. */
function Whole({ chart, period, filters, children }: WholeProps) {
  const { of, show } = chart
  const { earlier } = period
  const { compared } = useCompared({ of, show }, filters, earlier && { ...filters, ...earlier })
  const { format } = formatOf(chart)
  const isShare = show === 'share' || show === 'failed'
  return (
    <>
      <p className={classes.whole}>
        {compared && compared.value !== null && (
          <>
            <strong>{format(compared.value)}</strong>
            <span className={classes.change}>
              <ChangeOf
                figure={compared}
                unit={isShare ? 'share' : 'amount'}
                isMoreBetter={betterOf(chart)}
                period={period}
                format={format}
              />
            </span>
          </>
        )}
      </p>
      {children}
      {compared && <Movers figure={{ of, show }} compared={compared} period={period} format={format} />}
    </>
  )
}

/** Whether more of it is better; null where it is neither. */
function betterOf({ of, show }: Chart): boolean | null {
  if (show === 'failed' || of === 'latencyMs' || of === 'responseMs') return false
  return show === 'share' ? true : null
}

/** Why there is nothing to show. */
function describeNone({ of, by }: Chart): ReactNode {
  if (of === 'success') return 'No evaluated calls in this period.'
  if (of === 'duration' || by === 'duration') return 'No completed calls in this period.'
  const detail = { costUsd: 'cost', latencyMs: 'latency' }[of]
  if (!detail) return 'No calls in this period.'
  return (
    <>
      No call of this period has a {detail}. Most platforms send it; an agent of your own sends it as{' '}
      <code>details.{of}</code>.
    </>
  )
}
