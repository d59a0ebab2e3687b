import { eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from './reader.ts'
import { Rounds } from './rounds.ts'
import { erasures, projects } from './schema.ts'
import { segmentNames } from './word-segments.ts'
import { callWords, chunkWords } from './word-tables.ts'
import { emptyWriteAheadLog } from './write-ahead-log.ts'
import type { WriteDatabase } from './writer.ts'

/** Pages one merge step writes: some ten milliseconds, so that other writes get in between. */
const mergePages = 64
/** Segments of a level that FTS5 merges by itself, unless told otherwise. */
const automergeDefault = 4
/** Row of FTS5's data table in which an index's segments are listed. */
const structureId = 10
const mergeStepsMax = 100_000
const retryDelayMs = 1_000

/** A deletion of another node is finished here when that one has not done so in this many times its time. */
const othersPatience = 2

interface ErasureOptions {
  /** Whether the database's file and pages are this machine's to clear; otherwise they are its server's. */
  isLocal: boolean
  read: ReadDatabase
  write: WriteDatabase
  /** Resolves when the project's index file holds no byte of a removed vector. */
  scrubIndex: (projectId: number) => Promise<void>
  /** Resolves when no page holds bytes of a cell that was moved away from it. */
  sweepPages: (signal: AbortSignal) => Promise<unknown>
  /** See Writer.emptyLog. */
  emptyLog: (holdUpMs: number) => Promise<boolean>
  /** The promise: nothing is left this long after the answer to a DELETE. */
  eraseWithinMs: number
  now: () => number
  onFailure: (error: unknown) => void
}

interface OpenErasure {
  projectId: number
  kind: 'call' | 'item'
  idHash: string
}

/**
 * Makes what was deleted unreadable: `secure_delete` has zeroed its pages, the keyword index is merged without
 * it, the vector index is saved without it, the write-ahead log is emptied. Only then is the ledger row done.
 * Of a database on a server only the vector index is here to be scrubbed: pages and keyword index are the server's.
 */
export class Erasure {
  readonly #options: ErasureOptions
  readonly #rounds: Rounds
  /** Where this process has deleted something. */
  readonly #ownProjects = new Set<number>()

  constructor(options: ErasureOptions) {
    this.#options = options
    this.#rounds = new Rounds({
      work: async () => {
        await this.finish()
        return await this.#isAnyOpen()
      },
      // A tenth of the time gathers deletions; the rest is for the work itself, maybe behind a round under way.
      delayMs: options.eraseWithinMs / 10,
      retryMs: retryDelayMs,
      onFailure: options.onFailure,
    })
  }

  /**
   * To be called after each committed deletion. Deletions close together are scrubbed together.
   * @param projectId where this process has deleted something itself
   */
  schedule(projectId?: number): void {
    if (projectId !== undefined) this.#ownProjects.add(projectId)
    this.#rounds.schedule()
  }

  /** Resolves when the round that is under way now has ended. */
  async idle(): Promise<void> {
    await this.#rounds.idle()
  }

  /** Finishes every erasure that is open now. */
  async finish(): Promise<void> {
    const open = await this.#readOpen()
    if (open.length === 0) return
    for (const projectId of new Set(open.filter(({ kind }) => kind === 'item').map((row) => row.projectId))) {
      this.#rounds.signal.throwIfAborted()
      if (this.#options.isLocal) await this.#rewriteWords(chunkWords(projectId))
      await this.#options.scrubIndex(projectId)
    }
    if (this.#options.isLocal) await this.#scrubPages(open)
    await this.#markDone(open)
  }

  async #scrubPages(open: OpenErasure[]): Promise<void> {
    for (const projectId of new Set(open.filter(({ kind }) => kind === 'call').map((row) => row.projectId))) {
      await this.#rewriteWords(callWords(projectId))
    }
    await this.#options.sweepPages(this.#rounds.signal)
    await emptyWriteAheadLog(this.#options.emptyLog, this.#rounds.signal)
  }

  /** Breaks off what is under way; what is open then is finished by the next start. */
  async close(): Promise<void> {
    await this.#rounds.close()
  }

  /** Also such as another node is to finish, or this one later. */
  async #isAnyOpen(): Promise<boolean> {
    const rows = await this.#options.read.all(sql`
      select 1 from ${erasures} join ${projects} on ${projects.id} = ${erasures.projectId}
      where ${erasures.doneAt} is null and ${projects.deletedAt} is null limit 1`)
    return rows.length > 0
  }

  async #readOpen(): Promise<OpenErasure[]> {
    const { isLocal, read, now, eraseWithinMs } = this.#options
    const own = JSON.stringify([...this.#ownProjects])
    const isOurs = isLocal
      ? sql`true`
      : sql`(${erasures.requestedAt} <= ${now() - othersPatience * eraseWithinMs}
          or ${erasures.projectId} in (select value from json_each(${own})))`
    return await read
      .select({ projectId: erasures.projectId, kind: erasures.kind, idHash: erasures.idHash })
      .from(erasures)
      // What is open in a project that is being deleted goes with the project.
      .innerJoin(projects, eq(projects.id, erasures.projectId))
      .where(sql`${erasures.doneAt} is null and ${projects.deletedAt} is null and ${isOurs}`)
  }

  /**
   * FTS5 would go on with our merge in the commit of every other write, which then takes 200 ms; so it does not
   * merge by itself meanwhile.
   */
  async #rewriteWords(table: SQL): Promise<void> {
    await this.#setAutomerge(table, 0)
    try {
      await this.#mergeWords(table)
    } finally {
      await this.#setAutomerge(table, automergeDefault)
    }
  }

  async #setAutomerge(table: SQL, segments: number): Promise<void> {
    // Bound as a parameter it would be a double, which FTS5 refuses here.
    const literal = sql.raw(String(segments))
    await this.#options.write.run(sql`insert into ${table} (${table}, rank) values ('automerge', ${literal})`)
  }

  /**
   * Rewrites the keyword index without its deleted entries: FTS5's `optimize`, in steps. A negative number
   * starts a merge of all segments, positive ones go on with it, but stop short when other writes add segments
   * meanwhile. So what counts is that none of the segments is left that were there at the beginning.
   * https://www.sqlite.org/fts5.html#the_merge_command
   */
  async #mergeWords(table: SQL): Promise<void> {
    let old = await this.#readSegments(table)
    let isStart = true
    for (let step = 0; step < mergeStepsMax && old.length > 0; step++) {
      this.#rounds.signal.throwIfAborted()
      const { hasMerged, segments } = await this.#mergeStep(table, isStart ? -mergePages : mergePages)
      // A single segment without deleted entries: there is nothing to merge.
      if (isStart && !hasMerged) return
      old = old.filter((name) => segments.includes(name))
      isStart = !hasMerged
    }
    if (old.length > 0) throw new Error('The keyword index did not come to rest')
  }

  async #mergeStep(table: SQL, pages: number) {
    const { write } = this.#options
    const [before, , after, structure] = await write.batch([
      write.all<{ n: number }>(sql`select total_changes() as n`),
      write.run(sql`insert into ${table} (${table}, rank) values ('merge', ${pages})`),
      write.all<{ n: number }>(sql`select total_changes() as n`),
      write.all<StructureRow>(selectStructure(table)),
    ])
    return {
      hasMerged: (after[0]?.n ?? 0) - (before[0]?.n ?? 0) >= 2,
      segments: structure.flatMap(({ block }) => segmentNames(new Uint8Array(block))),
    }
  }

  async #readSegments(table: SQL): Promise<string[]> {
    const structure = await this.#options.write.all<StructureRow>(selectStructure(table))
    return structure.flatMap(({ block }) => segmentNames(new Uint8Array(block)))
  }

  async #markDone(open: OpenErasure[]): Promise<void> {
    const rows = JSON.stringify(open.map(({ projectId, kind, idHash }) => [projectId, kind, idHash]))
    await this.#options.write.run(sql`
      update ${erasures} set done_at = ${this.#options.now()} where rowid in (
        select open.rowid from json_each(${rows}) cross join ${erasures} as open
          on open.project_id = value ->> 0 and open.kind = value ->> 1 and open.id_hash = value ->> 2)`)
  }
}

interface StructureRow {
  block: ArrayBuffer
}

function selectStructure(table: SQL): SQL {
  return sql`select block from ${table}_data where id = ${structureId}`
}
