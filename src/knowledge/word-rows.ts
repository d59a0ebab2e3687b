import { type SQL, sql } from 'drizzle-orm'
import { chunks } from '../db/schema.ts'
import { chunkWords } from '../db/word-tables.ts'
import { toIndexedWords } from '../text/words.ts'

interface WordRowsOptions {
  itemSeq: number | SQL
  itemName: string
  /** From `toChunkRows`. */
  words: string
  /** Which of the item's chunks; all of them by default. */
  where?: SQL
}

/** The statement that adds an item's chunks to the project's keyword index. */
export function insertWords(
  projectId: number,
  { itemSeq, itemName, words, where = sql`true` }: WordRowsOptions,
): SQL {
  // Materialised, or SQLite would parse the JSON again for each chunk.
  return sql`
    with words as materialized (
      select cast(key as integer) as position, value ->> 0 as heading, value ->> 1 as text from json_each(${words}))
    insert into ${chunkWords(projectId)} (rowid, heading, text)
    select label, ${toIndexedWords(itemName)} || ' ' || coalesce(words.heading, chunks.heading, ''),
      coalesce(words.text, chunks.text)
    from ${chunks} left join words using (position) where item_seq = ${itemSeq} and ${where}`
}
