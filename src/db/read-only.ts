import Database from 'libsql'
import { fileUrl } from './location.ts'

/**
 * A connection that only reads. When the last connection to a database is closed, SQLite moves the write-ahead log into
 * the file, unless it is this one: the log is to be looked at before (see checkpoints.ts).
 */
export function openReadOnly(file: string, timeoutMs: number): Database.Database {
  return new Database(`${fileUrl(file)}?mode=ro`, { timeout: timeoutMs })
}
