import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { shown, sumOf, tallyOf } from '../../../src/calls/figures/tally.ts'

test('a percentile is the number at its place among all', () => {
  const part = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }))
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const all = parts.flat().toSorted((a, b) => a - b)
      const tallies = parts.map((numbers) => tallyOf(Float64Array.from(numbers)))
      for (const [show, percent] of [
        ['p50', 50],
        ['p95', 95],
      ] as const) {
        const expected = all[Math.ceil((percent * all.length) / 100) - 1] ?? null
        expect((shown(show, sumOf(...tallies)) ?? Number.NaN) + 0).toBe((expected ?? Number.NaN) + 0)
      }
    }),
    { numRuns: 500 },
  )
})
