import { Background } from '../threads/background.ts'
import type { DatabaseLog } from './log.ts'

/** How often `data_version`, which SQLite changes at each commit, is read: at most, and while nothing is written. */
const pollMsMin = 50
const pollMsMax = 1_000

interface CommitWatchOptions {
  dataVersion: () => number
  /** The interval for a server's database, where each look is a query; null for a file. */
  pollMs: number | null
  log: DatabaseLog
}

/**
 * Tells listeners that something was written: at once if this process wrote it, within a second if another one did, and
 * within 50 ms while writes go on. One poll serves all listeners.
 */
export class CommitWatch {
  readonly #options: CommitWatchOptions
  readonly #listeners = new Set<() => void>()
  readonly #pollMsMin: number
  readonly #pollMsMax: number
  readonly #polling: Background
  #pollMs: number
  #polledAt = Number.NEGATIVE_INFINITY
  #dataVersion = -1

  constructor(options: CommitWatchOptions) {
    this.#options = options
    this.#pollMsMin = options.pollMs ?? pollMsMin
    this.#pollMsMax = options.pollMs ?? pollMsMax
    this.#pollMs = this.#pollMsMax
    this.#polling = new Background({
      work: async () => this.#poll(),
      delayMs: 0,
      retryMs: pollMsMax,
      onFailure: (error) =>
        options.log.error({ error }, 'Watching for commits failed and will be tried again'),
    })
  }

  /** Calls `listener` after commits, at most every 50 ms. */
  onCommit(listener: () => void): void {
    this.#listeners.add(listener)
    this.#polling.soon(this.#pollMs)
  }

  /** Notes a commit of this process. */
  committed(): void {
    if (this.#listeners.size === 0) return
    this.#polling.soon(Math.max(0, this.#polledAt + this.#pollMsMin - performance.now()))
  }

  async close(): Promise<void> {
    await this.#polling.close()
  }

  #poll(): number {
    this.#polledAt = performance.now()
    const dataVersion = this.#options.dataVersion()
    const hasChanged = dataVersion !== this.#dataVersion
    this.#dataVersion = dataVersion
    this.#pollMs = hasChanged ? this.#pollMsMin : Math.min(2 * this.#pollMs, this.#pollMsMax)
    if (hasChanged) for (const listener of this.#listeners) listener()
    return this.#pollMs
  }
}
