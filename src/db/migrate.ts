import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql/driver-core'
import { migrate as applyMigrations } from 'drizzle-orm/libsql/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { freeBytesAround } from './ballast-file.ts'
import { FolderLock } from './folder-lock.ts'
import type { ReadDatabase } from './reader.ts'
import { retry } from './retry.ts'
import { UnusableDatabase } from './unusable.ts'
import type { WriteDatabase } from './write-database.ts'

const lockTimeoutMs = 60_000
const leaseMs = 60_000
const leaseRetryMs = 200
/** The most that a migration's log was measured to take, as a share of the database: 0.43, with short calls. */
const shareForLog = 0.5
const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url))

/**
 * Brings the database to this version's schema. A lock serialises processes that start at once, since Drizzle's
 * migrator has none.
 * @throws when another version of Callbook has written the database, and this one cannot bring it to its schema, or the
 * disk has no room for that
 */
export async function migrate(db: WriteDatabase, folder: string): Promise<void> {
  const lock = await FolderLock.acquire(folder, 'migrate', lockTimeoutMs)
  try {
    await migrateAlone(db, () => refuseWithoutRoom(db, folder))
  } finally {
    lock.release()
  }
}

/** The same on a server, where a lease row serialises the nodes, by the server's clock. */
export async function migrateRemotely(db: WriteDatabase): Promise<void> {
  const holder = randomUUID()
  await acquireLease(db, holder)
  try {
    await migrateAlone(db)
  } finally {
    await db.run(sql`delete from __callbook_leases where name = 'migrate' and holder = ${holder}`)
  }
}

/** How far the database has this version's schema. @throws UnusableDatabase if another version, or program, has written it */
export async function schemaOf(db: ReadDatabase): Promise<'none' | 'older' | 'current'> {
  const tables = await db.all<{ name: string }>(
    sql`select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'
      and name not like 'libsql\\_%' escape '\\' and name <> '__callbook_leases'`,
  )
  if (tables.length === 0) return 'none'
  if (!tables.some(({ name }) => name === '__drizzle_migrations')) throw writtenBy('another program')
  const migrations = await db.all<{ hash: string; at: number }>(
    sql`select hash, created_at as at from __drizzle_migrations`,
  )
  refuseOthers(migrations)
  const isCurrent = migrations.length === readMigrationFiles({ migrationsFolder }).length
  return isCurrent ? 'current' : 'older'
}

/** @throws UnusableDatabase if any of these migrations is not one of this version's */
export function refuseOthers(migrations: readonly { hash: string; at: number }[]): void {
  const ownMigrations = readMigrationFiles({ migrationsFolder })
  const newest = Math.max(...ownMigrations.map(({ folderMillis }) => folderMillis))
  if (migrations.some(({ at }) => at > newest)) throw writtenBy('a newer version of Callbook than this one')
  if (migrations.some(({ hash }) => !ownMigrations.some((one) => one.hash === hash)))
    throw writtenBy('an earlier development version of Callbook, whose tables differ from those of this one')
}

/** @param version the version that has written it */
function writtenBy(version: string): UnusableDatabase {
  return new UnusableDatabase(
    `The database was written by ${version}.`,
    'Start that version, or point DATA_DIR or DATABASE_URL at another database.',
  )
}

async function migrateAlone(db: WriteDatabase, admit = async () => {}): Promise<void> {
  if ((await schemaOf(db)) === 'current') return
  await admit()
  // The migrator calls nothing but what Drizzle's class and ours have in common.
  await applyMigrations(db as unknown as LibSQLDatabase, { migrationsFolder })
}

/** The migrations are one transaction, whose log is as long as all pages that they change. */
async function refuseWithoutRoom(db: WriteDatabase, folder: string): Promise<void> {
  const [size] = await db.all<{ bytes: number }>(
    sql`select page_count * page_size as bytes from pragma_page_count, pragma_page_size`,
  )
  const [needed, free] = [(size?.bytes ?? 0) * shareForLog, freeBytesAround(join(folder, 'any'))]
  if (free >= needed) return
  const inMegabytes = (bytes: number) => (bytes / 1_000_000).toFixed(1)
  throw new UnusableDatabase(
    `To bring the database to this version takes up to ${inMegabytes(needed)} MB on the disk of ${folder}, of which ${inMegabytes(free)} MB are free. Nothing was changed.`,
    'Make space there and start again. Until then, the version that has written it still opens it.',
  )
}

async function acquireLease(db: WriteDatabase, holder: string): Promise<void> {
  await db.run(
    sql`create table if not exists __callbook_leases (name text primary key, holder text, until real)`,
  )
  const now = sql.raw(`(unixepoch('subsec') * 1000)`)
  const timedOut = new Error('Another node has been migrating the database for too long')
  const acquire = async () => {
    const rows = await db.all(sql`
      insert into __callbook_leases (name, holder, until) values ('migrate', ${holder}, ${now} + ${leaseMs})
      on conflict (name) do update set holder = excluded.holder, until = excluded.until where until < ${now}
      returning holder`)
    if (rows.length === 0) throw timedOut
  }
  await retry(acquire, {
    withinMs: leaseMs + lockTimeoutMs,
    delayMs: leaseRetryMs,
    isWorthIt: (error) => error === timedOut,
  })
}
