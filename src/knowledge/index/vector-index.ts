import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ReadLocation } from '../../db/location.ts'
import { AppError } from '../../errors.ts'
import type { IndexReply, IndexRequest, IndexWorkerData, LogFields, LogLevel } from './messages.ts'

/** Requests waiting for the worker; beyond it a request is refused at once instead of growing memory. */
const requestsWaitingMax = 2_000
const closeTimeoutMs = 15_000
const restartDelayMsMin = 500
const restartDelayMsMax = 30_000

export interface VectorHit {
  label: number
  /** Cosine similarity: 1 is the same direction. */
  similarity: number
}

export interface IndexState {
  projectId: number
  /** Vectors that search returns from the index; 0 while the rows are searched instead. */
  vectors: number
  /** Removed vectors that still take up room in memory, as overwritten places in the file. */
  tombstones: number
  /** Size of the project's file as last written or read by this process; 0 when there is none. */
  fileBytes: number
}

/** What the file says against what the rows say. Only `problem` and `labelsWithoutRow` are faults. */
export interface IndexReport {
  projectId: number
  /** Why the file would not be loaded (damaged, of another space, …); null when it is sound or missing. */
  problem: string | null
  fileBytes: number
  fileVectors: number
  rowVectors: number
  /** Vectors in the file whose row is gone. */
  labelsWithoutRow: number[]
  /** Rows not in the file yet: they wait to be indexed or saved. */
  rowsNotInFile: number
  /** Share of the true ten nearest that the file's index finds, over a sample; null without an index. */
  recallAt10: number | null
}

/** One HNSW graph a project over the vectors in the rows, which remain the truth. */
export interface VectorIndex {
  /**
   * Others have changed the rows: reconciles, and when vectors are gone resolves once their bytes have left the file.
   */
  follow(projectId: number): Promise<IndexState>
  /** Makes the index equal the rows: loads its file if sound, adds what is missing, removes what is gone. */
  reconcile(projectId: number): Promise<IndexState>
  /** The vectors of these labels were just committed; resolves when search returns them. */
  add(projectId: number, labels: readonly number[]): Promise<void>
  /** The rows of these labels were just deleted; resolves when search no longer returns them. */
  remove(projectId: number, labels: readonly number[]): Promise<void>
  /** The nearest vectors, best first; with `labels`, the nearest of these, exactly. */
  search(
    projectId: number,
    query: Float32Array,
    limit: number,
    labels?: readonly number[],
  ): Promise<VectorHit[]>
  /** Resolves when no byte of a vector whose row is gone is in the project's file. */
  scrub(projectId: number): Promise<void>
  /** Compares the file with the rows; changes nothing. */
  verify(projectId: number): Promise<IndexReport>
  /** Builds the index anew from the rows and saves it. */
  rebuild(projectId: number): Promise<IndexState>
  /** The project was deleted: its index leaves memory and disk. */
  drop(projectId: number): Promise<void>
  states(): Promise<IndexState[]>
  /** This process is now the one that writes the files. */
  takeFiles(): Promise<void>
  /** Saves what is unsaved and ends the worker. */
  close(): Promise<void>
}

export type IndexLog = (level: LogLevel, message: string, fields: LogFields) => void

export interface VectorIndexOptions {
  /** Where the rows are. */
  readsAt: ReadLocation
  /** Where the index files are, one a project. */
  folder: string
  /** Only rows of this embedding space are indexed. */
  space: string
  /** Only the one process that owns the folder writes there; others load and follow. See `takeFiles`. */
  savesFiles: boolean
  /** Search the rows instead of a graph, as without the addon. */
  exact?: boolean
  log?: IndexLog
}

/** Starts the worker that holds every project's index. Where the addon cannot be loaded, search is exact. */
export function openVectorIndex(options: VectorIndexOptions): VectorIndex {
  return new WorkerIndex(options)
}

type Method = keyof VectorIndex
type Answer<M extends Method> = Awaited<ReturnType<VectorIndex[M]>>

interface Waiting {
  resolve(value: never): void
  reject(error: Error): void
}

/** The index over messages to its worker, which is started again when it fails. */
class WorkerIndex implements VectorIndex {
  readonly #options: VectorIndexOptions
  readonly #waiting = new Map<number, Waiting>()
  /** What a worker started anew has to hold again. */
  readonly #projects = new Set<number>()
  #savesFiles: boolean
  #worker: Worker | null
  #restart: ReturnType<typeof setTimeout> | undefined
  #restartDelayMs = restartDelayMsMin
  #lastId = 0
  #isClosed = false

