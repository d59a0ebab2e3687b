import { expect, test } from 'bun:test'
import { qualityOf, rankOf } from '../../../../scripts/bench/retrieval/ranks.ts'

test('an item with several hits takes one place, that of its first', () => {
  const hits = ['a', 'a', 'b', 'a', 'c', 'b']
  expect(['a', 'b', 'c', 'd'].map((itemId) => rankOf([itemId], hits))).toEqual([1, 2, 3, null])
  expect(rankOf(['d', 'c', 'b'], hits)).toBe(2)
  expect(rankOf(['a'], [])).toBeNull()
})

test('the first rank counts for hit@1, the first five for hit@5, the first ten for MRR@10', () => {
  expect(qualityOf([1, 2, 5, 6, 10, 11, null, 1])).toEqual({
    hit1: 2 / 8,
    hit5: 4 / 8,
    mrr10: (1 + 1 / 2 + 1 / 5 + 1 / 6 + 1 / 10 + 1) / 8,
  })
})
