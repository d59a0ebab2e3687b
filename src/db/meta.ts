import { randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from './reader.ts'
import { meta } from './schema.ts'
import type { WriteDatabase } from './write-database.ts'

const secretBytes = 32

/**
 * Reads the secrets that the service makes once for each database, and makes them on a new one. Of processes that start
 * at once, the first wins.
 */
export async function readSecrets(read: ReadDatabase, write: WriteDatabase) {
  const names = ['generation', 'id_hash_key', 'session_secret']
  let values = await readMeta(read, '')
  if (!names.every((name) => values.has(name))) {
    const secrets = names.map((name) => ({ name, value: randomBytes(secretBytes).toString('hex') }))
    await write.insert(meta).values(secrets).onConflictDoNothing()
    values = await readMeta(read, '')
  }
  return {
    /** A restore changes it: index files of another generation are not used. */
    generation: values.get('generation') ?? '',
    idHashKey: values.get('id_hash_key') ?? '',
    sessionSecret: values.get('session_secret') ?? '',
  }
}

export async function setMeta(write: WriteDatabase, name: string, value: string): Promise<void> {
  await write.insert(meta).values({ name, value }).onConflictDoUpdate({ target: meta.name, set: { value } })
}

export async function deleteMeta(write: WriteDatabase, name: string): Promise<void> {
  await write.delete(meta).where(eq(meta.name, name))
}

/** The entries whose names start with `prefix`. */
export async function readMeta(read: ReadDatabase, prefix: string): Promise<Map<string, string>> {
  const rows = await read
    .select()
    .from(meta)
    .where(sql`substr(${meta.name}, 1, ${prefix.length}) = ${prefix}`)
  return new Map(rows.map(({ name, value }) => [name, value]))
}
