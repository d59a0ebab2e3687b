import { lowerPriority } from '../../threads/priority.ts'
import { serve } from '../../threads/serve.ts'
import type { Show } from './measures.ts'
import { emptyTally, shown } from './tally.ts'

/** 0 is normal, 19 the lowest. */
const niceness = 5

/** Windows of one length, which end at `firstEnd`, then every `stepMs` up to `lastEnd`: milliseconds since 1970. */
export interface Windows extends Record<'firstEnd' | 'lastEnd' | 'stepMs' | 'lengthMs', number> {}

/** The figure of each window, NaN for none, and how many calls it has. */
export interface WindowValues {
  values: Float64Array
  calls: Uint32Array
}

type Entry = readonly [at: number, number: number | null]

lowerPriority(niceness)

const api = {
  /** @param texts the entry of each call as JSON, divided by commas */
  valuesOf(
    texts: readonly string[],
    show: Show,
    { firstEnd, lastEnd, stepMs, lengthMs }: Windows,
  ): WindowValues {
    const all = texts.flatMap((text): Entry[] => JSON.parse(`[${text}]`)).sort(([a], [b]) => a - b)
    const values = new Float64Array(Math.floor((lastEnd - firstEnd) / stepMs) + 1)
    const calls = new Uint32Array(values.length)
    let [first, end]: [number, number] = [0, 0]
    let numbers = new Float64Array()
    for (let index = 0; index < values.length; index++) {
      const to = firstEnd + index * stepMs
      const [left, entered] = [first, end]
      while ((all[end]?.[0] ?? to) < to) end++
      while (first < end && (all[first]?.[0] ?? to) < to - lengthMs) first++
      numbers = moved(numbers, numbersOf(all.slice(left, first)), numbersOf(all.slice(entered, end)))
      const [least = 0, most = 0] = [numbers[0], numbers.at(-1)]
      const sum = numbers.reduce((sum, number) => sum + number, 0)
      const known = { numbers: numbers.length, sum, least, most, sorted: [numbers] }
      calls[index] = end - first
      values[index] = shown(show, { ...emptyTally, calls: end - first, ...known }) ?? Number.NaN
    }
    return { values, calls }
  },
}

export type WindowApi = typeof api

serve(api)

function numbersOf(entries: readonly Entry[]): Float64Array {
  return Float64Array.from(entries.flatMap(([, number]) => number ?? [])).sort()
}

/** Sorted numbers with those that entered, and without those that left. */
function moved(numbers: Float64Array, left: Float64Array, entered: Float64Array): Float64Array<ArrayBuffer> {
  const next = new Float64Array(numbers.length + entered.length - left.length)
  let [at, gone, come] = [0, 0, 0]
  const add = (number: number) => {
    if (number === left[gone]) gone++
    else next[at++] = number
  }
  for (const number of numbers) {
    for (; (entered[come] ?? Number.POSITIVE_INFINITY) < number; come++) add(entered[come] ?? 0)
    add(number)
  }
  for (const number of entered.subarray(come)) add(number)
  return next
}
