import { expect, test } from 'bun:test'
import { recallOf } from '../../../../scripts/bench/retrieval/recall.ts'

const query = Float32Array.of(1, 0)

function chunk(position: number, text: string, similarity: number) {
  const vector = Float32Array.of(similarity, Math.sqrt(1 - similarity ** 2))
  return { itemId: 'item', position, text, vector }
}

function hit(position: number, text: string, itemId = 'item') {
  return {
    itemId,
    name: 'Item',
    heading: null,
    text,
    position,
    score: 1,
    matched: { keyword: true, vector: true },
  }
}

const chunks = [chunk(0, 'first', 0.9), chunk(1, 'second', 0.8), chunk(2, 'third', 0.1)]

test('recall is the share of the nearest chunks that were found', () => {
  const recall = (...hits: ReturnType<typeof hit>[]) => recallOf(query, { chunks, hits, neighbours: 2 })
  expect(recall(hit(0, 'first'), hit(1, 'second'))).toBe(1)
  expect(recall(hit(0, 'first'), hit(2, 'third'))).toBe(0.5)
  expect(recall(hit(0, 'first', 'another item'))).toBe(0)
})

test('a hit of joined chunks contains those from its position on', () => {
  const recall = (position: number) =>
    recallOf(query, { chunks, hits: [hit(position, 'first second')], neighbours: 2 })
  expect(recall(0)).toBe(1)
  expect(recall(1)).toBe(0.5)
})

test('equally near chunks are equally right', () => {
  const equal = [chunk(0, 'one', 0.5), chunk(1, 'other', 0.5)]
  expect(recallOf(query, { chunks: equal, hits: [hit(1, 'other')], neighbours: 1 })).toBe(1)
})

test('with fewer chunks than neighbours, all of them count', () => {
  expect(recallOf(query, { chunks, hits: [hit(0, 'first second third')], neighbours: 10 })).toBe(1)
})
