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
/** Between two slices, so that other requests are answered. */
const pauseMs = 10
const callsPerSliceMax = 200
const charsPerSliceMax = 1_000_000
/** A run skips the calls that it has tried; when there are more than this, it tries the earliest again. */
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
 * Indexes the words of long calls, and those of calls in parts, in the background, newest first. A thread finds the words, since those of the largest
 * call take a second. The calls to index are listed in a table, so a restart loses none.
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
      onFailure: (error) => options.log.error({ error }, "Indexing calls' words failed; it is tried again"),
    })
  }

  /** Indexes the backlog, and from then on whatever is added to it. */
  start(): void {
    this.#background.soon()
  }

  /** Resolves when every call that is due is indexed, except those that changed in the meantime. */
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

  /** Skips the calls in `tried` and adds the ones that it indexes. Returns false when there was nothing to do. */
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
   * A call that has changed since it was read is left to the next run, so that one that keeps changing does not delay
   * the others. When several nodes of one database index the same call, the first one does it.
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
