import { expect, test } from 'bun:test'
import { readServerTiming } from '../../../../scripts/bench/retrieval/server-timing.ts'

test('durations are read by name', () => {
  expect(
    readServerTiming('keyword;dur=0.8, vector;dur=1.2,fusion; desc="ranks"; dur=0.3 ,total;dur="2.5"'),
  ).toEqual({ keyword: 0.8, vector: 1.2, fusion: 0.3, total: 2.5 })
})

test('a missing header and parts without a duration give nothing', () => {
  expect(readServerTiming(null)).toEqual({})
  expect(readServerTiming('')).toEqual({})
  expect(readServerTiming('hit, miss;desc="cold"')).toEqual({})
})
