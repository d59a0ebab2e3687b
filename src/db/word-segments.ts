import { type Placeholder, type SQL, sql } from 'drizzle-orm'

// Words are indexed in segments: FTS5 tables, each for some 8,000 records of all projects, by their arrival. So erasing a
// record rewrites one small table, a project needs no table of its own, and a search reads only the segments with
// records of its project. Before each word stands its project's number, as in `12xword`: so the list of a word's records
// is the project's own.

/** The triggers in the first migration shift by the same number. */
const segmentBits = 13
/** SQLite joins at most 500 selects at once. */
const segmentsPerSelect = 400

export type WordKind = 'call' | 'chunk'

/** The segment of a record that is numbered so. */
export function segmentOf(record: number): number {
  return Math.floor(record / 2 ** segmentBits)
}

/** The same in SQL. */
export function segmentIn(record: SQL): SQL<number> {
  return sql<number>`(${record} >> ${sql.raw(String(segmentBits))})`
}

/** Whether a segment is that of a record. */
export function recordsOf(segment: number, record: SQL): SQL {
  return sql`${record} between ${segment * 2 ** segmentBits} and ${(segment + 1) * 2 ** segmentBits - 1}`
}

export function segmentTable(kind: WordKind, segment: number): SQL {
  return sql.raw(`${kind}_words_${Math.trunc(segment)}`)
}

/**
 * `content=''` keeps no second copy of the text; `contentless_delete` deletes rows by rowid alone. Words come split and
 * stemmed. Calls are listed by time, not by rank: without `detail` their table only says which calls have a word, in a
 * third of the space.
 */
export function createCallSegment(segment: number): SQL {
  return sql`create virtual table if not exists ${segmentTable('call', segment)} using fts5(
    words, content='', contentless_delete=1, detail=none, tokenize='ascii')`
}

/** Chunks are ranked by how often they have a word. */
export function createChunkSegment(segment: number): [SQL, SQL] {
  const table = segmentTable('chunk', segment)
  return [
    sql`create virtual table if not exists ${table} using fts5(
      words, content='', contentless_delete=1, tokenize='ascii')`,
    sql`create virtual table if not exists ${placesTable(segment)} using fts5vocab(${table}, instance)`,
  ]
}

export function dropSegment(kind: WordKind, segment: number): SQL[] {
  const tables = [...(kind === 'call' ? [] : [placesTable(segment)]), segmentTable(kind, segment)]
  return tables.map((table) => sql`drop table if exists ${table}`)
}

/** A row for each time that a chunk of the segment has a word: `doc` is the label. */
export function placesTable(segment: number): SQL {
  return sql.raw(`chunk_places_${Math.trunc(segment)}`)
}

/** Writes a segment anew, without the words of deleted and changed rows, in some 40 ms; nothing if it is so already. */
export function optimizeSegment(kind: WordKind, segment: number): SQL {
  const table = segmentTable(kind, segment)
  return sql`insert into ${table} (${table}) values ('optimize')`
}

/** A word, or the beginning of one, as the segments have it. */
export function ownWord(projectId: number, word: string): string {
  return `${projectId}x${word}`
}

/** The same for words with a space before each. */
export function ownWords(projectId: SQL, words: SQL): SQL {
  return sql`replace(rtrim(${words}), ' ', ' ' || ${projectId} || 'x')`
}

/** The rows of a match in each of the segments. */
interface Match {
  kind: WordKind
  segments: readonly number[]
  /** An FTS5 query. */
  match: string | SQL | Placeholder
  /** What to read before a segment, and what its rows must meet. */
  only?: (segment: number) => { from: string; where: string }
}

/** The records, as `record`, that match in any of the segments, in their order. */
export function recordsMatching({ kind, segments, match, only }: Match): SQL {
  if (segments.length === 0) return sql`select null as record where false`
  // As text: Drizzle takes longer to join hundreds of selects than SQLite to run them.
  const selects = segments.map((segment) => {
    const table = `${kind}_words_${Math.trunc(segment)}`
    const { from, where } = only?.(segment) ?? { from: '', where: 'true' }
    return `select rowid as record from ${from} ${table} where ${table} match (select match from sought) and ${where}`
  })
  const parts: string[] = []
  for (let start = 0; start < selects.length; start += segmentsPerSelect)
    parts.push(selects.slice(start, start + segmentsPerSelect).join(' union all '))
  const all = parts.length === 1 ? parts : parts.map((part) => `select record from (${part})`)
  return sql`with sought as materialized (select ${match} as match) ${sql.raw(all.join(' union all '))}`
}
