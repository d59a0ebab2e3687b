import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { preparedQueries } from '../../db/store.ts'
import { ownWord, recordsMatching, segmentIn } from '../../db/word-segments.ts'
import type { SearchedWord, WordQuery } from './word-query.ts'

/** Words, and where to find them. */
export interface SoughtWords {
  projectId: number
  queries: readonly SoughtQuery[]
  /** Whether the last word is complete, not a beginning. */
  isWhole: boolean
  /** Those with calls of the project, newest first. */
  segments: readonly number[]
  /** The calls whose latest words are not in their segment, and those of them that have the words. */
  waiting: WaitingCalls
  /** Whether words of deleted calls are still in segments. */
  hasDeleted: boolean
}

type SoughtQuery = Pick<WordQuery, 'words'>

interface WaitingCalls {
  seqs: readonly number[]
  matching: readonly number[]
}

const queries = preparedQueries((db) => {
  const isOwn = sql`project_id = ${sql.placeholder('projectId')}`
  return {
    indexed: db
      .select({
        segments: sql<string>`(${segmentsOf(isOwn)})`,
        isAnyWaiting: sql<number>`exists (select 1 from calls_without_words where ${isOwn})`,
        isAnyDeleted: sql<number>`exists (select 1 from word_removals where kind = 'call' and ${isOwn})`,
        // Other words of these calls may be in their segments.
        completing: sql<string>`(
          select json_group_array(distinct ${segmentIn(sql`seq`)}) from calls_without_words where ${isOwn} and words is null)`,
      })
      .from(sql`(select 1)`)
      .prepare(),
  }
})

function segmentsOf(isOwn: SQL): SQL {
  return sql`select json_group_array(segment) from call_segments where ${isOwn}`
}

/**
 * Prepares a search for calls that have all words of any of the queries.
 * @param options.read answers a short query sooner
 * @param options.isMeant checks a row of `calls` instead, if the words stand for what is in it
 */
export async function seekWords(
  db: ReadDatabase,
  projectId: number,
  sought: readonly SoughtQuery[],
  { read = db, isMeant }: { read?: ReadDatabase; isMeant?: SQL | undefined } = {},
): Promise<SoughtWords> {
  for (;;) {
    const row = await queries(read).indexed.get({ projectId })
    const segments = numbersIn(row?.segments).sort((a, b) => b - a)
    const completing = new Set(numbersIn(row?.completing))
    const among = segments.filter((segment) => completing.has(segment))
    const waiting =
      row?.isAnyWaiting === 1
        ? await readWaiting(db, projectId, { sought, segments: among, isMeant })
        : nothing
    const hasDeleted = row?.isAnyDeleted === 1
    // Words may have left the waiting calls for a segment that is not among these.
    if (row?.isAnyWaiting === 1 && waiting.segments !== row.segments) continue
    return { projectId, queries: sought, isWhole: false, segments, waiting, hasDeleted }
  }
}

const nothing = { seqs: [], matching: [], segments: undefined }

function numbersIn(json = '[]'): number[] {
  return JSON.parse(json)
}

interface Sought {
  sought: readonly SoughtQuery[]
  /** Those of the calls without words in their row. */
  segments: readonly number[]
  isMeant: SQL | undefined
}

/**
 * A word counts if it is in the row itself or in the parts, so that a call is found as soon as it is committed. Without
 * words in the row, those in the segments count, too.
 */
async function readWaiting(
  db: ReadDatabase,
  projectId: number,
  { sought, segments, isMeant }: Sought,
): Promise<WaitingCalls & { segments: string | undefined }> {
  const hasWord = (word: SearchedWord) => {
    const isInTexts = textsOf(word).map((text) => sql`instr(words, ${text})`)
    const match = matchOf(projectId, [word])
    const isIndexed = sql`is_completed and seq in (${recordsMatching({ kind: 'call', segments, match })})`
    return sql`(${sql.join(isInTexts, sql` or `)} or ${isIndexed})`
  }
  const has = sought.map(({ words }) => sql`(${sql.join(words.map(hasWord), sql` and `)})`)
  const found = sql`(${segmentsOf(sql`project_id = ${projectId}`)}) as segments`
  const rows = await db
    .select({ seq: sql<number>`seq`, matches: sql<number>`matches`, segments: sql<string>`segments` })
    .from(
      isMeant
        ? sql`(select seq, ${isMeant} as matches, ${found} from calls_without_words as behind cross join calls using (seq)
            where behind.project_id = ${projectId})`
        : sql`(
      with waiting as materialized (
        select seq, words is null as is_completed, coalesce(words, ' ') || coalesce(
          (select group_concat(words, '') from call_parts where call_parts.seq = behind.seq), '') as words
        from calls_without_words as behind where project_id = ${projectId})
      select seq, ${sql.join(has, sql` or `)} as matches, ${found} from waiting)`,
    )
  const matching = rows.filter(({ matches }) => matches === 1)
  return {
    seqs: rows.map(({ seq }) => seq),
    matching: matching.map(({ seq }) => seq),
    segments: rows[0]?.segments,
  }
}

