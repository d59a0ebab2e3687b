import { once } from 'node:events'
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

/** Zeroes what is left of moved cells in every page of the database; see stale-cells.ts. */
export class Sweeper {
  readonly #options: SweeperOptions
  #worker: Worker | undefined
  /** One pass at a time; what a failed pass left is found by the next. */
  #last: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  /**
   * One pass over the file. What was deleted before it is in no page after it: a cell that is gone is moved
   * nowhere any more, so pages that change behind the pass need no second look.
   */
  sweep(): Promise<void> {
    const pass = this.#last.then(() => this.#pass())
    this.#last = pass.catch(() => undefined)
    return pass
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last
    await this.#worker?.terminate()
  }

  async #pass(): Promise<void> {
    for (let from: number | null = 1; from !== null; ) {
      // What waits for the pass must not take it for done.
      if (this.#isClosed) throw new Error('The sweep was broken off')
      const { stale, next }: SweepReply = await this.#ask(from)
      for (let start = 0; start < stale.length; start += pagesPerGo) {
        await this.#options.clearPages(stale.slice(start, start + pagesPerGo))
      }
      from = next
    }
  }

  async #ask(from: number): Promise<SweepReply> {
    this.#worker ??= new Worker(new URL('./sweep-worker.ts', import.meta.url), {
      workerData: { file: this.#options.file },
    })
    const answered = once(this.#worker, 'message')
    this.#worker.postMessage(from)
    const [reply]: SweepReply[] = await answered
    if (!reply || reply.error !== undefined) throw new Error(reply?.error ?? 'The sweep was not answered')
    return reply
  }
}
