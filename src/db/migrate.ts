import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import { migrate as applyMigrations } from 'drizzle-orm/libsql/migrator'
import { FolderLock } from './folder-lock.ts'
import { renewCallWords } from './word-tables.ts'
import type { WriteDatabase } from './writer.ts'

const lockTimeoutMs = 60_000
const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/**
 * Brings the database to this version's schema. Processes that start at once take turns: Drizzle's migrator
 * reads its journal and applies what is missing without a lock of its own.
 * @throws when a newer version of Callbook has written the database.
 */
export async function migrate(db: WriteDatabase, folder: string): Promise<void> {
  const lock = await FolderLock.acquire(folder, 'migrate', lockTimeoutMs)
  try {
    await refuseNewerDatabase(db)
    await applyMigrations(db, { migrationsFolder })
    await renewCallWords(db)
  } finally {
    lock.release()
  }
}

async function refuseNewerDatabase(db: WriteDatabase): Promise<void> {
  const known = newestKnownMigration()
  const applied = await newestAppliedMigration(db)
  if (applied <= known) return
  throw new Error(
    'The database was written by a newer version of Callbook than this one. ' +
      'Start the newer version, or point DATA_DIR or DATABASE_URL at another database.',
  )
}

/** When the newest migration was made that this version has. */
export function newestKnownMigration(): number {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8'),
  )
  return Math.max(...journal.entries.map((entry) => entry.when))
}

async function newestAppliedMigration(db: WriteDatabase): Promise<number> {
  const tables = await db.all(sql`select name from sqlite_master where name = '__drizzle_migrations'`)
  if (tables.length === 0) return 0
  const [row] = await db.all<{ newest: number | null }>(
    sql`select max(created_at) as newest from __drizzle_migrations`,
  )
  return Number(row?.newest ?? 0)
}
