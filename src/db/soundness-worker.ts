import Database from 'libsql'
import { lowerPriority } from '../threads/priority.ts'
import { serve } from '../threads/serve.ts'

const busyTimeoutMs = 5_000
const niceness = 10

lowerPriority(niceness)

/** Looks for damage in a database file: a gigabyte takes some seconds. */
const api = {
  /** What is wrong, in SQLite's words; null when nothing is found. */
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
      // Anything else, such as a lock, says nothing of the file; whoever uses it learns of it.
      return error instanceof Error && /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? error.message : null
    }
  },
}

export type SoundnessApi = typeof api

serve(api)
