import { setImmediate } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import type { Job } from '../core/jobs.ts'
import { erasures, projects } from '../db/schema.ts'
import { eraseWords } from './word-erasure.ts'
import { emptyWriteAheadLog } from './write-ahead-log.ts'

/** Retention may have deleted 100,000 calls, so their rows are read and marked in slices of this size. */
const rowsPerSlice = 1_000

/** After this many times `eraseWithinMs`, this node erases what another node has deleted and not erased. */
const takeOverFactor = 2

export interface ErasureParts {
  /** Resolves when the project's index file holds no byte of a deleted vector. */
  index: { eraseDeleted(projectId: number): Promise<void> }
  /** Removes the files of recordings that were deleted. */
  removedFiles: { erase(): Promise<void> }
}

const columns = {
  projectId: erasures.projectId,
  kind: erasures.kind,
  idHash: erasures.idHash,
  /** A new number if more was deleted meanwhile. */
  changeSeq: erasures.changeSeq,
  requestedAt: erasures.requestedAt,
}

interface OpenErasure extends Pick<typeof erasures.$inferSelect, keyof typeof columns> {
  rowid: number
}

/** An erasure request is due once its calls are deleted: see src/privacy/erasure-requests.ts. */
const isDeleted = sql`(${erasures.doneAt} is null
  and (${erasures.kind} <> 'calls' or not exists (select 1 from erasure_slices where request_id = ${erasures.idHash})))`

/**
 * Erases every byte of deleted records. `secure_delete` has zeroed their pages; the keyword index is merged and the
 * vector index saved without them, and the write-ahead log is emptied. Only then is the row in `erasures` done.
 * With a database on a server, only the vector index is on this machine; the rest is for the server to erase.
 */
export class Erasure {
  readonly #parts: Core & ErasureParts
  readonly #job: Job
  /** Projects in which this process has deleted records. */
  readonly #ownProjects = new Set<number>()

  constructor(core: Core, parts: ErasureParts) {
    this.#parts = { ...core, ...parts }
    // A quarter of the time gathers deletions: a run costs as much for one as for many. The rest is for the work, which
    // may have to wait for a run to end.
    const delayMs = core.config.eraseWithinMs / 4
    this.#job = core.jobs.add({
      name: 'erasure',
      run: async ({ signal }) => {
        await this.#eraseOpen(signal)
        return (await this.isAnyOpen()) ? delayMs : null
      },
      delayMs,
      failure: 'Erasure failed',
    })
  }

  /**
   * Call it after each committed deletion. Deletions close together are erased together.
   * @param projectId where this process itself has deleted records
   */
  schedule(projectId?: number): void {
    if (projectId !== undefined && this.#parts.owner.isOwner) this.#ownProjects.add(projectId)
    this.#job.soon()
  }

  /** Resolves when no erasure is running. */
  idle(): Promise<void> {
    return this.#job.idle()
  }

  /** Erases everything that was deleted before the call. */
  finish(): Promise<void> {
    return this.#job.now()
  }

  async #eraseOpen(signal: AbortSignal): Promise<void> {
    const open = await this.#readOpen()
    if (open.length === 0) return
    const { database, index, removedFiles } = this.#parts
    const projectsWith = (...kinds: OpenErasure['kind'][]) =>
      new Set(open.filter(({ kind }) => kinds.includes(kind)).map(({ projectId }) => projectId))
    for (const projectId of projectsWith('item', 'text')) {
      signal.throwIfAborted()
      await index.eraseDeleted(projectId)
    }
    await eraseWords(database, signal)
    if (database.isLocal) await emptyWriteAheadLog(database.emptyLog, signal)
    // Last, since a bucket may not answer.
    await removedFiles.erase()
    await this.#markDone(open)
  }

  /** Whether any erasure is open, including those that another node should finish. */
  async isAnyOpen(): Promise<boolean> {
    const rows = await this.#parts.database.read.all(sql`
      select 1 from ${erasures} join ${projects} on ${projects.id} = ${erasures.projectId}
      where ${isDeleted} and ${projects.deletedAt} is null limit 1`)
    return rows.length > 0
  }

  async #readOpen(): Promise<OpenErasure[]> {
    const open: OpenErasure[] = []
    for (;;) {
      const page = await this.#readOpenAfter(open.at(-1))
      open.push(...page)
      if (page.length < rowsPerSlice) return open
      await setImmediate()
    }
  }

  async #readOpenAfter(last: OpenErasure | undefined): Promise<OpenErasure[]> {
    const { now, config } = this.#parts
    const { isLocal, read } = this.#parts.database
    const own = JSON.stringify([...this.#ownProjects])
    const isOurs = isLocal
      ? sql`true`
      : sql`(${erasures.requestedAt} <= ${now() - takeOverFactor * config.eraseWithinMs}
          or ${erasures.projectId} in (select value from json_each(${own})))`
    const { requestedAt, rowid } = last ?? { requestedAt: Number.MIN_SAFE_INTEGER, rowid: 0 }
    return await read
      .select({ ...columns, rowid: sql<number>`erasures.rowid` })
      .from(erasures)
      // Erasing a deleted project covers its open erasures.
      .innerJoin(projects, eq(projects.id, erasures.projectId))
      .where(
        sql`${isDeleted} and ${projects.deletedAt} is null and ${isOurs}
          and (${erasures.requestedAt}, erasures.rowid) > (${requestedAt}, ${rowid})`,
      )
      .orderBy(sql`${erasures.requestedAt}, erasures.rowid`)
      .limit(rowsPerSlice)
  }

  async #markDone(open: OpenErasure[]): Promise<void> {
    const doneAt = this.#parts.now()
    for (let start = 0; start < open.length; start += rowsPerSlice) {
      const rows = JSON.stringify(
        open
          .slice(start, start + rowsPerSlice)
          .map(({ projectId, kind, idHash, changeSeq }) => [projectId, kind, idHash, changeSeq]),
      )
      await this.#parts.database.writeWhenFull.run(sql`
        update ${erasures} set done_at = ${doneAt} where rowid in (
          select open.rowid from json_each(${rows}) cross join ${erasures} as open
            on open.project_id = value ->> 0 and open.kind = value ->> 1 and open.id_hash = value ->> 2
            and open.change_seq = value ->> 3)`)
    }
  }
}
