import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import { preparedQueries } from '../../db/store.ts'
import { placesTable, recordsMatching, segmentTable } from '../../db/word-segments.ts'

/** A term's rows are counted up to this number. */
export const countedRowsMax = 1_001
/** Lists of segments that statements are kept for. */
const preparedMax = 32

/** What a segment holds of a project's chunks. */
interface SegmentStats {
  segment: number
  chunks: number
  words: number
  firstLabel: number
  lastLabel: number
}

/** A project's chunks by segment, oldest first. Another change gives another `version`. */
export interface ChunkSegments {
  version: string
  stats: readonly SegmentStats[]
}

/** What to read of a term: the words of the segments from one to another. */
export interface SoughtTerm {
  from: string
  to: string
}

/** A chunk that has a term: how often, where first, and of how many words. */
export interface TermRow {
  /** The term's place in the question. */
  term: number
  label: number
  times: number
  /** The place of the first time, from 0. The words of the item's name and the heading come before those of the text. */
  first: number
  words: number
}

/** What a project's segments hold, as JSON. */
const statsOf = (projectId: number | Placeholder) => sql<string>`(
  select json_group_array(json_object('segment', segment, 'chunks', chunks, 'words', words, 'firstLabel', first_label,
    'lastLabel', last_label))
  from chunk_segments where project_id = ${projectId})`

const queries = preparedQueries((db) => ({
  stats: db
    .select({ version: statsOf(sql.placeholder('projectId')) })
    .from(sql`(select 1)`)
    .prepare(),
}))

export async function readChunkSegments(db: ReadDatabase, projectId: number): Promise<ChunkSegments> {
  const row = await queries(db).stats.get({ projectId })
  return toSegments(row?.version ?? '[]')
}

export function toSegments(version: string): ChunkSegments {
  const stats: SegmentStats[] = JSON.parse(version)
  return { version, stats: stats.sort((a, b) => a.segment - b.segment) }
}

/** Prepared for the segments that they read, because preparing takes a third of the time of running. */
const segmentQueries = preparedQueries(
  (db) =>
    new LRUCache<string, ReturnType<typeof prepare>, readonly number[]>({
      max: preparedMax,
      memoMethod: (_, __, { context: segments }) => prepare(db, segments),
    }),
)

function queriesOf(db: ReadDatabase, { stats }: ChunkSegments): ReturnType<typeof prepare> {
  const context = stats.map(({ segment }) => segment)
  return segmentQueries(db).memo(context.join(), { context })
}

function prepare(db: ReadDatabase, segments: readonly number[]) {
  const matching = recordsMatching({ kind: 'chunk', segments, match: sql`matches.value` })
  return {
    termRows: prepareTermRows(db, segments, () => sql`true`),
    // Each segment gets only its own labels, since each makes an index of its list. One without any is not read.
    termRowsAmong: prepareTermRows(db, segments, (segment) => {
      const labels = sql.placeholder(labelsOf(segment))
      return sql`${labels} <> '[]' and doc in (select value from json_each(${labels}))`
    }),
    counts: db
      .select({
        counted: sql<string>`(select json_array(count(*), coalesce(max(record), 0))
          from (select record from (${matching}) limit ${countedRowsMax}))`,
      })
      .from(sql`json_each(${sql.placeholder('matches')}) as matches`)
      .orderBy(sql`matches.key`)
      .prepare(),
  }
}

/** The placeholder of a segment's labels. */
function labelsOf(segment: number): string {
  return `labels${segment}`
}

