import { setTimeout as sleep } from 'node:timers/promises'
import type { Project } from '../../src/projects/projects.ts'
import type { Services } from '../../src/services/services.ts'
import { hasOwner } from './folder.ts'
import { counted } from './sentences.ts'

const retryMs = 500
const marginMs = 1_000

/** What `index verify` reports for one project. */
export interface IndexCheck {
  project: { id: string; name: string }
  ok: boolean
  faults: string[]
  /** Why the file cannot be used; null when it is sound or there is none. */
  problem: string | null
  fileBytes: number
  fileVectors: number
  rowVectors: number
  vectorsWithoutRow: number
  rowsNotInFile: number
  pendingChunks: number
  recallAt10: number | null
}

/**
 * Compares a project's index file with its rows. A running service needs a moment to erase a deleted vector from the
 * file, so a fault counts only if it outlives that time.
 */
export async function verifyIndex(
  services: Services,
  project: Project,
  signal: AbortSignal,
): Promise<IndexCheck> {
  const { config } = services
  const deadline = performance.now() + config.eraseWithinMs + marginMs
  for (;;) {
    const check = await verifyOnce(services, project)
    if (check.ok || performance.now() > deadline || !hasOwner(config)) return check
    await sleep(retryMs, undefined, { signal })
  }
}

async function verifyOnce(
  { index, knowledge }: Services,
  { projectId, id, name }: Project,
): Promise<IndexCheck> {
  const { problem, fileBytes, fileVectors, rowVectors, labelsWithoutRow, rowsNotInFile, recallAt10 } =
    await index.verify(projectId)
  const { pendingChunks } = await knowledge.figures(projectId)
  const faults: string[] = []
  if (problem !== null) faults.push(`the index file cannot be used: ${problem}`)
  if (labelsWithoutRow.length > 0) {
    faults.push(`the index file holds ${counted(labelsWithoutRow.length, 'vector')} whose row is gone`)
  }
  return {
    project: { id, name },
    ok: faults.length === 0,
    faults,
    problem,
    fileBytes,
    fileVectors,
    rowVectors,
    vectorsWithoutRow: labelsWithoutRow.length,
    rowsNotInFile,
    pendingChunks,
    recallAt10,
  }
}
