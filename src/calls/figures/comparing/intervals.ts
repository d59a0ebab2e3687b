import type { MomentsOfGroup } from '../moments.ts'

// The mathematics of comparing two groups of calls. It draws no random numbers: the same numbers give the same interval.

/** Between which numbers a figure, or the difference of two, is at a level of confidence. */
export type Interval = Record<'low' | 'high', number>

/** A figure of a group. */
type Estimate = Interval & { value: number }
type Sample = MomentsOfGroup & { numbers: number }

/** How sure the intervals of groups that are compared with one of them are together: so many of each, and of the largest groups alone. */
export type Limits = Record<'confidence' | 'intervals' | 'comparisonsMax', number>

/** The level of each interval, by Bonferroni. @param groups with the one that the others are compared with */
export function levelOf({ confidence, intervals, comparisonsMax }: Limits, groups: number): number {
  return 1 - (1 - confidence) / (intervals * Math.min(Math.max(groups - 1, 1), comparisonsMax))
}

/** Above it, what is skewed makes Welch's interval too narrow: measured with 10,000 splits of equal calls. */
const skewMax = 0.2

/** How many standard errors an interval reaches to each side at a level of 0 to 1. */
export function zOf(level: number): number {
  return normalQuantile((1 + level) / 2)
}

/** The interval of a share: Wilson, 1927. */
export function wilson(share: number, numbers: number, z: number): Interval {
  const square = z ** 2
  const width = 1 + square / numbers
  const middle = (share + square / (2 * numbers)) / width
  const half = (z * Math.sqrt((share * (1 - share)) / numbers + square / (4 * numbers ** 2))) / width
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) }
}

/**
 * The interval of a quantile: the numbers at the limits of its share (Woodruff, 1952), interpolated between two where
 * the share is at `share · (numbers + 1)`. Infinite where a limit is beyond the numbers.
 * @param numberAt of all that are sorted, from 0
 */
export function quantileLimits(
  quantile: number,
  numbers: number,
  z: number,
  numberAt: (place: number) => number | undefined,
): Interval {
  const { low, high } = wilson(quantile, numbers, z)
  const at = (share: number, beyond: number) => {
    const place = share * (numbers + 1) - 1
    const before = Math.floor(place)
    const first = numberAt(before)
    if (first === undefined || place > numbers - 1) return beyond
    const second = numberAt(before + 1) ?? first
    return first + (second - first) * (place - before)
  }
  return { low: at(low, Number.NEGATIVE_INFINITY), high: at(high, Number.POSITIVE_INFINITY) }
}

/** The interval of b − a by those of both: method 10 of Newcombe, Statistics in Medicine 17, 1998. */
export function newcombe(a: Estimate, b: Estimate): Interval {
  const difference = b.value - a.value
  return {
    low: difference - Math.hypot(b.value - b.low, a.high - a.value),
    high: difference + Math.hypot(b.high - b.value, a.value - a.low),
  }
}

/** The interval of the difference b − a of averages: Welch, 1947. Null where few very large numbers decide it. */
export function welch(a: Sample, b: Sample, level: number): Interval | null {
  const difference = b.mean - a.mean
  const [ofA, ofB] = [a, b].map(({ squares, numbers }) => squares / (numbers - 1) / numbers) as [
    number,
    number,
  ]
  const variance = ofA + ofB
  if (variance === 0) return { low: difference, high: difference }
  if (unevenness(a, b) > skewMax) return null
  const freedom = variance ** 2 / (ofA ** 2 / (a.numbers - 1) + ofB ** 2 / (b.numbers - 1))
  const half = studentQuantile((1 + level) / 2, freedom) * Math.sqrt(variance)
  return { low: difference - half, high: difference + half }
}

/** How skewed the difference of two averages is, if both groups are of the same calls. */
function unevenness(a: Sample, b: Sample): number {
  const numbers = a.numbers + b.numbers
  const mean = (a.mean * a.numbers + b.mean * b.numbers) / numbers
  let [squares, cubes] = [0, 0]
  for (const sample of [a, b]) {
    const off = sample.mean - mean
    squares += sample.squares + sample.numbers * off ** 2
    cubes += sample.cubes + 3 * off * sample.squares + sample.numbers * off ** 3
  }
  const skewness = cubes / numbers / (squares / numbers) ** 1.5
  const sizes = (1 / b.numbers ** 2 - 1 / a.numbers ** 2) / (1 / a.numbers + 1 / b.numbers) ** 1.5
  return Math.abs(skewness * sizes)
}

/** Of Student's t; Cornish and Fisher, as in Abramowitz and Stegun 26.7.5: right from 8 degrees of freedom on. */
function studentQuantile(share: number, freedom: number): number {
  const z = normalQuantile(share)
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  )
}

/** Acklam's approximation, off by at most a billionth. @param share above 0.5 */
function normalQuantile(share: number): number {
  const tailFrom = 0.97575
  if (share > tailFrom) {
    const q = Math.sqrt(-2 * Math.log(1 - share))
    return -polynomial(tail.above, q) / polynomial(tail.below, q)
  }
  const q = share - 0.5
  return (q * polynomial(center.above, q ** 2)) / polynomial(center.below, q ** 2)
}

const center = {
  above: [
    -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
    2.506628277459239,
  ],
  below: [
    -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572, 1,
  ],
}
const tail = {
  above: [
    -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
    2.938163982698783,
  ],
  below: [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1],
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0)
}
