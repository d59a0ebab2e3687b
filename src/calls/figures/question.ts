import type { Interval, Limits } from './comparing/intervals.ts'
import type { MomentsOfGroup } from './moments.ts'
import type { TimeUnit } from './time-groups.ts'

/** By what calls are grouped. */
export type Grouping =
  | { kind: 'time'; unit: TimeUnit; zone: string }
  /** By how many of the bounds, in their order, a number reaches. Calls without one are in no group. */
  | { kind: 'bounds'; column: string; bounds: readonly number[] }
  /**
   * The value of a column, an expression of a row of `calls`, is a group, and so is each entry under a name. Without a
   * column, a call without entries is in the group of null if `hasNone`, else in none, and so is one whose column is null if
   * `isSparse`.
   */
  | { kind: 'value'; column?: string; isSparse?: boolean; entries?: string; hasNone?: boolean }

/** The number of a call: an expression, or what its value or its one entry under a name stands for, by the JSON of it. */
export type Measured =
  | { column: string }
  /** An integer that is never null. */
  | { whole: string }
  | { value: string; numbers: Record<string, number> }
  | { entries: string; numbers?: Record<string, number> }

export interface Question {
  /** `createdAt`, within the scan. */
  from: number
  to: number
  /** Null counts calls. */
  of: Measured | null
  /** None, one or two. */
  by: readonly Grouping[]
  /** By nearest rank. */
  percents: readonly number[]
  /** If set, the answer has moments, and the limits of each percentile. */
  limits?: Limits
  /** A group's name. If set, the answer says how many numbers of each group are between the least and the most of this one. */
  within?: string | null
  /** Whether the newest call of each group is wanted, by its row number. */
  wantsNewest?: boolean
  /** A column of times: with it, the time and the number of each call are wanted as well. */
  listedAt?: string
}

export interface Group {
  /** One for each grouping. */
  names: (string | number | null)[]
  calls: number
  /** How many of them have a number, and what these come to. */
  numbers: number
  sum: number
  least: number
  most: number
  /** In the order of the question. */
  percentiles: number[]
  newest: number
  moments?: MomentsOfGroup
  /** One for each percentile. */
  limits?: Interval[]
  within?: number
}

export interface Answer {
  groups: Group[]
  total: number
  /** `createdAt` of the first and the last call; null without calls. */
  first: number | null
  last: number | null
  isTooMany: boolean
  /** Of which time it is, if a later state may be known; milliseconds since 1970. */
  asOf?: number
  listed?: ListedCalls
}

/** The time and the number of each call, in no order; NaN for a call without a number. */
export type ListedCalls = Record<'at' | 'numbers', Float64Array>
