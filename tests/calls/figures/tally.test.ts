import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { shown, sortedTally, sumOf, tallyOf } from '../../../src/calls/figures/tally.ts'

test('a percentile is the number at its place among all, whichever parts are sorted', () => {
  const part = fc.record({
    numbers: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })),
    isSorted: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(part), fc.boolean(), (parts, areAll) => {
      const all = parts.flatMap(({ numbers }) => numbers).toSorted((a, b) => a - b)
      const tallies = parts.map(({ numbers, isSorted }) => {
        const tally = tallyOf(Float64Array.from(numbers))
        return isSorted || areAll ? sortedTally(tally) : tally
      })
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
