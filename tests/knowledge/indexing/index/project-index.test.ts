import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type Hnswlib, loadAddon } from '../../../../src/knowledge/indexing/index/addon.ts'
import { IndexFiles } from '../../../../src/knowledge/indexing/index/files.ts'
import { ProjectIndex } from '../../../../src/knowledge/indexing/index/project-index.ts'
import { VectorRows } from '../../../../src/knowledge/indexing/index/rows.ts'
import { bytesOf, Knowledge, labelsOf, randomVector, space } from './knowledge.ts'

const knowledge = await Knowledge.open()

test('vectors that arrive while the graph is written are added afterwards', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(300)
  const rows = new FarRows(knowledge.database.read, space)
  const { hnswlib, graphs } = watched()
  const index = await openIndex(project.id, rows, hnswlib)
  await index.reconcile()

  const arrival = rows.holdNext()
  const adding = index.add(await project.insertRandom(100))
  await arrival.asked
  const writing = graphs.holdNextWrite()
  const saving = index.eraseDeleted()
  await writing.begun
  arrival.release()
  await arrival.answered
  await new Promise((resolve) => setImmediate(resolve))
  expect(graphs.addedWhileWritten).toBe(0)
  writing.release()
  await Promise.all([saving, adding])
  expect(graphs.addedWhileWritten).toBe(0)
  expect(index.state.vectors).toBe(400)
  await index.close()
})

describe('following a version of the rows', () => {
  test('reads no labels when the changes up to that version are in the index', async () => {
    const { project, rows, index } = await followed()
    const added = await project.insertRandom(3)
    await index.add(added, 2)
    await index.follow(2)
    await project.delete(added.slice(0, 1))
    index.remove(added.slice(0, 1), 3)
    await index.follow(3)
    await index.follow(2)
    expect(rows.labelReads).toBe(0)
    expect(index.state.vectors).toBe(7)
    await index.close()
  })

  test('reads no labels when the changes came out of order', async () => {
    const { project, rows, index } = await followed()
    const second = await project.insertRandom(1)
    const third = await project.insertRandom(1)
    await project.delete(second)
    index.remove(second, 4)
    await index.add(third, 3)
    await index.add(second, 2)
    await index.follow(4)
    expect(rows.labelReads).toBe(0)
    expect(await labelsIn(index)).toEqual([...project.labels].sort())
    await index.close()
  })

  test('reconciles when the changes of a version in between are missing', async () => {
    const { project, rows, index } = await followed()
    await project.insertRandom(1)
    await index.add(await project.insertRandom(1), 3)
    await index.follow(3)
    expect(rows.labelReads).toBe(1)
    expect(index.state.vectors).toBe(7)
    await index.close()
  })

  test('reconciles when a change came without its version', async () => {
    const { project, rows, index } = await followed()
    await index.add(await project.insertRandom(1))
    await project.insertRandom(1)
    await index.follow(3)
    expect(rows.labelReads).toBe(1)
    expect(index.state.vectors).toBe(7)
    await index.close()
  })

  test('finds vectors that wait to be added', async () => {
    const { project, rows, index } = await followed()
    const arrival = rows.holdNext()
    const adding = index.add(await project.insertRandom(1))
    await arrival.asked
    expect(index.state.vectors).toBe(5)
    expect(await labelsIn(index)).toEqual([...project.labels].sort())
    arrival.release()
    await adding
    expect(await labelsIn(index)).toEqual([...project.labels].sort())
    await index.close()
  })

  test('compares itself with the rows, once, for a search that knows of a replacement', async () => {
    const { project, rows, index } = await followed()
    const before = await labelsIn(index)
    const old = project.labels.slice(0, 1)
    await project.insertRandom(1)
    await project.delete(old)
    expect(await labelsIn(index)).toEqual(before)
    for (let search = 0; search < 2; search++) {
      expect(await labelsIn(index, 7)).toEqual([...project.labels].sort())
      expect(rows.labelReads).toBe(1)
    }
    await index.close()
  })

  test('leaves no removed vector in the file, also if others were added since', async () => {
    const { project, index } = await followed()
    await index.eraseDeleted()
    const gone = project.labels.slice(0, 1)
    const [bytes] = gone.map((label) => bytesOf(project.vectors.get(label) ?? new Float32Array()))
    const hasVector = () => readFileSync(knowledge.file(project)).includes(bytes ?? '')
    expect(hasVector()).toBe(true)
    await project.delete(gone)
    index.remove(gone)
    await index.add(await project.insertRandom(1))
    await index.follow(3)
    expect(hasVector()).toBe(false)
    await index.close()
  })

  test('keeps vectors that are added while it reads the labels', async () => {
    const { project, rows, index } = await followed()
    const reading = rows.holdNextLabels()
    await project.insertRandom(1)
    const reconciling = index.reconcile()
    await reading.read
    const adding = index.add(await project.insertRandom(1))
    reading.release()
    await Promise.all([reconciling, adding])
    expect(await labelsIn(index)).toEqual([...project.labels].sort())
    await index.close()
  })

  test('finds no vector that was removed once a new graph had it, in a process that saves no files', async () => {
    const project = await knowledge.addProject()
    await project.insertRandom(70)
    const rows = new FarRows(knowledge.database.read, space)
    const index = await openIndex(project.id, rows, loadedAddon(), false)
    await index.reconcile()
    const first = rows.holdNext()
    const rebuilding = index.rebuild()
    await first.asked
    const second = rows.holdNext()
    first.release()
    // By now, the new graph has the first 64 vectors.
    await second.asked
    const gone = project.labels.slice(0, 1)
    await project.delete(gone)
    index.remove(gone, 2)
    second.release()
    await rebuilding
    expect(await labelsIn(index)).toEqual([...project.labels].sort())
    await index.close()
  })

  test('claims no version in a file that is saved while vectors wait to be added', async () => {
    const { project, rows, index } = await followed()
    const arrival = rows.holdNext()
    const adding = index.add(await project.insertRandom(1), 2)
    await arrival.asked
    await index.eraseDeleted()
    const files = new IndexFiles(knowledge.indexFolder)
    expect(await files.version(project.id)).toBe(0)
    arrival.release()
    await adding
    await index.eraseDeleted()
    expect(await files.version(project.id)).toBe(2)
    await index.close()
  })

  /** An index that equals the five rows of version 1. */
  async function followed() {
    const project = await knowledge.addProject()
    await project.insertRandom(5)
    const rows = new FarRows(knowledge.database.read, space)
    const index = await openIndex(project.id, rows)
    await index.reconcile()
    rows.labelReads = 0
    return { project, rows, index }
  }

  async function labelsIn(index: ProjectIndex, replacedSeq?: number): Promise<number[]> {
    const hits = await index.search(randomVector(knowledge.random), 100, { replacedSeq })
    return labelsOf(hits).sort()
  }
})

