import { sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { chunks } from '../../db/schema.ts'

/** How long a lease lasts unless its process extends it. After that, another process may embed the chunks. */
export const leaseMsDefault = 15_000
/** A lease or retry further ahead was written before the clock was set back, and is ignored. */
export const waitMsMax = 900_000
/**
 * How many held chunks are remembered: every query for due chunks lists them. Further ones wait until their lease ends.
 */
const heldMax = 10_000

interface LeasesParts {
  leaseMs: number
}

/** The chunks that this process holds a lease on. No other process embeds them meanwhile. */
export class Leases {
  readonly #parts: Core & LeasesParts
  /** The labels by project. */
  readonly #labels = new Map<number, Set<number>>()

  constructor(core: Core, parts: LeasesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Returns the labels that this process has leased in a project. */
  labelsIn(projectId: number): Set<number> {
    const labels = this.#labels.get(projectId) ?? new Set()
    this.#labels.set(projectId, labels)
    return labels
  }

  /** Remembers chunks that this process has stored with a lease. */
  hold(projectId: number, labels: readonly number[]): void {
    const ownLabels = this.labelsIn(projectId)
    if (ownLabels.size + labels.length > heldMax) return
    for (const label of labels) ownLabels.add(label)
  }

  /** Leases those of the chunks that no process holds. When several processes try, one gets each chunk. */
  async take(projectId: number, labels: readonly number[]): Promise<void> {
    const ownLabels = this.labelsIn(projectId)
    const free = labels.filter((label) => !ownLabels.has(label))
    if (free.length === 0) return
    const now = this.#parts.now()
    const rows = await this.#parts.store(projectId).write.all<{ label: number }>(sql`
      update ${chunks} set leased_until = ${now + this.#parts.leaseMs} where label in (
        select value from json_each(${JSON.stringify(free)})) and embedding_space is null
        and (coalesce(leased_until, 0) <= ${now} or leased_until > ${now + waitMsMax}) returning label`)
    for (const { label } of rows) ownLabels.add(label)
  }

  /** Extends the project's leases at intervals, until the returned function is called. */
  keep(projectId: number): () => void {
    const timer = setInterval(() => void this.#renew(projectId), this.#parts.leaseMs / 3)
    return () => clearInterval(timer)
  }

  release(projectId: number, labels: Iterable<number>): void {
    const ownLabels = this.labelsIn(projectId)
    for (const label of labels) ownLabels.delete(label)
  }

  /** Ends every lease in the project, whichever process held it. */
  async endAll(projectId: number): Promise<void> {
    const { read, write } = this.#parts.store(projectId)
    const isLeased = sql`project_id = ${projectId} and embedding_space is null and leased_until is not null`
    const [leased] = await read.all(sql`select 1 from ${chunks} where ${isLeased} limit 1`)
    if (leased) await write.run(sql`update ${chunks} set leased_until = null where ${isLeased}`)
  }

  async #renew(projectId: number): Promise<void> {
    const { store, leaseMs, now } = this.#parts
    try {
      await store(projectId).write.run(sql`
        update ${chunks} set leased_until = ${now() + leaseMs} where label in (
          select value from json_each(${JSON.stringify([...this.labelsIn(projectId)])}))
          and embedding_space is null and leased_until is not null`)
    } catch {
      // The project was deleted, or another process may embed the chunks as well, which does no harm.
    }
  }
}
