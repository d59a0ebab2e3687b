import { closeSync, constants, fdatasyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'

/** Longer than any record, so that a new one covers all of the old. */
const recordBytes = 256

/** How far the pages that the log has moved into the database file were looked at before: see checkpoints.ts. */
export interface SweepRecord {
  /** The salt of the log that was looked at last, and how many of its frames were. */
  salt: string
  frames: number
  /** The database file after that. Whoever moves a log into it changes the time. */
  modifiedAt: string
  bytes: number
  /** How often something reached the file without having been looked at, and what of it was swept since. */
  gaps: number
  swept: number
}

/** The record, in a file beside the database. Processes read and write it only while they hold the database's write lock. */
export class SweepRecordFile {
  readonly #databaseFile: string
  #file: number | null = null

  constructor(databaseFile: string) {
    this.#databaseFile = databaseFile
  }

  /** Returns what is known of the file; nothing without a readable record. */
  read(): SweepRecord {
    const bytes = Buffer.alloc(recordBytes)
    const length = readSync(this.#open(), bytes, 0, recordBytes, 0)
    try {
      return JSON.parse(bytes.toString('utf8', 0, length))
    } catch {
      return { salt: '', frames: 0, modifiedAt: '', bytes: 0, gaps: 1, swept: 0 }
    }
  }

  /** @param isSynced whether it survives a power failure, after which the time of the file may be an earlier one */
  write(record: SweepRecord, isSynced: boolean): void {
    // As bytes with a length: Deno ignores the position of a string.
    writeSync(this.#open(), Buffer.from(JSON.stringify(record).padEnd(recordBytes)), 0, recordBytes, 0)
    if (isSynced) fdatasyncSync(this.#open())
  }

  /** The database file as it is now. */
  fileNow(): Pick<SweepRecord, 'modifiedAt' | 'bytes'> {
    const { mtimeNs, size } = statSync(this.#databaseFile, { bigint: true })
    return { modifiedAt: String(mtimeNs), bytes: Number(size) }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }

  #open(): number {
    this.#file ??= openSync(`${this.#databaseFile}-swept`, constants.O_RDWR | constants.O_CREAT, 0o600)
    return this.#file
  }
}