async function openIndex(
  projectId: number,
  rows: VectorRows,
  hnswlib = loadedAddon(),
  savesFiles = true,
): Promise<ProjectIndex> {
  const files = new IndexFiles(knowledge.indexFolder)
  files.prepare()
  let isWorking = false
  const index: ProjectIndex = new ProjectIndex(projectId, {
    hnswlib,
    rows,
    files,
    savesFiles: () => savesFiles,
    log: () => undefined,
    onRest: () => undefined,
    onWork: async () => {
      if (isWorking) return
      isWorking = true
      while (index.hasWork) await index.work()
      isWorking = false
    },
  })
  return index
}

/** Rows of a slow database: a test can hold back vectors and labels. Counts how often the labels are read. */
class FarRows extends VectorRows {
  labelReads = 0
  #nextLabels: { read: () => void; gate: Promise<void> } | null = null
  #next: { asked: () => void; gate: Promise<void>; answered: () => void } | null = null

  holdNext() {
    const asked = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    this.#next = { asked: asked.resolve, gate: gate.promise, answered: answered.resolve }
    return { asked: asked.promise, release: gate.resolve, answered: answered.promise }
  }

  holdNextLabels() {
    const read = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    this.#nextLabels = { read: read.resolve, gate: gate.promise }
    return { read: read.promise, release: gate.resolve }
  }

  override async labels(projectId: number) {
    this.labelReads++
    const labels = await super.labels(projectId)
    const held = this.#nextLabels
    this.#nextLabels = null
    held?.read()
    await held?.gate
    return labels
  }

  override async vectors(projectId: number, labels: readonly number[]) {
    const held = this.#next
    this.#next = null
    held?.asked()
    await held?.gate
    const rows = await super.vectors(projectId, labels)
    held?.answered()
    return rows
  }
}

function loadedAddon(): Hnswlib {
  const { hnswlib, reason } = loadAddon()
  if (!hnswlib) throw new Error(reason)
  return hnswlib
}

/** hnswlib with a write that a test can hold. */
function watched() {
  const hnswlib = loadedAddon()
  let held: { begun: () => void; gate: Promise<void> } | null = null
  let writes = 0
  const graphs = {
    addedWhileWritten: 0,
    holdNextWrite() {
      const begun = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      held = { begun: begun.resolve, gate: gate.promise }
      return { begun: begun.promise, release: gate.resolve }
    },
  }
  class WatchedGraph extends hnswlib.HierarchicalNSW {
    override async writeIndex(file: string) {
      const hold = held
      held = null
      writes++
      hold?.begun()
      await hold?.gate
      try {
        return await super.writeIndex(file)
      } finally {
        writes--
      }
    }

    override addPoint(point: Float32Array, label: number) {
      if (writes > 0) graphs.addedWhileWritten++
      super.addPoint(point, label)
    }
  }
  return { hnswlib: { ...hnswlib, HierarchicalNSW: WatchedGraph }, graphs }
}
