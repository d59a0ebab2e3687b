import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { openReader } from '../../../../src/db/reader.ts'
import {
  type HierarchicalNSW,
  type LoadedAddon,
  loadAddon,
} from '../../../../src/knowledge/indexing/index/addon.ts'
import { Indexes } from '../../../../src/knowledge/indexing/index/indexes.ts'
import { until } from '../../../support/until.ts'
import {
  bytesOf,
  dimensions,
  Knowledge,
  labelsOf,
  type Project,
  randomVector,
  seededRandom,
  space,
} from './knowledge.ts'

const idleMs = 60_000
const query = randomVector(seededRandom(3))
/** More than are compared without a graph. */
const many = 300

let now = 0

const knowledge = await Knowledge.open()

test('no index is loaded before it is searched, and small projects need none', async () => {
  const projects: Project[] = []
  for (let n = 0; n < 200; n++) {
    const project = await knowledge.addProject()
    await project.insertRandom(n === 0 ? many : 2)
    projects.push(project)
  }
  const [large] = projects
  if (!large) throw new Error('no project')
  await saved(projects)

  const { indexes, loads } = open()
  expect(await indexes.states()).toEqual([])
  for (const project of projects)
    expect(labelsOf(await indexes.search(project.id, query, 5))).toEqual(project.nearest(query, 5))
  expect(await loaded(indexes)).toEqual([large.id])
  expect(loads()).toBe(1)
  await indexes.close()
})

test('an index is freed after the idle time, and loaded again by the next search', async () => {
  const [first, second] = [await knowledge.addProject(), await knowledge.addProject()]
  for (const project of [first, second]) await project.insertRandom(many)
  await saved([first, second])
  const { indexes, loads } = open()
  await indexes.search(first.id, query, 5)
  now += idleMs - 1
  await indexes.search(second.id, query, 5)
  expect(indexes.freeUnused()).toBe(1)
  expect(await loaded(indexes)).toEqual([first.id, second.id])
  now += 1
  expect(indexes.freeUnused()).toBe(idleMs - 1)
  expect(await loaded(indexes)).toEqual([second.id])
  now += idleMs
  expect(indexes.freeUnused()).toBeNull()
  expect(loads()).toBe(2)

  const [gone = 0] = first.labels
  await first.delete([gone])
  await indexes.remove(first.id, [gone])
  expect(labelsOf(await indexes.search(first.id, query, many))).toEqual(first.nearest(query, many))
  expect(loads()).toBe(3)
  await indexes.close()
})

test('beyond the memory budget, the least recently used index is freed', async () => {
  const projects = [await knowledge.addProject(), await knowledge.addProject(), await knowledge.addProject()]
  for (const project of projects) await project.insertRandom(many)
  await saved(projects)
  const [first = 0, second = 0, third = 0] = projects.map(({ id }) => id)
  const { indexes } = open({ memoryBytesMax: 2.5 * many * (dimensions * 4 + 300) })
  for (const id of [first, second, first, third]) await indexes.search(id, query, 5)
  indexes.freeUnused()
  expect(await loaded(indexes)).toEqual([first, third])
  await indexes.close()
})

test('an index with unsaved changes stays in memory until they are saved', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(many)
  const { indexes } = open()
  await indexes.reconcile(project.id)
  now += 2 * idleMs
  indexes.freeUnused()
  expect(await loaded(indexes)).toEqual([project.id])
  await indexes.eraseDeleted(project.id)
  now += 2 * idleMs
  indexes.freeUnused()
  expect(await loaded(indexes)).toEqual([])
  expect((await indexes.verify(project.id)).fileVectors).toBe(many)
  await indexes.close()
})

test('the file of a small project has its vectors, and its index leaves memory', async () => {
  const project = await knowledge.addProject()
  const { indexes } = open()
  await indexes.add(project.id, await project.insertRandom(3))
  await indexes.eraseDeleted(project.id)
  await until(async () => (await indexes.states()).length === 0)
  const [gone = 0, kept = 0] = project.labels
  const vectors = [gone, kept].map((label) => bytesOf(project.vectors.get(label) ?? new Float32Array()))
  const held = () => vectors.map((vector) => readFileSync(knowledge.file(project)).includes(vector))
  expect(held()).toEqual([true, true])

  await project.delete([gone])
  await indexes.remove(project.id, [gone])
  await indexes.eraseDeleted(project.id)
  expect(held()).toEqual([false, true])
  await until(async () => (await indexes.states()).length === 0)
  await indexes.close()
})

test('following a version reads a file that is behind it, and no other', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(many)
  await saved([project])
  const { indexes, loads } = open()
  await indexes.follow(project.id, 1)
  expect(loads()).toBe(0)
  const gone = project.labels.slice(0, 2)
  await project.delete(gone)
  await indexes.follow(project.id, 2)
  expect(loads()).toBe(1)
  expect(await indexes.verify(project.id)).toMatchObject({ fileVectors: many - 2, labelsWithoutRow: [] })
  await indexes.close()
})

