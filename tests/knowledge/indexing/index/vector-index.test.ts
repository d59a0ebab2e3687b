import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { openDatabase } from '../../../../src/db/open.ts'
import { AppError } from '../../../../src/errors.ts'
import type { VectorIndex } from '../../../../src/knowledge/indexing/index/vector-index.ts'
import { failureOf } from '../../../support/failure.ts'
import { until } from '../../../support/until.ts'
import { bytesOf, Knowledge, labelsOf, type Project, randomVector, seededRandom, space } from './knowledge.ts'

let index: VectorIndex

const knowledge = await Knowledge.open()
index = knowledge.openIndex()

async function indexedProject(count: number): Promise<Project> {
  const project = await knowledge.addProject()
  await project.insertRandom(count)
  await index.reconcile(project.id)
  return project
}

/** Every vector finds itself first, and the ten nearest are the ten nearest. */
async function expectFound(searched: VectorIndex, project: Project, queries = 20): Promise<void> {
  for (const label of project.labels.slice(0, queries)) {
    const query = project.vectors.get(label) ?? new Float32Array()
    const hits = await searched.search(project.id, query, 10)
    expect(labelsOf(hits)).toEqual(project.nearest(query, 10))
    expect(hits[0]?.similarity).toBeCloseTo(1, 3)
  }
}

test('an index built from the rows finds what is nearest', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(800)
  const state = await index.reconcile(project.id)
  expect(state).toMatchObject({ projectId: project.id, vectors: 800, tombstones: 0 })
  await expectFound(index, project)
})

test('a project that is not reconciled yet can be searched', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(50)
  await expectFound(index, project)
})

test('vectors are found when add resolves', async () => {
  const project = await indexedProject(0)
  for (const count of [1, 1, 30, 300]) {
    const labels = await project.insertRandom(count)
    await index.add(project.id, labels)
    await expectFound(index, project)
  }
  const states = await index.states()
  expect(states.find((state) => state.projectId === project.id)?.vectors).toBe(332)
})

test('vectors added to a project that was never reconciled are found', async () => {
  const project = await knowledge.addProject()
  await index.add(project.id, await project.insertRandom(5))
  await expectFound(index, project)
  expect((await index.reconcile(project.id)).vectors).toBe(5)
})

test('vectors are gone when remove resolves, and as many hits come back as before', async () => {
  const project = await indexedProject(400)
  const query = randomVector(seededRandom(5))
  const nearest = project.nearest(query, 60)
  await project.delete(nearest)
  await index.remove(project.id, nearest)
  const hits = await index.search(project.id, query, 50)
  expect(hits).toHaveLength(50)
  expect(labelsOf(hits)).toEqual(project.nearest(query, 50))
})

test('a vector deleted while it waits to be added is not found', async () => {
  const project = await indexedProject(100)
  const labels = await project.insertRandom(2_000)
  const adding = index.add(project.id, labels)
  const gone = labels.slice(1_500)
  await project.delete(gone)
  await index.remove(project.id, gone)
  await adding
  expect((await index.reconcile(project.id)).vectors).toBe(1_600)
  const query = randomVector(seededRandom(6))
  expect(
    labelsOf(await index.search(project.id, query, 1_000)).filter((label) => gone.includes(label)),
  ).toEqual([])
})

test('a row deleted by another process while its vector waits to be added is not found', async () => {
  const project = await indexedProject(100)
  const labels = await project.insertRandom(2_000)
  const adding = index.add(project.id, labels)
  await project.delete(labels.filter((label) => label % 3 === 0))
  expect((await index.reconcile(project.id)).vectors).toBe(project.labels.length)
  await adding
  await expectFound(index, project)
})

test('after any order of changes, saves and rebuilds the index equals the rows', async () => {
  const project = await indexedProject(100)
  const random = seededRandom(42)
  const running: Promise<unknown>[] = []
  for (let step = 0; step < 60; step++) {
    const choice = random()
    if (choice < 0.4) {
      running.push(index.add(project.id, await project.insertRandom(Math.ceil(random() * 40))))
    } else if (choice < 0.7) {
      const gone = project.labels.filter(() => random() < 0.1)
      await project.delete(gone)
      await index.remove(project.id, gone)
      const hits = await index.search(project.id, randomVector(random), 1_000)
      expect(labelsOf(hits).filter((label) => gone.includes(label))).toEqual([])
    } else if (choice < 0.9) {
      running.push(index.eraseDeleted(project.id))
    } else {
      running.push(index.rebuild(project.id))
    }
  }
  await Promise.all(running)
  expect((await index.reconcile(project.id)).vectors).toBe(project.labels.length)
  await expectFound(index, project)
  await index.eraseDeleted(project.id)
  expect(await index.verify(project.id)).toMatchObject({
    problem: null,
    labelsWithoutRow: [],
    rowsNotInFile: 0,
  })
})

