import { setTimeout as sleep } from 'node:timers/promises'
import { eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { Rounds } from '../db/rounds.ts'
import { meta, projectErasures, projects } from '../db/schema.ts'
import { callWords, chunkWords, chunkWordsMeta } from '../db/word-tables.ts'
import { emptyWriteAheadLog } from '../db/write-ahead-log.ts'
import type { WriteDatabase } from '../db/writer.ts'

/** What one slice takes of the writer's time, roughly: other writes have their turn behind it. */
const sliceMs = 10
const rowsPerSliceMax = 400
/** A slice's weight at first, and its bounds; how long slices take decides where in between. */
const weights = { first: 200_000, min: 60_000, max: 4_000_000 }
/** What a row weighs beside its texts: its entries in the indexes. */
const rowWeight = 2_000
/** How far one slice's time changes the weight of the next: a slow disk now says little of then. */
const changePerSlice = { min: 0.8, max: 1.25 }
const retryDelayMs = 1_000

interface RemovalsOptions {
  /** Whether the database's file is this machine's to clear; otherwise it is its server's. */
  isLocal: boolean
  read: ReadDatabase
  write: WriteDatabase
  /** Resolves when this process has nothing under way any more that writes to the project. */
  leave: (projectId: number) => Promise<void>
  dropIndex: (projectId: number) => Promise<void>
  /** Resolves when no page holds bytes of a cell that was moved away from it. */
  sweepPages: (signal: AbortSignal) => Promise<unknown>
  /** See Writer.emptyLog. */
  emptyLog: (holdUpMs: number) => Promise<boolean>
  /** How long a removal waits: other processes on the database need a moment to notice it. */
  delayMs: number
  /** Milliseconds since 1970. */
  now: () => number
  /** Milliseconds of a monotonic clock. */
  clock: () => number
  onFailure: (error: unknown) => void
}

/** Rows of one table that go a slice at a time. */
interface Contents {
  table: SQL
  key: SQL
  /** Selects some of them as `key` and `weight`. */
  some: SQL
}

/**
 * Takes deleted projects out of every file. A project is unreachable from the commit that deletes it; its rows go in
 * slices that leave half of the writer's time to others, and what an interruption leaves is done by the next run.
 */
export class Removals {
  readonly #options: RemovalsOptions
  readonly #rounds: Rounds
  #sliceWeight = weights.first
  /** One run at a time. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: RemovalsOptions) {
    this.#options = options
    this.#rounds = new Rounds({
      work: async () => {
        await this.finish()
        return (await this.#readOpen()).length > 0
      },
      delayMs: options.delayMs,
      retryMs: retryDelayMs,
      onFailure: options.onFailure,
    })
  }

  /** To be called when a project may have been deleted. */
  schedule(): void {
    this.#rounds.schedule()
  }

  /** Finishes every removal that is open now, behind whatever is under way. */
  finish(): Promise<void> {
    const run = this.#last.then(() => this.#finishOpen())
    // Who asked for that run is told when it fails; this one goes on behind it.
    this.#last = run.catch(() => undefined)
    return run
  }

  /** Stops after the slice that is under way; the rest is done after the next start. */
  async close(): Promise<void> {
    await this.#rounds.close()
  }

  async #finishOpen(): Promise<void> {
    const open = await this.#readOpen()
    for (const projectId of open) await this.#remove(projectId)
    if (open.length === 0 || this.#rounds.isClosed) return
    if (this.#options.isLocal) {
      await this.#options.sweepPages(this.#rounds.signal)
      await emptyWriteAheadLog(this.#options.emptyLog, this.#rounds.signal)
    }
    await this.#markDone(open)
  }

  async #readOpen(): Promise<number[]> {
    const rows = await this.#options.read
      .select({ projectId: projectErasures.projectId })
      .from(projectErasures)
      .where(isNull(projectErasures.doneAt))
    return rows.map(({ projectId }) => projectId)
  }

  async #remove(projectId: number): Promise<void> {
    await this.#options.leave(projectId)
    for (const contents of contentsOf(projectId)) await this.#empty(contents)
    if (this.#rounds.isClosed) return
    await this.#removeProject(projectId)
    // After the project, so that a late write finds no project rather than a broken keyword index.
    for (const table of [chunkWords(projectId), callWords(projectId)]) await this.#dropWords(table)
    if (this.#rounds.isClosed) return
    await this.#options.dropIndex(projectId)
  }

  async #empty({ table, key, some }: Contents): Promise<void> {
    const { read, write, clock } = this.#options
    while (!this.#rounds.isClosed) {
      const rows = await read.all<{ key: number; weight: number }>(sql`${some} limit ${rowsPerSliceMax}`)
      if (rows.length === 0) return
      const keys = JSON.stringify(this.#fitting(rows))
      const startedAt = clock()
      await write.run(sql`delete from ${table} where ${key} in (select value from json_each(${keys}))`)
      const tookMs = clock() - startedAt
      this.#adapt(tookMs)
      await sleep(tookMs)
    }
  }

  /** As many as one slice can take, at least one. */
  #fitting(rows: { key: number; weight: number }[]): number[] {
    let weight = 0
    const count = rows.findIndex((row, position) => {
      weight += row.weight + rowWeight
      return position > 0 && weight > this.#sliceWeight
    })
    return rows.slice(0, count < 0 ? rows.length : count).map(({ key }) => key)
  }

  #adapt(tookMs: number): void {
    const change = Math.min(changePerSlice.max, Math.max(changePerSlice.min, sliceMs / tookMs))
    this.#sliceWeight = Math.min(weights.max, Math.max(weights.min, this.#sliceWeight * change))
  }

  /** With whatever was written to it since it was emptied: that is little, and refers to it. */
  async #removeProject(projectId: number): Promise<void> {
    const { write } = this.#options
    await write.batch([
      write.delete(meta).where(eq(meta.name, chunkWordsMeta(projectId))),
      write.delete(projects).where(eq(projects.id, projectId)),
    ])
  }

  /** Dropped at once it would take a second for a large project. */
  async #dropWords(table: SQL): Promise<void> {
    const { read, write } = this.#options
    const isThere = sql`select 1 from sqlite_master where type = 'table' and name = ${sql`'${table}'`}`
    if ((await read.all(isThere)).length === 0) return
    for (const contents of wordsOf(table)) await this.#empty(contents)
    if (this.#rounds.isClosed) return
    await write.run(sql`drop table if exists ${table}`)
  }

  async #markDone(open: number[]): Promise<void> {
    await this.#options.write.run(sql`
      update ${projectErasures} set done_at = ${this.#options.now()}
      where project_id in (select value from json_each(${JSON.stringify(open)}))`)
  }
}

/** What belongs to a project, in the order in which it can go: documents and metadata go with their calls. */
function contentsOf(projectId: number): Contents[] {
  const rows = (table: string, key: string, weight: string): Contents => ({
    table: sql.raw(table),
    key: sql.raw(key),
    some: sql`select ${sql.raw(key)} as key, ${sql.raw(weight)} as weight from ${sql.raw(table)}
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
      some: sql`select id as key, octet_length(block) as weight from ${data} where id > 10`,
    },
    { table: sizes, key, some: sql`select id as key, 0 as weight from ${sizes}` },
  ]
}
