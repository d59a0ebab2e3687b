import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { chunks } from '../../db/schema.ts'
import { createChunkSegment, ownWords, segmentOf, segmentTable } from '../../db/word-segments.ts'

interface WordRowsOptions {
  itemSeq: number | SQL
  segment: number
  /** What `toChunkRows` returns. */
  words: string
  /** Which of the item's chunks; all of them by default. */
  where?: SQL
}

/** The segment for new chunks. */
export async function readNewestSegment(db: ReadDatabase): Promise<number> {
  const [last] = await db.all<{ seq: number }>(sql`select seq from sqlite_sequence where name = 'chunks'`)
  return segmentOf(last?.seq ?? 0)
}

/** The statements that add an item's chunks to their segment. */
export function insertWords({ itemSeq, segment, words, where = sql`true` }: WordRowsOptions): SQL[] {
  return [
    ...createChunkSegment(segment),
    // Materialised, or SQLite would parse the JSON again for each chunk.
    sql`
      with words as materialized (
        select cast(key as integer) as position, value as words from json_each(${words}))
      insert into ${segmentTable('chunk', segment)} (rowid, words)
      select label, ${ownWords(sql`project_id`, sql`words.words`)}
      from ${chunks} join words using (position) where item_seq = ${itemSeq} and ${where} order by label`,
  ]
}
