import { describe, expect, test } from 'bun:test'
import {
  newcombe,
  quantileLimits,
  welch,
  wilson,
  zOf,
} from '../../../src/calls/figures/comparing/intervals.ts'
import { Moments } from '../../../src/calls/figures/moments.ts'

const z = zOf(0.95)
const share = (ones: number, numbers: number) => ({
  value: ones / numbers,
  ...wilson(ones / numbers, numbers, z),
})
const sampleOf = (numbers: readonly number[]) => {
  const moments = new Moments()
  moments.add(numbers, Int32Array.from(numbers.keys()), new Int32Array(numbers.length), numbers.length)
  return { numbers: numbers.length, mean: 0, squares: 0, cubes: 0, ...moments.of(0) }
}

test('a level is as many standard errors as tables of the normal distribution say', () => {
  expect(zOf(0.95)).toBeCloseTo(1.959964, 6)
  expect(zOf(0.9)).toBeCloseTo(1.644854, 6)
  expect(zOf(0.99)).toBeCloseTo(2.575829, 6)
  expect(zOf(0.9999)).toBeCloseTo(3.890592, 6)
})

// Newcombe, "Two-sided confidence intervals for the single proportion", table I, method 3.
test.each([
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])('the share %d of %d is between %d and %d', (ones, numbers, low, high) => {
  const interval = wilson(ones / numbers, numbers, z)
  expect([interval.low, interval.high].map((limit) => Number(limit.toFixed(4)))).toEqual([low, high])
})

// Newcombe, "Interval estimation for the difference between independent proportions", table II, method 10.
test.each([
  [56, 70, 48, 80, 0.0524, 0.3339],
  [9, 10, 3, 10, 0.1705, 0.809],
  [6, 7, 2, 7, 0.0582, 0.8062],
  [5, 56, 0, 29, -0.0381, 0.1926],
  [0, 10, 0, 20, -0.1611, 0.2775],
  [0, 10, 0, 10, -0.2775, 0.2775],
  [10, 10, 0, 20, 0.6791, 1],
  [10, 10, 0, 10, 0.6075, 1],
])('%d/%d − %d/%d is between %d and %d', (ofB, b, ofA, a, low, high) => {
  const interval = newcombe(share(ofA, a), share(ofB, b))
  expect([interval.low, interval.high].map((limit) => Number(limit.toFixed(4)))).toEqual([low, high])
})

describe('a quantile', () => {
  test('is between the numbers at the limits of its share, interpolated', () => {
    const numbers = Array.from({ length: 99 }, (_, at) => at + 1)
    const { low, high } = wilson(0.5, 99, z)
    const limits = quantileLimits(0.5, 99, z, (place) => numbers[place])
    expect(limits.low).toBeCloseTo(100 * low, 9)
    expect(limits.high).toBeCloseTo(100 * high, 9)
  })

  test('has no limit beyond the numbers that there are', () => {
    const limits = quantileLimits(0.95, 20, z, (place) => (place < 20 ? place : undefined))
    expect(limits).toEqual({ low: expect.any(Number), high: Number.POSITIVE_INFINITY })
  })
})

describe('averages', () => {
  test('differ by an interval of Student’s t with the degrees of freedom of Welch', () => {
    // R: t.test(b, a) of a <- 1:30, b <- seq(6, 64, by = 2).
    const a = sampleOf(Array.from({ length: 30 }, (_, at) => at + 1))
    const b = sampleOf(Array.from({ length: 30 }, (_, at) => 6 + 2 * at))
    const error = Math.sqrt((77.5 + 310) / 30)
    const freedom = (29 * (77.5 + 310) ** 2) / (77.5 ** 2 + 310 ** 2)
    expect(freedom).toBeCloseTo(42.647, 3)
    // qt(0.975, 42.647) is 2.01716.
    const { low = 0, high = 0 } = welch(a, b, 0.95) ?? {}
    expect((low + high) / 2).toBeCloseTo(19.5, 9)
    expect((high - low) / 2 / error).toBeCloseTo(2.01716, 4)
  })

  test('of equal numbers have no spread, whatever their rounding', () => {
    const [few, many] = [sampleOf(Array(30).fill(0.1)), sampleOf(Array(70_000).fill(0.1))]
    expect(welch(few, many, 0.95)).toEqual({ low: 0, high: 0 })
  })

  test('of groups of different size have no interval where few very large numbers decide', () => {
    const skewed = (numbers: number) =>
      sampleOf(Array.from({ length: numbers }, (_, at) => (at % 50 === 0 ? 1_000 : 1)))
    expect(welch(skewed(4_000), skewed(100), 0.95)).toBeNull()
    expect(welch(skewed(100), skewed(4_000), 0.95)).toBeNull()
    expect(welch(skewed(400), skewed(400), 0.95)).not.toBeNull()
  })

  test('have moments that do not lose digits to a large average', () => {
    const { mean, squares, cubes } = sampleOf([1e9 + 1, 1e9 + 2, 1e9 + 6])
    expect([mean - 1e9, squares, cubes]).toEqual([3, 14, 18])
  })
})
