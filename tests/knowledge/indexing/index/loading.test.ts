import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { loadAddon } from '../../../../src/knowledge/indexing/index/addon.ts'
import { IndexFiles } from '../../../../src/knowledge/indexing/index/files.ts'
import { loadGraph } from '../../../../src/knowledge/indexing/index/loading.ts'
import { type ExpectedHeader, VectorRows } from '../../../../src/knowledge/indexing/index/rows.ts'
import { Knowledge, space } from './knowledge.ts'

const knowledge = await Knowledge.open()

test('a file that another process deletes after the check counts as missing', async () => {
  const project = await knowledge.addProject()
  await project.insertRandom(50)
  const index = knowledge.openIndex()
  await index.reconcile(project.id)
  await index.close()
  const { hnswlib } = loadAddon()
  if (!hnswlib) throw new Error('the addon is not built')
  const files = new RemovedFiles(knowledge.indexFolder)
  const rows = new VectorRows(knowledge.database.read, space)
  const loaded = await loadGraph(project.id, { hnswlib, rows, files })
  expect(loaded).toEqual({ graph: null, saved: null, problem: null })
  expect(files.found).toEqual([50, null])
})

/** Deletes each file after its check. */
class RemovedFiles extends IndexFiles {
  /** How many vectors each check saw; null when there was no file. */
  readonly found: (number | null)[] = []

  override async check(projectId: number, expected: ExpectedHeader) {
    const result = await super.check(projectId, expected)
    this.found.push(result.saved?.labels.length ?? null)
    await rm(this.path(projectId), { force: true })
    return result
  }
}
