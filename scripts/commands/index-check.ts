import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexReport } from '../../src/knowledge/indexing/index/verification.ts'
import type { Project } from '../../src/projects/projects.ts'
import type { Services } from '../../src/services/services.ts'
import { hasOwner } from './folder.ts'
import { counted } from './sentences.ts'

const retryMs = 500
const marginMs = 1_000

/** What `index verify` reports for one project. */
export interface IndexCheck extends Omit<IndexReport, 'projectId' | 'labelsWithoutRow'> {
  project: { id: string; name: string }
  ok: boolean
  faults: string[]
  vectorsWithoutRow: number
  pendingChunks: number
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
  const { projectId: _, labelsWithoutRow, ...report } = await index.verify(projectId)
  const { pendingChunks } = await knowledge.figures(projectId)
  const vectorsWithoutRow = labelsWithoutRow.length
  const faults: string[] = []
  if (report.problem !== null) faults.push(`the index file cannot be used: ${report.problem}`)
  if (vectorsWithoutRow > 0)
    faults.push(`the index file holds ${counted(vectorsWithoutRow, 'vector')} whose row is gone`)
  const project = { id, name }
  return { project, ok: faults.length === 0, faults, ...report, vectorsWithoutRow, pendingChunks }
}
