import { type SQL, sql } from 'drizzle-orm'
import { meta } from './schema.ts'
import type { WriteDatabase } from './writer.ts'

// One table a project: in a shared one a small project pays for the large ones (30 ms against 0.6 ms a
// query), and its ranking is bent by other tenants' words.
// `content=''` keeps no second copy of the text; `contentless_delete` lets rows be deleted by rowid alone.
// Marks belong to words: Thai and Hindi would fall apart into single letters without them.
const tokenizer = "porter unicode61 remove_diacritics 2 categories ''L* M* N* Co''"

/** Words of a project's chunks; rowid is the chunk's label. */
export function chunkWords(projectId: number): SQL {
  return sql.raw(`chunk_words_${Math.trunc(projectId)}`)
}

/** Words of a project's calls; rowid is the call's seq. */
export function callWords(projectId: number): SQL {
  return sql.raw(`call_words_${Math.trunc(projectId)}`)
}

/** Row in `meta` that says how a project's chunks were cut into words. */
export function chunkWordsMeta(projectId: number): string {
  return `chunk_words:${Math.trunc(projectId)}`
}

/** To be raised by whoever changes the tokenizer or what words a text is cut into: see knowledge/word-filling.ts. */
export const chunkWordsVersion = '4'

export function createWordTables(projectId: number): SQL[] {
  return [
    createChunkWords(projectId),
    createCallWords(projectId),
    noteChunkWords(projectId, chunkWordsVersion),
  ]
}

/** An empty table in the place of the one that there is. */
export function renewChunkWords(projectId: number): SQL[] {
  return [sql`drop table if exists ${chunkWords(projectId)}`, createChunkWords(projectId)]
}

/** Noted while a table of this version lacks words of some chunks. */
export const unfinishedChunkWords = `${chunkWordsVersion} unfinished`

export function noteChunkWords(projectId: number, version: string): SQL {
  return sql`
    insert into ${meta} (name, value) values (${chunkWordsMeta(projectId)}, ${version})
    on conflict (name) do update set value = excluded.value`
}

const options = sql.raw(`content='', contentless_delete=1, tokenize='${tokenizer}'`)

function createChunkWords(projectId: number): SQL {
  return sql`create virtual table ${chunkWords(projectId)} using fts5(heading, text, ${options})`
}

/**
 * Calls are listed by time, not by rank, and their words come cut up and stemmed (see src/calls/call-words.ts): which
 * calls have a word is all there is to know, in a third of the space.
 */
function createCallWords(projectId: number): SQL {
  const options = sql.raw(`content='', contentless_delete=1, ${callWordsOptions}`)
  return sql`create virtual table ${callWords(projectId)} using fts5(words, ${options})`
}

const callWordsOptions = "detail=none, tokenize='ascii'"

/** Makes the tables for calls' words anew that an earlier version has made, and never filled. */
export async function renewCallWords(db: WriteDatabase): Promise<void> {
  const tables = await db.all<{ name: string }>(sql`
    select name from sqlite_master where name glob 'call_words_[0-9]*' and sql like 'create virtual table %'
      and instr(sql, ${callWordsOptions}) = 0`)
  for (const { name } of tables) {
    const projectId = Number(name.slice('call_words_'.length))
    await db.batch([db.run(sql`drop table ${callWords(projectId)}`), db.run(createCallWords(projectId))])
  }
}
