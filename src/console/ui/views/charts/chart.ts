import { criterionPrefix, prefixOf } from '../../../../calls/filters.ts'
import {
  asCount,
  asDecimal,
  asDollars,
  asDuration,
  asMilliseconds,
  asPercent,
  asShortCount,
  asShortDollars,
  shortDuration,
} from '../../components/figures.ts'
import type { Chart, ChartShow } from './chart-search.ts'

const showLabels: Record<ChartShow, string> = {
  count: 'Number',
  share: 'Share that passed',
  failed: 'Share that failed',
  avg: 'Average',
  p50: 'Median',
  p90: '90th percentile',
  p95: '95th percentile',
  p99: '99th percentile',
  sum: 'Total',
  min: 'Minimum',
  max: 'Maximum',
}

/** What a choice of what is shown is called. */
export function labelOfShow(of: string, show: ChartShow): string {
  if (of !== 'isEngaged') return showLabels[show]
  return show === 'share' ? 'Share that is engaged' : 'Share that is not'
}

/** What numbers can be shown of, beside criteria and fields of the analysis. */
export const measureLabels: Record<string, string> = {
  calls: 'Calls',
  success: 'Success',
  isEngaged: 'Engagement',
  duration: 'Duration',
  costUsd: 'Cost',
  latencyMs: 'Latency',
  responseMs: 'Wait for answers',
  responseP95Ms: 'Wait for slow answers',
  responseMaxMs: 'Longest wait',
  deadAirSeconds: 'Dead air',
  talkOverSeconds: 'Talk-over',
  agentShare: 'Share of the agent',
  interruptions: 'Interruptions',
}

/** Groups of time that have an end, of which a chart has one at most. */
const spans = ['hour', 'day', 'week', 'month']
/** Groups with an order of their own. */
const ordered = [...spans, 'weekday', 'hourOfDay', 'duration']

/** What makes a group, beside fields of the analysis. */
export const groupLabels: Record<string, string> = {
  hour: 'Hour',
  day: 'Day',
  week: 'Week',
  month: 'Month',
  weekday: 'Weekday',
  hourOfDay: 'Hour of the day',
  duration: 'Length',
  agentId: 'Agent',
  agentVersion: 'Agent version',
  source: 'Source',
  endedReason: 'End reason',
  evaluation: 'Evaluation',
  isEngaged: 'Engaged',
  direction: 'Direction',
  label: 'Label',
}

/** What a chart groups by: once or twice. */
export function groupingsOf(by: string): [first: string, second?: string] {
  const [first = by, second] = by.split(',')
  return second === undefined ? [first] : [first, second]
}

export function isSpan(by: string): boolean {
  return spans.includes(by)
}

export function isOrdered(by: string): boolean {
  return ordered.includes(by)
}

/** Whether the figures of some groups add up to that of all. */
export function isSum({ of, show }: Pick<Chart, 'of' | 'show'>): boolean {
  return of === 'calls' || show === 'sum'
}

/** The value as it is shown: what failed is the rest of the share. */
export function shown(show: Chart['show'], value: number | null): number | null {
  return value === null || show !== 'failed' ? value : 1 - value
}

/** @param criteria names of criteria by their ids */
export function nameOfMeasure(of: string, criteria: ReadonlyMap<string, string>): string {
  const prefix = prefixOf(of)
  if (!prefix) return measureLabels[of] ?? of
  const name = of.slice(prefix.length)
  return prefix === criterionPrefix ? (criteria.get(name) ?? name) : name
}

export function nameOfGroups(by: string, criteria: ReadonlyMap<string, string> = new Map()): string {
  const prefix = prefixOf(by)
  if (!prefix) return groupLabels[by] ?? by
  const name = by.slice(prefix.length)
  return prefix === criterionPrefix ? (criteria.get(name) ?? name) : name
}

/** `Calls`, `Failed share`, `P95 latency`, `Total cost`, `Named the price: passed` */
export function nameOfFigure({ of, show }: Omit<Chart, 'by'>, criteria: ReadonlyMap<string, string>): string {
  const measure = nameOfMeasure(of, criteria)
  if (of === 'calls') return measure
  if (of === 'isEngaged') return show === 'share' ? 'Engaged share' : 'Not engaged share'
  if (of === 'success') return `${show === 'share' ? 'Success' : 'Failed'} share`
  if (show === 'share' || show === 'failed') return `${measure}: ${show === 'share' ? 'passed' : 'failed'}`
  const shown = /^p\d/.test(show) && show !== 'p50' ? show.toUpperCase() : showLabels[show]
  return `${shown} ${prefixOf(of) ? measure : measure.toLowerCase()}`
}

