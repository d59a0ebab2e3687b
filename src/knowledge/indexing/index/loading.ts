import { stat } from 'node:fs/promises'
import type { Hnswlib } from './addon.ts'
import type { FileCheck, IndexFiles } from './files.ts'
import { Graph } from './graph.ts'
import type { VectorRows } from './rows.ts'

const attemptsMax = 5

export interface LoadOptions {
  hnswlib: Hnswlib
  rows: VectorRows
  files: IndexFiles
}

/** Reads a project's graph from its file, if that is sound and belongs to these rows. */
export async function loadGraph(
  projectId: number,
  { hnswlib, rows, files }: LoadOptions,
): Promise<FileCheck & { graph: Graph | null }> {
  const path = files.path(projectId)
  let lastProblem = 'another process keeps replacing it'
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const { saved, problem } = await files.check(projectId, await rows.header(projectId))
    if (!saved) return { graph: null, saved, problem }
    let graph: Graph | null = null
    try {
      graph = await Graph.read(hnswlib, path, saved)
      // hnswlib opens the file again. The inode shows that it read the file that was checked.
      if ((await stat(path)).ino === saved.inode) return { graph, saved, problem }
    } catch (error) {
      // Another process may have deleted the file; the next check then finds none.
      lastProblem = String(error)
    }
    graph?.free()
  }
  return { graph: null, saved: null, problem: lastProblem }
}
