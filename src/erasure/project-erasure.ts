import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import { projectErasures, projects } from '../db/schema.ts'
import { inSlices } from '../db/slices.ts'
import type { Erasure } from './erasure.ts'
import { eraseWords } from './word-erasure.ts'
import { emptyWriteAheadLog } from './write-ahead-log.ts'

/** A slice deletes about this many bytes, in about 10 ms of the writer's time. */
const sliceBytes = 400_000
const rowsPerSliceMax = 200
/** Longer than other processes on the same database take to notice that a project was deleted. */
const delayMs = 1_000

export interface ProjectErasureParts {
  erasure: Pick<Erasure, 'idle'>
  index: { drop(projectId: number): Promise<void> }
  /** Removes the files of recordings that were deleted. */
  removedFiles: { erase(): Promise<void> }
}

/** Rows of one table, to be deleted in slices. */
interface Contents {
  table: SQL
  key: SQL
  /** Selects the rows as `key` and `bytes`. */
  rows: SQL
}

/**
 * Erases deleted projects from every file. A project is unreachable from the commit that deletes it. Its rows are deleted
 * in slices, which leave half of the writer's time to other writes. After an interruption, the next run does the rest.
 */
export class ProjectErasure {
  readonly #parts: Core & ProjectErasureParts
  readonly #job: Job

  constructor(core: Core, parts: ProjectErasureParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'erasure of projects',
      run: async (turn) => {
        await this.#finishOpen(turn)
        return (await this.#readOpen()).length > 0 ? delayMs : null
      },
      delayMs,
      failure: 'Erasing a deleted project failed',
    })
  }

  /**
   * Call it when a project may have been deleted.
   * @param projectId a project that this process has deleted: requests in progress lose access to its data
   */
  schedule(projectId?: number): void {
    if (projectId !== undefined) this.#parts.stores.close(projectId)
    this.#job.soon()
  }

  /** Erases every project that was deleted before the call. */
  finish(): Promise<void> {
    return this.#job.now()
  }

  async #finishOpen(turn: Turn): Promise<void> {
    const open = await this.#readOpen()
    for (const projectId of open) await this.#deleteProject(projectId, turn)
    if (open.length === 0) return
    const { database, removedFiles } = this.#parts
    await eraseWords(database, turn.signal)
    if (database.isLocal) await emptyWriteAheadLog(database.emptyLog, turn.signal)
    // Last, since a bucket may not answer.
    await removedFiles.erase()
    await this.#markDone(open)
  }

  async #readOpen(): Promise<number[]> {
    const rows = await this.#parts.database.read
      .select({ projectId: projectErasures.projectId })
      .from(projectErasures)
      .where(isNull(projectErasures.doneAt))
    return rows.map(({ projectId }) => projectId)
  }

  async #deleteProject(projectId: number, turn: Turn): Promise<void> {
    const { database, stores, erasure, index } = this.#parts
    stores.close(projectId)
    // A running erasure may still write to the project.
    await erasure.idle()
    for (const contents of contentsOf(projectId)) await this.#empty(contents, turn)
    // Cascades to what was written since, which is little.
    await database.writeWhenFull.delete(projects).where(eq(projects.id, projectId))
    await index.drop(projectId)
  }

  async #empty({ table, key, rows: selected }: Contents, turn: Turn): Promise<void> {
    const { read, writeWhenFull: write } = this.#parts.database
    for (;;) {
      turn.signal.throwIfAborted()
      const rows = await read.all<{ key: number; bytes: number }>(sql`${selected} limit ${rowsPerSliceMax}`)
      const [keys] = inSlices(
        rows.map(({ key, bytes }) => [key, bytes] as const),
        sliceBytes,
      )
      if (!keys) return
      await write.run(
        sql`delete from ${table} where ${key} in (select value from json_each(${JSON.stringify(keys)}))`,
      )
      await turn.rest()
    }
  }

  async #markDone(open: number[]): Promise<void> {
    await this.#parts.database.writeWhenFull.run(sql`
      update ${projectErasures} set done_at = ${this.#parts.now()}
      where project_id in (select value from json_each(${JSON.stringify(open)}))`)
  }
}

/** A project's rows, in the order in which they can be deleted. Documents and details are deleted with their calls. */
function contentsOf(projectId: number): Contents[] {
  const rows = (table: string, key: string, bytes: string): Contents => ({
    table: sql.raw(table),
    key: sql.raw(key),
    rows: sql`select ${sql.raw(key)} as key, ${sql.raw(bytes)} as bytes from ${sql.raw(table)}
      where project_id = ${projectId}`,
  })
  const ofWebhooks = (table: string, bytes: string): Contents => ({
    table: sql.raw(table),
    key: sql`id`,
    rows: sql`select id as key, ${sql.raw(bytes)} as bytes from ${sql.raw(table)}
      where webhook_id in (select id from webhooks where project_id = ${projectId})`,
  })
  return [
    rows('call_sessions', 'rowid', 'octet_length(spans)'),
    rows('cases', 'seq', 'octet_length(content)'),
    rows(
      'calls',
      'seq',
      'document_chars + coalesce((select octet_length(details) from call_details where call_details.seq = calls.seq), 0)',
    ),
    rows('chunks', 'label', 'octet_length(text) + coalesce(octet_length(embedding), 0)'),
    rows('knowledge_items', 'seq', 'octet_length(text)'),
    ofWebhooks('webhook_queue', '200'),
    ofWebhooks('webhook_attempts', '200 + coalesce(octet_length(answer), 0)'),
    {
      table: sql`alert_changes`,
      key: sql`seq`,
      rows: sql`select seq as key, 500 as bytes from alert_changes
        where alert_seq in (select seq from alerts where project_id = ${projectId})`,
    },
    rows('call_sets', 'rowid', 'octet_length(seqs)'),
    rows('erasures', 'rowid', '100'),
    rows('idempotent_creates', 'rowid', '200'),
    rows('source_failures', 'seq', 'coalesce(octet_length(event), 0)'),
    rows('questions', 'seq', 'octet_length(query)'),
    rows('golden_questions', 'seq', 'octet_length(query)'),
    rows('audit_events', 'seq', '200'),
  ]
}
