import type { OpenDatabase } from '../db/open.ts'
import { Thread } from '../threads/thread.ts'
import { clearStalePage, type StalePage } from './stale-cells.ts'
import type { SweepApi, SweptPages } from './sweep-worker.ts'

/** Pages cleared in one write, between which other writes have their turn. */
const pagesPerWrite = 64

type SweptDatabase = Pick<OpenDatabase, 'file' | 'freeing'>

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
        await this.#clear(stale.slice(start, start + pagesPerWrite), signal)
      }
      from = next
      // A pass that stops early must not be taken for a whole one.
      signal?.throwIfAborted()
    }
  }

  /** A page that is written meanwhile is read again. */
  async #clear(stale: readonly StalePage[], signal?: AbortSignal): Promise<void> {
    const { freeing } = this.#database
    for (let open = stale; open.length > 0; ) {
      signal?.throwIfAborted()
      const [first, ...others] = open.map((page) => freeing.run(clearStalePage(page)))
      if (!first) return
      const results = await freeing.batch([first, ...others])
      const changed = open.filter((_, position) => results[position]?.rowsAffected === 0)
      open =
        changed.length > 0
          ? await this.#thread.ask(
              'find',
              changed.map(({ page }) => page),
            )
          : []
    }
  }
}
