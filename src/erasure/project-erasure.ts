import { setTimeout as sleep } from 'node:timers/promises'
import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { OpenDatabase } from '../db/open.ts'
import { projectErasures, projects } from '../db/schema.ts'
import { inSlices } from '../db/slices.ts'
import type { ProjectStores } from '../db/store.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import { eraseWords } from './word-erasure.ts'
import { emptyWriteAheadLog } from './write-ahead-log.ts'

/** A slice deletes about this many bytes, in about 10 ms of the writer's time. */
const sliceBytes = 400_000
const rowsPerSliceMax = 200
/** Longer than other processes on the same database take to notice that a project was deleted. */
const delayMs = 1_000

interface ProjectErasureOptions {
  /** Only the process that owns the folder erases projects. */
  owner: { readonly isOwner: boolean }
  database: Pick<OpenDatabase, 'isLocal' | 'read' | 'writeWhenFull' | 'emptyLog'>
  stores: Pick<ProjectStores, 'close'>
  erasure: { idle(): Promise<void> }
  index: { drop(projectId: number): Promise<void> }
  /** Removes the files of recordings that were deleted. */
  removedFiles: { erase(): Promise<void> }
  /** Milliseconds since 1970. */
  now: () => number
  log: Pick<Log, 'error'>
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
  readonly #options: ProjectErasureOptions
  readonly #background: Background

  constructor(options: ProjectErasureOptions) {
    this.#options = options
    this.#background = new Background({
      work: async (signal) => {
        await this.#finishOpen(signal)
        return (await this.#readOpen()).length > 0 ? delayMs : null
      },
      delayMs,
      onFailure: (error) =>
        options.log.error({ error }, 'Erasing a deleted project failed and will be tried again'),
    })
  }

  /**
   * Call it when a project may have been deleted.
   * @param projectId a project that this process has deleted: requests in progress lose access to its data
   */
  schedule(projectId?: number): void {
    if (projectId !== undefined) this.#options.stores.close(projectId)
    if (this.#options.owner.isOwner) this.#background.soon()
  }

  /** Erases every project that was deleted before the call. */
  finish(): Promise<void> {
    return this.#background.now()
  }

  /** Stops after the current slice. The next start does the rest. */
  async close(): Promise<void> {
    await this.#background.close()
  }

  async #finishOpen(signal: AbortSignal): Promise<void> {
    const open = await this.#readOpen()
    for (const projectId of open) await this.#deleteProject(projectId, signal)
    if (open.length === 0) return
    const { database, removedFiles } = this.#options
    await eraseWords(database, signal)
    if (database.isLocal) await emptyWriteAheadLog(database.emptyLog, signal)
    // Last, since a bucket may not answer.
    await removedFiles.erase()
    await this.#markDone(open)
  }

  async #readOpen(): Promise<number[]> {
    const rows = await this.#options.database.read
      .select({ projectId: projectErasures.projectId })
      .from(projectErasures)
      .where(isNull(projectErasures.doneAt))
    return rows.map(({ projectId }) => projectId)
  }

  async #deleteProject(projectId: number, signal: AbortSignal): Promise<void> {
    const { database, stores, erasure, index } = this.#options
    stores.close(projectId)
    // A running erasure may still write to the project.
    await erasure.idle()
    for (const contents of contentsOf(projectId)) await this.#empty(contents, signal)
    // Cascades to what was written since, which is little.
    await database.writeWhenFull.delete(projects).where(eq(projects.id, projectId))
    await index.drop(projectId)
  }

  async #empty({ table, key, rows: selected }: Contents, signal: AbortSignal): Promise<void> {
    const { read, writeWhenFull: write } = this.#options.database
    for (;;) {
      signal.throwIfAborted()
      const rows = await read.all<{ key: number; bytes: number }>(sql`${selected} limit ${rowsPerSliceMax}`)
      const [keys] = inSlices(
        rows.map(({ key, bytes }) => [key, bytes] as const),
        sliceBytes,
      )
      if (!keys) return
      const startedAt = performance.now()
      await write.run(
        sql`delete from ${table} where ${key} in (select value from json_each(${JSON.stringify(keys)}))`,
      )
      await sleep(performance.now() - startedAt)
    }
  }

  async #markDone(open: number[]): Promise<void> {
    await this.#options.database.writeWhenFull.run(sql`
      update ${projectErasures} set done_at = ${this.#options.now()}
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
    {
      table: sql`call_set_slices`,
      key: sql`rowid`,
      rows: sql`select rowid as key, octet_length(seqs) as bytes from call_set_slices
        where set_id in (select id from call_sets where project_id = ${projectId})`,
    },
    rows('erasures', 'rowid', '100'),
    rows('idempotent_creates', 'rowid', '200'),
    rows('source_failures', 'seq', 'coalesce(octet_length(event), 0)'),
    rows('questions', 'seq', 'octet_length(query)'),
    rows('golden_questions', 'seq', 'octet_length(query)'),
    rows('audit_events', 'seq', '200'),
  ]
}
