import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { inSlices } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import { callWords } from '../db/word-tables.ts'
import type { WriteDatabase } from '../db/writer.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import { Thread } from '../threads/thread.ts'
import type { CallWordsApi } from './call-words-worker.ts'
import { servedDocument } from './parts.ts'

/** How often to look for calls whose words are not indexed. A long live call is indexed no more often than this. */
const pollMs = 2_000
/** The pause between slices, so that other requests get a turn. */
const pauseMs = 10
const callsPerSliceMax = 200
const charsPerSliceMax = 1_000_000
/** A run skips calls that it has tried. Beyond this number, it tries the earliest again. */
const knownMax = 1_000
const idleMs = 60_000

interface WordBacklogOptions {
  read: ReadDatabase
  write: WriteDatabase
  log: Pick<Log, 'error'>
  now: () => number
}

interface CallRow {
  seq: number
  projectId: number
  changeSeq: number
  document: string
}

const queries = preparedQueries((db) => ({
  behind: db
    .select({ seq: sql<number>`behind.seq`, chars: sql<number>`document_chars` })
    // The calls of a deleted project are deleted with it.
    .from(sql`calls_without_words as behind cross join calls on calls.seq = behind.seq
      cross join projects on projects.id = calls.project_id and projects.deleted_at is null`)
    .where(
      sql`due_at <= ${sql.placeholder('now')} and behind.seq not in (select value from json_each(${sql.placeholder('tried')}))`,
    )
    .orderBy(sql`behind.seq desc`)
    .limit(callsPerSliceMax)
    .prepare(),
  calls: db
    .select({
      seq: sql<number>`calls.seq`,
      projectId: sql<number>`project_id`,
      changeSeq: sql<number>`change_seq`,
      document: servedDocument,
    })
    .from(sql`json_each(${sql.placeholder('seqs')}) cross join calls on calls.seq = value
      cross join call_documents on call_documents.seq = calls.seq`)
    .orderBy(sql`calls.seq`)
    .prepare(),
}))

/**
 * Indexes the words of long calls and of calls in parts, in the background, newest first. A worker thread splits them
 * into words, which takes a second for the largest call. The calls to index are in a table, so a restart loses none.
 */
export class WordBacklog {
  readonly #options: WordBacklogOptions
  readonly #words: Thread<CallWordsApi>
  readonly #background: Background

  constructor(options: WordBacklogOptions) {
    this.#options = options
    this.#words = new Thread({
      script: new URL('./call-words-worker.ts', import.meta.url),
      name: 'The cutting of words',
      data: () => undefined,
      idleMs,
    })
    this.#background = new Background({
      work: (signal) => this.#indexAll(signal),
      everyMs: pollMs,
      delayMs: 0,
      retryMs: pollMs,
      onFailure: (error) =>
        options.log.error({ error }, 'Indexing the words of calls failed and will be tried again'),
    })
  }

  /** Indexes the backlog, and from then on whatever is added to it. */
  start(): void {
    this.#background.soon()
  }

  /** Indexes every call that is due now, except those that change meanwhile. */
  finish(): Promise<void> {
    return this.#background.now()
  }

  async close(): Promise<void> {
    await this.#background.close()
    await this.#words.close()
  }

  async #indexAll(signal: AbortSignal): Promise<void> {
    const tried = new Set<number>()
    while (await this.#indexSlice(tried)) {
      for (const seq of [...tried].slice(0, -knownMax)) tried.delete(seq)
      await sleep(pauseMs)
      signal.throwIfAborted()
    }
  }

  /** Skips calls in `tried` and adds those that it indexes. Returns false if there was nothing to do. */
  async #indexSlice(tried: Set<number>): Promise<boolean> {
    const { read, now } = this.#options
    const behind = await queries(read).behind.all({ now: now(), tried: JSON.stringify([...tried]) })
    const sizes = behind.map(({ seq, chars }) => [seq, chars] as const)
    const [seqs] = inSlices(sizes, charsPerSliceMax)
    if (!seqs) return false
    const rows = await queries(read).calls.all({ seqs: JSON.stringify(seqs) })
    for (const projectId of new Set(rows.map((row) => row.projectId))) {
      const calls = rows.filter((row) => row.projectId === projectId)
      await this.#index(projectId, calls)
    }
    for (const seq of seqs) tried.add(seq)
    return true
  }

  /**
   * A call that has changed since it was read is left to the next run, so that it does not delay others. If several
   * nodes index a call, the first one wins.
   */
  async #index(projectId: number, calls: CallRow[]): Promise<void> {
    const documents = calls.map(({ document }) => document)
    const words = await this.#words.ask('wordsOf', documents)
    const rows = calls.map(({ seq, changeSeq }, at) => [seq, changeSeq, words[at]])
    const unchanged = sql`json_each(${JSON.stringify(rows)})
      cross join calls_without_words as behind on behind.seq = value ->> 0
      cross join calls on calls.seq = behind.seq and calls.change_seq = value ->> 1`
    const { write } = this.#options
    await write.batch([
      write.run(sql`
        insert or replace into ${callWords(projectId)} (rowid, words)
        select calls.seq, value ->> 2 from ${unchanged} order by calls.seq`),
      write.run(sql`delete from calls_without_words where seq in (select calls.seq from ${unchanged})`),
    ])
  }
}
