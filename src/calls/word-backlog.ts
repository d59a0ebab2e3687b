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

/** How often to look for calls whose words are not indexed. A long live call is indexed no more often than this. */
const pollMs = 2_000
/** Between two slices other requests have their turn. */
const pauseMs = 10
const callsPerSliceMax = 200
const charsPerSliceMax = 1_000_000
/** Calls that a run leaves out because it has tried them; in a longer run the earliest have their turn again. */
const knownMax = 1_000

interface WordBacklogOptions {
  read: ReadDatabase
  write: WriteDatabase
  log: Pick<Log, 'error'>
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
    // Those of a project that is being deleted go with it.
    .from(sql`calls_without_words as behind cross join calls on calls.seq = behind.seq
      cross join projects on projects.id = calls.project_id and projects.deleted_at is null`)
    .where(sql`behind.seq not in (select value from json_each(${sql.placeholder('tried')}))`)
    .orderBy(sql`behind.seq desc`)
    .limit(callsPerSliceMax)
    .prepare(),
  calls: db
    .select({
      seq: sql<number>`calls.seq`,
      projectId: sql<number>`project_id`,
      changeSeq: sql<number>`change_seq`,
      document: sql<string>`document`,
    })
    .from(sql`json_each(${sql.placeholder('seqs')}) cross join calls on calls.seq = value
      cross join call_documents on call_documents.seq = calls.seq`)
    .orderBy(sql`calls.seq`)
    .prepare(),
}))

/**
 * Indexes the words of long calls, which their writes leave out: a thread cuts them, since those of the largest call
 * take a second. Which calls are behind is in rows, so a restart loses none; the newest come first.
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
    })
    this.#background = new Background({
      work: async (signal) => {
        await this.#indexAll(signal)
        return pollMs
      },
      delayMs: 0,
      retryMs: pollMs,
      onFailure: (error) => options.log.error({ error }, "Indexing calls' words failed; it is tried again"),
    })
  }

  /** Works the backlog off, and from then on whatever comes to it. */
  start(): void {
    this.#background.soon()
  }

  /** Resolves when no call is without its words but those that changed since this read them. */
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

  /** Answers whether there was anything to do. Leaves out the calls in `tried` and adds its own to them. */
  async #indexSlice(tried: Set<number>): Promise<boolean> {
    const { read } = this.#options
    const behind = await queries(read).behind.all({ tried: JSON.stringify([...tried]) })
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
   * A call that has changed since it was read stays behind until the next run: one that never stops changing must not
   * keep the others waiting. Of several nodes of one database that come to index the same call, the first does.
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
