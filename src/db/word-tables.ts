import { type SQL, sql } from 'drizzle-orm'

// One table a project: in a shared one, a small project pays for the large ones (30 ms against 0.6 ms a query), and
// other tenants' words distort its ranking.
// `content=''` keeps no second copy of the text; `contentless_delete` deletes rows by rowid alone.
// Marks count as parts of words: without them Thai and Hindi words would be cut into single letters.
const tokenizer = "porter unicode61 remove_diacritics 2 categories ''L* M* N* Co''"

const structureId = sql.raw('10')

/** Words of a project's chunks; rowid is the chunk's label. */
export function chunkWords(projectId: number): SQL {
  return sql.raw(`chunk_words_${Math.trunc(projectId)}`)
}

/** FTS5's own record of an index's parts, which every change of the index changes: see SQLite's `fts5_index.c`. */
export function selectStructure(table: SQL): SQL {
  return sql`select block from ${table}_data where id = ${structureId}`
}

export function createWordTables(projectId: number): SQL[] {
  const contentless = sql.raw("content='', contentless_delete=1")
  return [
    sql`create virtual table ${chunkWords(projectId)} using fts5(
      heading, text, ${contentless}, tokenize=${sql.raw(`'${tokenizer}'`)})`,
  ]
}