  constructor(options: VectorIndexOptions) {
    this.#options = options
    this.#savesFiles = options.savesFiles
    this.#worker = this.#start()
  }

  reconcile(projectId: number) {
    this.#projects.add(projectId)
    return this.#call('reconcile', projectId)
  }

  follow(projectId: number) {
    this.#projects.add(projectId)
    return this.#call('follow', projectId)
  }

  add(projectId: number, labels: readonly number[]) {
    this.#projects.add(projectId)
    return this.#call('add', projectId, labels)
  }

  remove(projectId: number, labels: readonly number[]) {
    return this.#call('remove', projectId, labels)
  }

  search(projectId: number, query: Float32Array, limit: number, labels?: readonly number[]) {
    return this.#call('search', projectId, query, limit, labels)
  }

  scrub(projectId: number) {
    return this.#call('scrub', projectId)
  }

  verify(projectId: number) {
    return this.#call('verify', projectId)
  }

  rebuild(projectId: number) {
    this.#projects.add(projectId)
    return this.#call('rebuild', projectId)
  }

  drop(projectId: number) {
    this.#projects.delete(projectId)
    return this.#call('drop', projectId)
  }

  states() {
    return this.#call('states')
  }

  takeFiles() {
    this.#savesFiles = true
    return this.#call('takeFiles')
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    const worker = this.#worker
    clearTimeout(this.#restart)
    if (!worker) {
      this.#isClosed = true
      return
    }
    const closing = this.#call('close')
    this.#isClosed = true
    const ended = once(worker, 'exit')
    const deadline = setTimeout(() => void worker.terminate(), closeTimeoutMs)
    // What a worker that fails now has not saved is found in the rows at the next start.
    await Promise.allSettled([closing, ended])
    clearTimeout(deadline)
  }

  #call<M extends Method>(method: M, ...args: Parameters<VectorIndex[M]>): Promise<Answer<M>> {
    const worker = this.#worker
    if (this.#isClosed) return Promise.reject(new Error('The vector index is closed'))
    if (!worker) return Promise.reject(unavailable('The vector index is starting again.'))
    if (this.#waiting.size >= requestsWaitingMax) {
      return Promise.reject(unavailable('Too many requests to the vector index are waiting.'))
    }
    const id = ++this.#lastId
    return new Promise<Answer<M>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, method, args } satisfies IndexRequest)
    })
  }

  #start(): Worker {
    const { readsAt, folder, space, exact = false } = this.#options
    const workerData: IndexWorkerData = { readsAt, folder, space, savesFiles: this.#savesFiles, exact }
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData })
    worker.on('message', (reply: IndexReply) => this.#receive(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('The worker of the vector index has ended')))
    return worker
  }

  #receive(reply: IndexReply): void {
    if (reply.kind === 'log') {
      this.#options.log?.(reply.level, reply.message, reply.fields)
      return
    }
    const waiting = this.#waiting.get(reply.id)
    if (!waiting) return
    this.#waiting.delete(reply.id)
    if (reply.kind === 'error') {
      waiting.reject(new Error(reply.message))
      return
    }
    this.#restartDelayMs = restartDelayMsMin
    // The worker answers a method with what the same method of its own VectorIndex returned.
    waiting.resolve(reply.value as never)
  }

  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = null
    for (const waiting of this.#waiting.values()) waiting.reject(unavailable(error.message, error))
    this.#waiting.clear()
    if (this.#isClosed) return
    this.#options.log?.('error', 'The vector index failed and is started again', {
      error: error.message,
      retryMs: this.#restartDelayMs,
    })
    this.#restart = setTimeout(() => this.#startAgain(), this.#restartDelayMs)
    this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, restartDelayMsMax)
  }

  #startAgain(): void {
    this.#worker = this.#start()
    for (const projectId of this.#projects) {
      this.reconcile(projectId).catch((error) =>
        this.#options.log?.('error', 'A vector index could not be reconciled', {
          projectId,
          error: String(error),
        }),
      )
    }
  }
}

function unavailable(detail: string, cause?: unknown): AppError {
  return new AppError('unavailable', 'Service unavailable', { detail, cause, retryAfterSeconds: 1 })
}
