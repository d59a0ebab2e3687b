import { stat } from 'node:fs/promises'
import type { Hnswlib } from './addon.ts'
import type { ExpectedHeader, IndexFiles, SavedIndex } from './files.ts'
import { Graph } from './graph.ts'
import type { VectorRows } from './rows.ts'

const attemptsMax = 5

export interface LoadOptions {
  hnswlib: Hnswlib
  rows: VectorRows
  files: IndexFiles
  space: string
}

export type LoadedGraph =
  | { graph: Graph; saved: SavedIndex; problem: null }
  | { graph: null; saved: null; problem: string | null }

/** Reads a project's graph from its file, if that is sound and belongs to these rows. */
export async function loadGraph(
  projectId: number,
  { hnswlib, rows, files, space }: LoadOptions,
): Promise<LoadedGraph> {
  const path = files.path(projectId)
  let lastProblem = 'another process keeps replacing it'
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const { saved, problem } = await files.check(projectId, await expectedHeader(projectId, rows, space))
    if (!saved) return { graph: null, saved, problem }
    let graph: Graph | null = null
    try {
      graph = Graph.read(hnswlib, path, saved)
      // hnswlib opens the file anew: what it read must be what was checked.
      if ((await stat(path)).ino === saved.inode) return { graph, saved, problem: null }
    } catch (error) {
      // Another process may have removed it meanwhile; then the next check finds none.
      lastProblem = String(error)
    }
    graph?.free()
  }
  return { graph: null, saved: null, problem: lastProblem }
}

/** What a file of these rows must say of itself. */
export async function expectedHeader(
  projectId: number,
  rows: VectorRows,
  space: string,
): Promise<ExpectedHeader> {
  return { generation: await rows.generation(), space, dimensions: await rows.dimensions(projectId) }
}
