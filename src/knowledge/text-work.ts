import { Worker } from 'node:worker_threads'
import { AppError } from '../errors.ts'
import { type ChunkRows, toChunkRows } from './chunk-rows.ts'
import type { TextReply, TextRequest } from './text-worker.ts'

/** A shorter text is cut up where it is: that takes less time than sending it. */
const inlineCharsMax = 8_192
/** Texts waiting to be cut up; beyond it one is refused at once instead of growing memory. */
const textsWaitingMax = 64

type Unnumbered<Request> = Request extends { id: number } ? Omit<Request, 'id'> : never

interface Waiting {
  resolve(value: never): void
  reject(error: Error): void
}

/**
 * Cutting up a document of 150 KB takes 8 ms and embedding its chunks 25 ms, in which no request would be
 * answered: a worker does both. It is started by the first long text.
 */
export class TextWork {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #textsWaiting = 0
  #lastId = 0

  /** See chunk-rows.ts. */
  async toChunkRows(text: string): Promise<ChunkRows> {
    if (text.length <= inlineCharsMax) return toChunkRows(text)
    if (this.#textsWaiting >= textsWaitingMax) throw tooManyTexts()
    this.#textsWaiting++
    try {
      return await this.#ask<ChunkRows>({ method: 'toChunkRows', text })
    } finally {
      this.#textsWaiting--
    }
  }

  /** What the built-in embedder makes of documents. */
  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return this.#ask<Float32Array[]>({ method: 'embed', texts })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #ask<Value>(request: Unnumbered<TextRequest>): Promise<Value> {
    const worker = this.#worker ?? this.#start()
    const id = ++this.#lastId
    return new Promise<Value>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, ...request })
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./text-worker.ts', import.meta.url))
    worker.on('message', (reply: TextReply) => this.#settle(reply))
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => this.#fail(new Error('The worker for texts has ended')))
    this.#worker = worker
    return worker
  }

  #settle(reply: TextReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('error' in reply) waiting?.reject(new Error(reply.error))
    // The worker answers each method with what that method promises.
    else waiting?.resolve(reply.value as never)
  }

  /** The next text starts another worker. */
  #fail(error: Error): void {
    this.#worker = undefined
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}

function tooManyTexts(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'Too many long texts are waiting to be cut up; nothing was stored.',
    retryAfterSeconds: 1,
  })
}
