import { sql } from 'drizzle-orm'
import type { WriteDatabase } from './writer.ts'

const triesMax = 50
const retryMs = 100

/**
 * Moves what the write-ahead log holds into the database and leaves the log empty. Readers in the middle of a query
 * prevent that, for a moment each.
 */
export async function emptyWriteAheadLog(write: WriteDatabase): Promise<void> {
  for (let attempt = 0; attempt < triesMax; attempt++) {
    const [row] = await write.all<{ busy: number }>(sql`pragma wal_checkpoint(truncate)`)
    if (row?.busy === 0) return
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
  throw new Error('The write-ahead log could not be emptied: something keeps reading the database')
}
