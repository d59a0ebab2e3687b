import { Worker } from 'node:worker_threads'
import type { TextReply, TextRequest } from './text-worker.ts'

type Unnumbered<Request> = Request extends { id: number } ? Omit<Request, 'id'> : never

interface Waiting {
  resolve(value: never): void
  reject(error: Error): void
}

/** A thread for work on texts, one after the other; started by the first, and anew after it has failed. */
export class TextThread {
  readonly #niceness: number
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  /** @param niceness 0 is normal, 19 lets every other thread go before this one */
  constructor(niceness = 0) {
    this.#niceness = niceness
  }

  ask<Value>(request: Unnumbered<TextRequest>): Promise<Value> {
    const worker = this.#worker ?? this.#start()
    const id = ++this.#lastId
    return new Promise<Value>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, ...request })
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./text-worker.ts', import.meta.url), {
      workerData: { niceness: this.#niceness },
    })
    worker.on('message', (reply: TextReply) => this.#settle(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('The worker for texts has ended')))
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

  /** The next text starts another worker, which the end of this one is not to take down. */
  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    this.#waiting.clear()
  }
}
