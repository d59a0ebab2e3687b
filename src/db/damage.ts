import { openReadOnly } from './read-only.ts'
import { type DiskTrouble, toDiskTrouble } from './writer-messages.ts'

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
    // Any other failure, such as a lock, says nothing about the file and shows when the file is used.
    return error instanceof Error && troubleOf(error)?.trouble === 'damaged' ? error.message : null
  }
}

/** What a failed query or write says of the disk or the file, and which of its causes does; null for anything else. */
export function troubleOf(error: unknown): { trouble: DiskTrouble; cause: Error } | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const trouble = 'code' in cause ? toDiskTrouble(String(cause.code)) : null
    if (trouble) return { trouble, cause }
  }
  return null
}
