import { statSync } from 'node:fs'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { LibsqlError } from '@libsql/core/api'
import { BallastFile, freeBytesAround } from './ballast-file.ts'
import { Checkpoints } from './checkpoints.ts'
import { clearStalePages } from './stale-cells.ts'
import { WriteConnection, type WriteStatement } from './write-connection.ts'
import {
  meansLock,
  meansRefusal,
  type WriterCall,
  type WriterSession,
  type WriterValue,
} from './writer-messages.ts'

const busyTimeoutMs = 5_000
/** Once its batches have run for this long, a group takes no more. */
const groupMsMax = 10
/** What there must be room for before a full disk counts as mended. */
const roomBytesMin = 16_777_216
const emptyWithinMs = 1_000
const emptyHoldUpMs = 100
const emptyRetryMs = 20

// `foreign_keys`, `secure_delete` and `synchronous` hold for a connection, not for a file.
const pragmas = [
  'journal_mode = WAL',
  'wal_autocheckpoint = 0',
  'synchronous = FULL',
  'foreign_keys = ON',
  'secure_delete = ON',
  'temp_store = MEMORY',
  'cache_size = -65536',
]
const changesRows = /^\s*(insert|update|delete)\b/i

interface Waiting {
  call: WriterCall
  frees: boolean
  /** Whether it was in a group that failed as a whole. */
  isAlone?: boolean
  resolve(value: WriterValue): void
  reject(error: unknown): void
}

/**
 * Writes to a database file, one call at a time. Batches that arrive during a commit share the next one, because a commit
 * mostly waits for the disk. Each has its own savepoint, so it is written whole or not at all, whatever happens to the
 * others.
 */
export class FileSession implements WriterSession {
  readonly #file: string
  readonly #ballast: BallastFile
  readonly #checkpoints: Checkpoints
  /** Calls that free space go first: a deletion does not wait behind an import. */
  readonly #urgent: Waiting[] = []
  readonly #others: Waiting[] = []
  #opened: WriteConnection | null = null
  #isWorking = false

  /**
   * @param url `file:…`
   * @param onSwept see checkpoints.ts
   */
  constructor(url: string, onSwept: (isSwept: boolean) => void) {
    this.#file = decodeURIComponent(url.replace(/^file:/, ''))
    this.#ballast = new BallastFile(this.#file)
    this.#checkpoints = new Checkpoints(this.#file, onSwept)
  }

  run(call: WriterCall, frees: boolean): Promise<WriterValue> {
    return new Promise((resolve, reject) => {
      const queue = frees ? this.#urgent : this.#others
      queue.push({ call, frees, resolve, reject })
      if (!this.#isWorking) void this.#work()
    })
  }

  /** Leaves no log behind when nobody else has the database open. */
  async close(): Promise<void> {
    try {
      // SQLite moves it when the last connection is closed, without a look at it.
      if (this.#opened) this.#checkpoints.empty(this.#opened, 0)
    } catch {
      // The next start reads the log.
    }
    this.#disconnect()
    this.#checkpoints.close()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    // Each time, let in what has arrived meanwhile.
    await setImmediate()
    for (let next = this.#take(); next; next = this.#take()) {
      if (batchOf(next)) await this.#runGroup(next)
      else await this.#runAlone(next)
      // Sends the answers first.
      await setImmediate()
      if (this.#opened && this.#checkpoints.isDue()) this.#checkpoints.run(this.#opened)
    }
    this.#isWorking = false
  }

  #take(): Waiting | undefined {
    return this.#urgent.shift() ?? this.#others.shift()
  }

  #takeBatch(): Waiting | undefined {
    const next = this.#urgent[0] ?? this.#others[0]
    return next && batchOf(next) ? this.#take() : undefined
  }

  async #runGroup(first: Waiting): Promise<void> {
    const group = [first]
    const answers: (() => void)[] = []
    try {
      const connection = this.#connect()
      connection.execute('begin immediate')
      const endsAt = performance.now() + groupMsMax
      for (const waiter of group) {
        answers.push(this.#runInSavepoint(connection, waiter))
        const next = performance.now() < endsAt && this.#takeBatch()
        if (next) group.push(next)
      }
      connection.execute('commit')
    } catch (error) {
      this.#disconnect()
      if (meansLock(codeOf(error))) return await this.#refuseAll(group, error)
      if (group.length === 1 && !first.frees && !meansFullDisk(error)) return first.reject(error)
      // The transaction failed, not one batch of it. So each is run alone and gets its own answer.
      for (const waiter of group) waiter.isAlone = true
      this.#urgent.unshift(...group)
      return
    }
    for (const answer of answers) answer()
  }

  /** @throws what ended the whole transaction */
  #runInSavepoint(connection: WriteConnection, waiter: Waiting): () => void {
    const { call, frees, resolve, reject } = waiter
    if (!this.#hasRoom(frees)) return () => reject(noRoom())
    connection.execute('savepoint batch')
    try {
      const results = (batchOf(waiter) ?? []).map((statement) => connection.execute(statement))
      connection.execute('release batch')
      return () => resolve(call.method === 'execute' ? (results[0] ?? null) : results)
    } catch (error) {
      if (!connection.inTransaction || meansFullDisk(error) || meansRefusal(codeOf(error))) throw error
      connection.execute('rollback to batch')
      connection.execute('release batch')
      return () => reject(error)
    }
  }

  async #runAlone(waiter: Waiting): Promise<void> {
    const { call, frees, resolve, reject } = waiter
    if (!this.#hasRoom(frees)) return reject(noRoom())
    try {
      resolve(await this.#runWithRoom(call, frees))
    } catch (error) {
      this.#disconnect()
      if (meansLock(codeOf(error))) await this.#refuseAll([waiter], error)
      else reject(error)
    }
  }

  /** Also refuses the queued calls: each would wait just as long for the lock, and together that could take hours. */
  async #refuseAll(batches: readonly Waiting[], error: unknown): Promise<void> {
    await setImmediate()
    const waiters = [...batches, ...this.#urgent.splice(0), ...this.#others.splice(0)]
    for (const { reject } of waiters) reject(error)
  }

  #hasRoom(frees: boolean): boolean {
    return frees || this.#ballast.hasRoom()
  }

  /**
   * A write that does not fit is tried again once the log is empty, which makes room for it in the log. A write that frees
   * space then gets that of the ballast file.
   */
  async #runWithRoom(call: WriterCall, frees: boolean): Promise<WriterValue> {
    try {
      return this.#run(call)
    } catch (error) {
      if (!meansFullDisk(error)) throw error
    }
    try {
      return await this.#runOnEmptyLog(call, frees)
    } catch (error) {
      if (!frees || !meansFullDisk(error)) throw error
    }
    this.#ballast.release()
    return await this.#runOnEmptyLog(call, frees)
  }

