import { figureOf, percentsOf, type Show } from './measures.ts'
import type { Group, ListedCalls } from './question.ts'

/** Windows of one length, which end at `firstEnd`, then every `stepMs` up to `lastEnd`: milliseconds since 1970. */
export type Windows = Record<'firstEnd' | 'lastEnd' | 'stepMs' | 'lengthMs', number>

/** Returns the figure of each window, NaN for none, and how many calls it has. */
export function figuresOfWindows(
  { at, numbers }: ListedCalls,
  show: Show,
  { firstEnd, lastEnd, stepMs, lengthMs }: Windows,
) {
  const order = Uint32Array.from(at.keys()).sort((a, b) => (at[a] ?? 0) - (at[b] ?? 0))
  const times = Float64Array.from(order, (call) => at[call] ?? 0)
  const inOrder = Float64Array.from(order, (call) => numbers[call] ?? 0)
  const sorted = (from: number, to: number) =>
    inOrder
      .slice(from, to)
      .filter((number) => !Number.isNaN(number))
      .sort()
  const values = new Float64Array(Math.floor((lastEnd - firstEnd) / stepMs) + 1)
  const calls = new Uint32Array(values.length)
  let [first, end, within]: [number, number, Float64Array] = [0, 0, new Float64Array()]
  for (const index of values.keys()) {
    const to = firstEnd + index * stepMs
    const [left, entered] = [first, end]
    while ((times[end] ?? to) < to) end++
    while (first < end && (times[first] ?? to) < to - lengthMs) first++
    within = moved(within, sorted(left, first), sorted(entered, end))
    calls[index] = end - first
    values[index] = figureOf(show, [groupOf(end - first, within, percentsOf(show))]).value ?? Number.NaN
  }
  return { values, calls }
}

function groupOf(calls: number, sorted: Float64Array, percents: readonly number[]): Group {
  return {
    names: [],
    calls,
    numbers: sorted.length,
    sum: sorted.reduce((sum, number) => sum + number, 0),
    least: sorted[0] ?? Number.POSITIVE_INFINITY,
    most: sorted.at(-1) ?? Number.NEGATIVE_INFINITY,
    percentiles: percents.map(
      (percent) => sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? Number.NaN,
    ),
    newest: 0,
  }
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
