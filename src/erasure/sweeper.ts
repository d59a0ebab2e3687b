import type { OpenDatabase } from '../db/open.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import { Thread } from '../threads/thread.ts'
import type { SweepApi, SweptPages } from './sweep-worker.ts'

/** Pages that one write clears; other writes run in between. */
const pagesPerWrite = 64
const idleMs = 1_000
const retryMs = 1_000

interface SweeperOptions {
  owner: { readonly isOwner: boolean }
  database: Pick<OpenDatabase, 'file' | 'clearStalePages' | 'gaps' | 'endSweep' | 'onUnswept'>
  log: Pick<Log, 'error' | 'warn'>
}

/**
 * Clears the stale cells of the whole file, which is needed only after another program has moved the log into it: see
 * checkpoints.ts.
 */
export class Sweeper {
  readonly #options: SweeperOptions
  readonly #thread: Thread<SweepApi, { file: string }>
  readonly #background: Background

  constructor(options: SweeperOptions) {
    const { owner, database, log } = options
    this.#options = options
    this.#thread = new Thread({
      script: new URL('./sweep-worker.ts', import.meta.url),
      name: 'The sweeper',
      data: () => ({ file: database.file }),
      idleMs,
    })
    this.#background = new Background({
      work: (signal) => this.#sweep(signal),
      delayMs: 0,
      retryMs,
      onFailure: (error) => log.error({ error }, 'Sweeping the database failed and will be tried again'),
    })
    database.onUnswept(() => {
      if (owner.isOwner) this.#background.soon()
    })
  }

  /** Finds out whether the file has to be swept, and begins if so. */
  async start(): Promise<void> {
    if ((await this.#options.database.gaps()) !== null) this.#background.soon()
  }

  /** Sweeps the file, if it has to be swept. */
  finish(): Promise<void> {
    return this.#background.now()
  }

  /** Aborts the pass. The next start begins it again. */
  async close(): Promise<void> {
    await Promise.all([this.#background.close(), this.#thread.close()])
  }

  /** @returns in how many milliseconds it has to be done again */
  async #sweep(signal: AbortSignal): Promise<number | null> {
    const { database, log } = this.#options
    const gaps = await database.gaps()
    if (gaps === null) return null
    log.warn('Another program has written to the database file, so all of it is searched for stale cells')
    for (let from: number | null = 1; from !== null; ) {
      const { stale, next }: SweptPages = await this.#thread.ask('sweepFrom', from)
      for (let start = 0; start < stale.length; start += pagesPerWrite) {
        signal.throwIfAborted()
        // In the writer, because a busy page would change again before a write from here reaches it.
        await database.clearStalePages(stale.slice(start, start + pagesPerWrite))
      }
      from = next
      signal.throwIfAborted()
    }
    return (await database.endSweep(gaps)) ? null : 0
  }
}
