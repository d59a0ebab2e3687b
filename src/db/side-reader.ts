import { Worker } from 'node:worker_threads'
import { drizzle } from 'drizzle-orm/sqlite-proxy'
import type { ReadDatabase } from './reader.ts'

/** One query as the worker takes it; a message each way costs some 50 us. */
export interface SideQuery {
  id: number
  sql: string
  params: unknown[]
}

export type SideRequest = SideQuery | 'close'

export interface SideReaderData {
  file: string
  /** One number, shared: 1 has the thread leave out the queries that wait. */
  isClosing: Int32Array
}

export type SideReply = { id: number } & ({ rows: unknown[][] } | { error: string })

const closeWithinMs = 2_000

interface Waiting {
  resolve(rows: unknown[][]): void
  reject(error: Error): void
}

/**
 * A reader on a thread of its own, for queries that go through many rows: people wait for those, while agents wait
 * for what the main thread reads. The thread is started by the first query.
 */
export class SideReader {
  readonly db: ReadDatabase
  readonly #file: string
  readonly #waiting = new Map<number, Waiting>()
  readonly #isClosing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  constructor(file: string) {
    this.#file = file
    this.db = drizzle(async (sql, params, method) => {
      const rows = await this.#ask(sql, params)
      // For `get` Drizzle takes the row itself, or undefined, in place of the rows; its types do not say so.
      return { rows: method === 'get' ? (rows[0] as unknown[]) : rows }
    })
  }

  /**
   * Rejects what waits and asks the thread to end: terminated in the middle of a native call it would take the process
   * down. A query that runs for longer ends with the process.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    Atomics.store(this.#isClosing, 0, 1)
    this.#rejectAll(closed())
    const worker = this.#worker
    if (!worker) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('close' satisfies SideRequest)
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, closeWithinMs).unref())])
  }

  #ask(sql: string, params: unknown[]): Promise<unknown[][]> {
    if (this.#isClosed) return Promise.reject(closed())
    const worker = this.#worker ?? this.#start()
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, sql, params } satisfies SideRequest)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./side-reader-worker.ts', import.meta.url), {
      workerData: { file: this.#file, isClosing: this.#isClosing } satisfies SideReaderData,
    })
    worker.on('message', (reply: SideReply) => this.#settle(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('The reader has ended')))
    this.#worker = worker
    return worker
  }

  #settle(reply: SideReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('error' in reply) waiting?.reject(new Error(reply.error))
    else waiting?.resolve(reply.rows)
  }

  /** The next query starts another thread, which the end of this one is not to take down. */
  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#rejectAll(error)
  }

  #rejectAll(error: Error): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}

function closed(): Error {
  return new Error('The reader is closed')
}
