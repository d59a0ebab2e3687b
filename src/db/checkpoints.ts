import { LogFrames, type LogHeader } from './log-frames.ts'
import { clearStalePages, hasStaleCells } from './stale-cells.ts'
import { type SweepRecord, SweepRecordFile } from './sweep-record.ts'
import { WriteConnection } from './write-connection.ts'

/** About 16 MB. In a log of 1,000 frames, SQLite’s default, a page that each write touches is moved four times as often. */
const framesMaxDefault = 4_000
const frameBytes = 4_120
/** A question costs as much as a hundredth of a commit. */
const askEveryMs = 10
const retryMs = 1_000
const pollMs = 5
const busyTimeoutMs = 5_000
/** As the time of a file, when pages were moved into it that are still to be cleared. */
const unknown = ''
const asleep = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/**
 * Moves the write-ahead log into the database file and keeps stale cells out of it: each page is looked at before it is
 * moved, and cleared if needed (see stale-cells.ts). So an erasure need not search the file for them. All processes that
 * write do this, and none lets SQLite move the log by itself. After another program has done so, the whole file must be
 * swept.
 */
export class Checkpoints {
  readonly #file: string
  readonly #log: LogFrames
  readonly #recordFile: SweepRecordFile
  readonly #onChange: (isSwept: boolean) => void
  #record: SweepRecord | null = null
  /** Moves the log while the writer holds the lock, so that nothing is written between looking and moving. */
  #mover: WriteConnection | null = null
  #notBefore = 0
  #framesMax = framesMaxDefault
  /** Whether the file has been swept, when this was last looked at. */
  isSwept = true

  /** @param onChange called when the file must be swept, and when it has been */
  constructor(file: string, onChange: (isSwept: boolean) => void) {
    this.#file = file
    this.#log = new LogFrames(file)
    this.#recordFile = new SweepRecordFile(file)
    this.#onChange = onChange
  }

  /** On a full disk, what a deletion frees must be enough to move the log: see ballast-file.ts. */
  keepLogBelow(bytes: number): void {
    this.#framesMax = Math.min(framesMaxDefault, Math.floor(bytes / frameBytes))
  }

