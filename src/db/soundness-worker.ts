import Database from 'libsql'
import { lowerPriority } from '../threads/priority.ts'
import { serve } from '../threads/serve.ts'

const busyTimeoutMs = 5_000
const niceness = 10

lowerPriority(niceness)

/** Looks for damage in a database file. A gigabyte takes some seconds. */
const api = {
  /** SQLite's description of the damage; null when there is none. */
  findDamage(file: string): string | null {
    try {
      const connection = new Database(file, { timeout: busyTimeoutMs })
      try {
        connection.exec('pragma query_only = on')
        const [line] = connection.prepare('pragma quick_check(1)').pluck().all()
        return line === 'ok' ? null : String(line)
      } finally {
        connection.close()
      }
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      // Any other failure, such as a lock, says nothing about the file and shows when the file is used.
      return error instanceof Error && /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? error.message : null
    }
  },
}

export type SoundnessApi = typeof api

serve(api)