  async #runOnEmptyLog(call: WriterCall, isPatient: boolean): Promise<WriterValue> {
    this.#disconnect()
    const endsAt = performance.now() + (isPatient ? emptyWithinMs : 0)
    // A reader may prevent it.
    while (!this.#checkpoints.empty(this.#connect(), emptyHoldUpMs, true) && performance.now() < endsAt)
      await setTimeout(emptyRetryMs)
    return this.#run(call)
  }

  #run(call: WriterCall): WriterValue {
    const connection = this.#connect()
    switch (call.method) {
      case 'execute':
        return connection.execute(call.statement)
      case 'batch':
        return connection.batch(call.statements)
      case 'migrate':
        return this.#migrate(connection, call.statements)
      case 'clearStalePages':
        connection.execute('begin immediate')
        clearStalePages(connection, call.pages)
        connection.execute('commit')
        return null
      case 'emptyLog':
        return this.#checkpoints.empty(connection, call.holdUpMs) && this.#checkpoints.isSwept
      case 'gaps':
        return this.#checkpoints.gaps(connection)
      case 'endSweep':
        return this.#checkpoints.endSweep(connection, call.gaps)
      case 'keepBallast':
        this.#ballast.keep(call.bytes)
        this.#checkpoints.keepLogBelow(this.#ballast.bytes)
        return null
      case 'tryDisk':
        return this.#tryDisk(connection)
    }
  }

  /** Foreign keys are off during this, because a migration may recreate a table that others refer to. */
  #migrate(connection: WriteConnection, statements: WriteStatement[]): WriterValue {
    connection.execute('PRAGMA foreign_keys = OFF')
    const results = connection.batch(statements)
    connection.execute('PRAGMA foreign_keys = ON')
    return results
  }

  /** Whether a write works, and there is room for large ones: on the disk, or in the database's free pages. */
  #tryDisk(connection: WriteConnection): boolean {
    // Writes a page, though it changes nothing.
    connection.execute('PRAGMA user_version = 0')
    const [free, page] = ['freelist_count', 'page_size'].map((name) =>
      Number(connection.execute(`PRAGMA ${name}`).rows[0]?.[0]),
    )
    const room = freeBytesAround(this.#file) + (free ?? 0) * (page ?? 0)
    return this.#ballast.hasRoom() && room >= (this.#ballast.bytes || roomBytesMin)
  }

  #connect(): WriteConnection {
    if (this.#opened) return this.#opened
    const isNew = (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) === 0
    this.#opened = new WriteConnection(this.#file, { timeoutMs: busyTimeoutMs, pragmas })
    this.#checkpoints.open(this.#opened, isNew)
    return this.#opened
  }

  /** After an error, a connection's state is unknown, so the next call opens another. */
  #disconnect(): void {
    const connection = this.#opened
    this.#opened = null
    try {
      connection?.close()
    } catch {
      // It is not used again.
    }
  }
}

/** The statements of a call that can share a transaction with others. */
function batchOf({ call, isAlone }: Waiting): WriteStatement[] | null {
  if (isAlone) return null
  if (call.method === 'batch') return call.statements
  if (call.method !== 'execute') return null
  const { statement } = call
  const text = typeof statement === 'string' ? statement : statement.sql
  return changesRows.test(text) ? [statement] : null
}

function noRoom(): LibsqlError {
  return new LibsqlError('Only writes that free space run', 'SQLITE_FULL')
}

function meansFullDisk(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_FULL'
}

function codeOf(error: unknown): string {
  return error instanceof LibsqlError ? error.code : 'UNKNOWN'
}
