import { statSync } from 'node:fs'
import { Background } from '../threads/background.ts'
import type { DatabaseLog } from './log.ts'
import type { SideReader } from './side-reader.ts'

const delayMs = 50
const retryMs = 1_000
/** A smaller log file is left alone. */
const logBytesMin = 1_048_576
/** At this many pages, the log should start over. */
const logPagesMax = 1_000
const holdUpMs = 20

interface CheckpointsOptions {
  file: string
  side: Pick<SideReader, 'checkpoint'>
  /** See Writer.restartLog. */
  restartLog(holdUpMs: number): Promise<void>
  log: DatabaseLog
}

/**
 * Moves the pages of the write-ahead log to the database file from another thread, so that no commit waits for that.
 * While writes go on there are always new pages, and the log would grow for ever: beyond a size the writer itself
 * moves the few that are left, after which the log begins anew.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  readonly #background: Background

  constructor(options: CheckpointsOptions) {
    this.#options = options
    const onFailure = (error: unknown) => options.log.warn({ error }, 'The write-ahead log was not moved')
    this.#background = new Background({ work: () => this.#run(), delayMs, retryMs, onFailure })
  }

  /** To be called after each write. */
  soon(): void {
    this.#background.soon()
  }

  close(): Promise<void> {
    return this.#background.close()
  }

  async #run(): Promise<null> {
    const { file, side, restartLog } = this.#options
    const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    if (bytes < logBytesMin) return null
    const { pages } = await side.checkpoint()
    if (pages < logPagesMax) return null
    // Again, because many pages may have been added during the first.
    await side.checkpoint()
    await restartLog(holdUpMs)
    return null
  }
}
