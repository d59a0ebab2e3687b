import { Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { noValue } from '../../../../calls/filters.ts'
import type { Unmeasurable } from '../../../../calls/sound/figures.ts'
import { asCount, counted } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { facetCountsQuery, facetsQuery } from '../calls/call-queries.ts'
import { filterLabels, valueLabel } from '../calls/filter-labels.ts'
import { Card, useTableSwitch } from '../charts/card.tsx'
import { formatOf, groupingsOf, isSpan } from '../charts/chart.ts'
import { useChart, useCompared } from '../charts/chart-queries.ts'
import type { Chart, ChartSearch } from '../charts/chart-search.ts'
import { FigureChart } from '../charts/figure-chart.tsx'
import { type Compared, firstMover, type Mover } from './changes.ts'
import { BigFigure, ChangeOf, type ComparedPeriod } from './figures.tsx'
import { groupsQuery, movedBy } from './overview-queries.ts'

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
  const hasDate = Boolean(search.date ?? search.from ?? search.to)
  const dated = hasDate ? search : { ...search, ...period.filters, by: byIn(search.by ?? 'day', period) }
  const drawn = useChart(dated)
  const { chart, filters, resolvedFilters, faults, hasTooMany, query, title } = drawn
  const { isTable, tableSwitch } = useTableSwitch()
  const link = (
    <PageLink {...to.chart} search={dated} size="sm" aria-label={`Open the chart ${name}`}>
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
      <Group component="p" justify="space-between" align="baseline" gap="0 8px" mih={32} mb="md">
        {compared && compared.value !== null && (
          <>
            <BigFigure>{format(compared.value)}</BigFigure>
            <ChangeOf
              figure={compared}
              unit={isShare ? 'share' : 'amount'}
              isMoreBetter={betterOf(chart)}
              period={period}
              format={format}
            />
          </>
        )}
      </Group>
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

/** Behind how many. */
const reasons: Record<Unmeasurable, string> = {
  mono: 'with one channel',
  mixed: 'with both voices in each channel',
  noisy: 'too noisy',
  channels: 'with more than two channels',
  format: 'in another format',
  damaged: 'damaged',
  short: 'too short',
  long: 'too long',
}

/** The chart of what callers waited for by their recordings, and of how many calls that is known. Left out without recordings. */
export function AnswersHeard(props: ChartCardProps) {
  const { id: project } = useProject()
  const { from, to } = props.period
  const { data } = useQuery(facetCountsQuery(project, 'soundReason', { from, to }))
  const { none = 0, measured = 0, waiting = 0, ...others } = data?.counts ?? {}
  const all = [none, measured, waiting, ...Object.values(others)].reduce((sum, calls) => sum + calls)
  if (none === all && !props.arranging) return null
  const why = Object.entries(others)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, calls]) => `${asCount(calls)} ${reasons[reason as Unmeasurable]}`)
  const words = [`Sound measured of ${asCount(measured)} of ${counted(all, 'call')}`, why.join(', ')]
  const note = (
    <Text size="xs" c="dimmed" mt="xs">
      {words.filter(Boolean).join('; ')}
    </Text>
  )
  return <ChartCard {...props} note={note} />
}

const rowPx = 24

interface MoversProps {
  figure: Omit<Chart, 'by'>
  compared: Compared
  period: ComparedPeriod
  format: (value: number) => string
}

/** Which agent, end reason and source moved a figure most against the period before. */
function Movers({ figure: { of, show }, compared, period, format }: MoversProps) {
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
    <>
      <Text size="xs" fw={500} mt="md" mb={4}>
        Changed most
      </Text>
      <dl>
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

function Row({ by, mover: { group, value, before }, period, format }: RowProps) {
  const { id: project } = useProject()
  const { data: facets } = useQuery({ ...facetsQuery(project), enabled: by === 'agentId' })
  const agent = facets?.agentId?.find((one) => one.value === group)?.label
  return (
    <Group gap={0} mb={4} wrap="nowrap">
      <Text component="dt" c="dimmed" w={88} flex="none">
        {filterLabels[by]}
      </Text>
      <Group component="dd" justify="space-between" gap="sm" flex={1} miw={0} wrap="nowrap">
        <PageLink
          {...to.calls}
          search={{ [by]: group, ...period.filters }}
          preload={false}
          c="inherit"
          inherit
          className="cb-truncate"
          dir="auto"
        >
          {(by === 'agentId' && agent) || valueLabel(by, group)}
        </PageLink>
        <Text component="span" c="dimmed" flex="none" className="cb-figure">
          {before === null ? 'new' : `was ${format(before)}`},{' '}
          {value === null ? 'now none' : `now ${format(value)}`}
        </Text>
      </Group>
    </Group>
  )
}
