import { and, asc, eq, gt, isNull, lte, or, sql } from 'drizzle-orm'
import { chunks, knowledgeItems, projects } from '../db/schema.ts'
import { type ProjectStores, preparedQueries, type StoreOf } from '../db/store.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import { embeddedText } from './chunking/chunks.ts'
import { type Embedder, EmbeddingError } from './embedding/embedder.ts'
import type { VectorIndex } from './index/vector-index.ts'

const retryDelayMsMin = 1_000
const retryDelayMsMax = 300_000
/** No chunk waits longer, whatever the provider asks for; one that seems to has seen the clock go back. */
const waitMsMax = 900_000
const errorCharsMax = 500
/** How long chunks are left to a process that has taken them on and says no more; then another may embed them. */
export const leaseMsDefault = 15_000
/** Who comes beyond it is not kept waiting: their chunks are pending. */
const waitersMax = 200
/** What is beyond it is embedded when its lease has ended: each batch asks for what is held. */
const heldMax = 10_000

interface IndexerOptions {
  stores: Pick<ProjectStores, 'of' | 'isClosed'>
  embedder: Embedder
  /** Null in a process that does not search: another finds the vectors in the rows. */
  index: Pick<VectorIndex, 'add'> | null
  /** How long what is taken on is this process's without a renewal. */
  leaseMs?: number
  now: () => number
  random?: () => number
  log: Pick<Log, 'warn'>
}

interface PendingChunk {
  label: number
  itemName: string
  heading: string | null
  text: string
  attempts: number
  refusals: number
  leasedUntil: number | null
}

const queries = preparedQueries((db) => {
  const isPending = and(eq(chunks.projectId, sql.placeholder('projectId')), isNull(chunks.embeddingSpace))
  return {
    due: db
      .select({
        label: chunks.label,
        itemName: knowledgeItems.name,
        heading: chunks.heading,
        text: chunks.text,
        attempts: chunks.attempts,
        refusals: chunks.refusals,
        leasedUntil: chunks.leasedUntil,
      })
      .from(chunks)
      .innerJoin(knowledgeItems, eq(knowledgeItems.seq, chunks.itemSeq))
      .where(
        and(
          isPending,
          or(
            lte(chunks.nextAttemptAt, sql.placeholder('now')),
            gt(chunks.nextAttemptAt, sql.placeholder('farthest')),
          ),
          or(
            lte(sql`coalesce(${chunks.leasedUntil}, 0)`, sql.placeholder('now')),
            gt(chunks.leasedUntil, sql.placeholder('farthest')),
            sql`${chunks.label} in (select value from json_each(${sql.placeholder('held')}))`,
          ),
        ),
      )
      .orderBy(asc(chunks.nextAttemptAt), asc(chunks.label))
      .limit(sql.placeholder('limit'))
      .prepare(),
    pending: db.select({ count: sql<number>`count(*)` }).from(chunks).where(isPending).prepare(),
    embedded: db
      .select({ label: sql<number>`wanted.value`, isGone: sql<number>`${chunks.label} is null` })
      .from(
        sql`json_each(${sql.placeholder('waitedFor')}) wanted left join ${chunks} on ${chunks.label} = wanted.value`,
      )
      .where(
        sql`${chunks.label} is null or (${eq(chunks.projectId, sql.placeholder('projectId'))} and ${chunks.embeddingSpace} is not null)`,
      )
      .prepare(),
    nextDue: db
      .select({
        at: sql<number | null>`min(max(${chunks.nextAttemptAt}, coalesce(${chunks.leasedUntil}, 0)))`,
      })
      .from(chunks)
      .where(isPending)
      .prepare(),
  }
})

/**
 * From rows to vectors to the index. What is pending stands in the rows, so there is no queue to lose: a
 * restart finds it again.
 */
export class Indexer {
  readonly #options: Required<IndexerOptions>
  readonly #store: StoreOf
  readonly #runs = new Map<number, Background>()
  readonly #waiters = new Set<Waiter>()
  readonly #closing = new AbortController()
  /** By project, the chunks whose lease is this process's. */
  readonly #held = new Map<number, Set<number>>()

  constructor(options: IndexerOptions) {
    this.#options = { leaseMs: leaseMsDefault, random: Math.random, ...options }
    this.#store = options.stores.of
  }

