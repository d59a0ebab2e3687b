import { describe, expect, test } from 'bun:test'
import { fuse, nearnessOf, scoreRanks } from '../../../src/knowledge/search/fusion.ts'
import fc from '../../support/fast-check.ts'

const labels = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 20 })
const similarity = fc.integer({ min: -100, max: 99 }).map((hundredths) => hundredths / 100)
const hits = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 90 }), similarity), {
    selector: ([label]) => label,
    maxLength: 60,
  })
  .map((pairs) => pairs.map(([label, similarity]) => ({ label, similarity })))
  .map((found) => found.sort((a, b) => b.similarity - a.similarity))

describe('passages found by meaning and by words', () => {
  test('are those of one list where the other has none', () => {
    const ranked = [
      { label: 7, score: 1 },
      { label: 3, score: 2 / 3 },
      { label: 5, score: 1 / 2 },
    ]
    expect(scoreRanks([7, 3, 5])).toEqual(ranked)
    expect(fuse([], [7, 3, 5])).toEqual(ranked)
    const near = [7, 3, 5].map((label, at) => ({ label, similarity: 0.9 - at / 10 }))
    expect(fuse(near, [])).toEqual(ranked)
    expect(fuse([], [])).toEqual([])
  })

  test('are ordered by how near they are and by their rank by words', () => {
    const near = [
      { label: 1, similarity: 0.8 },
      { label: 2, similarity: 0.7 },
      { label: 3, similarity: 0.2 },
    ]
    const fused = fuse(near, [2, 4])
    // Nearness 0.75, 0.625 and 0; words add 0.3 and 0.2.
    expect(fused.map(({ label }) => label)).toEqual([2, 1, 4, 3])
    const scores = fused.map(({ score }) => score * 1.05)
    for (const [at, score] of [0.925, 0.75, 0.2, 0].entries()) expect(scores[at]).toBeCloseTo(score, 12)
  })

  test('have an order that does not depend on the scale of a model', () => {
    fc.assert(
      fc.property(hits, labels, (near, words) => {
        // Another model: unrelated texts have more in common, and all distances to 1 are a quarter of these.
        const narrow = near.map(({ label, similarity }) => ({ label, similarity: 1 - (1 - similarity) / 4 }))
        const scores = (found: typeof near) =>
          new Map(fuse(found, words).map((hit) => [hit.label, hit.score]))
        const narrowScores = scores(narrow)
        for (const [label, score] of scores(near)) expect(narrowScores.get(label)).toBeCloseTo(score, 6)
      }),
    )
  })

  test('score 0 to 1, fall, and are named once each; what is first in both scores 1', () => {
    fc.assert(
      fc.property(hits, labels, (near, words) => {
        const fused = fuse(near, words)
        const all = new Set([...near.map(({ label }) => label), ...words])
        expect(new Set(fused.map(({ label }) => label))).toEqual(all)
        expect(fused.length).toBe(all.size)
        for (const [index, { label, score }] of fused.entries()) {
          expect(score >= 0 && score <= 1 + 1e-9).toBe(true)
          expect(score).toBeLessThanOrEqual(fused[index - 1]?.score ?? 2)
          if (near[0]?.label === label && words[0] === label) expect(score).toBeCloseTo(1, 9)
        }
      }),
    )
  })
})

describe('nearness', () => {
  test('goes from 0 for the fiftieth passage, or the last one, to 1 for the same direction', () => {
    const near = Array.from({ length: 60 }, (_, at) => ({ label: at, similarity: 1 - at / 100 }))
    const nearness = nearnessOf(near)
    expect(nearness[0]).toBe(1)
    expect(nearness[49]).toBe(0)
    expect(nearness[55]).toBe(0)
    expect(nearnessOf(near.slice(0, 3))).toEqual([1, 0.5, 0].map((value) => expect.closeTo(value, 9)))
    expect(nearnessOf([{ label: 1, similarity: 1 }])).toEqual([0])
    expect(nearnessOf([])).toEqual([])
  })
})