test('a label is found again when its row comes back', async () => {
  const project = await indexedProject(50)
  const [label = 0] = project.labels
  await index.remove(project.id, [label])
  expect((await index.reconcile(project.id)).vectors).toBe(50)
  await expectFound(index, project)
})

test('adding or removing a label twice, or an unknown one, changes nothing', async () => {
  const project = await indexedProject(40)
  await index.add(project.id, [...project.labels, 4_000_000_000])
  await index.remove(project.id, [4_000_000_000])
  const gone = project.labels.slice(0, 3)
  await project.delete(gone)
  await index.remove(project.id, gone)
  await index.remove(project.id, gone)
  expect(await index.reconcile(project.id)).toMatchObject({ vectors: 37, tombstones: 3 })
  await expectFound(index, project)
})

test('searches are answered while vectors are being added', async () => {
  const project = await indexedProject(300)
  const before = project.labels
  let isAdded = false
  const adding = index.add(project.id, await project.insertRandom(4_000)).then(() => {
    isAdded = true
  })
  let answers = 0
  while (!isAdded && answers < 20) {
    const query = project.vectors.get(before[answers] ?? 0) ?? new Float32Array()
    const [best] = await index.search(project.id, query, 10)
    expect(best?.label).toBe(before[answers])
    answers++
  }
  expect(isAdded).toBe(false)
  await adding
  await expectFound(index, project, 5)
})

test('reconcile follows rows that another process changed', async () => {
  const project = await indexedProject(200)
  await project.delete(project.labels.slice(10, 30))
  await project.insertRandom(25)
  expect((await index.reconcile(project.id)).vectors).toBe(205)
  await expectFound(index, project)
})

test('a graph is rebuilt when more than a quarter of it is removed', async () => {
  const project = await indexedProject(400)
  const gone = project.labels.slice(0, 150)
  await project.delete(gone)
  await index.remove(project.id, gone)
  const added = await project.insertRandom(20)
  await index.add(project.id, added)
  await expectFound(index, project)
  await until(async () =>
    (await index.states()).some(
      (state) => state.projectId === project.id && state.tombstones === 0 && state.vectors === 270,
    ),
  )
  await expectFound(index, project)
})

test('vectors can be added and removed while the graph is rebuilt', async () => {
  const project = await indexedProject(1_500)
  const rebuilding = index.rebuild(project.id)
  const added = await project.insertRandom(100)
  await index.add(project.id, added)
  const gone = [...added.slice(0, 10), ...project.labels.slice(0, 10), ...project.labels.slice(1_400, 1_410)]
  await project.delete(gone)
  await index.remove(project.id, gone)
  await expectFound(index, project, 5)
  await rebuilding
  expect((await index.reconcile(project.id)).vectors).toBe(1_570)
  await expectFound(index, project)
})

test('after all vectors are removed and others added, only the new ones are found', async () => {
  const project = await indexedProject(60)
  const gone = project.labels
  await project.delete(gone)
  await index.remove(project.id, gone)
  expect(await index.search(project.id, randomVector(seededRandom(1)), 5)).toEqual([])
  await index.eraseDeleted(project.id)
  expect(existsSync(knowledge.file(project))).toBe(false)
  await index.add(project.id, await project.insertRandom(3))
  await expectFound(index, project)
})

test('a hundred equal vectors are found after they are removed and added again', async () => {
  const project = await indexedProject(300)
  const same = randomVector(seededRandom(9))
  for (let round = 0; round < 4; round++) {
    const labels = await project.insert(Array.from({ length: 100 }, () => same))
    await index.add(project.id, labels)
    const hits = labelsOf(await index.search(project.id, same, 100))
    expect(hits.sort((a, b) => a - b)).toEqual(labels)
    await project.delete(labels)
    await index.remove(project.id, labels)
    expect(await index.search(project.id, same, 300)).toHaveLength(300)
  }
})

