import { type SQL, sql } from 'drizzle-orm'
import { calls } from '../../db/schema.ts'
import { analysisPrefix, criterionPrefix, prefixOf } from '../filters.ts'
import { isUnder, toValue } from '../finding/call-values.ts'
import { anyOf } from '../finding/conditions.ts'

const ofNumbers = ['sum', 'avg', 'min', 'max', 'p50', 'p95'] as const
export const shows = ['count', 'share', ...ofNumbers] as const
export type Show = (typeof shows)[number]

/** What figures are made of. */
export interface Measure {
  /** What can be shown of it. */
  shows: readonly [Show, ...Show[]]
  /** The number of a row of `calls`, or null if it has none. A share is the average of zeros and ones. */
  number: SQL
}

/** By name. Beside them there are `analysis.KEY` and `criterion.ID`. */
export const measures = {
  calls: { shows: ['count'], number: sql`null` },
  duration: { shows: ofNumbers, number: sql`case when calls.status = 'completed' then calls.duration end` },
  costUsd: { shows: ofNumbers, number: sql`${calls.costUsd}` },
  latencyMs: { shows: ofNumbers, number: sql`${calls.latencyMs}` },
  success: {
    shows: ['share'],
    number: oneOrZero(sql`calls.evaluation = 'success'`, sql`calls.evaluation = 'fail'`),
  },
} satisfies Record<string, Measure>

/** @returns undefined for an unknown name */
export function measureOf(name: string): Measure | undefined {
  switch (prefixOf(name)) {
    case analysisPrefix:
      return { shows: ofNumbers, number: numberUnder(name) }
    case criterionPrefix: {
      const is = (verdict: string) => anyOf([toValue(name, verdict)]).check
      return { shows: ['share'], number: oneOrZero(is('pass'), is('fail')) }
    }
    default:
      return Object.entries(measures).find(([known]) => known === name)?.[1]
  }
}

function oneOrZero(isOne: SQL, isZero: SQL): SQL {
  return sql`case when ${isOne} then 1 when ${isZero} then 0 end`
}

/** Read from what the call is found by, so that the call of each number is found by it. */
function numberUnder(name: string): SQL {
  const isNumber = sql`json_type(entry.value, '$[1]') in ('integer', 'real')`
  return sql`(select case when ${isNumber} then entry.value ->> 1 end from json_each(calls.value_list) as entry
    where ${isUnder(sql`entry.value`, name)})`
}
