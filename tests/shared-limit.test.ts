import { describe, expect, test } from 'bun:test'
import { type Party, SharedLimit } from '../src/shared-limit.ts'
import fc from './support/fast-check.ts'

const [one, two, three] = [1, 2, 3]
const limit = (max = 100, ofUnverified = 5) => new SharedLimit({ max, ofUnverified })

/** Takes one at a time while there is room; returns how many. */
function fill(shared: SharedLimit, party: Party): number {
  let taken = 0
  for (; shared.hasRoom(party); taken++) shared.add(party)
  return taken
}

describe('a limit that many share', () => {
  test('gives a project alone three quarters, so that the next one has room', () => {
    const shared = limit()
    expect(fill(shared, one)).toBe(75)
    expect(fill(shared, two)).toBe(25)
  })

  test('gives a project half while another holds some, and more again when it is alone', () => {
    const shared = limit()
    shared.add(two)
    expect(fill(shared, one)).toBe(50)
    shared.add(two, -1)
    expect(fill(shared, one)).toBe(25)
    shared.add(three)
    expect(shared.hasRoom(one)).toBe(false)
    shared.add(one, -30)
    expect(fill(shared, one)).toBe(5)
  })

  test('gives two bodies of a quarter each to one project, whatever others hold', () => {
    const shared = limit()
    shared.add(two)
    shared.add(one, 25)
    expect(shared.hasRoom(one, 25)).toBe(true)
  })

  test('gives each stranger a small part, alone too', () => {
    const shared = limit()
    expect([fill(shared, 'network a'), fill(shared, 'network b')]).toEqual([5, 5])
    expect(fill(shared, one)).toBe(50)
  })

  test('is never exceeded, and has all its room again once everything is given back', () => {
    const taken = fc.record({ party: fc.constantFrom<Party>(1, 2, 3, 'a', 'b'), amount: fc.nat({ max: 60 }) })
    fc.assert(
      fc.property(fc.array(taken, { maxLength: 50 }), (wanted) => {
        const shared = limit()
        const given = wanted.filter(({ party, amount }) => {
          const isGiven = shared.hasRoom(party, amount)
          if (isGiven) shared.add(party, amount)
          return isGiven
        })
        expect(shared.total).toBeLessThanOrEqual(100)
        expect(shared.total).toBe(given.reduce((sum, { amount }) => sum + amount, 0))
        for (const { party, amount } of given) shared.add(party, -amount)
        expect([shared.total, fill(shared, 3)]).toEqual([0, 75])
      }),
    )
  })
})
