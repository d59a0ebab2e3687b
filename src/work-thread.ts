import { parentPort, Worker, workerData } from 'node:worker_threads'
import { lowerPriority } from './thread-priority.ts'

interface Numbered<Request> {
  id: number
  request: Request
}

type Reply = { id: number } & ({ value: unknown } | { error: string })

interface Waiting {
  resolve(value: never): void
  reject(error: Error): void
}

/** A thread for work on texts, one after the other; started by the first, and anew after it has failed. */
export class WorkThread<Request> {
  readonly #file: URL
  readonly #niceness: number
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  /**
   * @param file calls `answerRequests`
   * @param niceness 0 is normal, 19 lets every other thread go before this one
   */
  constructor(file: URL, niceness = 0) {
    this.#file = file
    this.#niceness = niceness
  }

  ask<Value>(request: Request): Promise<Value> {
    const worker = this.#worker ?? this.#start()
    const id = ++this.#lastId
    return new Promise<Value>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      worker.postMessage({ id, request } satisfies Numbered<Request>)
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#file, { workerData: { niceness: this.#niceness } })
    worker.on('message', (reply: Reply) => this.#settle(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('The worker for texts has ended')))
    this.#worker = worker
    return worker
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if ('error' in reply) waiting?.reject(new Error(reply.error))
    // The worker answers each request with what was asked for.
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

/** The worker's side of a WorkThread. */
export function answerRequests<Request>(run: (request: Request) => unknown): void {
  const port = parentPort
  if (!port) throw new Error('This file runs as a worker thread only')
  const { niceness }: { niceness: number } = workerData
  if (niceness > 0) lowerPriority(niceness)
  port.on('message', async ({ id, request }: Numbered<Request>) => {
    try {
      port.postMessage({ id, value: await run(request) } satisfies Reply)
    } catch (error) {
      port.postMessage({ id, error: String(error) } satisfies Reply)
    }
  })
}
