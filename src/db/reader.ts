import { BaseSQLiteDatabase, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { openReadOnly } from './read-only.ts'
import { ReadSession } from './read-session.ts'

const busyTimeoutMs = 5_000
const mmapBytesMax = 1_073_741_824
const cacheKib = 16_384

/**
 * Drizzle over a connection that only reads. Every query is awaited, so that local and remote databases share the same
 * code.
 */
export type ReadDatabase = BaseSQLiteDatabase<'async', unknown>

export interface Reader {
  readonly db: ReadDatabase
  /**
   * A number that changes when another connection commits: while it stays the same, so does what was read.
   * https://www.sqlite.org/pragma.html#pragma_data_version
   */
  dataVersion(): number
  close(): void
}

/**
 * Opens a plain `libsql` connection to a database file. Drizzle's `.prepare()` keeps its statement here,
 * which `@libsql/client` does not: 7 us against 200 us for a call read by its id.
 * @param options.mapsFile false for a reader of the whole file, whose pages would count as memory of the process
 */
export function openReader(file: string, { mapsFile = true } = {}): Reader {
  const connection = openReadOnly(file, busyTimeoutMs)
  connection.exec(`PRAGMA mmap_size = ${mapsFile ? mmapBytesMax : 0}`)
  connection.exec(`PRAGMA cache_size = -${cacheKib}`)
  const dialect = new SQLiteSyncDialect()
  const session = new ReadSession(connection, dialect)
  const db = new BaseSQLiteDatabase('sync', dialect, session, undefined)
  const version = connection.prepare('PRAGMA data_version').raw()
  return {
    db: asAwaited(db),
    dataVersion: oncePerTurn(() => firstOf(version.get([]))),
    close: () => connection.close(),
  }
}

/**
 * Reads a value once in each turn of the event loop. The requests that the turn handles arrived before it began.
 */
function oncePerTurn(read: () => number): () => number {
  let value: number | undefined
  const forget = () => {
    value = undefined
  }
  return () => {
    if (value === undefined) {
      value = read()
      setImmediate(forget)
    }
    return value
  }
}

/** The value of a row of one column, read as an array. */
function firstOf(row: unknown): number {
  return Array.isArray(row) ? Number(row[0]) : 0
}

/** `await` passes on a plain value, so a synchronous database serves as an asynchronous one. */
function asAwaited(db: unknown): ReadDatabase {
  return db as ReadDatabase
}