  /** True once all of these chunks are found by vector; false when one failed or `timeoutMs` passed. */
  async settle(projectId: number, labels: readonly number[], timeoutMs: number): Promise<boolean> {
    if (this.#waiters.size >= waitersMax) {
      // What was stored with a lease is this process's to embed all the same.
      this.#hold(projectId, labels)
      this.wake(projectId)
      return false
    }
    const waiter = new Waiter(labels)
    // They were stored with a lease.
    this.#hold(projectId, labels)
    this.#waiters.add(waiter)
    const timer = setTimeout(() => waiter.finish(false), timeoutMs)
    this.wake(projectId)
    try {
      return await waiter.done
    } finally {
      clearTimeout(timer)
      this.#waiters.delete(waiter)
    }
  }

  /** Starts on the project's pending chunks; a run that is under way is followed by another. */
  wake(projectId: number): void {
    if (this.#closing.signal.aborted || this.#options.stores.isClosed(projectId)) return
    let run = this.#runs.get(projectId)
    if (!run) {
      run = new Background({
        work: () => this.#run(projectId),
        delayMs: 0,
        retryMs: retryDelayMsMin,
        // The rows could not be read or written, so they do not say when to try again.
        onFailure: (error) => this.#logFailure({ projectId, chunks: 0, attempt: 0, error }),
      })
      this.#runs.set(projectId, run)
    }
    // Whoever waits for the chunks does so by `settle`; failures go to `onFailure`.
    run.now().catch(() => undefined)
  }

  /** Resolves when nothing is being embedded any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.idle()))
  }

  /** How many of the project's chunks have no vector yet. */
  async countPending(projectId: number): Promise<number> {
    const row = await queries(this.#store(projectId).read).pending.get({ projectId })
    return row?.count ?? 0
  }

  /** Makes vectors of another space pending: they mean nothing to this embedder. */
  async adoptSpace(projectId: number): Promise<void> {
    const { read, write } = this.#store(projectId)
    const { space } = this.#options.embedder
    const [foreign] = await read.all(sql`
      select 1 from ${chunks} where project_id = ${projectId}
        and (embedding_space < ${space} or embedding_space > ${space}) limit 1`)
    if (!foreign) return
    await write.run(sql`
      update ${chunks} set embedding = null, embedding_space = null, attempts = 0, refusals = 0,
        last_error = null, next_attempt_at = ${this.#options.now()}
      where project_id = ${projectId} and embedding_space <> ${space}`)
  }

  /** Whoever took chunks on will not embed them any more. */
  async endLeases(projectId: number): Promise<void> {
    const { read, write } = this.#store(projectId)
    const isLeased = sql`project_id = ${projectId} and embedding_space is null and leased_until is not null`
    const [leased] = await read.all(sql`select 1 from ${chunks} where ${isLeased} limit 1`)
    if (leased) await write.run(sql`update ${chunks} set leased_until = null where ${isLeased}`)
  }

  /** Stops after what is being written; the rest stays pending in the rows. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const waiter of this.#waiters) waiter.finish(false)
    await Promise.all([...this.#runs.values()].map((run) => run.close()))
  }

  /** Resolves to the time until the next chunk is due; null when none is pending. */
  async #run(projectId: number): Promise<number | null> {
    const renewal = setInterval(() => void this.#renewLeases(projectId), this.#options.leaseMs / 3)
    try {
      await this.adoptSpace(projectId)
      await this.#embedDue(projectId)
      return await this.#untilDue(projectId)
    } catch (error) {
      if (!this.#options.stores.isClosed(projectId)) throw error
      this.#runs.delete(projectId)
      return null
    } finally {
      clearInterval(renewal)
    }
  }

  async #embedDue(projectId: number): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const heldBefore = [...this.#heldOf(projectId)]
      const batches = await this.#takeOn(projectId)
      if (batches.length === 0) {
        // Embedded by another process, or deleted.
        this.#release(projectId, heldBefore)
        return await this.#settleOthers(projectId)
      }
      const outcomes = await Promise.allSettled(batches.map((batch) => this.#embed(projectId, batch)))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    }
  }

  /** What is due, no more than is worth having under way: the rest is any process's. */
  async #takeOn(projectId: number): Promise<PendingChunk[][]> {
    const { batchTextsMax, batchesAtOnce } = this.#options.embedder
    const limit = batchTextsMax * batchesAtOnce
    const now = this.#options.now()
    const rows = await queries(this.#store(projectId).read).due.all({
      projectId,
      now,
      farthest: now + waitMsMax,
      held: JSON.stringify([...this.#heldOf(projectId)]),
      limit,
    })
    const wanted = inBatches(rows, batchTextsMax).slice(0, batchesAtOnce)
    return inBatches(await this.#lease(projectId, wanted.flat()), batchTextsMax)
  }

  /** Takes on chunks that nobody has; of several processes that try, one gets each. */
  async #lease(projectId: number, rows: PendingChunk[]): Promise<PendingChunk[]> {
    const held = this.#heldOf(projectId)
    const free = rows.filter(({ label }) => !held.has(label)).map(({ label }) => label)
    if (free.length === 0) return rows
    const now = this.#options.now()
    const taken = await this.#store(projectId).write.all<{ label: number }>(sql`
      update ${chunks} set leased_until = ${now + this.#options.leaseMs} where label in (
        select value from json_each(${JSON.stringify(free)})) and embedding_space is null
        and (coalesce(leased_until, 0) <= ${now} or leased_until > ${now + waitMsMax}) returning label`)
    for (const { label } of taken) held.add(label)
    return rows.filter(({ label }) => held.has(label))
  }

  /** What is held is left to this process for as long as it is at it, however slow the provider is. */
  async #renewLeases(projectId: number): Promise<void> {
    const held = JSON.stringify([...this.#heldOf(projectId)])
    const { leaseMs, now } = this.#options
    try {
      await this.#store(projectId).write.run(sql`
        update ${chunks} set leased_until = ${now() + leaseMs} where label in (
          select value from json_each(${held})) and embedding_space is null and leased_until is not null`)
    } catch {
      // The project is gone; or another process may embed them as well, which does no harm.
    }
  }

  async #embed(projectId: number, batch: PendingChunk[]): Promise<void> {
    try {
      await this.#embedLeased(projectId, batch)
    } finally {
      this.#release(
        projectId,
        batch.map(({ label }) => label),
      )
    }
  }

  async #embedLeased(projectId: number, batch: PendingChunk[]): Promise<void> {
    try {
      const texts = batch.map((chunk) => embeddedText(chunk.itemName, chunk))
      const vectors = await this.#options.embedder.embed(texts, 'document', this.#closing.signal)
      const { labels, version } = await this.#writeVectors(projectId, batch, vectors)
      await this.#addToIndex(projectId, labels, version)
      this.#settleWaiters(batch, true)
    } catch (error) {
      if (this.#closing.signal.aborted || this.#options.stores.isClosed(projectId)) return
      await this.#postpone(projectId, batch, asError(error))
      this.#settleWaiters(batch, false)
    }
  }

  async #addToIndex(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    const { index, stores, log } = this.#options
    if (!index || stores.isClosed(projectId)) return
    try {
      await index.add(projectId, labels, version)
    } catch (error) {
      // The follower has the index compare itself with the rows.
      if (!this.#closing.signal.aborted)
        log.warn({ error, projectId }, 'The vector index did not take new vectors; it will')
    }
  }

  #logFailure({
    error,
    ...failure
  }: {
    projectId: number
    chunks: number
    attempt: number
    error: unknown
  }): void {
    this.#options.log.warn({ error, ...failure }, 'Embedding failed; it is tried again')
  }

  /** The labels that were written: a chunk deleted meanwhile is not among them. */
  async #writeVectors(
    projectId: number,
    batch: PendingChunk[],
    vectors: Float32Array[],
  ): Promise<{ labels: number[]; version: number | undefined }> {
    const { write } = this.#store(projectId)
    const bytes = (vectors[0]?.length ?? 0) * Float32Array.BYTES_PER_ELEMENT
    const joined = Buffer.concat(vectors.map((v) => Buffer.from(v.buffer, v.byteOffset, v.byteLength)))
    const labels = JSON.stringify(batch.map(({ label }) => label))
    const [raised, written] = await write.batch([
      write.all<{ version: number }>(sql`
        update ${projects} set knowledge_version = knowledge_version + 1 where id = ${projectId}
        returning knowledge_version as version`),
      write.all<{ label: number }>(sql`
        update ${chunks} set embedding = substr(${joined}, key * ${bytes} + 1, ${bytes}),
          embedding_space = ${this.#options.embedder.space}, attempts = 0, refusals = 0,
          next_attempt_at = null, last_error = null, leased_until = null
        from json_each(${labels}) where label = value and +project_id = ${projectId} returning label`),
    ])
    return { labels: written.map(({ label }) => label), version: raised[0]?.version }
  }

  async #postpone(projectId: number, batch: PendingChunk[], error: Error): Promise<void> {
    const attempt = Math.max(...batch.map(({ attempts }) => attempts)) + 1
    this.#logFailure({ projectId, chunks: batch.length, attempt, error })
    const { retryAfterMs: asked = 0, mayBeText = false } = error instanceof EmbeddingError ? error : {}
    const backoff = Math.min(retryDelayMsMax, retryDelayMsMin * 2 ** (attempt - 1))
    const delayMs = Math.min(waitMsMax, Math.max(asked, backoff * (0.5 + this.#options.random() / 2)))
    await this.#store(projectId).write.run(sql`
      update ${chunks} set attempts = attempts + 1, refusals = refusals + ${mayBeText ? 1 : 0}, last_error = ${reasonOf(error).slice(0, errorCharsMax)},
        next_attempt_at = ${this.#options.now() + Math.round(delayMs)}, leased_until = null
      where label in (select value from json_each(${JSON.stringify(batch.map(({ label }) => label))}))
        and embedding_space is null`)
  }

  /** Chunks that somebody waits for may have been embedded by another process, or deleted, meanwhile. */
  async #settleOthers(projectId: number): Promise<void> {
    const waitedFor = JSON.stringify([...this.#waiters].flatMap((waiter) => waiter.labels))
    if (waitedFor === '[]') return
    const rows = await queries(this.#store(projectId).read).embedded.all({ projectId, waitedFor })
    const embedded = rows.filter(({ isGone }) => !isGone)
    if (embedded.length > 0) {
      await this.#addToIndex(
        projectId,
        embedded.map(({ label }) => label),
      )
    }
    this.#settleWaiters(rows, true)
  }

  #heldOf(projectId: number): Set<number> {
    const held = this.#held.get(projectId) ?? new Set()
    this.#held.set(projectId, held)
    return held
  }

  #hold(projectId: number, labels: readonly number[]): void {
    const held = this.#heldOf(projectId)
    if (held.size + labels.length > heldMax) return
    for (const label of labels) held.add(label)
  }

  #release(projectId: number, labels: readonly number[]): void {
    const held = this.#heldOf(projectId)
    for (const label of labels) held.delete(label)
  }

  #settleWaiters(batch: { label: number }[], isIndexed: boolean): void {
    for (const waiter of this.#waiters) {
      for (const { label } of batch) waiter.settle(label, isIndexed)
    }
  }

  async #untilDue(projectId: number): Promise<number | null> {
    if (this.#closing.signal.aborted) return null
    const row = await queries(this.#store(projectId).read).nextDue.get({ projectId })
    if (row?.at === null || row?.at === undefined) return null
    return Math.min(Math.max(0, row.at - this.#options.now()), retryDelayMsMax)
  }
}

/** Somebody who waits for a set of chunks. */
class Waiter {
  readonly done: Promise<boolean>
  readonly finish: (isIndexed: boolean) => void
  readonly #open: Set<number>

  constructor(labels: readonly number[]) {
    let finish: (isIndexed: boolean) => void = () => undefined
    this.done = new Promise((resolve) => {
      finish = resolve
    })
    this.finish = finish
    this.#open = new Set(labels)
    if (labels.length === 0) finish(true)
  }

  get labels(): number[] {
    return [...this.#open]
  }

  settle(label: number, isIndexed: boolean): void {
    if (!this.#open.delete(label)) return
    if (!isIndexed) this.finish(false)
    else if (this.#open.size === 0) this.finish(true)
  }
}

/** The oftener a text may have been the reason, the smaller the batch: one bad text holds nobody back for ever. */
function inBatches(due: PendingChunk[], batchTextsMax: number): PendingChunk[][] {
  const batches: PendingChunk[][] = []
  for (const chunk of due.toSorted((a, b) => a.refusals - b.refusals)) {
    const batch = batches.at(-1)
    const size = Math.max(1, Math.floor(batchTextsMax / 2 ** chunk.refusals))
    if (batch && batch.length < size && batch[0]?.refusals === chunk.refusals) batch.push(chunk)
    else batches.push([chunk])
  }
  return batches
}

/** Why, for people and without a word of a text; another error's message may hold a whole query. */
function reasonOf(error: Error): string {
  return error instanceof EmbeddingError ? error.message : 'It failed unexpectedly; the log says why'
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
