import { setImmediate } from 'node:timers/promises'
import { type Client, createClient, LibsqlError } from '@libsql/client'
import { BallastFile } from './ballast-file.ts'
import { clearStalePages } from './stale-cells.ts'
import { meansLock, runOn, type WriterCall, type WriterSession, type WriterValue } from './writer-messages.ts'

const busyTimeoutMs = 5_000

// `foreign_keys`, `secure_delete` and `synchronous` hold for a connection, not for a file. This client opens one.
const pragmas = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA secure_delete = ON',
  `PRAGMA busy_timeout = ${busyTimeoutMs}`,
  'PRAGMA temp_store = MEMORY',
  'PRAGMA cache_size = -65536',
]

/** Writes to a database file. */
export class FileSession implements WriterSession {
  readonly #client: Client
  readonly #ballast: BallastFile
  #hasPragmas = false
  /** Calls run one at a time: this one ends with the last. */
  #last: Promise<unknown> = Promise.resolve()
  #lastId = 0
  /** Calls up to this id waited behind one that gave up waiting for a lock. */
  #refusedUpTo = 0

  /** @param url `file:…` */
  constructor(url: string) {
    this.#client = createClient({ url, concurrency: 1, intMode: 'number', timeout: busyTimeoutMs })
    this.#ballast = new BallastFile(decodeURIComponent(url.replace(/^file:/, '')))
  }

  run(call: WriterCall, frees: boolean): Promise<WriterValue> {
    const id = ++this.#lastId
    const done = this.#last.then(() => this.#runAlone(id, call, frees))
    this.#last = done.catch(() => undefined)
    return done
  }

  async close(): Promise<void> {
    this.#client.close()
  }

  async #runAlone(id: number, call: WriterCall, frees: boolean): Promise<WriterValue> {
    try {
      if (id <= this.#refusedUpTo) throw new LibsqlError('The database was locked', 'SQLITE_BUSY')
      if (!frees && !this.#ballast.hasRoom())
        throw new LibsqlError('Only writes that free space run', 'SQLITE_FULL')
      return await this.#runWithRoom(call, frees)
    } catch (error) {
      if (meansLock(codeOf(error)) && id > this.#refusedUpTo) {
        // A BEGIN that met a lock stays open in its connection, where every later one would fail, too.
        await this.#client.reconnect()
        // Refuse the queued calls as well, once they have arrived: waiting one by one could take hours.
        await setImmediate()
        this.#refusedUpTo = this.#lastId
      }
      throw error
    }
  }

  /** On a full disk, a write that frees space is retried with the space of the ballast file. */
  async #runWithRoom(call: WriterCall, frees: boolean): Promise<WriterValue> {
    try {
      return await this.#runWithPragmas(call)
    } catch (error) {
      if (codeOf(error) !== 'SQLITE_FULL' || !frees) throw error
      this.#ballast.release()
      // The log may be what fills the disk, even when the ballast file is gone already.
      await this.#runWithPragmas({ method: 'execute', statement: 'PRAGMA wal_checkpoint(TRUNCATE)' })
      return await this.#runWithPragmas(call)
    }
  }

  async #runWithPragmas(call: WriterCall): Promise<WriterValue> {
    try {
      if (!this.#hasPragmas) for (const pragma of pragmas) await this.#client.execute(pragma)
      this.#hasPragmas = true
      return await this.#run(call)
    } catch (error) {
      // The client drops a connection that cannot be rolled back and opens another, without our PRAGMAs.
      this.#hasPragmas = false
      throw error
    }
  }

  async #run(call: WriterCall): Promise<WriterValue> {
    switch (call.method) {
      case 'clearStalePages':
        await clearStalePages(this.#client, call.pages)
        return null
      case 'emptyLog':
        return await this.#emptyLog(call.holdUpMs)
      case 'keepBallast':
        this.#ballast.keep()
        return null
      default:
        return await runOn(this.#client, call)
    }
  }

  /** If one of these fails, the next call resets the timeout with the other PRAGMAs. */
  async #emptyLog(holdUpMs: number): Promise<boolean> {
    await this.#client.execute(`PRAGMA busy_timeout = ${Math.trunc(holdUpMs)}`)
    const { rows } = await this.#client.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    await this.#client.execute(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    return rows[0]?.busy === 0
  }
}

function codeOf(error: unknown): string {
  return error instanceof LibsqlError ? error.code : 'UNKNOWN'
}
