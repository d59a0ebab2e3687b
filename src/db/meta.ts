import { randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import type { ReadDatabase } from './reader.ts'
import { meta } from './schema.ts'
import type { WriteDatabase } from './writer.ts'

/** What a database makes for itself once, and keeps. */
export interface DatabaseSecrets {
  /** Changed by a restore: index files of another generation are not used. */
  generation: string
  idHashKey: string
  sessionSecret: string
}

const secretBytes = 32

/** Reads the secrets, making those that are missing. Of several processes that start at once, the first wins. */
export async function readSecrets(read: ReadDatabase, write: WriteDatabase): Promise<DatabaseSecrets> {
  const names = ['generation', 'id_hash_key', 'session_secret']
  const made = names.map((name) => ({ name, value: randomBytes(secretBytes).toString('hex') }))
  if ((await readSome(read, names)).size < names.length)
    await write.insert(meta).values(made).onConflictDoNothing()
  const values = await readSome(read, names)
  return {
    generation: values.get('generation') ?? '',
    idHashKey: values.get('id_hash_key') ?? '',
    sessionSecret: values.get('session_secret') ?? '',
  }
}

/** Sets a value that may be there already. */
export async function setMeta(write: WriteDatabase, name: string, value: string): Promise<void> {
  await write.insert(meta).values({ name, value }).onConflictDoUpdate({ target: meta.name, set: { value } })
}

/** Sets a value that nobody has set; whether it did. */
export async function setMetaOnce(write: WriteDatabase, name: string, value: string): Promise<boolean> {
  const made = await write.insert(meta).values({ name, value }).onConflictDoNothing().returning()
  return made.length > 0
}

export async function removeMeta(write: WriteDatabase, name: string): Promise<void> {
  await write.delete(meta).where(eq(meta.name, name))
}

/** Names and values of the entries whose names start with `prefix`. */
export async function readMeta(read: ReadDatabase, prefix: string): Promise<Map<string, string>> {
  const rows = await read
    .select()
    .from(meta)
    .where(sql`substr(${meta.name}, 1, ${prefix.length}) = ${prefix}`)
  return new Map(rows.map(({ name, value }) => [name, value]))
}

async function readSome(read: ReadDatabase, names: string[]): Promise<Map<string, string>> {
  const rows = await read
    .select()
    .from(meta)
    .where(sql`${meta.name} in (select value from json_each(${JSON.stringify(names)}))`)
  return new Map(rows.map(({ name, value }) => [name, value]))
}
