import { openReadOnly } from './read-only.ts'

const busyTimeoutMs = 5_000

/**
 * Looks for damage in a database file. A gigabyte takes some seconds.
 * @param tables the only ones to check; the whole file if there are none
 * @returns SQLite's description of the damage; null when there is none
 */
export function findDamage(file: string, tables: readonly string[] = []): string | null {
  try {
    const connection = openReadOnly(file, busyTimeoutMs)
    try {
      const checks = tables.length > 0 ? tables : ['1']
      const lines = checks.flatMap((check) =>
        connection.prepare(`pragma quick_check(${check})`).pluck().all(),
      )
      const damage = lines.find((line) => line !== 'ok')
      return damage === undefined ? null : String(damage)
    } finally {
      connection.close()
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    // Any other failure, such as a lock, says nothing about the file and shows when the file is used.
    return error instanceof Error && /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? error.message : null
  }
}
