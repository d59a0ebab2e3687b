import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Hnswlib, loadAddon } from '../../../src/knowledge/index/addon.ts'
import { exactSearch } from '../../../src/knowledge/index/exact.ts'
import { IndexFiles } from '../../../src/knowledge/index/files.ts'
import { ProjectIndex } from '../../../src/knowledge/index/project-index.ts'
import { VectorRows } from '../../../src/knowledge/index/rows.ts'
import { until } from '../../support/until.ts'
import { Knowledge, space } from './knowledge.ts'

let knowledge: Knowledge

beforeAll(async () => {
  knowledge = await Knowledge.open()
})

afterAll(() => knowledge.close())

test('vectors that arrive while the graph is being written wait for its end', async () => {
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
  const saving = index.scrub()
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

async function openIndex(projectId: number, rows: VectorRows, hnswlib: Hnswlib): Promise<ProjectIndex> {
  const files = new IndexFiles(knowledge.indexFolder)
  await files.prepare()
  let isWorking = false
  const index: ProjectIndex = new ProjectIndex(projectId, {
    hnswlib,
    rows,
    exactSearch: exactSearch(knowledge.database.read),
    files,
    space,
    savesFiles: () => true,
    log: () => undefined,
    onWork: async () => {
      if (isWorking) return
      isWorking = true
      await until(async () => {
        await index.work()
        return !index.hasWork
      })
      isWorking = false
    },
  })
  return index
}

/** Rows whose vectors come when they are let: a database on a server. */
class FarRows extends VectorRows {
  #next: { asked: () => void; gate: Promise<void>; answered: () => void } | null = null

  holdNext() {
    const asked = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    this.#next = { asked: asked.resolve, gate: gate.promise, answered: answered.resolve }
    return { asked: asked.promise, release: gate.resolve, answered: answered.promise }
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

/** hnswlib whose next write begins and goes on until it is let end. */
function watched() {
  const { hnswlib } = loadAddon()
  if (!hnswlib) throw new Error('the addon is not built')
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

    override addPoint(point: number[], label: number) {
      if (writes > 0) graphs.addedWhileWritten++
      super.addPoint(point, label)
    }
  }
  return { hnswlib: { ...hnswlib, HierarchicalNSW: WatchedGraph }, graphs }
}