test('a process that does not own the folder loads an index only to search it', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(many)
  await saved([project])
  const { ino } = statSync(knowledge.file(project))
  const { indexes, loads } = open({ savesFiles: false })
  await indexes.add(project.id, await project.insertRandom(5))
  await indexes.follow(project.id, 2)
  await indexes.eraseDeleted(project.id)
  expect(loads()).toBe(0)
  expect(labelsOf(await indexes.search(project.id, query, 20))).toEqual(project.nearest(query, 20))
  expect(loads()).toBe(1)
  now += idleMs
  // It is freed once the vectors that its file lacks are added.
  await until(async () => {
    indexes.freeUnused()
    return (await loaded(indexes)).length === 0
  })
  await indexes.close()
  expect(statSync(knowledge.file(project)).ino).toBe(ino)
})

test('searches that meet while an index is loaded share the load', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(many)
  await saved([project])
  const { indexes, loads } = open()
  const searches = Array.from({ length: 8 }, () => indexes.search(project.id, query, 10))
  for (const hits of await Promise.all(searches)) expect(labelsOf(hits)).toEqual(project.nearest(query, 10))
  expect(loads()).toBe(1)
  await indexes.close()
})

test('of many labels, the graph finds the nearest, unless they are so far that comparing each is quicker', async () => {
  const [project, other] = [await knowledge.addProject(), await knowledge.addProject()]
  await other.insertRandom(5)
  await project.insertRandom(1_200)
  const among = project.labels.filter((label) => label % 3 === 0)
  // The farthest ones, before which the graph finds all others.
  const far = project.nearest(query, 1_200).slice(-150)
  const { indexes, searches } = open({ comparedLabelsMax: 100 })
  await indexes.reconcile(project.id)
  for (const [labels, searchesBefore] of [
    [among, 0],
    [far, 1],
    [among.slice(0, 90), 2],
  ] as const) {
    expect(searches()).toBe(searchesBefore)
    const hits = await indexes.search(project.id, query, 10, { labels: [...labels, ...other.labels] })
    expect(labelsOf(hits)).toEqual(project.nearest(query, 10, [...labels]))
  }
  // Few labels are compared one by one without the graph.
  expect(searches()).toBe(2)
  await indexes.close()
})

test('labels that were compared before are found as they are now: some deleted, some new, none of another project', async () => {
  const [project, other] = [await knowledge.addProject(), await knowledge.addProject()]
  await other.insertRandom(5)
  const labels = await project.insertRandom(60)
  const next = Math.max(...labels) + 1
  const { indexes } = open()
  const among = [next, ...other.labels, ...labels]
  const found = async () => labelsOf(await indexes.search(project.id, query, 10, { labels: among }))
  for (let time = 0; time < 2; time++) expect(await found()).toEqual(project.nearest(query, 10))
  // What another process commits, it does not tell.
  await project.delete(project.nearest(query, 1))
  expect(await found()).toEqual(project.nearest(query, 10))
  expect(await project.insert([query])).toEqual([next])
  expect(await found()).toEqual([next, ...project.nearest(query, 9, labels)])
  await indexes.close()
})

/** Indexes on this thread, with the test's clock. `loads` counts the files that hnswlib has read. */
function open(options: Partial<ConstructorParameters<typeof Indexes>[2]> = {}) {
  let [loads, searches] = [0, 0]
  const { hnswlib, reason } = loadAddon()
  if (!hnswlib) throw new Error(reason)
  class CountedGraph extends hnswlib.HierarchicalNSW {
    override readIndex(file: string) {
      loads++
      return super.readIndex(file)
    }
    override searchKnn(...args: Parameters<HierarchicalNSW['searchKnn']>) {
      searches++
      return super.searchKnn(...args)
    }
  }
  const addon: LoadedAddon = { hnswlib: { ...hnswlib, HierarchicalNSW: CountedGraph }, reason: null }
  const readsAt = { kind: 'file', file: knowledge.databaseFile } as const
  const indexes = new Indexes(
    openReader(knowledge.databaseFile),
    addon,
    { readsAt, folder: knowledge.indexFolder, space, savesFiles: true, idleMs, now: () => now, ...options },
    () => undefined,
  )
  return { indexes, loads: () => loads, searches: () => searches }
}

async function loaded(indexes: Indexes): Promise<number[]> {
  return (await indexes.states()).map(({ projectId }) => projectId).sort((a, b) => a - b)
}

/** Writes the files of these projects. */
async function saved(projects: readonly Project[]): Promise<void> {
  const { indexes } = open()
  for (const { id } of projects) await indexes.reconcile(id)
  await indexes.close()
  for (const project of projects) expect(existsSync(knowledge.file(project))).toBe(true)
}