test('search among labels is exact, and never leaves the project', async () => {
  const project = await indexedProject(300)
  const other = await indexedProject(10)
  const among = project.labels.filter((label) => label % 7 === 0)
  const query = randomVector(seededRandom(3))
  const hits = await index.search(project.id, query, 10, { labels: [...among, ...other.labels] })
  expect(labelsOf(hits)).toEqual(project.nearest(query, 10, among))
  expect(await index.search(project.id, query, 10, { labels: [] })).toEqual([])
  expect(await index.search(project.id, query, 10, { labels: other.labels })).toEqual([])
})

test('a limit over the number of vectors gives them all', async () => {
  const project = await indexedProject(7)
  const query = randomVector(seededRandom(3))
  expect(labelsOf(await index.search(project.id, query, 50))).toEqual(project.nearest(query, 50))
  const empty = await indexedProject(0)
  expect(await index.search(empty.id, query, 50)).toEqual([])
  expect(await index.search(999_999, query, 50)).toEqual([])
})

test('vectors of another space or length, or with NaN, are not indexed', async () => {
  const project = await indexedProject(20)
  await project.insert([randomVector(seededRandom(4))], 'another space')
  const [long = 0] = await project.insert([randomVector(seededRandom(4), 48)])
  const [broken = 0] = await project.insert([new Float32Array(24).fill(Number.NaN)])
  await index.add(project.id, [long, broken])
  project.vectors.delete(long)
  project.vectors.delete(broken)
  expect((await index.reconcile(project.id)).vectors).toBe(20)
  await expectFound(index, project)
  const skipped = knowledge.log.filter((line) => line.message === 'A vector cannot be indexed')
  expect(skipped.map((line) => line.fields.label)).toContain(long)
  expect(skipped.map((line) => line.fields.label)).toContain(broken)
})

test('no byte of a removed vector is in the file when eraseDeleted resolves', async () => {
  const project = await indexedProject(300)
  await index.eraseDeleted(project.id)
  const gone = project.labels.slice(20, 40)
  const bytes = gone.map((label) => bytesOf(project.vectors.get(label) ?? new Float32Array()))
  const before = readFileSync(knowledge.file(project))
  expect(bytes.every((vector) => before.includes(vector))).toBe(true)

  await project.delete(gone)
  await index.remove(project.id, gone.slice(0, 10))
  await index.eraseDeleted(project.id)
  const after = readFileSync(knowledge.file(project))
  for (const vector of bytes) {
    for (let start = 0; start + 8 <= vector.length; start += 4)
      expect(after.includes(vector.subarray(start, start + 8))).toBe(false)
  }
  expect(readdirSync(knowledge.indexFolder).filter((name) => name.startsWith(`${project.id}.`))).toEqual([
    `${project.id}.hnsw`,
  ])
  await expectFound(index, project)
})

test('eraseDeleted before reconcile keeps the index and erases deleted vectors', async () => {
  const project = await indexedProject(100)
  await index.eraseDeleted(project.id)
  const [gone = 0] = project.labels
  const vector = bytesOf(project.vectors.get(gone) ?? new Float32Array())
  await project.delete([gone])

  const again = await reopened(project)
  await again.eraseDeleted(project.id)
  const file = readFileSync(knowledge.file(project))
  expect(file.includes(vector)).toBe(false)
  expect(file.includes(bytesOf(project.vectors.get(project.labels[0] ?? 0) ?? new Float32Array()))).toBe(true)
  await expectFound(again, project)
})

test('a restart reads the file and finds the same', async () => {
  const project = await indexedProject(500)
  const gone = project.labels.slice(100, 150)
  await project.delete(gone)
  await index.remove(project.id, gone)
  const again = await reopened(project)
  expect(await again.reconcile(project.id)).toMatchObject({ vectors: 450, tombstones: 50 })
  expect(knowledge.log.filter((line) => line.fields.projectId === project.id)).toEqual([])
  await expectFound(again, project)
})

test('a restart follows rows that changed meanwhile', async () => {
  const project = await indexedProject(200)
  const again = await reopened(project, async () => {
    await project.delete(project.labels.slice(0, 20))
    await project.insertRandom(30)
  })
  expect((await again.reconcile(project.id)).vectors).toBe(210)
  await expectFound(again, project)
})

