import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { JobOfEach } from '../../core/jobs.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { chunks, knowledgeItems, projects } from '../../db/schema.ts'
import type { Store } from '../../db/store.ts'
import { embeddedText } from '../chunking/chunk.ts'
import { type Embedder, EmbeddingError } from '../embedding/embedder.ts'
import type { VectorIndex } from './index/vector-index.ts'
import { Leases, leaseMsDefault, waitMsMax } from './leases.ts'
import { Waiters } from './waiters.ts'

const retryDelayMsMin = 1_000
const retryDelayMsMax = 300_000
const errorCharsMax = 500

interface IndexerParts {
  embedder: Embedder
  /** Null in a process that does not search. The other processes read the vectors from the rows. */
  index: Pick<VectorIndex, 'add' | 'eraseDeleted'> | null
  leaseMs?: number
  random?: () => number
}

interface PendingChunk {
  label: number
  itemName: string
  heading: string | null
  text: string
  attempts: number
  refusals: number
}

/** Embeds pending chunks and adds them to the index. The rows are the queue, so a restart loses nothing. */
export class Indexer {
  readonly #parts: Core & IndexerParts
  readonly #leases: Leases
  readonly #waiters = new Waiters()
  readonly #job: JobOfEach<number>

  constructor(core: Core, parts: IndexerParts) {
    const { stores, now } = core
    const { leaseMs = leaseMsDefault } = parts
    this.#parts = { ...core, ...parts }
    this.#leases = new Leases({ ...core, store: stores.of, now }, { leaseMs })
    this.#job = core.jobs.addOfEach({
      name: 'embedding',
      run: (projectId) => this.#run(projectId),
      retryMs: retryDelayMsMin,
      onFailure: (error, projectId) => this.#logFailure({ projectId, chunks: 0, attempt: 0, error }),
    })
  }

  /**
   * Embeds chunks that were stored with a lease.
   * @returns whether vector search finds all of them within `timeoutMs`
   */
  settle(projectId: number, labels: readonly number[], timeoutMs: number): Promise<boolean> {
    this.#leases.hold(projectId, labels)
    const settling = this.#waiters.wait(labels, timeoutMs)
    this.wake(projectId)
    return settling
  }

  /** Embeds the project's due chunks in the background, once more if a run is under way. */
  wake(projectId: number): void {
    if (this.#job.signal.aborted || this.#parts.stores.isClosed(projectId)) return
    // `onFailure` has logged it.
    this.#job.now(projectId).catch(() => undefined)
  }

  /** Wakes the projects with chunks to embed, also those whose vectors are of another embedding space. */
  async wakeAll(): Promise<void> {
    const { read, embedder } = this.#parts
    const { space } = embedder
    // Two look-ups a project in an index, which take 4 us.
    const foreign = await read.all<{ id: number }>(sql`
      select id from ${projects} where deleted_at is null and (
        exists (select 1 from ${chunks} where project_id = ${projects.id} and embedding_space < ${space})
        or exists (select 1 from ${chunks} where project_id = ${projects.id} and embedding_space > ${space}))`)
    const pending = await readPendingProjects(read)
    for (const projectId of new Set([...foreign.map(({ id }) => id), ...pending])) this.wake(projectId)
  }

  /** Resolves when all runs have ended. */
  idle(): Promise<void> {
    return this.#job.idle()
  }

  /** Makes chunks with vectors of another embedding space pending again. */
  async adoptSpace(projectId: number): Promise<void> {
    const { read, write } = this.#store(projectId)
    const { space } = this.#parts.embedder
    const ofProject = sql`select 1 from ${chunks} where project_id = ${projectId}`
    // Two queries, which the index answers at once. A single one would scan the project's chunks.
    const [foreign] = await read.all(sql`
      select 1 where exists (${ofProject} and embedding_space < ${space})
        or exists (${ofProject} and embedding_space > ${space})`)
    if (!foreign) return
    // First, so that a crash in between leaves the rows to come here again: the file of another space is deleted.
    await this.#parts.index?.eraseDeleted(projectId)
    await write.run(sql`
      update ${chunks} set embedding = null, embedding_space = null, attempts = 0, refusals = 0,
        last_error = null, next_attempt_at = ${this.#parts.now()}
      where project_id = ${projectId} and embedding_space <> ${space}`)
  }

  /** Ends all leases. Call it when the processes that held them have ended. */
  async endLeases(): Promise<void> {
    for (const projectId of await readPendingProjects(this.#parts.read)) await this.#leases.endAll(projectId)
  }

  /** Stops after the writes in progress. All other chunks stay pending. */
  async close(): Promise<void> {
    this.#waiters.close()
    await this.#job.close()
  }

  /** Resolves to the time until the next chunk is due; null when none is pending. */
  async #run(projectId: number): Promise<number | null> {
    const stopRenewing = this.#leases.keep(projectId)
    try {
      await this.adoptSpace(projectId)
      await this.#embedDue(projectId)
      return await this.#untilDue(projectId)
    } catch (error) {
      if (!this.#parts.stores.isClosed(projectId)) throw error
      this.#job.end(projectId)
      return null
    } finally {
      stopRenewing()
    }
  }

  /** A batch begins when another one ends, so that the embedder always has the next one. */
  async #embedDue(projectId: number): Promise<void> {
    const underWay = new Map<Promise<void>, PendingChunk[]>()
    const failures: unknown[] = []
    try {
      while (!this.#job.signal.aborted && failures.length === 0) {
        const leasedBefore = [...this.#leases.labelsIn(projectId)]
        for (const batch of await this.#takeDue(projectId, [...underWay.values()])) {
          const embedding = this.#embed(projectId, batch)
            .catch((error) => void failures.push(error))
            .finally(() => underWay.delete(embedding))
          underWay.set(embedding, batch)
        }
        if (underWay.size === 0) {
          // Other processes have embedded or deleted these chunks.
          this.#leases.release(projectId, leasedBefore)
          await this.#settleOthers(projectId)
          break
        }
        await Promise.race(underWay.keys())
      }
    } finally {
      await Promise.all(underWay.keys())
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Leases due chunks: no more than the embedder takes at once, since other processes may take the rest. */
  async #takeDue(projectId: number, underWay: readonly PendingChunk[][]): Promise<PendingChunk[][]> {
    const { batchTextsMax } = this.#parts.embedder
    const batchesMax = this.#parts.embedder.batchesAtOnce - underWay.length
    if (batchesMax <= 0) return []
    const ownLabels = this.#leases.labelsIn(projectId)
    const now = this.#parts.now()
    const farthest = now + waitMsMax
    const rows = await this.#store(projectId).read.all<PendingChunk>(sql`
      select label, name as itemName, heading, chunks.text as text, attempts, refusals
      from ${chunks} join ${knowledgeItems} on seq = item_seq
      where chunks.project_id = ${projectId} and embedding_space is null
        and (next_attempt_at <= ${now} or next_attempt_at > ${farthest})
        and (coalesce(leased_until, 0) <= ${now} or leased_until > ${farthest}
          or label in (select value from json_each(${JSON.stringify([...ownLabels])})))
        and label not in (select value from json_each(${JSON.stringify(underWay.flatMap(labelsOf))}))
      order by next_attempt_at, label limit ${batchTextsMax * batchesMax}`)
    const due = inBatches(rows, batchTextsMax).slice(0, batchesMax).flat()
    await this.#leases.take(projectId, labelsOf(due))
    const leased = due.filter(({ label }) => ownLabels.has(label))
    return inBatches(leased, batchTextsMax)
  }

  async #embed(projectId: number, batch: PendingChunk[]): Promise<void> {
    try {
      const texts = batch.map((chunk) => embeddedText(chunk.itemName, chunk))
      const vectors = await this.#parts.embedder.embed(texts, 'document', this.#job.signal)
      await this.#storeVectors(projectId, batch, vectors)
      this.#waiters.settle(labelsOf(batch), true)
    } catch (error) {
      if (this.#job.signal.aborted || this.#parts.stores.isClosed(projectId)) return
      await this.#postpone(projectId, batch, error)
      this.#waiters.settle(labelsOf(batch), false)
    } finally {
      this.#leases.release(projectId, labelsOf(batch))
    }
  }

  /**
   * Call it once the vectors of these labels are committed. Never fails.
   * @param version the project's knowledge version after that commit, if known
   */
  async addToIndex(projectId: number, labels: readonly number[], version?: number): Promise<void> {
    const { index, stores, log } = this.#parts
    if (!index || stores.isClosed(projectId)) return
    try {
      await index.add(projectId, labels, version)
    } catch (error) {
      // The follower compares the index with the rows later.
      if (!this.#job.signal.aborted)
        log.warn(
          { error, projectId },
          'The vector index did not add new vectors; the follower will try again',
        )
    }
  }

  #logFailure(failure: { projectId: number; chunks: number; attempt: number; error: unknown }): void {
    this.#parts.log.warn(failure, 'Embedding failed and will be tried again')
  }

  /** Chunks that were deleted meanwhile are left out. */
  async #storeVectors(projectId: number, batch: PendingChunk[], vectors: Float32Array[]): Promise<void> {
    const { write } = this.#store(projectId)
    const bytes = (vectors[0]?.length ?? 0) * Float32Array.BYTES_PER_ELEMENT
    const vectorBytes = Buffer.concat(vectors.map((v) => Buffer.from(v.buffer, v.byteOffset, v.byteLength)))
    const labels = JSON.stringify(labelsOf(batch))
    const { raised, embedded } = await write.batch({
      raised: write.all<{ version: number }>(sql`
        update ${projects} set knowledge_version = knowledge_version + 1 where id = ${projectId}
        returning knowledge_version as version`),
      embedded: write.all<{ label: number }>(sql`
        update ${chunks} set embedding = substr(${vectorBytes}, key * ${bytes} + 1, ${bytes}),
          embedding_space = ${this.#parts.embedder.space}, attempts = 0, refusals = 0,
          next_attempt_at = null, last_error = null, leased_until = null
        from json_each(${labels}) where label = value and +project_id = ${projectId} returning label`),
    })
    await this.addToIndex(projectId, labelsOf(embedded), raised[0]?.version)
  }

  async #postpone(projectId: number, batch: PendingChunk[], error: unknown): Promise<void> {
    const attempt = Math.max(...batch.map(({ attempts }) => attempts)) + 1
    this.#logFailure({ projectId, chunks: batch.length, attempt, error })
    const { retryAfterMs = 0, mayBeText = false } = error instanceof EmbeddingError ? error : {}
    const backoff = Math.min(retryDelayMsMax, retryDelayMsMin * 2 ** (attempt - 1))
    const { random = Math.random } = this.#parts
    const delayMs = Math.min(waitMsMax, Math.max(retryAfterMs, backoff * (0.5 + random() / 2)))
    await this.#store(projectId).write.run(sql`
      update ${chunks} set attempts = attempts + 1, refusals = refusals + ${mayBeText ? 1 : 0}, last_error = ${reasonOf(error).slice(0, errorCharsMax)},
        next_attempt_at = ${this.#parts.now() + Math.round(delayMs)}, leased_until = null
      where label in (select value from json_each(${JSON.stringify(labelsOf(batch))}))
        and embedding_space is null`)
  }

  /** Answers requests whose chunks another process has embedded or deleted meanwhile. */
  async #settleOthers(projectId: number): Promise<void> {
    const { labels } = this.#waiters
    if (labels.length === 0) return
    const rows = await this.#store(projectId).read.all<{ label: number; isGone: number }>(sql`
      select value as label, label is null as isGone
      from json_each(${JSON.stringify(labels)}) left join ${chunks} on label = value
      where label is null or (project_id = ${projectId} and embedding_space is not null)`)
    const embedded = rows.filter(({ isGone }) => !isGone)
    if (embedded.length > 0) await this.addToIndex(projectId, labelsOf(embedded))
    this.#waiters.settle(labelsOf(rows), true)
  }

  #store(projectId: number): Store {
    return this.#parts.stores.of(projectId)
  }

  async #untilDue(projectId: number): Promise<number | null> {
    if (this.#job.signal.aborted) return null
    const [row] = await this.#store(projectId).read.all<{ at: number | null }>(sql`
      select min(max(next_attempt_at, coalesce(leased_until, 0))) as at from ${chunks}
      where project_id = ${projectId} and embedding_space is null`)
    const dueAt = row?.at ?? null
    return dueAt === null ? null : Math.min(Math.max(0, dueAt - this.#parts.now()), retryDelayMsMax)
  }
}

// Without `indexed by`, SQLite chooses another index, which contains every chunk of every project.
const allPending: SQL = sql`from chunks indexed by chunks_pending where embedding_space is null
  and project_id not in (select id from projects where deleted_at is not null)`

/** Projects with pending chunks. */
export async function readPendingProjects(read: ReadDatabase): Promise<number[]> {
  const rows = await read.all<{ id: number }>(sql`select distinct project_id as id ${allPending}`)
  return rows.map(({ id }) => id)
}

/** The number of pending chunks in all projects. */
export async function countPending(read: ReadDatabase): Promise<number> {
  const [row] = await read.all<{ n: number }>(sql`select count(*) as n ${allPending}`)
  return row?.n ?? 0
}

function labelsOf(rows: readonly { label: number }[]): number[] {
  return rows.map(({ label }) => label)
}

/**
 * The more often a text may have caused a failure, the smaller its batch, so that one bad text cannot block the others.
 */
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

/** The reason to show to people. The message of any other error may quote the texts. */
function reasonOf(error: unknown): string {
  return error instanceof EmbeddingError ? error.message : 'It failed unexpectedly. See the log'
}
