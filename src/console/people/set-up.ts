import { type SQL, sql } from 'drizzle-orm'
import { readMeta } from '../../db/meta.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { meta } from '../../db/schema.ts'
import type { WriteDatabase } from '../../db/writer.ts'

/** Names in `meta`: the hash of the set-up link's token while the link is good, and who used it. */
export const setupHashName = 'console_setup_hash'
const consoleOwnerName = 'console_owner'

/** The person who set the console up; null before. Projects made on the command line are theirs. */
export async function findConsoleOwner(read: ReadDatabase): Promise<string | null> {
  return (await readMeta(read, consoleOwnerName)).get(consoleOwnerName) ?? null
}

/** The statements that end the set-up, if `condition` holds: the link is dead, and the console has its owner. */
export function endSetUp(write: WriteDatabase, personId: string, condition: SQL) {
  return [
    write.run(sql`
      insert into ${meta} (name, value) select ${consoleOwnerName}, ${personId} where ${condition}
      on conflict do nothing`),
    write.run(sql`delete from ${meta} where name = ${setupHashName} and ${condition}`),
  ] as const
}