/** `Calls by day and evaluation`, `Failed share by agent`, `Named the price: passed, by agent` */
export function titleOf({ by, ...figure }: Chart, criteria: ReadonlyMap<string, string>): string {
  const comma = prefixOf(figure.of) === criterionPrefix ? ',' : ''
  const names = groupingsOf(by).flatMap((one) => {
    const name = one && nameOfGroups(one, criteria)
    return name ? [one && prefixOf(one) ? name : name.toLowerCase()] : []
  })
  return `${nameOfFigure(figure, criteria)}${comma} by ${names.join(' and ')}`
}

interface Words {
  format: (value: number) => string
  /** With room for six characters. */
  short: (value: number) => string
  scale: 'whole' | 'seconds' | 'any'
}

const milliseconds: Words = { format: asMilliseconds, short: asMilliseconds, scale: 'any' }
const asSeconds = (value: number) => asMilliseconds(value * 1_000)
const seconds: Words = { format: asSeconds, short: asSeconds, scale: 'any' }
const share: Words = { format: asPercent, short: asPercent, scale: 'any' }
const number: Words = { format: asDecimal, short: asShortCount, scale: 'any' }
const wordsOf: Record<string, Words> = {
  calls: { format: asCount, short: asShortCount, scale: 'whole' },
  duration: { format: asDuration, short: shortDuration, scale: 'seconds' },
  costUsd: { format: asDollars, short: asShortDollars, scale: 'any' },
  latencyMs: milliseconds,
  responseMs: milliseconds,
  responseP95Ms: milliseconds,
  responseMaxMs: milliseconds,
  deadAirSeconds: seconds,
  talkOverSeconds: seconds,
  agentShare: share,
}

/** How its numbers are written. */
export function formatOf({ of, show }: Pick<Chart, 'of' | 'show'>): Words {
  if (show === 'share' || show === 'failed') return share
  return wordsOf[of] ?? number
}

/** The numbers at which lines cross a chart, the lowest first. */
export interface Scale {
  lines: number[]
  /** How far above the bottom a value is, in percent. */
  placeOf: (value: number) => number
}

const linesMax = 4
/** Of which a step of a scale is one, times a power of ten; and of seconds, one of these. */
const niceSteps = [1, 2, 5, 10]
const niceSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600]

/** A scale from zero, or less, to at least the greatest of the values. */
export function scaleOf(values: readonly number[], unit: 'whole' | 'seconds' | 'any' = 'any'): Scale {
  const [most, least] = [Math.max(0, ...values), Math.min(0, ...values)]
  const range = most - least || 1
  const step = unit === 'seconds' ? secondsStep(range / linesMax) : niceStep(range / linesMax, unit)
  // From the number of steps, since sums of tenths end in other digits.
  const [first, last] = [Math.floor(least / step), Math.max(1, Math.ceil(most / step))]
  const lines = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step)
  return { lines, placeOf: (value) => ((value / step - first) / (last - first)) * 100 }
}

/** A path through values that are one apart, with a gap where there is none. One alone is drawn a step wide. */
export function linePath(values: readonly (number | null)[], { placeOf }: Scale): string {
  const valueAt = (at: number) => values[at] ?? null
  return values
    .map((value, at) => {
      if (value === null) return ''
      const step = valueAt(at - 1) === null ? 'M' : 'L'
      const isAlone = step === 'M' && valueAt(at + 1) === null
      return `${step}${at + 0.5} ${100 - placeOf(value)}${isAlone ? 'h1' : ''}`
    })
    .join('')
}

function secondsStep(atLeast: number): number {
  return niceSeconds.find((step) => step >= atLeast) ?? niceStep(atLeast / 3_600, 'whole') * 3_600
}

/** 1, 2 or 5 times a power of ten, at least this much. */
function niceStep(atLeast: number, unit: 'whole' | 'any'): number {
  const power = 10 ** Math.floor(Math.log10(unit === 'whole' ? Math.max(1, atLeast) : atLeast))
  return niceSteps.map((times) => times * power).find((step) => step >= atLeast) ?? power * 10
}
