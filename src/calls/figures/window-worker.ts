import { serve } from '../../threads/serve.ts'
import type { Show } from './measures.ts'
import { emptyTally, shown } from './tally.ts'

/** Windows of one length, which end at `firstEnd`, then every `stepMs` up to `lastEnd`: milliseconds since 1970. */
export type Windows = Record<'firstEnd' | 'lastEnd' | 'stepMs' | 'lengthMs', number>

type Entry = readonly [at: number, number: number | null]

const api = {
  /**
   * The figure of each window, NaN for none, and how many calls it has.
   * @param texts the entry of each call as JSON, divided by commas
   */
  valuesOf(texts: readonly string[], show: Show, { firstEnd, lastEnd, stepMs, lengthMs }: Windows) {
    const all = texts.flatMap((text): Entry[] => JSON.parse(`[${text}]`)).sort(([a], [b]) => a - b)
    const values = new Float64Array(Math.floor((lastEnd - firstEnd) / stepMs) + 1)
    const calls = new Uint32Array(values.length)
    let [first, end, numbers]: [number, number, Float64Array] = [0, 0, new Float64Array()]
    for (const index of values.keys()) {
      const to = firstEnd + index * stepMs
      const [left, entered] = [first, end]
      while ((all[end]?.[0] ?? to) < to) end++
      while (first < end && (all[first]?.[0] ?? to) < to - lengthMs) first++
      numbers = moved(numbers, sorted(all.slice(left, first)), sorted(all.slice(entered, end)))
      const [least = 0, most = 0] = [numbers[0], numbers.at(-1)]
      const sum = numbers.reduce((sum, number) => sum + number, 0)
      const tally = { calls: end - first, numbers: numbers.length, sum, least, most }
      calls[index] = tally.calls
      values[index] = shown(show, { ...emptyTally, ...tally, sorted: [numbers] }) ?? Number.NaN
    }
    return { values, calls }
  },
}

export type WindowApi = typeof api

serve(api)

function sorted(entries: readonly Entry[]): Float64Array {
  return Float64Array.from(entries.flatMap(([, number]) => number ?? [])).sort()
}

/** Sorted numbers with those that entered, and without those that left. */
function moved(numbers: Float64Array, left: Float64Array, entered: Float64Array): Float64Array {
  const next = new Float64Array(numbers.length + entered.length - left.length)
  let [at, gone, come] = [0, 0, 0]
  const add = (number: number) => {
    if (number === left[gone]) gone++
    else next[at++] = number
  }
  for (const number of numbers) {
    for (; (entered[come] ?? number) < number; come++) add(entered[come] ?? 0)
    add(number)
  }
  for (const number of entered.subarray(come)) add(number)
  return next
}
