import type { OpenDatabase } from '../db/open.ts'
import { Thread } from '../threads/thread.ts'
import type { SweepApi, SweptPages } from './sweep-worker.ts'

/** Pages cleared in one write, between which other writes have their turn. */
const pagesPerWrite = 64

type SweptDatabase = Pick<OpenDatabase, 'file' | 'clearStalePages'>

/** Zeroes what is left of moved cells in every page of the database; see stale-cells.ts. */
export class Sweeper {
  readonly #database: SweptDatabase
  readonly #thread: Thread<SweepApi, { file: string }>
  /** One pass at a time; what a failed pass left is found by the next. */
  #last: Promise<void> = Promise.resolve()

  constructor(database: SweptDatabase) {
    this.#database = database
    this.#thread = new Thread({
      script: new URL('./sweep-worker.ts', import.meta.url),
      name: 'The sweeper',
      data: () => ({ file: database.file }),
    })
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

  /** Stops the pass that is under way. */
  async close(): Promise<void> {
    await this.#thread.close()
    await this.#last
  }

  async #pass(signal?: AbortSignal): Promise<void> {
    for (let from: number | null = 1; from !== null; ) {
      const { stale, next }: SweptPages = await this.#thread.ask('sweepFrom', from)
      for (let start = 0; start < stale.length; start += pagesPerWrite) {
        // A pass that stops early must not be taken for a whole one.
        signal?.throwIfAborted()
        // In the writer, since a busy page would change again and again before it is written from here.
        await this.#database.clearStalePages(stale.slice(start, start + pagesPerWrite))
      }
      from = next
      signal?.throwIfAborted()
    }
  }
}
