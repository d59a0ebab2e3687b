import { setTimeout as sleep } from 'node:timers/promises'
import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { OpenDatabase } from '../db/open.ts'
import { projectErasures, projects } from '../db/schema.ts'
import { inSlices } from '../db/slices.ts'
import type { ProjectStores } from '../db/store.ts'
import { callWords, chunkWords } from '../db/word-tables.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import type { Sweeper } from './sweeper.ts'
import { emptyWriteAheadLog } from './write-ahead-log.ts'

/** One slice deletes about this many bytes: some 10 ms of the writer's time, then other writes have their turn. */
const sliceBytes = 400_000
const rowsPerSliceMax = 200
const retryMs = 1_000
/** Longer than it takes another process on the same database to notice that a project was deleted. */
const delayMs = 1_000

interface ProjectRemovalOptions {
  /** Only the process that owns the folder removes what is in a project. */
  owner: { readonly isOwner: boolean }
  database: Pick<OpenDatabase, 'isLocal' | 'read' | 'freeing' | 'emptyLog'>
  stores: Pick<ProjectStores, 'close'>
  erasure: { idle(): Promise<void> }
  index: { drop(projectId: number): Promise<void> }
  sweeper: Pick<Sweeper, 'sweep'>
  /** Milliseconds since 1970. */
  now: () => number
  log: Pick<Log, 'error'>
}

/** Rows of one table that go a slice at a time. */
interface Contents {
  table: SQL
  key: SQL
  /** Selects some of them as `key` and `bytes`. */
  some: SQL
}

/**
 * Takes deleted projects out of every file. A project is unreachable from the commit that deletes it; its rows go in
 * slices that leave half of the writer's time to others, and what an interruption leaves is done by the next run.
 */
export class ProjectRemoval {
  readonly #options: ProjectRemovalOptions
  readonly #background: Background

  constructor(options: ProjectRemovalOptions) {
    this.#options = options
    this.#background = new Background({
      work: async (signal) => {
        await this.#finishOpen(signal)
        return (await this.#readOpen()).length > 0 ? delayMs : null
      },
      delayMs,
      retryMs,
      onFailure: (error) =>
        options.log.error({ error }, 'Removing a deleted project failed; it is tried again'),
    })
  }

  /** Call it when this process has deleted a project: nobody gets to its data any more. */
  begin(projectId: number): void {
    this.#options.stores.close(projectId)
    this.schedule()
  }

  /** Call it when a project may have been deleted. */
  schedule(): void {
    if (this.#options.owner.isOwner) this.#background.soon()
  }

  /** Finishes every removal that is open now. */
  finish(): Promise<void> {
    return this.#background.now()
  }

  /** Stops after the slice that is under way; the rest is done after the next start. */
  async close(): Promise<void> {
    await this.#background.close()
  }

  async #finishOpen(signal: AbortSignal): Promise<void> {
    const open = await this.#readOpen()
    for (const projectId of open) await this.#remove(projectId, signal)
    if (open.length === 0) return
    const { database, sweeper } = this.#options
    if (database.isLocal) {
      await sweeper.sweep(signal)
      await emptyWriteAheadLog(database.emptyLog, signal)
    }
    await this.#markDone(open)
  }

  async #readOpen(): Promise<number[]> {
    const rows = await this.#options.database.read
      .select({ projectId: projectErasures.projectId })
      .from(projectErasures)
      .where(isNull(projectErasures.doneAt))
    return rows.map(({ projectId }) => projectId)
  }

  async #remove(projectId: number, signal: AbortSignal): Promise<void> {
    const { stores, erasure, index } = this.#options
    stores.close(projectId)
    // An erasure that is under way may still write to the project.
    await erasure.idle()
    for (const contents of contentsOf(projectId)) await this.#empty(contents, signal)
    await this.#removeProject(projectId)
    // After the project, so that a late write finds no project rather than a broken keyword index.
    for (const table of [chunkWords(projectId), callWords(projectId)]) await this.#dropWords(table, signal)
    await index.drop(projectId)
  }

  /** Deletes the rows in slices, and leaves half of the writer's time to others. */
  async #empty({ table, key, some }: Contents, signal: AbortSignal): Promise<void> {
    const { read, freeing: write } = this.#options.database
    for (;;) {
      signal.throwIfAborted()
      const rows = await read.all<{ key: number; bytes: number }>(sql`${some} limit ${rowsPerSliceMax}`)
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

  /** With whatever was written to it since it was emptied: that is little, and refers to it. */
  async #removeProject(projectId: number): Promise<void> {
    await this.#options.database.freeing.delete(projects).where(eq(projects.id, projectId))
  }

  /** Dropped at once it would take a second for a large project. */
  async #dropWords(table: SQL, signal: AbortSignal): Promise<void> {
    const { read, freeing: write } = this.#options.database
    const isThere = sql`select 1 from sqlite_master where type = 'table' and name = ${sql`'${table}'`}`
    if ((await read.all(isThere)).length === 0) return
    for (const contents of wordsOf(table)) await this.#empty(contents, signal)
    await write.run(sql`drop table if exists ${table}`)
  }

  async #markDone(open: number[]): Promise<void> {
    await this.#options.database.freeing.run(sql`
      update ${projectErasures} set done_at = ${this.#options.now()}
      where project_id in (select value from json_each(${JSON.stringify(open)}))`)
  }
}

/** What belongs to a project, in the order in which it can go: documents and metadata go with their calls. */
function contentsOf(projectId: number): Contents[] {
  const rows = (table: string, key: string, bytes: string): Contents => ({
    table: sql.raw(table),
    key: sql.raw(key),
    some: sql`select ${sql.raw(key)} as key, ${sql.raw(bytes)} as bytes from ${sql.raw(table)}
      where project_id = ${projectId}`,
  })
  return [
    rows('calls', 'seq', 'document_chars'),
    rows('chunks', 'label', 'octet_length(text) + coalesce(octet_length(embedding), 0)'),
    rows('knowledge_items', 'seq', 'octet_length(text)'),
    rows('erasures', 'rowid', '100'),
    rows('idempotent_creates', 'rowid', '200'),
    rows('calls_by_day', 'rowid', '0'),
    rows('audit_events', 'seq', '200'),
  ]
}

/**
 * FTS5's own tables that grow with the text, but for the two records without which FTS5 does not open a table, even to
 * drop it: 1, the averages, and 10, the structure. https://www.sqlite.org/fts5.html#fts5_data_structures
 */
function wordsOf(table: SQL): Contents[] {
  const [data, sizes] = [sql`${table}_data`, sql`${table}_docsize`]
  const key = sql`id`
  return [
    {
      table: data,
      key,
      some: sql`select id as key, octet_length(block) as bytes from ${data} where id > 10`,
    },
    { table: sizes, key, some: sql`select id as key, 0 as bytes from ${sizes}` },
  ]
}
