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
  await filling.search(new Float32Array([1]), 5, async (labels) => {
    compared.push([...labels])
    return []
  })
  expect(compared).toEqual([Array.from({ length: 2_048 }, (_, at) => 952 + at)])
})
