import { join } from 'node:path'
import Database from 'libsql'
import { retry } from './retry.ts'

const retryMs = 50

/**
 * A lock on a folder. It is SQLite's lock on an empty file, so the operating system releases it when the process dies,
 * however it dies.
 */
export class FolderLock {
  readonly #connection: Database.Database

  private constructor(connection: Database.Database) {
    this.#connection = connection
  }

  /** The lock, or null when another holds it. */
  static tryAcquire(folder: string, name: string): FolderLock | null {
    const connection = new Database(join(folder, `${name}.lock`), { timeout: 0 })
    try {
      // In memory, since a full disk has no room for a journal.
      connection.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      return new FolderLock(connection)
    } catch {
      // Another connection holds it. Callers cannot act on any other failure.
      connection.close()
      return null
    }
  }

  /** Waits for the lock. @throws after `timeoutMs` */
  static async acquire(folder: string, name: string, timeoutMs: number): Promise<FolderLock> {
    const acquire = async () => {
      const lock = FolderLock.tryAcquire(folder, name)
      if (lock) return lock
      throw new Error(`${join(folder, `${name}.lock`)} has been held by another process for ${timeoutMs} ms`)
    }
    return await retry(acquire, { withinMs: timeoutMs, delayMs: retryMs })
  }

  release(): void {
    this.#connection.close()
  }
}
