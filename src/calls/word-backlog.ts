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

/** How often it is looked for calls whose words are behind; a long call that goes on is indexed no oftener. */
const pollMs = 2_000
/** Between two slices other requests have their turn. */
const pauseMs = 10
const callsPerSliceMax = 200
const charsPerSliceMax = 1_000_000
/** Calls that a run knows to have indexed: those of a longer run that change again have their turn again. */
const knownMax = 1_000

interface WordBacklogOptions {
  read: ReadDatabase
  write: WriteDatabase
  log: Pick<Log, 'error'>
}

interface BehindRow {
  seq: number
  chars: number
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
    .where(sql`behind.seq not in (select value from json_each(${sql.placeholder('indexed')}))`)
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
 * Indexes the words of calls that are without: those that an earlier version has written, and long ones. Which they
 * are is in rows, so it goes on after a restart where it was; the newest come first. A thread cuts the words: those of
 * the largest call take a second.
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

  /** Resolves when no call is without its words but those that changed since this indexed them. */
  finish(): Promise<void> {
    return this.#background.now()
  }

  async close(): Promise<void> {
    await this.#background.close()
    await this.#words.close()
  }

  async #indexAll(signal: AbortSignal): Promise<void> {
    const indexed = new Set<number>()
    while (await this.#indexSlice(indexed)) {
      for (const seq of [...indexed].slice(0, -knownMax)) indexed.delete(seq)
      await sleep(pauseMs)
      signal.throwIfAborted()
    }
  }

  /** Answers whether there was anything to do; adds to `indexed`, which it leaves out, what it has done. */
  async #indexSlice(indexed: Set<number>): Promise<boolean> {
    const { read } = this.#options
    const behind: BehindRow[] = await queries(read).behind.all({ indexed: JSON.stringify([...indexed]) })
    const sizes = behind.map(({ seq, chars }) => [seq, chars] as const)
    const [seqs] = inSlices(sizes, charsPerSliceMax)
    if (!seqs) return false
    const rows: CallRow[] = await queries(read).calls.all({ seqs: JSON.stringify(seqs) })
    for (const projectId of new Set(rows.map((row) => row.projectId))) {
      const calls = rows.filter((row) => row.projectId === projectId)
      for (const seq of await this.#index(projectId, calls)) indexed.add(seq)
    }
    return true
  }

  /**
   * A call that has changed since it was read stays behind, and is read again. Of several nodes of one database that
   * come to index the same call, the first does.
   * @returns which calls are not behind any more
   */
  async #index(projectId: number, calls: CallRow[]): Promise<number[]> {
    const documents = calls.map(({ document }) => document)
    const words = await this.#words.ask('wordsOf', documents)
    const rows = calls.map(({ seq, changeSeq }, at) => [seq, changeSeq, words[at]])
    const unchanged = sql`json_each(${JSON.stringify(rows)})
      cross join calls_without_words as behind on behind.seq = value ->> 0
      cross join calls on calls.seq = behind.seq and calls.change_seq = value ->> 1`
    const { write } = this.#options
    const [, indexed] = await write.batch([
      write.run(sql`
        insert or replace into ${callWords(projectId)} (rowid, words)
        select calls.seq, value ->> 2 from ${unchanged} order by calls.seq`),
      write.all<{ seq: number }>(
        sql`delete from calls_without_words where seq in (select calls.seq from ${unchanged}) returning seq`,
      ),
    ])
    return indexed.map(({ seq }) => seq)
  }
}
