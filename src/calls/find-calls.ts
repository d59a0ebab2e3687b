import { isNotNull, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { calls } from '../db/schema.ts'
import { type CallSearch, writePageEnd } from './call-query.ts'
import { type CallRow, readRows } from './call-rows.ts'
import { callFilters, type ValueFilter } from './filters.ts'
import { callCount } from './ranges.ts'
import { isAmong, readWaiting, seqsMatching } from './word-match.ts'
import type { WordQuery } from './word-query.ts'

/** Matching calls are counted up to here. */
const totalMax = 1_000
/** A search for words looks at this many of the newest calls first. */
const windowCalls = 2_000
const facetValuesMax = 50

export interface CallRows {
  data: CallRow[]
  /** Null on the last page. */
  nextCursor: string | null
  /** How many calls match; null when more than `totalMax` do. */
  total: number | null
  totalMax: number
}

/** A call and its place in the order: by time and then by id, newest first. */
interface Place {
  seq: number
  createdAt: number
  id: string
}

interface Found {
  /** Newest first; one more than the page holds, if there are as many. */
  places: Place[]
  /** How many there are in all, counted up to one more than `totalMax`. */
  counted: number
}

/** A page of a project's calls, newest first, each with what a list shows of it. */
export async function findCalls(db: ReadDatabase, projectId: number, search: CallSearch): Promise<CallRows> {
  const { places, total: found } = await findPlaces(db, projectId, search)
  const total = search.after ? search.after.total : found
  const seqs = places.slice(0, search.limit).map(({ seq }) => seq)
  const { rows, end } = await readRows(db, projectId, seqs, search.words ?? null)
  const last = places[end - 1]
  return {
    data: rows,
    nextCursor: last && places.length > end ? writePageEnd({ ...last, total }) : null,
    total,
    totalMax,
  }
}

async function findPlaces(
  db: ReadDatabase,
  projectId: number,
  search: CallSearch,
): Promise<{ places: Place[]; total: number | null }> {
  const { words } = search
  if (words === null) return { places: [], total: 0 }
  if (words) return withTotal(await findByWords(db, projectId, search, words))
  const found = await read(db, newest(projectId, search, placesCounted(search)), search)
  if (search.conditions.length > 0) return withTotal(found)
  return { places: found.places, total: await readCallCount(db, projectId) }
}

function withTotal({ places, counted }: Found) {
  return { places, total: counted <= totalMax ? counted : null }
}

/**
 * Common words are found in the newest calls, so these are searched first: the keyword index is ordered by row number,
 * not by time, and would have to return everything it finds. Words that the newest calls do not have are rare.
 */
async function findByWords(
  db: ReadDatabase,
  projectId: number,
  search: CallSearch,
  words: WordQuery,
): Promise<Found> {
  const waiting = await readWaiting(db, projectId, words)
  const seqsAmong = (indexed?: SQL) => seqsMatching(projectId, words, waiting, indexed)
  const { looked, ...found } = await readWindow(db, projectId, search, seqsAmong(isAmong('newest')))
  const isAll = looked < windowCalls
  if (isAll || found.counted > totalMax) return found
  const matching = allMatching(projectId, search, seqsAmong())
  if (found.counted <= search.limit) return await read(db, matching, search)
  if (search.after) return found
  const some = sql`${matching} limit ${placesCounted(search)}`
  const [row] = await db.select({ counted: sql<number>`count(*)` }).from(sql`(${some})`)
  return { ...found, counted: row?.counted ?? 0 }
}

/** Enough to know the total; when that is known, enough to know whether there is another page. */
function placesCounted({ after, limit }: CallSearch): number {
  return (after ? limit : totalMax) + 1
}

const places = sql`calls.seq as seq, calls.created_at as createdAt, calls.id as id`
const byPlace = sql`createdAt desc, id desc`
const placeColumns = { seq: sql<number>`seq`, createdAt: sql<number>`createdAt`, id: sql<string>`id` }

/** The newest calls that match the filters, from an index that covers all filters. */
function newest(projectId: number, search: CallSearch, limit: number): SQL {
  return sql`select ${places} from calls indexed by calls_at_a_glance
    where ${conditionOf(projectId, search)} order by calls.created_at desc, calls.id desc limit ${limit}`
}

/** All calls that have the words and match the filters. @param seqs a query for the calls that have the words */
function allMatching(projectId: number, search: CallSearch, seqs: SQL): SQL {
  return sql`select ${places} from (${seqs}) as found cross join calls on calls.seq = found.seq
    where ${conditionOf(projectId, search)}`
}

/** Counts the rows of a query, and reads a page of them. */
async function read(db: ReadDatabase, query: SQL, { limit }: CallSearch): Promise<Found> {
  const rows = await db
    .select({ ...placeColumns, counted: sql<number>`count(*) over ()` })
    .from(sql`(${query})`)
    .orderBy(byPlace)
    .limit(limit + 1)
  return { places: rows, counted: rows[0]?.counted ?? 0 }
}

/** Which of the newest calls have the words; `looked` is how many were searched. */
async function readWindow(
  db: ReadDatabase,
  projectId: number,
  search: CallSearch,
  seqs: SQL,
): Promise<Found & { looked: number }> {
  const rows = await db
    .select({ ...placeColumns, counted: sql<number>`count(seq) over ()`, looked: sql<number>`looked` })
    .from(sql`(
      with newest as materialized (${newest(projectId, search, windowCalls)})
      select * from (select count(*) as looked from newest) left join (
        select * from newest where seq in (${seqs})) on true)`)
    .orderBy(byPlace)
    .limit(search.limit + 1)
  const { counted = 0, looked = 0 } = rows[0] ?? {}
  return { places: counted > 0 ? rows : [], counted, looked }
}

async function readCallCount(db: ReadDatabase, projectId: number): Promise<number> {
  const [row] = await db
    .select({ calls: sql<number>`${callCount(sql`${projectId}`)} as calls` })
    .from(sql`(select 1)`)
  return row?.calls ?? 0
}

function conditionOf(projectId: number, search: CallSearch): SQL {
  const conditions = [sql`calls.project_id = ${projectId}`, ...search.conditions]
  const { after } = search
  if (after) conditions.push(sql`(calls.created_at, calls.id) < (${after.createdAt}, ${after.id})`)
  return sql.join(conditions, sql` and `)
}

/** The values that calls can be filtered by, the most frequent first. */
export type CallFacets = { [Name in ValueFilter['name']]?: { value: string; calls: number }[] }

/** Each filter's values are counted in an index that has them in order. */
export async function readFacets(db: ReadDatabase, projectId: number): Promise<CallFacets> {
  const facets: CallFacets = {}
  for (const filter of callFilters) {
    if (filter.kind !== 'value') continue
    const column = calls[filter.column]
    facets[filter.name] = await db
      .select({ value: sql<string>`${column}`, calls: sql<number>`count(*) as calls` })
      .from(calls)
      .where(sql`${calls.projectId} = ${projectId} and ${isNotNull(column)}`)
      .groupBy(column)
      .orderBy(sql`calls desc`, column)
      .limit(facetValuesMax)
  }
  return facets
}
