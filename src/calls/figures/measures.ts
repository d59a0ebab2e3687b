import { analysisPrefix, criterionPrefix, metadataPrefix, prefixOf } from '../filters.ts'
import { flagText } from '../finding/call-values.ts'
import type { Group, Measured } from './question.ts'

const percentiles = { p50: 50, p90: 90, p95: 95, p99: 99 }
const ofNumbers = ['sum', 'avg', 'min', 'max', 'p50', 'p90', 'p95', 'p99'] as const
export const shows = ['count', 'share', ...ofNumbers] as const
export type Show = (typeof shows)[number]

/** What figures are made of. */
export interface Measure {
  /** What can be shown of it. */
  shows: readonly [Show, ...Show[]]
  /** The number of a call; null where calls are only counted. A share is the average of zeros and ones. */
  of: Measured | null
}

/** Of completed calls alone. */
export const durationColumn = `case when calls.status = 'completed' then calls.duration end`

const inHead = (column: string) => ({ shows: ofNumbers, of: { column: `calls.${column}` } }) as const

/** By name. Beside them there are `analysis.KEY` and `criterion.ID`. */
export const measures = {
  calls: { shows: ['count'], of: null },
  duration: { shows: ofNumbers, of: { column: durationColumn } },
  costUsd: inHead('cost_usd'),
  latencyMs: inHead('latency_ms'),
  // Of what is heard in the recording.
  responseMs: inHead('response_ms'),
  responseP95Ms: inHead('response_p95_ms'),
  responseMaxMs: inHead('response_max_ms'),
  deadAirSeconds: inHead('dead_air_seconds'),
  talkOverSeconds: inHead('talk_over_seconds'),
  agentShare: inHead('agent_share'),
  interruptions: inHead('interruptions'),
  success: { shows: ['share'], of: { value: 'calls.evaluation', numbers: { '"success"': 1, '"fail"': 0 } } },
  isEngaged: {
    shows: ['share'],
    of: { value: flagText('is_engaged'), numbers: { '"true"': 1, '"false"': 0 } },
  },
} satisfies Record<string, Measure>

/** @returns undefined for an unknown name */
export function measureOf(name: string): Measure | undefined {
  switch (prefixOf(name)) {
    case analysisPrefix:
      return { shows: ofNumbers, of: { entries: name } }
    case criterionPrefix:
      return { shows: ['share'], of: { entries: name, numbers: { '"pass"': 1, '"fail"': 0 } } }
    case metadataPrefix:
      return undefined
    default:
      return Object.entries(measures).find(([known]) => known === name)?.[1]
  }
}

/** The percentiles to compute for what is shown. */
export function percentsOf(show: Show): number[] {
  return show in percentiles ? [percentiles[show as keyof typeof percentiles]] : []
}

/** What is shown of the calls of some groups, of which only one has percentiles; null for the value of no numbers. */
export function figureOf(show: Show, groups: readonly Group[]): { value: number | null; calls: number } {
  const sum = (of: (group: Group) => number) => groups.reduce((all, group) => all + of(group), 0)
  const calls = sum((group) => group.calls)
  const numbers = sum((group) => group.numbers)
  const value = () => {
    if (show === 'count') return calls
    if (numbers === 0) return null
    switch (show) {
      case 'sum':
        return sum((group) => group.sum)
      case 'avg':
      case 'share':
        return sum((group) => group.sum) / numbers
      case 'min':
        return Math.min(...groups.map(({ least }) => least))
      case 'max':
        return Math.max(...groups.map(({ most }) => most))
      default:
        return groups[0]?.percentiles[0] ?? null
    }
  }
  return { value: value(), calls }
}
