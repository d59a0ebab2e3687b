import type { OpenDatabase } from '../db/open.ts'
import { Thread } from '../threads/thread.ts'
import type { SweepApi, SweptPages } from './sweep-worker.ts'

/** Pages that one write clears; other writes run in between. */
const pagesPerWrite = 64
const idleMs = 1_000

type SweptDatabase = Pick<OpenDatabase, 'file' | 'clearStalePages'>

/** Zeroes the copies that moved cells leave behind, in every page of the database: see stale-cells.ts. */
export class Sweeper {
  readonly #database: SweptDatabase
  readonly #thread: Thread<SweepApi, { file: string }>
  /** Passes run one at a time. The next pass finds the pages that a failed one has left. */
  #last: Promise<void> = Promise.resolve()

  constructor(database: SweptDatabase) {
    this.#database = database
    this.#thread = new Thread({
      script: new URL('./sweep-worker.ts', import.meta.url),
      name: 'The sweeper',
      data: () => ({ file: database.file }),
      idleMs,
    })
  }

  /**
   * Goes through the file once. Afterwards, no page holds what was deleted before: deleted cells are not moved any more,
   * so a page that changes after it was read needs no second look.
   * @throws the reason of `signal` once that is aborted
   */
  sweep(signal?: AbortSignal): Promise<void> {
    const pass = this.#last.then(() => this.#pass(signal))
    this.#last = pass.catch(() => undefined)
    return pass
  }

  async close(): Promise<void> {
    await this.#thread.close()
    await this.#last
  }

  async #pass(signal?: AbortSignal): Promise<void> {
    for (let from: number | null = 1; from !== null; ) {
      const { stale, next }: SweptPages = await this.#thread.ask('sweepFrom', from)
      for (let start = 0; start < stale.length; start += pagesPerWrite) {
        // A pass that stops early must not count as complete.
        signal?.throwIfAborted()
        // In the writer, because a busy page would change again before a write from here reaches it.
        await this.#database.clearStalePages(stale.slice(start, start + pagesPerWrite))
      }
      from = next
      signal?.throwIfAborted()
    }
  }
}
