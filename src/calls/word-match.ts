import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { preparedQueries } from '../db/store.ts'
import { callWords } from '../db/word-tables.ts'
import type { WordMatch, WordQuery } from './word-query.ts'

/** Calls whose latest words are only in their parts, so that the word table alone cannot tell whether they match. */
export interface WaitingCalls {
  seqs: number[]
  /** The calls among them that have the words of any query. */
  matching: number[]
}

const queries = preparedQueries((db) => ({
  isAnyWaiting: db
    .select({ seq: sql<number>`behind.seq` })
    .from(sql`calls_without_words as behind
      cross join calls on calls.seq = behind.seq and calls.project_id = ${sql.placeholder('projectId')}
      cross join call_parts on call_parts.seq = behind.seq`)
    .limit(1)
    .prepare(),
}))

/** A word counts if it is in the parts or in the index, so that a call is found as soon as its turn is committed. */
export async function readWaiting(
  db: ReadDatabase,
  projectId: number,
  query: readonly WordMatch[],
): Promise<WaitingCalls> {
  if (!(await queries(db).isAnyWaiting.get({ projectId }))) return { seqs: [], matching: [] }
  const table = callWords(projectId)
  const hasWord = ({ match, texts }: WordMatch['words'][number]) => {
    const isSaid = texts.map((text) => sql`instr(words, ${text})`)
    return sql`(${sql.join(isSaid, sql` or `)} or seq in (
      select rowid from ${table} where ${table} match ${match} and ${isAmong('waiting')}))`
  }
  const has = query.map(({ words }) => sql`(${sql.join(words.map(hasWord), sql` and `)})`)
  const rows = await db.select({ seq: sql<number>`seq`, matches: sql<number>`matches` }).from(sql`(
    with waiting as materialized (
      select behind.seq, group_concat(words, '') as words
      from calls_without_words as behind
      cross join calls on calls.seq = behind.seq and calls.project_id = ${projectId}
      cross join call_parts on call_parts.seq = behind.seq group by behind.seq)
    select seq, ${sql.join(has, sql` or `)} as matches from waiting)`)
  const matching = rows.filter(({ matches }) => matches === 1)
  return { seqs: rows.map(({ seq }) => seq), matching: matching.map(({ seq }) => seq) }
}

const rareMax = 1_000

/** The weight of each word of a query. A word outweighs all words that four times as many calls have. */
export async function readWeights(
  db: ReadDatabase,
  projectId: number,
  { whole, terms }: WordQuery,
): Promise<number[]> {
  if (terms < 2) return []
  const table = callWords(projectId)
  const counts = whole.words.slice(0, terms).map(({ match }, at) => {
    const found = sql`select 1 from ${table} where ${table} match ${match} limit ${rareMax}`
    return sql`select ${at} as at, count(*) as calls from (${found})`
  })
  const rows = await db
    .select({ at: sql<number>`at`, calls: sql<number>`calls` })
    .from(sql`(${sql.join(counts, sql` union all `)})`)
  const commonness = (calls: number) => Math.floor(Math.log2(calls + 1) / 2)
  return rows
    .toSorted((a, b) => a.at - b.at)
    .map(({ calls }) => (terms + 1) ** (commonness(rareMax) - commonness(calls)))
}

/**
 * The calls that have the words of any of the queries.
 * @param indexed a further condition on rows of the word table
 */
export function seqsMatching(
  projectId: number,
  query: readonly WordMatch[],
  waiting: WaitingCalls,
  indexed: SQL = sql`true`,
): SQL {
  const table = callWords(projectId)
  const match = query.map(({ match }) => `(${match})`).join(' OR ')
  const found = sql`select rowid as seq from ${table} where ${table} match ${match} and ${indexed}`
  if (waiting.seqs.length === 0) return found
  return sql`${found} and rowid not in (select value from json_each(${JSON.stringify(waiting.seqs)}))
    union all select value from json_each(${JSON.stringify(waiting.matching)})`
}

/**
 * Whether a row of the word table belongs to one of these calls.
 * @param oneByOne looks up each call, at 50 us a call: faster for few calls and whole words, because otherwise each
 * call that has the words costs 50 ns
 */
export function isAmong(few: 'some' | 'waiting', { oneByOne = false } = {}): SQL {
  const seqs = sql.raw(few)
  if (oneByOne) return sql`rowid in (select seq from ${seqs})`
  // The unary plus keeps SQLite from querying the keyword index for each call.
  return sql`+rowid in (select seq from ${seqs})
    and rowid between (select min(seq) from ${seqs}) and (select max(seq) from ${seqs})`
}
