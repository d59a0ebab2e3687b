import { analysisPrefix, criterionPrefix, prefixOf } from '../../../../calls/filters.ts'
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
import type { Chart, ChartSearch, ChartShow } from './chart-search.ts'

/** The chart of an address, and the filters of its calls. */
export function chartOf({ of = 'calls', show, by = 'day', ...filters }: ChartSearch) {
  const shows = showsOf(of)
  const chart: Chart = { of, show: shows.find((one) => one === show) ?? shows[0], by }
  return { chart, filters }
}

type Shows = readonly [ChartShow, ...ChartShow[]]
const ofNumbers: Shows = ['avg', 'p50', 'p95', 'sum', 'min', 'max']
const ofShares: Shows = ['share', 'failed']

/** What can be shown of it, the usual one first. */
export function showsOf(of: string): Shows {
  if (of === 'calls') return ['count']
  return of === 'success' || prefixOf(of) === criterionPrefix ? ofShares : ofNumbers
}

export const showWords: Record<ChartShow, string> = {
  count: 'Number',
  share: 'Share that passed',
  failed: 'Share that failed',
  avg: 'Average',
  p50: 'Median',
  p90: '90th percentile',
  p95: '95th percentile',
  p99: '99th percentile',
  sum: 'Sum',
  min: 'Least',
  max: 'Most',
}

/** What numbers can be shown of, beside criteria and fields of the analysis. */
export const measureWords: Record<string, string> = {
  calls: 'Calls',
  success: 'Success',
  duration: 'Duration',
  costUsd: 'Cost',
  latencyMs: 'Latency',
}

/** What makes a group, beside fields of the analysis. */
export const groupWords: Record<string, string> = {
  day: 'Day',
  hour: 'Hour',
  agentId: 'Agent',
  agentVersion: 'Agent version',
  source: 'Source',
  endedReason: 'End reason',
  evaluation: 'Evaluation',
  direction: 'Direction',
  label: 'Label',
}

/** @param criteria names of criteria by their ids */
export function nameOfMeasure(of: string, criteria: ReadonlyMap<string, string>): string {
  const prefix = prefixOf(of)
  if (!prefix) return measureWords[of] ?? of
  const name = of.slice(prefix.length)
  return prefix === criterionPrefix ? (criteria.get(name) ?? name) : name
}

export function nameOfGroups(by: string): string {
  return groupWords[by] ?? (by.startsWith(analysisPrefix) ? by.slice(analysisPrefix.length) : by)
}

/** `Calls`, `Failed share`, `Latency (95th percentile)`, `Named the price: passed` */
export function nameOfFigure({ of, show }: Omit<Chart, 'by'>, criteria: ReadonlyMap<string, string>): string {
  const measure = nameOfMeasure(of, criteria)
  if (of === 'calls') return measure
  if (show !== 'share' && show !== 'failed') return `${measure} (${showWords[show].toLowerCase()})`
  if (of === 'success') return `${show === 'share' ? 'Success' : 'Failed'} share`
  return `${measure}: ${show === 'share' ? 'passed' : 'failed'}`
}

/** `Calls by day`, `Failed share by agent`, `Named the price: passed, by agent` */
export function titleOf({ by, ...figure }: Chart, criteria: ReadonlyMap<string, string>): string {
  const comma = prefixOf(figure.of) === criterionPrefix ? ',' : ''
  return `${nameOfFigure(figure, criteria)}${comma} by ${nameOfGroups(by).toLowerCase()}`
}

interface Words {
  format: (value: number) => string
  /** With room for six characters. */
  short: (value: number) => string
  scale: 'whole' | 'seconds' | 'any'
}

const wordsOf: Record<string, Words> = {
  calls: { format: asCount, short: asShortCount, scale: 'whole' },
  duration: { format: asDuration, short: shortDuration, scale: 'seconds' },
  costUsd: { format: asDollars, short: asShortDollars, scale: 'any' },
  latencyMs: { format: asMilliseconds, short: asMilliseconds, scale: 'any' },
}
const share: Words = { format: asPercent, short: asPercent, scale: 'any' }
const number: Words = { format: asDecimal, short: asShortCount, scale: 'any' }

/** How its numbers are written. */
export function formatOf({ of, show }: Pick<Chart, 'of' | 'show'>): Words {
  if (show === 'share' || show === 'failed') return share
  return wordsOf[of] ?? number
}
