import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ComparedMetric, Comparison } from '../../../../calls/figures/comparing/schemas.ts'
import { criterionPrefix, prefixOf } from '../../../../calls/filters.ts'
import { asCount, asDecimal, counted } from '../../components/figures.ts'
import { useNow } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { parseSearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { formatOf, nameOfFigure } from '../charts/chart.ts'
import { figureQuery, useCriteria } from '../charts/chart-queries.ts'
import classes from './compare.module.css'

type Calls = Comparison['a']

const hourMs = 3_600_000
/** Below this overlap, the groups are of different times. */
const overlapMin = 0.8
/** With more of the calls in the last hour, many are not over. */
const youngMax = 0.05
/** Below this share of calls with a number, the page shows both counts. */
const numbersMin = 0.8

interface ComparedProps {
  a: Calls
  nameOfA: string
  compared: Comparison['comparisons'][number]
}

/** One group compared with another, a row for each figure. */
export function Compared({ a, nameOfA, compared: { key, b, overlap, metrics } }: ComparedProps) {
  const names = { a: nameOfA, b: key ?? 'B' }
  return (
    <Panel title={`${names.b} against ${names.a}`}>
      <Stack gap="xs">
        <p>
          {names.a} has {counted(a.calls, 'call')}, {names.b} {counted(b.calls, 'call')}.{' '}
          <Times a={a} b={b} names={names} overlap={overlap} />
        </p>
        <Notes a={a} b={b} name={names.b} />
        <ul className={classes.rows}>
          <li aria-hidden>
            <span />
            <span>{names.a}</span>
            <span>{names.b}</span>
            <span>Difference and its interval</span>
            <span />
          </li>
          {metrics.map((metric) => (
            <Row key={metric.of} metric={metric} a={a} b={b} names={names} />
          ))}
        </ul>
      </Stack>
    </Panel>
  )
}

/** What stands below each comparison. */
export function howOftenWrong(moreCalls: number | null): string {
  const when =
    moreCalls === null
      ? 'Decide beforehand at how many calls you look, and look once.'
      : `Wait for about ${asCount(moreCalls)} more calls, and look once.`
  return (
    'Between equals, the first figure shows a difference by chance in 1 of 20 comparisons, and so do the others ' +
    `together. Looking every day until it does makes that 1 of 5. ${when}`
  )
}

type Names = Record<'a' | 'b', string>

function Times({ a, b, names, overlap }: { a: Calls; b: Calls; names: Names; overlap: number | null }) {
  const [dates, now] = [useDates(), useNow()]
  const daysOf = ({ from, to }: Calls) => {
    if (from === null || to === null) return ''
    const [first, last] = [dates.day(from, now), dates.day(Date.parse(to) - 1, now)]
    return first === last ? first : `${first} to ${last}`
  }
  if (overlap === null) return null
  if (overlap >= overlapMin)
    return 'Both ran at the same time. Only you know whether callers were assigned at random.'
  return (
    `${names.a}’s calls are from ${daysOf(a)}, ${names.b}’s from ${daysOf(b)}, ` +
    'so whatever else changed between them is in the differences, too.'
  )
}

/** What makes a difference that is none of the agent's. */
function Notes({ a, b, name }: { a: Calls; b: Calls; name: string }) {
  const project = useProject()
  const dates = useDates()
  const now = useNow()
  const since = new Date(now - hourMs).toISOString()
  const isRecent = b.to !== null && b.to > since
  const filters = { ...parseSearch(b.query), from: since }
  const { data: recent } = useQuery({
    ...figureQuery(project, { of: 'calls', show: 'count' }, filters),
    enabled: isRecent,
  })
  const { data: rubric } = useQuery(rubricQuery(project.id))
  const bounds = [a.from, a.to, b.from, b.to].filter((at) => at !== null).sort()
  const changed = rubric?.versions.find(
    ({ createdAt }) => createdAt > (bounds[0] ?? '') && createdAt < (bounds.at(-1) ?? ''),
  )
  return (
    <>
      {isRecent && (recent ?? 0) > youngMax * b.calls && (
        <p>
          Many calls of {name} are of the last hour. The longest of them are not over, so durations look
          shorter than they are.
        </p>
      )}
      {changed && (
        <p>
          The rubric changed on {dates.day(changed.createdAt, now)}: calls before and after it may be judged
          differently.
        </p>
      )}
    </>
  )
}

interface RowProps {
  metric: ComparedMetric
  a: Calls
  b: Calls
  names: Names
}

function Row({ metric, a, b, names }: RowProps) {
  const figure = figureOf(metric.of)
  const name = nameOfFigure(figure, useCriteria())
  const { format } = formatOf(figure)
  return (
    <li>
      <Text component="strong" inherit fw={500} dir="auto">
        {name}
      </Text>
      <Value of={metric.a} calls={a} name={names.a} format={format} />
      <Value of={metric.b} calls={b} name={names.b} format={format} />
      <Interval metric={metric} isShare={figure.show === 'share'} format={format} />
      <Verdict metric={metric} />
    </li>
  )
}

interface ValueProps {
  of: ComparedMetric['a']
  calls: Calls
  name: string
  format: (value: number) => string
}

/** Leads to the calls. */
function Value({ of: { value, n }, calls: { query, calls }, name, format }: ValueProps) {
  return (
    <Stack component="span" gap={0} className="cb-figure">
      <Link {...to.calls} search={parseSearch(query)} preload={false}>
        <span className={classes.name}>{name}: </span>
        {value === null ? 'None' : format(value)}
      </Link>
      {n < numbersMin * calls && (
        <span className="cb-note">
          {asCount(n)} of {counted(calls, 'call')}
        </span>
      )}
    </Stack>
  )
}

interface IntervalProps {
  metric: ComparedMetric
  isShare: boolean
  format: (value: number) => string
}

/** The difference in words, and its interval as a bar beside a line at 0. */
function Interval({ metric: { difference, low, high, verdict }, isShare, format }: IntervalProps) {
  const signed = (value: number, unit = '') => {
    const amount = isShare ? `${asDecimal(Math.abs(100 * value), 1)}${unit}` : format(Math.abs(value))
    return `${value > 0 ? '+' : value < 0 ? '−' : ''}${amount}`
  }
  if (difference === null) return <span />
  const reach = Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0), Math.abs(difference)) || 1
  const at = (value: number) => `${50 + (48 * value) / reach}%`
  return (
    <Stack component="span" gap={0} className={classes.interval}>
      {low !== null && high !== null && (
        <span className={classes.bar} data-verdict={verdict} aria-hidden>
          <span style={{ left: at(low), right: `calc(100% - ${at(high)})` }} />
          <span style={{ left: at(difference) }} />
        </span>
      )}
      <span className="cb-figure">
        {signed(difference, ' points')}
        {low !== null && high !== null && (
          <span className="cb-dimmed">
            {' '}
            ({signed(low)} to {signed(high)})
          </span>
        )}
      </span>
    </Stack>
  )
}

