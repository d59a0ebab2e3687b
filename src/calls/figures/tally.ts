import { type SQL, sql } from 'drizzle-orm'
import type { Show } from './measures.ts'

/** What is known of some calls. */
export interface Tally {
  calls: number
  /** How many of them have a number, and what these are. */
  numbers: number
  sum: number
  least: number
  most: number
  /** All numbers in any order, if a percentile is to be shown. */
  ranked: readonly Float64Array[]
}

export const emptyTally: Tally = {
  calls: 0,
  numbers: 0,
  sum: 0,
  least: Number.POSITIVE_INFINITY,
  most: Number.NEGATIVE_INFINITY,
  ranked: [],
}

/** Columns of a query that groups rows with a `number`: no more than are needed, since each takes a tenth of the time. */
export function tallyColumns(show: Show) {
  const of = (isNeeded: boolean, column: SQL) => (isNeeded ? column : sql`null`)
  // With fewer digits, a number would come back as another one.
  const all = sql`group_concat(printf('%!.17g', number)) filter (where number is not null)`
  return {
    calls: sql<number>`count(*)`,
    numbers: sql<number>`count(number)`,
    sum: sql<number | null>`${of(show === 'sum' || show === 'avg' || show === 'share', sql`sum(number)`)}`,
    least: sql<number | null>`${of(show === 'min', sql`min(number)`)}`,
    most: sql<number | null>`${of(show === 'max', sql`max(number)`)}`,
    ranked: sql<string | null>`${of(show in ranks, all)}`,
  }
}

export interface TallyRow {
  calls: number
  numbers: number
  sum: number | null
  least?: number | null
  most?: number | null
  ranked?: string | null
}

export function toTally({ calls, numbers, sum, least, most, ranked }: TallyRow): Tally {
  return {
    calls,
    numbers,
    sum: sum ?? emptyTally.sum,
    least: least ?? emptyTally.least,
    most: most ?? emptyTally.most,
    ranked: ranked ? [Float64Array.from(JSON.parse(`[${ranked}]`) as number[])] : [],
  }
}

/** @param all one for each call; NaN for a call without one */
export function tallyOf(all: Float64Array): Tally {
  let [numbers, sum, least, most] = [0, emptyTally.sum, emptyTally.least, emptyTally.most]
  for (const number of all) {
    if (Number.isNaN(number)) continue
    numbers++
    sum += number
    if (number < least) least = number
    if (number > most) most = number
  }
  const ranked = numbers === all.length ? all : all.filter((number) => !Number.isNaN(number))
  return { calls: all.length, numbers, sum, least, most, ranked: [ranked] }
}

export function sumOf(...tallies: Tally[]): Tally {
  const sum = { ...emptyTally, ranked: tallies.flatMap(({ ranked }) => ranked) }
  for (const { calls, numbers, sum: own, least, most } of tallies) {
    sum.calls += calls
    sum.numbers += numbers
    sum.sum += own
    sum.least = Math.min(sum.least, least)
    sum.most = Math.max(sum.most, most)
  }
  return sum
}

/** What is shown of the calls; null for the value of no numbers. */
export function shown(show: Show, tally: Tally): number | null {
  const { calls, numbers, sum, least, most } = tally
  if (show === 'count') return calls
  if (numbers === 0) return null
  switch (show) {
    case 'sum':
      return sum
    case 'avg':
    case 'share':
      return sum / numbers
    case 'min':
      return least
    case 'max':
      return most
    case 'p50':
    case 'p95':
      return nearestRank(tally, ranks[show])
    default:
      return show satisfies never
  }
}

/** In percent. */
const ranks = { p50: 50, p95: 95 }

/** The least number that so many percent of all numbers do not exceed. */
function nearestRank({ ranked }: Tally, percent: number): number | null {
  const count = ranked.reduce((sum, { length }) => sum + length, 0)
  const numbers = new Float64Array(count)
  let at = 0
  for (const part of ranked) {
    numbers.set(part, at)
    at += part.length
  }
  return smallest(numbers, Math.ceil((percent * count) / 100) - 1)
}

/** The number that would stand at this place if they were sorted: https://en.wikipedia.org/wiki/Quickselect */
function smallest(numbers: Float64Array, place: number): number | null {
  let [low, high] = [0, numbers.length - 1]
  while (low < high) {
    const pivot = numbers[(low + high) >> 1] ?? 0
    let [left, right] = [low, high]
    while (left <= right) {
      while ((numbers[left] ?? pivot) < pivot) left++
      while ((numbers[right] ?? pivot) > pivot) right--
      if (left > right) break
      const [a = 0, b = 0] = [numbers[left], numbers[right]]
      numbers[left++] = b
      numbers[right--] = a
    }
    if (place <= right) high = right
    else if (place >= left) low = left
    else break
  }
  return numbers[place] ?? null
}
