import { readMeta } from '../../db/meta.ts'
import type { ReadDatabase } from '../../db/reader.ts'
import { consoleOwnerName } from '../../db/requirements.ts'

/** The name in `meta` of the hash of the set-up link's token, while the link is valid. */
export const setupHashName = 'console_setup_hash'

/** The id of the person who set the console up, and so owns it; null before that. */
export async function findConsoleOwner(read: ReadDatabase): Promise<string | null> {
  return (await readMeta(read, consoleOwnerName)).get(consoleOwnerName) ?? null
}