const verdicts = {
  better: { tone: 'success', word: 'Better' },
  worse: { tone: 'danger', word: 'Worse' },
  higher: { tone: 'neutral', word: 'Higher' },
  lower: { tone: 'neutral', word: 'Lower' },
} as const
const reasons = {
  few: 'too few calls',
  skewed: 'a few large numbers decide: ask for the median',
}

function Verdict({ metric: { verdict, reason, moreCalls } }: Pick<RowProps, 'metric'>) {
  if (verdict !== 'not_sure')
    return (
      <span>
        <StatusBadge tone={verdicts[verdict].tone} label={verdicts[verdict].word} />
      </span>
    )
  const why =
    reason === null || reason === 'open'
      ? moreCalls && `about ${asCount(moreCalls)} more calls`
      : reasons[reason]
  return (
    <Stack component="span" gap={0} c="dimmed">
      <span>Not sure yet</span>
      {why && <span className="cb-note"> {why}</span>}
    </Stack>
  )
}

/** What a figure is of, and what is shown of it. */
function figureOf(name: string) {
  const isShare = name === 'success' || name === 'isEngaged' || prefixOf(name) === criterionPrefix
  const dot = name.lastIndexOf('.')
  if (isShare) return { of: name, show: 'share' } as const
  return { of: name.slice(0, dot), show: name.slice(dot + 1) as 'avg' | 'p50' | 'p95' }
}
