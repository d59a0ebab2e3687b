import { Background } from '../threads/background.ts'
import type { DatabaseLog } from './log.ts'
import type { DiskTrouble } from './writer-messages.ts'

const tryEveryMs = 1_000

const problems: Record<DiskTrouble, string> = {
  full: 'The disk that holds the database is full: writes that do not fit are refused. Reads and deletions work.',
  refused: 'The disk refuses writes to the database. Reads work.',
  damaged: 'The database is damaged. Stop the service and restore a backup.',
}

interface DiskWatchOptions {
  /** Whether writes work again, and there is room for them. */
  tryDisk: () => Promise<boolean>
  log: DatabaseLog
}

/** What is wrong with the disk, learnt from writes that it refused. Logged once, not at every write. */
export class DiskWatch {
  readonly #log: DatabaseLog
  readonly #trying: Background
  #trouble: DiskTrouble | null = null
  #refusesDeletions = false
  /** Writes that were refused since the process started. */
  readonly refused: Record<DiskTrouble, number> = { full: 0, refused: 0, damaged: 0 }

  constructor({ tryDisk, log }: DiskWatchOptions) {
    this.#log = log
    this.#trying = new Background({
      work: async () => {
        // Damage stays, even if it is not met again.
        if (this.#trouble === null || this.#trouble === 'damaged') return null
        if (!(await tryDisk())) return tryEveryMs
        this.#end()
        return null
      },
      delayMs: tryEveryMs,
      retryMs: tryEveryMs,
      // The disk is as it was.
      onFailure: () => undefined,
    })
  }

  /** Why no write is possible, not even a deletion; null when deletions are. */
  get refusal(): string | null {
    if (this.#trouble === null || (this.#trouble === 'full' && !this.#refusesDeletions)) return null
    return this.#trouble === 'full'
      ? 'The disk is full, and deletions find no room either.'
      : problems[this.#trouble]
  }

  /** What an operator should know while reads and deletions work; null when nothing is wrong. */
  get problem(): string | null {
    return this.#trouble === 'full' && !this.#refusesDeletions ? problems.full : null
  }

  noteRefused(trouble: DiskTrouble, { frees, error }: { frees: boolean; error: Error }): void {
    this.refused[trouble]++
    if (frees) this.#refusesDeletions = true
    this.note(trouble, error)
  }

  /** The same for a query that failed. */
  note(trouble: DiskTrouble, error: Error): void {
    if (this.#trouble === trouble || this.#trouble === 'damaged') return
    this.#trouble = trouble
    if (trouble === 'full')
      this.#log.warn({ error }, 'The disk is full, so writes that do not fit are answered with 507')
    else if (trouble === 'damaged')
      this.#log.error(
        { error },
        'The database is damaged, so requests that meet the damage are answered with 503',
      )
    else
      this.#log.error(
        { error },
        'The disk refuses writes to the database, or reads of it, so requests that need them are answered with 503',
      )
    this.#trying.soon()
  }

  /** A small write says nothing about a full disk. */
  noteWritten(frees: boolean): void {
    if (frees) this.#refusesDeletions = false
    if (this.#trouble === 'refused') this.#end()
  }

  close(): Promise<void> {
    return this.#trying.close()
  }

  #end(): void {
    this.#trouble = null
    this.#refusesDeletions = false
    this.#log.info('The disk accepts writes again')
  }
}
