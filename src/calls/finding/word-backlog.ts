import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { Job } from '../../core/jobs.ts'
import { inSlices } from '../../db/slices.ts'
import { preparedQueries } from '../../db/store.ts'
import {
  createCallSegment,
  optimizeSegment,
  ownWords,
  segmentIn,
  segmentOf,
  segmentTable,
} from '../../db/word-segments.ts'
import { Thread } from '../../threads/thread.ts'
import { servedDocument } from '../document.ts'
import type { CallWordsApi } from './call-words-worker.ts'

/** How soon to look for calls that other processes wrote, or that changed during a run. */
const againMs = 2_000
/** How long written calls wait for others, which are indexed with them. */
const delayMs = 100
/** The pause between slices, so that other requests get a turn. */
const pauseMs = 10
const callsPerSliceMax = 500
const charsPerSliceMax = 1_000_000
/** A run skips calls that it has tried. Beyond this number, it tries the earliest again. */
const knownMax = 1_000
const idleMs = 60_000

interface CallRow {
  seq: number
  changeSeq: number
  /** Null when they wait in the table. */
  words: string | null
}

const queries = preparedQueries((db) => ({
  behind: db
    .select({
      seq: sql<number>`behind.seq`,
      changeSeq: sql<number>`change_seq`,
      isCut: sql<number>`words is not null`,
      chars: sql<number>`document_chars`,
    })
    .from(sql`calls_without_words as behind cross join calls on calls.seq = behind.seq`)
    .where(
      sql`due_at <= ${sql.placeholder('now')} and behind.seq not in (select value from json_each(${sql.placeholder('tried')}))`,
    )
    .orderBy(sql`behind.seq desc`)
    .limit(callsPerSliceMax)
    .prepare(),
  next: db
    .select({ dueAt: sql<number>`due_at` })
    .from(sql`calls_without_words`)
    .orderBy(sql`due_at`)
    .limit(1)
    .prepare(),
  documents: db
    .select({
      seq: sql<number>`calls.seq`,
      changeSeq: sql<number>`change_seq`,
      document: servedDocument,
    })
    .from(sql`json_each(${sql.placeholder('seqs')}) cross join calls on calls.seq = value
      cross join call_documents on call_documents.seq = calls.seq`)
    .prepare(),
}))

/**
 * Indexes the words of calls after they are written, many calls at once, newest first. The calls to index are in a table,
 * most with their words, so a restart loses none, and a search finds them there. Long calls and calls in parts are cut
 * into words by a worker thread, which takes a second for the largest call.
 */
export class WordBacklog {
  readonly #core: Core
  readonly #words: Thread<CallWordsApi>
  readonly #job: Job
  /** The newest segment so far. */
  #newest = 0

  constructor(core: Core) {
    this.#core = core
    this.#words = new Thread({
      script: new URL('./call-words-worker.ts', import.meta.url),
      name: 'The cutting of words',
      data: () => undefined,
      idleMs,
    })
    core.onClose(() => this.#words.close())
    this.#job = core.jobs.add({
      name: 'words',
      run: async (turn) => {
        await this.#indexAll(turn.signal)
        return await this.#nextMs()
      },
      delayMs,
      retryMs: againMs,
      commitMs: againMs,
      failure: 'Indexing the words of calls failed',
    })
  }

  /** Call it after each write of words. */
  schedule(): void {
    this.#job.soon()
  }

  /** Indexes every call that is due now, except those that change meanwhile. */
  finish(): Promise<void> {
    return this.#job.now()
  }

  async #indexAll(signal: AbortSignal): Promise<void> {
    const tried = new Set<number>()
    while (await this.#indexSlice(tried)) {
      for (const seq of [...tried].slice(0, -knownMax)) tried.delete(seq)
      await sleep(pauseMs)
      signal.throwIfAborted()
    }
  }

  /** In how many milliseconds the next call is due: one in parts waits for more of them. */
  async #nextMs(): Promise<number | null> {
    const next = await queries(this.#core.read).next.get()
    return next ? Math.max(againMs, next.dueAt - this.#core.now()) : null
  }

  /** Skips calls in `tried` and adds those that it indexes. @returns whether more may wait than one slice takes */
  async #indexSlice(tried: Set<number>): Promise<boolean> {
    const { read, now } = this.#core
    const behind = await queries(read).behind.all({ now: now(), tried: JSON.stringify([...tried]) })
    const sizes = behind.map(({ seq, chars }) => [seq, chars] as const)
    const [seqs = []] = inSlices(sizes, charsPerSliceMax)
    const slice = behind.slice(0, seqs.length)
    if (slice.length === 0) return false
    const uncut = slice.flatMap(({ seq, isCut }) => (isCut ? [] : [seq]))
    const cut = slice.flatMap(({ seq, changeSeq, isCut }) => (isCut ? [{ seq, changeSeq, words: null }] : []))
    await this.#index([...cut, ...(await this.#cut(uncut))])
    await this.#finishSegments(segmentOf(Math.max(...seqs)))
    for (const seq of seqs) tried.add(seq)
    // Those that arrive meanwhile wait for others.
    return slice.length < behind.length || slice.length === callsPerSliceMax
  }

  /** A search reads a segment in a third of the time once FTS5 has merged what came in little by little. */
  async #finishSegments(newest: number): Promise<void> {
    if (newest <= this.#newest) return
    const { read, write } = this.#core
    const full = await read.all<{ segment: number }>(sql`
      select distinct segment from call_segments where segment >= ${this.#newest} and segment < ${newest}`)
    for (const { segment } of full) await write.run(optimizeSegment('call', segment))
    this.#newest = newest
  }

  async #cut(seqs: readonly number[]): Promise<CallRow[]> {
    if (seqs.length === 0) return []
    const rows = await queries(this.#core.read).documents.all({ seqs: JSON.stringify(seqs) })
    const words = await this.#words.ask(
      'wordsOf',
      rows.map(({ document }) => document),
    )
    return rows.map(({ seq, changeSeq }, at) => ({ seq, changeSeq, words: words[at] ?? '' }))
  }

  /**
   * A call that has changed since it was read is left to the next run, so that it does not delay others. If several
   * nodes index a call, the first one wins.
   */
  async #index(calls: readonly CallRow[]): Promise<void> {
    const { write } = this.#core
    const rows = JSON.stringify(calls.map(({ seq, changeSeq, words }) => [seq, changeSeq, words]))
    const unchanged = sql`json_each(${rows})
      cross join calls_without_words as behind on behind.seq = value ->> 0
      cross join calls on calls.seq = behind.seq and calls.change_seq = value ->> 1`
    const segments = new Set(calls.map(({ seq }) => segmentOf(seq)))
    await write.batch({
      segments: sql`
        insert or ignore into call_segments (project_id, segment)
        select distinct calls.project_id, ${segmentIn(sql`calls.seq`)} from ${unchanged}`,
      words: [...segments].flatMap((segment) => [
        createCallSegment(segment),
        // In rowid order, or FTS5 would write a part of its index for each row.
        sql`
          insert or replace into ${segmentTable('call', segment)} (rowid, words)
          select calls.seq, ${ownWords(sql`calls.project_id`, sql`coalesce(value ->> 2, behind.words)`)} from ${unchanged}
          where ${segmentIn(sql`calls.seq`)} = ${segment} order by calls.seq`,
      ]),
      done: sql`delete from calls_without_words where seq in (select calls.seq from ${unchanged})`,
    })
  }
}