test('a process that does not own the folder reads files and writes none', async () => {
  const project = await indexedProject(100)
  await index.eraseDeleted(project.id)
  const written = readFileSync(knowledge.file(project))
  const follower = knowledge.openIndex({ savesFiles: false })
  expect((await follower.reconcile(project.id)).fileBytes).toBe(written.length)
  await project.insertRandom(50)
  expect((await follower.reconcile(project.id)).vectors).toBe(150)
  await expectFound(follower, project)
  await follower.rebuild(project.id)
  await follower.eraseDeleted(project.id)
  await follower.close()
  expect(readFileSync(knowledge.file(project)).equals(written)).toBe(true)
})

test('close saves what is unsaved', async () => {
  const project = await indexedProject(50)
  await reopened(project)
  expect(existsSync(knowledge.file(project))).toBe(true)
})

test('close does not wait until every vector is in the index', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(5_000)
  const closing = knowledge.openIndex({ savesFiles: false })
  const filled = failureOf(closing.reconcile(project.id))
  await closing.close()
  expect(await filled).toMatchObject({ code: 'unavailable' })
})

test('drop takes the index from memory and disk', async () => {
  const project = await indexedProject(50)
  await index.eraseDeleted(project.id)
  await project.deleteItself()
  await index.drop(project.id)
  expect(existsSync(knowledge.file(project))).toBe(false)
  expect((await index.states()).some((state) => state.projectId === project.id)).toBe(false)
})

test('verify reports sound files, unsaved rows, deleted rows and damage', async () => {
  const project = await indexedProject(300)
  await index.eraseDeleted(project.id)
  expect(await index.verify(project.id)).toMatchObject({
    problem: null,
    fileVectors: 300,
    rowVectors: 300,
    labelsWithoutRow: [],
    rowsNotInFile: 0,
    recallAt10: 1,
  })

  const observer = knowledge.openIndex({ savesFiles: false })
  const gone = project.labels.slice(0, 2)
  await project.delete(gone)
  await project.insertRandom(3)
  expect(await observer.verify(project.id)).toMatchObject({
    problem: null,
    labelsWithoutRow: gone,
    rowsNotInFile: 3,
  })

  const file = readFileSync(knowledge.file(project))
  file.writeUInt8(file.readUInt8(5_000) ^ 1, 5_000)
  writeFileSync(knowledge.file(project), file)
  expect(await observer.verify(project.id)).toMatchObject({ problem: 'its digest does not match' })
})

test('a worker that fails is started again; requests meanwhile are 503', async () => {
  const other = await Knowledge.open()
  const missing = join(other.folder, 'missing')
  const failing = other.openIndex({ readsAt: { kind: 'file', file: join(missing, 'callbook.db') } })
  const error = await failing.reconcile(1).catch((reason) => reason)
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 })
  expect(other.log.some((line) => line.level === 'error')).toBe(true)
  const database = await openDatabase(join(missing, 'callbook.db'))
  await until(() =>
    failing.states().then(
      () => true,
      () => false,
    ),
  )
  await failing.close()
  await database.close()
  await other.close()
})

test('a restarted worker searches as the previous one did', async () => {
  const started = new Promise<Worker>((resolve) => process.once('worker', resolve))
  const failing = knowledge.openIndex({ savesFiles: false })
  const project = await knowledge.addProject()
  await project.insertRandom(300)
  await expectFound(failing, project, 1)
  await (await started).terminate()
  await until(() =>
    failing.states().then(
      () => true,
      () => false,
    ),
  )
  await expectFound(failing, project)
  await failing.close()
})

test('a takeover of the files that fails can be tried again', async () => {
  const folder = join(knowledge.folder, 'taken')
  writeFileSync(folder, 'no folder')
  const taking = knowledge.openIndex({ savesFiles: false, folder })
  const project = await knowledge.addProject()
  await project.insertRandom(10)
  await expect(taking.takeFiles()).rejects.toThrow()
  rmSync(folder)
  await taking.takeFiles()
  expect(await taking.reconcile(project.id)).toMatchObject({ vectors: 10 })
  await taking.eraseDeleted(project.id)
  expect(readdirSync(folder)).toHaveLength(1)
  await taking.close()
})

test('requests after close are refused', async () => {
  const closed = knowledge.openIndex({ savesFiles: false })
  await closed.close()
  await closed.close()
  await expect(closed.states()).rejects.toThrow('closed')
})

/** Closes the index, lets `meanwhile` happen, and opens another on the same folder. */
async function reopened(project: Project, meanwhile?: () => Promise<void>): Promise<VectorIndex> {
  await index.close()
  await meanwhile?.()
  index = knowledge.openIndex({ space })
  await index.search(project.id, randomVector(seededRandom(1)), 1)
  return index
}
