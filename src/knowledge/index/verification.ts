import type { Hnswlib } from './addon.ts'
import type { ExactSearch } from './exact.ts'
import type { IndexFiles } from './files.ts'
import type { Graph } from './graph.ts'
import { expectedHeader, loadGraph } from './loading.ts'
import type { VectorRows } from './rows.ts'
import type { IndexReport, VectorHit } from './vector-index.ts'

const samplesMax = 25
const neighbours = 10

export interface VerifyOptions {
  hnswlib: Hnswlib | null
  rows: VectorRows
  files: IndexFiles
  exactSearch: ExactSearch
  space: string
}

/** Compares a project's file with its rows, and what its graph finds with what is there to be found. */
export async function verifyFile(projectId: number, options: VerifyOptions): Promise<IndexReport> {
  const { files, rows, space } = options
  const { saved, problem } = await files.check(projectId, await expectedHeader(projectId, rows, space))
  const inRows = new Set(await rows.labels(projectId))
  const inFile = new Set(saved?.labels)
  return {
    projectId,
    problem,
    fileBytes: saved?.bytes ?? 0,
    fileVectors: inFile.size,
    rowVectors: inRows.size,
    labelsWithoutRow: [...inFile].filter((label) => !inRows.has(label)),
    rowsNotInFile: [...inRows].filter((label) => !inFile.has(label)).length,
    recallAt10: inFile.size > 0 ? await recallOf(projectId, options) : null,
  }
}

async function recallOf(projectId: number, options: VerifyOptions): Promise<number | null> {
  const { hnswlib, rows, exactSearch, space } = options
  if (!hnswlib) return null
  const { graph } = await loadGraph(projectId, { ...options, hnswlib })
  if (!graph) return null
  try {
    const sample = await rows.vectors(projectId, spread([...graph.labels], samplesMax))
    const shares: number[] = []
    for (const { vector: query } of sample) {
      const exact = await exactSearch({ projectId, space, query, limit: neighbours })
      shares.push(recall(exact, graph, query))
      await new Promise((resolve) => setImmediate(resolve))
    }
    return shares.length > 0 ? shares.reduce((sum, share) => sum + share, 0) / shares.length : null
  } finally {
    graph.free()
  }
}

/** By distance, not by label: of equally near vectors either is right. */
function recall(exact: VectorHit[], graph: Graph, query: Float32Array): number {
  const farthest = exact.at(-1)?.similarity ?? 1
  const tolerance = 1e-5
  const found = graph.search(query, exact.length).filter((hit) => hit.similarity >= farthest - tolerance)
  return exact.length > 0 ? found.length / exact.length : 1
}

function spread<T>(values: T[], count: number): T[] {
  const step = Math.max(1, Math.floor(values.length / count))
  return values.filter((_, position) => position % step === 0).slice(0, count)
}
