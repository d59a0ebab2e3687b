import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Background } from '../threads/background.ts'
import { generationOfFile } from './generation.ts'
import type { DatabaseLog } from './log.ts'

const lookEveryMs = 1_000
const departure = 'The volume of DATA_DIR has left its path. Nothing is written until it is back.'

interface VolumeWatchOptions {
  /** The database file. */
  file: string
  /** The folder of recordings, which may be a volume of its own. */
  recordings: string
  log: DatabaseLog
  /** Called once the data is back: what was opened before belongs to files that may be elsewhere. */
  onBack: () => void
}

/** Notices when the data leaves its path: what was written then would be found by nobody. */
export class VolumeWatch {
  readonly #options: VolumeWatchOptions
  readonly #looking: Background
  #generation: string | null = null
  #file = ''
  #recordings = ''
  #isAway = false

  constructor(options: VolumeWatchOptions) {
    this.#options = options
    this.#looking = new Background({
      work: async () => {
        if (this.refusal() === null || !this.#isBack()) return
        options.log.info('The volume of DATA_DIR is back, so the database is opened again')
        void this.#looking.close()
        options.onBack()
      },
      everyMs: lookEveryMs,
      // It is no database, or not all of it is there yet.
      onFailure: () => undefined,
    })
  }

  /** From now on the files are expected where they are. @param generation of the database */
  start(generation: string): void {
    this.#generation = generation
    this.#file = idOf(this.#options.file)
    this.#recordings = idOf(this.#options.recordings)
    this.#looking.soon(lookEveryMs)
  }

  /** Looks. Why nothing may be written, in a sentence; null when it may. */
  refusal(): string | null {
    const { file, recordings, log } = this.#options
    if (this.#isAway) return departure
    const isThere = idOf(file) === this.#file && idOf(recordings) === this.#recordings
    if (isThere || this.#generation === null) return null
    this.#isAway = true
    log.error(departure)
    return departure
  }

  close(): Promise<void> {
    return this.#looking.close()
  }

  #isBack(): boolean {
    const { file, recordings } = this.#options
    // Under a path where nothing is mounted there is no such folder.
    if (!existsSync(join(recordings, 'incoming')) || generationOfFile(file) !== this.#generation) return false
    // A volume that is mounted again may have another number. Its folders still have theirs.
    const inode = (id: string) => id.split(':')[1]
    return idOf(file) !== this.#file || inode(idOf(recordings)) === inode(this.#recordings)
  }
}

/** Device and inode; empty if it is not there or cannot be reached. */
function idOf(path: string): string {
  try {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  } catch {
    // As far as anybody can tell, it is gone.
    return ''
  }
}
