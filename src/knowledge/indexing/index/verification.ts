import { setImmediate } from 'node:timers/promises'
import type { Hnswlib } from './addon.ts'
import type { Graph } from './graph.ts'
import { type LoadOptions, loadGraph } from './loading.ts'
import type { VectorRows } from './rows.ts'

const samplesMax = 25
const neighbours = 10
/** Similarities this close count as equal, so either vector is right. The graph's numbers have 16 bits. */
const tolerance = 1e-4

/** The result of comparing an index file with the rows. Only `problem` and `labelsWithoutRow` are faults. */
export interface IndexReport {
  projectId: number
  /** Why the file would not be loaded (damaged, of another space, …); null if it is sound or missing. */
  problem: string | null
  fileBytes: number
  fileVectors: number
  rowVectors: number
  /** Vectors in the file whose row is deleted. */
  labelsWithoutRow: number[]
  /** Rows that are not in the file yet, because they wait to be indexed or saved. */
  rowsNotInFile: number
  /** The share of the true ten nearest vectors that the graph finds, over a sample; null without an index. */
  recallAt10: number | null
}

/** Compares a project's file with its rows, and its graph's search with exact search. */
export async function verifyFile(
  projectId: number,
  { hnswlib, rows, files }: Omit<LoadOptions, 'hnswlib'> & { hnswlib: Hnswlib | null },
): Promise<IndexReport> {
  const { saved, problem } = await files.check(projectId, await rows.header(projectId))
  const inRows = new Set(await rows.labels(projectId))
  const inFile = new Set(saved?.labels)
  const loading = hnswlib && saved ? await loadGraph(projectId, { hnswlib, rows, files }) : null
  return {
    projectId,
    problem,
    fileBytes: saved?.bytes ?? 0,
    fileVectors: inFile.size,
    rowVectors: inRows.size,
    labelsWithoutRow: [...inFile].filter((label) => !inRows.has(label)),
    rowsNotInFile: [...inRows].filter((label) => !inFile.has(label)).length,
    recallAt10: loading?.graph ? await recallOf(loading.graph, projectId, rows) : null,
  }
}

/** Frees the graph. */
async function recallOf(graph: Graph, projectId: number, rows: VectorRows): Promise<number | null> {
  try {
    const step = Math.max(1, Math.floor(graph.labels.size / samplesMax))
    const labels = [...graph.labels].filter((_, at) => at % step === 0).slice(0, samplesMax)
    const sample = await rows.vectors(projectId, labels)
    let recalls = 0
    for (const { vector } of sample) {
      const nearest = await rows.nearest(projectId, vector, neighbours)
      const farthest = nearest.at(-1)?.similarity ?? 1
      const hits = graph.search(vector, nearest.length)
      const nearHits = hits.filter(({ similarity }) => similarity >= farthest - tolerance)
      recalls += nearest.length > 0 ? nearHits.length / nearest.length : 1
      await setImmediate()
    }
    return sample.length > 0 ? recalls / sample.length : null
  } finally {
    graph.free()
  }
}
