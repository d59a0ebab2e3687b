import { Worker } from 'node:worker_threads'
import type { SweepReply } from './sweep-worker.ts'

/** Pages cleared in one go of the writer, between which other writes have their turn. */
const pagesPerGo = 64

interface SweeperOptions {
  /** The database file. */
  file: string
  /** Clears pages in the writer, where nothing else changes them meanwhile. */
  clearPages: (pages: number[]) => Promise<void>
}

interface Waiting {
  resolve(reply: SweepReply): void
  reject(error: Error): void
}

/** Zeroes what is left of moved cells in every page of the database; see stale-cells.ts. */
export class Sweeper {
  readonly #options: SweeperOptions
  #worker: Worker | undefined
  /** The question that the worker has not answered; there is one at a time. */
  #waiting: Waiting | undefined
  /** One pass at a time; what a failed pass left is found by the next. */
  #last: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  /**
   * One pass over the file. What was deleted before it is in no page after it: a cell that is gone is moved
   * nowhere any more, so pages that change behind the pass need no second look.
   * @throws the reason of `signal` once that is aborted
   */
  sweep(signal?: AbortSignal): Promise<void> {
    const pass = this.#last.then(() => this.#pass(signal))
    this.#last = pass.catch(() => undefined)
    return pass
  }

  /** Breaks off the pass that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last
    await this.#worker?.terminate()
  }

  async #pass(signal?: AbortSignal): Promise<void> {
    for (let from: number | null = 1; from !== null; ) {
      // What waits for the pass must not take it for done.
      signal?.throwIfAborted()
      if (this.#isClosed) throw new Error('The sweep was broken off')
      const { stale, next }: SweepReply = await this.#ask(from)
      for (let start = 0; start < stale.length; start += pagesPerGo) {
        await this.#options.clearPages(stale.slice(start, start + pagesPerGo))
      }
      from = next
    }
  }

  async #ask(from: number): Promise<SweepReply> {
    const worker = this.#worker ?? this.#start()
    const reply = await new Promise<SweepReply>((resolve, reject) => {
      this.#waiting = { resolve, reject }
      worker.postMessage(from)
    })
    if (reply.error !== undefined) throw new Error(reply.error)
    return reply
  }

  #start(): Worker {
    const worker = new Worker(new URL('./sweep-worker.ts', import.meta.url), {
      workerData: { file: this.#options.file },
    })
    worker.on('message', (reply: SweepReply) => this.#waiting?.resolve(reply))
    worker.on('error', (error) => this.#fail(worker, error))
    worker.on('exit', () => this.#fail(worker, new Error('The worker that sweeps has ended')))
    this.#worker = worker
    return worker
  }

  /** The next pass starts another worker, which the end of this one is not to take down. */
  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#waiting?.reject(error)
  }
}
