import { type SQL, sql } from 'drizzle-orm'
import { readMeta } from '../../db/meta.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { meta } from '../../db/schema.ts'

/** Names in `meta`: the hash of the set-up link's token while the link is valid, and the id of the person who used it. */
export const setupHashName = 'console_setup_hash'
export const consoleOwnerName = 'console_owner'

/** The id of the person who set the console up, and so owns it; null before that. */
export async function findConsoleOwner(read: ReadDatabase): Promise<string | null> {
  return (await readMeta(read, consoleOwnerName)).get(consoleOwnerName) ?? null
}

/** Whether the person owns the console when the statement runs. */
export function isConsoleOwner(personId: string | SQL | null): SQL {
  return sql`exists (select 1 from ${meta} where name = ${consoleOwnerName} and value = ${personId})`
}
