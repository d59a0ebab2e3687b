import { describe, expect, test } from 'bun:test'
import { firstMover } from '../../../src/console/ui/views/overview/changes.ts'
import fc from '../../support/fast-check.ts'

type Groups = Parameters<typeof firstMover>[0]
const groups = (of: Record<string, [value: number | null, calls: number]>): Groups =>
  Object.entries(of).map(([key, [value, calls]]) => ({ key, value, calls }))

describe('what changed a figure most', () => {
  test('of a sum is the group whose part changed most, in the direction of the whole', () => {
    const before = groups({ desk: [4, 9], night: [1, 3] })
    const now = groups({ desk: [1, 2], night: [6, 8] })
    expect(firstMover(now, before, { value: 7, before: 5 }, 'sum')).toEqual({
      group: 'night',
      value: 6,
      before: 1,
    })
    expect(firstMover(before, now, { value: 5, before: 7 }, 'sum')).toMatchObject({ group: 'night' })
  })

  test('is a new group, or one that is gone', () => {
    const [one, two] = [groups({ desk: [4, 9] }), groups({ desk: [4, 9], night: [6, 1] })]
    expect(firstMover(two, one, { value: 10, before: 4 }, 'sum')).toEqual({
      group: 'night',
      value: 6,
      before: null,
    })
    expect(firstMover(one, two, { value: 4, before: 10 }, 'sum')).toMatchObject({
      group: 'night',
      value: null,
    })
  })

  test('of a percentile is a group of many calls that became a little slower, not one call that became much slower', () => {
    const before = groups({ desk: [800, 900], night: [800, 100], odd: [null, 4] })
    const now = groups({ desk: [1_000, 900], night: [1_200, 100], odd: [null, 4] })
    expect(firstMover(now, before, { value: 1_050, before: 800 }, 'p95')).toMatchObject({ group: 'desk' })
  })

  test('is nothing where nothing changed, nothing was before, or there is one group', () => {
    const some = groups({ desk: [4, 9], night: [1, 3] })
    expect(firstMover(some, some, { value: 5, before: 5 }, 'sum')).toBeNull()
    expect(firstMover(some, [], { value: 5, before: null }, 'sum')).toBeNull()
    const one = groups({ desk: [9, 9] })
    expect(firstMover(one, groups({ desk: [4, 9] }), { value: 9, before: 4 }, 'sum')).toBeNull()
  })

  test('of an average explains at least an even part of its change', () => {
    const period = fc.array(
      fc.record({ value: fc.integer({ min: 0, max: 99 }), calls: fc.integer({ min: 1, max: 50 }) }),
      { minLength: 2, maxLength: 6 },
    )
    fc.assert(
      fc.property(period, period, (first, second) => {
        const keyed = (rows: typeof first) => rows.map((row, at) => ({ key: String(at), ...row }))
        const average = (rows: typeof first) =>
          rows.reduce((sum, { value, calls }) => sum + value * calls, 0) /
          rows.reduce((sum, { calls }) => sum + calls, 0)
        const whole = { value: average(second), before: average(first) }
        const change = whole.value - whole.before
        const mover = firstMover(keyed(second), keyed(first), whole, 'avg')
        if (Math.abs(change) < 1e-9) return
        const part = (rows: typeof first) => {
          const { value = whole.before, calls = 0 } = rows[Number(mover?.group)] ?? {}
          return ((value - whole.before) * calls) / rows.reduce((sum, row) => sum + row.calls, 0)
        }
        const moved = part(second) - part(first)
        expect(moved / change).toBeGreaterThanOrEqual(1 / Math.max(first.length, second.length) - 1e-9)
      }),
    )
  })
})
