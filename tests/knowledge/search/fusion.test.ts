import { describe, expect, test } from 'bun:test'
import { fuseRanks, type RankedList } from '../../../src/knowledge/search/fusion.ts'
import fc from '../../support/fast-check.ts'

const labels = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 20 })
const weight = fc.double({ min: 0.01, max: 2, noNaN: true })
const lists = fc.array(fc.record({ labels, weight }), { minLength: 1, maxLength: 3 })

const scoreIn = (fused: ReturnType<typeof fuseRanks>, label: number) =>
  fused.find((hit) => hit.label === label)?.score ?? 0

describe('fused ranks', () => {
  test('are those of the list when there is one, whatever its weight', () => {
    for (const weight of [0.07, 1, 5]) {
      const fused = fuseRanks([{ labels: [7, 3, 5], weight }])
      expect(fused.map(({ label }) => label)).toEqual([7, 3, 5])
      expect(fused[0]?.score).toBeCloseTo(1, 12)
      expect(fused[1]?.score).toBeCloseTo(11 / 12, 12)
    }
  })

  test('of no list, or of empty ones, are none', () => {
    expect(fuseRanks([])).toEqual([])
    expect(fuseRanks([{ labels: [], weight: 1 }])).toEqual([])
  })

  test('add up by weight', () => {
    const fused = fuseRanks([
      { labels: [1, 2], weight: 1 },
      { labels: [2, 3], weight: 0.5 },
    ])
    expect(fused.map(({ label }) => label)).toEqual([2, 1, 3])
    expect(scoreIn(fused, 2)).toBeCloseTo((1 / 12 + 0.5 / 11) / (1.5 / 11), 12)
    expect(scoreIn(fused, 1)).toBeCloseTo(1 / 1.5, 12)
    expect(scoreIn(fused, 3)).toBeCloseTo(0.5 / 12 / (1.5 / 11), 12)
  })

  test('put the heavier list first where two lists disagree, and the older label first on a tie', () => {
    const fused = (weight: number) =>
      fuseRanks([
        { labels: [9], weight: 1 },
        { labels: [4], weight },
      ]).map(({ label }) => label)
    expect([fused(0.9), fused(1), fused(1.1)]).toEqual([
      [9, 4],
      [4, 9],
      [4, 9],
    ])
  })

  test('lie above 0 and up to 1, fall, and name each label once', () => {
    fc.assert(
      fc.property(lists, (lists) => {
        const fused = fuseRanks(lists)
        const all = new Set(lists.flatMap(({ labels }) => labels))
        expect(new Set(fused.map(({ label }) => label))).toEqual(all)
        expect(fused.length).toBe(all.size)
        for (const [index, { score }] of fused.entries()) {
          expect(score > 0 && score <= 1 + 1e-12).toBe(true)
          expect(score).toBeLessThanOrEqual(fused[index - 1]?.score ?? 2)
        }
      }),
    )
  })

  test('are 1 for what is first in every list, and for nothing else', () => {
    fc.assert(
      fc.property(lists, (lists) => {
        for (const { label, score } of fuseRanks(lists)) {
          const isFirst = lists.every(({ labels }) => labels[0] === label)
          expect(Math.abs(score - 1) < 1e-9).toBe(isFirst)
        }
      }),
    )
  })

  test('never fall by a better rank', () => {
    fc.assert(
      fc.property(lists, fc.nat(), fc.nat(), (lists, which, at) => {
        const list = lists[which % lists.length]
        const from = list && list.labels.length > 0 ? at % list.labels.length : 0
        const label = list?.labels[from]
        if (!list || label === undefined || from === 0) return
        const better: RankedList = {
          ...list,
          labels: list.labels.with(from, list.labels[from - 1] ?? 0).with(from - 1, label),
        }
        const after = fuseRanks(lists.map((other) => (other === list ? better : other)))
        expect(scoreIn(after, label)).toBeGreaterThan(scoreIn(fuseRanks(lists), label))
      }),
    )
  })
})