function prepareTermRows(
  db: ReadDatabase,
  segments: readonly number[],
  conditionIn: (segment: number) => SQL,
) {
  const projectId = sql.placeholder('projectId')
  const places = segments.map((segment) => {
    const sizes = sql`(select hex(sz) from ${segmentTable('chunk', segment)}_docsize where id = doc)`
    return sql`select null as version, terms.key as term, doc as label, count(*) as times, min(offset) as first,
      ${sizes} as size
      from json_each(${sql.placeholder('terms')}) as terms
      cross join ${placesTable(segment)} as places on places.term >= terms.value ->> 0 and places.term <= terms.value ->> 1
      where ${conditionIn(segment)} and doc not in (${deletedOf(projectId)}) group by terms.key, doc`
  })
  const version = sql`select ${statsOf(projectId)} as version, null as term, null as label, null as times,
    null as first, null as size`
  return db
    .select({
      version: sql<string>`version`,
      term: sql<number>`term`,
      label: sql<number>`label`,
      times: sql<number>`times`,
      first: sql<number>`first`,
      size: sql<string>`size`,
    })
    .from(sql`(${sql.join([version, ...places], sql` union all `)})`)
    .prepare()
}

/**
 * The chunks that have the terms, and the version that they were read from, in one statement.
 * @param among the only labels to read; all by default
 */
export async function readTermRows(
  db: ReadDatabase,
  projectId: number,
  segments: ChunkSegments,
  terms: readonly SoughtTerm[],
  among?: readonly number[],
): Promise<{ version: string; rows: TermRow[] }> {
  const ranges = JSON.stringify(terms.map(({ from, to }) => [from, to]))
  const { termRows, termRowsAmong } = queriesOf(db, segments)
  const values = { projectId, terms: ranges }
  const [first, ...rows] = among
    ? await termRowsAmong.all({ ...values, ...labelsBySegment(among, segments) })
    : await termRows.all(values)
  return {
    version: first?.version ?? '[]',
    rows: rows.map(({ size, ...row }) => ({ ...row, words: readVarint(size) })),
  }
}

/** Each segment's own labels, as JSON, by their placeholder. */
function labelsBySegment(labels: readonly number[], { stats }: ChunkSegments): Record<string, string> {
  const own = stats.map(({ segment, firstLabel, lastLabel }) => {
    const within = labels.filter((label) => label >= firstLabel && label <= lastLabel)
    return [labelsOf(segment), JSON.stringify(within)]
  })
  return Object.fromEntries(own)
}

/** Labels of chunks that match, in no order. */
export async function readMatching(
  db: ReadDatabase,
  projectId: number,
  { stats }: ChunkSegments,
  { match, within, limit }: { match: string; within: readonly number[] | undefined; limit: number },
): Promise<number[]> {
  const matches = recordsMatching({ kind: 'chunk', segments: stats.map(({ segment }) => segment), match })
  // Thanks to the plus, SQLite does not ask the keyword index for each label on its own.
  const isWithin = within
    ? sql`+record in (select value from json_each(${JSON.stringify(within)}))`
    : sql`true`
  const rows = await db.all<{ label: number }>(sql`
    select record as label from (${matches}) where ${isWithin} and record not in (${deletedOf(projectId)})
    limit ${limit}`)
  return rows.map(({ label }) => label)
}

/** How many chunks each query matches, up to a limit, and the last one of them, oldest segments first. */
export async function countMatching(
  db: ReadDatabase,
  segments: ChunkSegments,
  matches: readonly string[],
): Promise<{ rows: number; last: number }[]> {
  if (matches.length === 0) return []
  const counts = await queriesOf(db, segments).counts.all({ matches: JSON.stringify(matches) })
  return counts.map(({ counted }) => {
    const [rows, last]: [number, number] = JSON.parse(counted)
    return { rows, last }
  })
}

function deletedOf(projectId: number | Placeholder): SQL {
  return sql`select record from word_removals where kind = 'chunk' and project_id = ${projectId}`
}

/** SQLite's variable-length integer, as hexadecimal digits: seven bits a byte, highest first. */
function readVarint(hex: string): number {
  let value = 0
  for (let at = 0; at < hex.length; at += 2)
    value = value * 128 + (Number.parseInt(hex.slice(at, at + 2), 16) & 0x7f)
  return value
}
