import { and, eq, type SQL, sql } from 'drizzle-orm'
import { readMeta, setMetaOnce } from '../../db/meta.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { meta } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/writer.ts'
import { createLinkToken, hashLinkToken } from './link-token.ts'

/** Names in `meta`: the hash of the set-up link's token while the link is valid, and the id of the person who used it. */
export const setupHashName = 'console_setup_hash'
const consoleOwnerName = 'console_owner'

/** The id of the person who set the console up, and so owns it; null before that. */
export async function findConsoleOwner(read: ReadDatabase): Promise<string | null> {
  return (await readMeta(read, consoleOwnerName)).get(consoleOwnerName) ?? null
}

/** Whether the person owns the console when the statement runs. */
export function isConsoleOwner(personId: string | null): SQL {
  return sql`exists (select 1 from ${meta} where name = ${consoleOwnerName} and value = ${personId})`
}

/** Creates the first set-up link. Returns its token, or null if there already is a link or an owner. */
export async function createSetUpLink(read: ReadDatabase, write: WriteDatabase): Promise<string | null> {
  if ((await findConsoleOwner(read)) !== null) return null
  if ((await readMeta(read, setupHashName)).has(setupHashName)) return null
  const token = createLinkToken()
  return (await setMetaOnce(write, setupHashName, hashLinkToken(token))) ? token : null
}

/** Creates a set-up link that replaces the previous one. Returns its token, or null if the console has an owner. */
export async function replaceSetUpLink(write: WriteDatabase): Promise<string | null> {
  const token = createLinkToken()
  const made = await write.run(sql`
    insert into ${meta} (name, value) select ${setupHashName}, ${hashLinkToken(token)}
    where not exists (select 1 from ${meta} where name = ${consoleOwnerName})
    on conflict do update set value = excluded.value`)
  return made.rowsAffected > 0 ? token : null
}

/** The statement that leaves the console without an owner, if the person is the owner. */
export function disownConsole(write: WriteDatabase, personId: string) {
  return write.delete(meta).where(and(eq(meta.name, consoleOwnerName), eq(meta.value, personId)))
}

/** The statements that finish the set-up, if `condition` holds: they record the owner and delete the link. */
export function endSetUp(write: WriteDatabase, personId: string, condition: SQL) {
  return [
    write.run(sql`
      insert into ${meta} (name, value) select ${consoleOwnerName}, ${personId} where ${condition}
      on conflict do nothing`),
    write.run(sql`delete from ${meta} where name = ${setupHashName} and ${condition}`),
  ] as const
}
