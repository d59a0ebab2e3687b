import { type SQL, sql } from 'drizzle-orm'
import { callWords } from '../db/word-tables.ts'
import type { WordQuery } from './word-query.ts'

/**
 * The calls that have the words. Words of parts that wait to be indexed are read from call_parts, so that a call is
 * found by a turn as soon as that is committed; each word may be in the parts or in what is indexed of the call.
 * @param indexed a further condition on rows of the word table, for queries that look at few calls
 */
export function seqsMatching(projectId: number, { match, words }: WordQuery, indexed: SQL = sql`true`): SQL {
  const table = callWords(projectId)
  const said = words.map(
    ({ texts }, at) =>
      sql`max(${sql.join(
        texts.map((text) => sql`instr(words, ${text}) > 0`),
        sql` or `,
      )}) as ${wasSaid(at)}`,
  )
  const isKnown = words.map(
    ({ match }, at) =>
      sql`(${wasSaid(at)} or seq in (select rowid from ${table} where ${table} match ${match} and ${isAmong('waiting')}))`,
  )
  return sql`
    with waiting as materialized (
      select behind.seq, ${sql.join(said, sql`, `)}
      from calls_without_words as behind
      cross join calls on calls.seq = behind.seq and calls.project_id = ${projectId}
      cross join call_parts on call_parts.seq = behind.seq group by behind.seq)
    select rowid as seq from ${table}
    where ${table} match ${match} and ${indexed} and rowid not in (select seq from waiting)
    union all select seq from waiting where ${sql.join(isKnown, sql` and `)}`
}

/** Whether a row of the word table is one of a few calls. The plus keeps SQLite from asking the index for each call on its own. */
export function isAmong(few: 'newest' | 'waiting'): SQL {
  const seqs = sql.raw(few)
  return sql`+rowid in (select seq from ${seqs})
    and rowid between (select min(seq) from ${seqs}) and (select max(seq) from ${seqs})`
}

function wasSaid(at: number): SQL {
  return sql.raw(`was_said_${at}`)
}
