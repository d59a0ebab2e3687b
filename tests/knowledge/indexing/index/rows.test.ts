import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { VectorRows } from '../../../../src/knowledge/indexing/index/rows.ts'
import { Knowledge, labelsOf, randomVector, seededRandom, space } from './knowledge.ts'

const knowledge = await Knowledge.open()
const rows = new VectorRows(knowledge.database.read, space)
const project = await knowledge.addProject()
await project.insertRandom(400)

test('exact search finds the same as comparing every vector', async () => {
  const random = seededRandom(2)
  for (const limit of [1, 5, 50, 1_000]) {
    const query = randomVector(random)
    const hits = await rows.nearest(project.id, query, limit)
    expect(labelsOf(hits)).toEqual(project.nearest(query, limit))
    const similarities = hits.map((hit) => hit.similarity)
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
  }
})

test('with labels, only these are found', async () => {
  const among = project.labels.slice(100, 130)
  const query = randomVector(seededRandom(3))
  const hits = await rows.nearest(project.id, query, 10, among)
  expect(labelsOf(hits)).toEqual(project.nearest(query, 10, among))
})

test('rows of another project, space or length are not compared', async () => {
  const other = await knowledge.addProject()
  const labels = await other.insertRandom(3)
  await other.insert([randomVector(seededRandom(4))], 'another space')
  await other.insert([randomVector(seededRandom(4), 48)])
  const query = randomVector(seededRandom(5))
  const hits = await rows.nearest(other.id, query, 10)
  expect(labelsOf(hits).toSorted((a, b) => a - b)).toEqual(labels)
  expect(await rows.nearest(project.id, query, 10, labels)).toEqual([])
  const ofNoSpace = new VectorRows(knowledge.database.read, 'nothing')
  expect(await ofNoSpace.nearest(project.id, query, 10)).toEqual([])
})

test('without the addon the index searches the rows, and warns about it', async () => {
  const small = await knowledge.addProject()
  await small.insertRandom(50)
  const indexed = knowledge.openIndex()
  await indexed.reconcile(small.id)
  await indexed.close()
  expect(existsSync(knowledge.file(small))).toBe(true)

  knowledge.log.length = 0
  const index = knowledge.openIndex({ exact: true })
  expect(await index.reconcile(small.id)).toEqual({
    projectId: small.id,
    vectors: 0,
    tombstones: 0,
    fileBytes: 0,
  })
  await index.add(small.id, await small.insertRandom(5))
  const gone = small.labels.slice(0, 5)
  await small.delete(gone)
  await index.remove(small.id, gone)
  const query = randomVector(seededRandom(6))
  expect(labelsOf(await index.search(small.id, query, 10))).toEqual(small.nearest(query, 10))
  const among = small.labels.slice(20, 30)
  expect(labelsOf(await index.search(small.id, query, 5, { labels: among }))).toEqual(
    small.nearest(query, 5, among),
  )
  expect(await index.verify(small.id)).toMatchObject({
    problem: null,
    labelsWithoutRow: gone,
    recallAt10: null,
  })
  await index.eraseDeleted(small.id)
  expect(existsSync(knowledge.file(small))).toBe(false)
  await index.rebuild(small.id)
  expect(await index.states()).toEqual([])
  await index.drop(small.id)
  await index.close()
  expect(knowledge.log.map((line) => line.level)).toEqual(['warn'])
})