/** What to look for in words with a space before and after each. */
function textsOf({ stem, beginning }: SearchedWord): string[] {
  return [` ${stem} `, ...(beginning === null ? [] : [` ${beginning}`])]
}

/** An FTS5 query. Each word is quoted, so that FTS5's syntax is plain text. */
function matchOf(projectId: number, words: readonly SearchedWord[], isWhole = false): string {
  return words
    .map(({ stem, beginning }) => {
      const whole = `"${ownWord(projectId, stem)}"`
      if (isWhole || beginning === null) return whole
      const begun = `"${ownWord(projectId, beginning)}"*`
      return stem.startsWith(beginning) ? begun : `(${begun} OR ${whole})`
    })
    .join(' AND ')
}

const rareMax = 1_000

/** The weight of each word of a query. A word outweighs all words that four times as many calls have. */
export async function readWeights(
  db: ReadDatabase,
  projectId: number,
  { words, terms }: WordQuery,
): Promise<number[]> {
  if (terms < 2) return []
  const segments = numbersIn((await queries(db).indexed.get({ projectId }))?.segments)
  const counts = words.slice(0, terms).map(({ stem }, at) => {
    const match = matchOf(projectId, [{ stem, beginning: null }])
    const found = recordsMatching({ kind: 'call', segments, match })
    return sql`select ${at} as at, count(*) as calls from (select 1 from (${found}) limit ${rareMax})`
  })
  const rows = await db
    .select({ at: sql<number>`at`, calls: sql<number>`calls` })
    .from(sql`(${sql.join(counts, sql` union all `)})`)
  const commonness = (calls: number) => Math.floor(Math.log2(calls + 1) / 2)
  return rows
    .toSorted((a, b) => a.at - b.at)
    .map(({ calls }) => (terms + 1) ** (commonness(rareMax) - commonness(calls)))
}

/** The calls that have the words, those of the newest segments first. */
export function seqsMatching(sought: SoughtWords): SQL {
  return fresh(
    sought,
    recordsMatching({ kind: 'call', segments: sought.segments, match: matchOfAny(sought) }),
  )
}

/** The same among few calls. @param few a table with `seq` */
export function seqsMatchingAmong(sought: SoughtWords, few: SQL): SQL {
  const found = recordsMatching({
    kind: 'call',
    segments: sought.segments,
    match: matchOfAny(sought),
    // A join, so that segments without any of the calls are not read.
    only: (segment) => ({
      from: 'bounds cross join',
      where: `bounds.segment = ${segment} and rowid between low and high`,
    }),
  })
  return sql`with bounds as materialized (
      select ${segmentIn(sql`seq`)} as segment, min(seq) as low, max(seq) as high from ${few} group by 1)
    select seq from (${fresh(sought, found)}) where +seq in (select seq from ${few})`
}

/** The query for the words. */
function matchOfAny({
  projectId,
  queries: sought,
  isWhole = false,
}: Pick<SoughtWords, 'projectId' | 'queries'> & { isWhole?: boolean }): string {
  return sought.map(({ words }) => `(${matchOf(projectId, words, isWhole)})`).join(' OR ')
}

/** What was found in segments, with the latest words of calls that wait. */
function fresh({ projectId, waiting, hasDeleted }: SoughtWords, found: SQL): SQL {
  if (waiting.seqs.length === 0 && !hasDeleted) return sql`select record as seq from (${found})`
  return sql`select record as seq from (${found}) where record not in (
      select value from json_each(${JSON.stringify(waiting.seqs)})
      union all select record from word_removals where kind = 'call' and project_id = ${projectId})
    union all select value from json_each(${JSON.stringify(waiting.matching)})`
}