  /** Call it before the connection writes: the next commit may begin a log anew that a killed process has moved. */
  open(connection: WriteConnection, isNewFile: boolean): void {
    if (this.#mover) return
    this.#mover = new WriteConnection(this.#file, {
      timeoutMs: busyTimeoutMs,
      pragmas: ['synchronous = FULL', 'wal_autocheckpoint = 0'],
    })
    if (isNewFile) this.#save({ salt: '', frames: 0, gaps: 0, swept: 0, ...this.#recordFile.fileNow() })
    else this.run(connection)
  }

  /** Whether the log is long, or has begun anew: the record must have its salt, in case the power fails. */
  isDue(): boolean {
    const now = performance.now()
    if (now < this.#notBefore) return false
    this.#notBefore = now + askEveryMs
    const header = this.#log.header()
    if (!header) return false
    const { salt, frames } = this.#record ?? { salt: '', frames: 0 }
    return header.salt !== salt || this.#log.hasMoreThan(frames + this.#framesMax, header)
  }

  /** Looks at the log and moves it if it is long. It is tried again later when it fails. */
  run(connection: WriteConnection): void {
    try {
      const { record, frames } = this.#lock(connection)
      if (frames >= this.#framesMax) this.#move(record, 0)
    } catch {
      // Writes report what is wrong with the disk.
      this.#notBefore = performance.now() + retryMs
    } finally {
      connection.rollback()
    }
  }

  /**
   * Tries to empty the log, delaying other writes by at most about twice `holdUpMs`.
   * @param isForced on a full disk, which may have no room for clearing pages before there is some in the log
   * @returns whether it is empty: a reader in the middle of a query prevents it
   */
  empty(connection: WriteConnection, holdUpMs: number, isForced = false): boolean {
    try {
      const record = isForced ? this.#lockAnyway(connection) : this.#lock(connection).record
      if (!this.#move(record, holdUpMs)) return false
    } finally {
      connection.rollback()
    }
    return this.#truncate(connection, holdUpMs)
  }

  /** What has to be swept, as a number for `endSweep`; null when the file has been swept. */
  gaps(connection: WriteConnection): number | null {
    try {
      const { gaps, swept } = this.#lock(connection).record
      return gaps === swept ? null : gaps
    } finally {
      connection.rollback()
    }
  }

  /** Call it after a sweep that began after `gaps`. @returns whether nothing has to be swept again */
  endSweep(connection: WriteConnection, gaps: number): boolean {
    try {
      const { record } = this.#lock(connection)
      this.#save({ ...record, swept: gaps })
      return record.gaps === gaps
    } finally {
      connection.rollback()
    }
  }

  close(): void {
    this.#mover?.close()
    this.#mover = null
    this.#log.close()
    this.#recordFile.close()
  }

  /**
   * Locks the database against other writers, once no page in the log has stale cells.
   * @returns `frames`: how many the log has, or more. It may end with a transaction of a killed process, which is not
   *   part of the database; only SQLite knows, so the record counts what was moved.
   */
  #lock(connection: WriteConnection): { record: SweepRecord; frames: number } {
    for (;;) {
      connection.execute('begin immediate')
      const header = this.#log.header()
      const record = this.#recordFor(header)
      if (!header) return { record: this.#save(record), frames: 0 }
      const stale = new Set<number>()
      const frames = this.#log.visit(header, record.frames, (page, data) => {
        if (!stale.has(page) && hasStaleCells(page, data)) stale.add(page)
      })
      // Before a commit that may begin the log anew.
      this.#save(record)
      // Pages may have been cleared since, and those of a failed transaction never were as the log shows them.
      if (clearStalePages(connection, stale) === 0) return { record, frames }
      connection.execute('commit')
    }
  }

  /** The same, but pages may keep their stale cells. Until they are cleared, only the log tells which. */
  #lockAnyway(connection: WriteConnection): SweepRecord {
    try {
      return this.#lock(connection).record
    } catch {
      connection.rollback()
      connection.execute('begin immediate')
      return this.#save({ ...this.#recordFor(this.#log.header()), modifiedAt: unknown })
    }
  }

  /** The record, which counts a gap unless the file is as it was left, or the log still has all that was moved since. */
  #recordFor(header: LogHeader | null): SweepRecord {
    const [record, now] = [this.#recordFile.read(), this.#recordFile.fileNow()]
    if (header?.salt === record.salt) return { ...record, ...now }
    const isAsLeft = now.modifiedAt === record.modifiedAt && now.bytes === record.bytes
    const gaps = isAsLeft ? record.gaps : record.gaps + 1
    return { ...record, ...now, salt: header?.salt ?? '', frames: 0, gaps }
  }

  /** @returns whether all of the log was moved, which a reader of an earlier state prevents */
  #move(record: SweepRecord, holdUpMs: number): boolean {
    const endsAt = performance.now() + holdUpMs
    for (;;) {
      const [, frames, moved] = this.#moverRow('PRAGMA wal_checkpoint(PASSIVE)')
      const isMoved = frames === moved
      if (isMoved || performance.now() >= endsAt) {
        if (record.modifiedAt !== unknown)
          this.#save({ ...record, ...this.#recordFile.fileNow(), frames: Number(frames) })
        return isMoved
      }
      Atomics.wait(asleep, 0, 0, pollMs)
    }
  }

  /** A commit truncates a log that it begins anew, and nothing is written between the last look at it and the commit. */
  #truncate(connection: WriteConnection, holdUpMs: number): boolean {
    this.#moverRow(`PRAGMA busy_timeout = ${Math.trunc(holdUpMs)}`)
    const [isBusy] = this.#moverRow('PRAGMA wal_checkpoint(RESTART)')
    this.#moverRow(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    if (isBusy !== 0) return false
    try {
      const { record } = this.#lock(connection)
      if (record.salt === '') return true
      // Another process may have written meanwhile.
      if (!this.#move(record, 0)) return false
      connection.execute('PRAGMA journal_size_limit = 0')
      // Writes a page, though it changes nothing.
      connection.execute('PRAGMA user_version = 0')
      connection.execute('commit')
      return this.#log.header()?.salt !== record.salt
    } finally {
      connection.rollback()
      connection.execute('PRAGMA journal_size_limit = -1')
    }
  }

  #moverRow(sql: string): unknown[] {
    return this.#mover?.execute(sql).rows[0] ?? []
  }

  #save(record: SweepRecord): SweepRecord {
    this.#recordFile.write(record, record.salt !== this.#record?.salt)
    this.#record = record
    const isSwept = record.gaps === record.swept
    if (isSwept !== this.isSwept) this.#onChange(isSwept)
    this.isSwept = isSwept
    return record
  }
}
