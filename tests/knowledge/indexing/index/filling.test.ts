import { expect, test } from 'bun:test'
import { loadAddon } from '../../../../src/knowledge/indexing/index/addon.ts'
import { Filling } from '../../../../src/knowledge/indexing/index/filling.ts'

test('of more waiting vectors than a search compares, it compares the newest', async () => {
  const { hnswlib, reason } = loadAddon()
  if (!hnswlib) throw new Error(reason)
  const filling = new Filling(hnswlib)
  filling.enqueue(Array.from({ length: 3_000 }, (_, label) => label))
  expect(filling.isSearchable).toBe(false)
  const compared: number[][] = []
  const compare = async (labels: readonly number[]) => {
    compared.push([...labels])
    return []
  }
  await filling.search(new Float32Array([1]), 5, compare)
  expect(compared).toEqual([Array.from({ length: 2_048 }, (_, at) => 952 + at)])
})

test('of waiting vectors, a search among some labels compares only these', async () => {
  const { hnswlib, reason } = loadAddon()
  if (!hnswlib) throw new Error(reason)
  const filling = new Filling(hnswlib)
  filling.enqueue([0, 1, 2])
  const vectors = (labels: readonly number[]) =>
    labels.map((label) => ({ label, vector: new Float32Array([1 - label / 10]) }))
  await filling.read(async (labels) => vectors(labels))
  while (filling.pending > 0) filling.add(() => undefined)
  filling.enqueue([3, 4, 5])
  const compare = async (labels: readonly number[]) => labels.map((label) => ({ label, similarity: 2 }))
  const hits = await filling.search(new Float32Array([1]), 2, compare, new Set([1, 2, 4]))
  expect(hits?.map(({ label }) => label)).toEqual([4, 1])
})
