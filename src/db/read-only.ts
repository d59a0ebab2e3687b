import { existsSync, writeFileSync } from 'node:fs'
import Database from 'libsql'
import { fileUrl } from './location.ts'

/**
 * A connection that only reads. When the last connection to a database is closed, SQLite moves the write-ahead log into
 * the file, unless it is this one: the log is to be looked at before (see checkpoints.ts).
 */
export function openReadOnly(file: string, timeoutMs: number): Database.Database {
  // An empty file is a database without tables.
  if (!existsSync(file)) writeFileSync(file, '', { flag: 'a' })
  return new Database(`${fileUrl(file)}?mode=ro`, { timeout: timeoutMs })
}
