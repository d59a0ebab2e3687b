import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { LRUCache } from 'lru-cache'
import type { ReadDatabase } from '../../db/reader.ts'
import { callDocuments, calls } from '../../db/schema.ts'
import { inSlices } from '../../db/slices.ts'
import { callNotFound, type FieldError } from '../../errors.ts'
import { listedColumns } from '../call-head.ts'
import { readFirstWords, readSummary, servedDocument } from '../document.ts'
import { detailsStart, readDetailsStart } from '../finding/agent-names.ts'
import { type CallQuery, type CallSearch, valuesOf } from '../finding/call-query.ts'
import { type Condition, hasId } from '../finding/conditions.ts'
import { type FoundPlace, totalMax } from '../finding/find-calls.ts'
import { FoundPages, sizesOf } from '../finding/found-pages.ts'
import { type Cursors, reversed, type TimeOrder } from '../finding/place.ts'
import { type FoundBy, readSearchBox } from '../finding/search-box.ts'
import {
  criteriaJudged,
  criteriaPassed,
  placeIn,
  sortedPage,
  type ValueOrder,
} from '../finding/value-order.ts'
import { readWeights } from '../finding/word-match.ts'
import type { WordQuery } from '../finding/word-query.ts'
import type { CallNumbers, ShownNumbers } from '../keeping/shown-numbers.ts'
import type { Call } from '../schemas.ts'
import { type TalkTimeline, talkTimelineOf } from './talk-timeline.ts'
import type { TextMatch, WeighedText } from './text-match.ts'
import type { TextMatcher } from './text-matcher.ts'

const limitDefault = 50
const limitMax = 200
/** The documents of a page of search results have at most this many characters; heavier pages are shorter. */
const matchedCharsMax = 500_000
/** Enough to hold the start of the summary, however it is escaped, and the first turns of most calls. */
const documentStartChars = 8_000
const talkTimelineColumns = 36
/** The talk timelines of longer calls are computed on another thread, and kept. */
const talkTimelineCharsMax = 20_000

/** Of the long calls of a page, those with more characters together have no talk timeline. */
const longCharsMax = 10_000_000

/** The talk timelines of long calls, by row number and change number. */
export type TalkTimelines = LRUCache<string, { timeline: TalkTimeline | null }>

type Listed = { [Column in keyof typeof listedColumns]: (typeof calls.$inferSelect)[Column] }

/** What a list shows of a call. */
export interface CallRow extends Omit<Listed, 'createdAt' | 'updatedAt'> {
  createdAt: string
  updatedAt: string
  /** At most 300 characters. */
  summary: string | null
  /** What the caller says first, if there is neither a summary nor a match; else null. */
  said: string | null
  /** Who speaks when; null for a call without turns, and where a page has too many long calls. */
  talkTimeline: TalkTimeline | null
  agentName: string | null
  agentVersion: string | null
  direction: string | null
  costUsd: number | null
  latencyMs: number | null
  /** The phone numbers as people read them. */
  numbers: CallNumbers
  /** How many criteria passed, and how many were judged. */
  criteria: { passed: number; judged: number }
  /** When something was last heard of a live call; null if that is unknown. */
  heardAt: string | null
  /** Where the words were found; null if none were searched for. */
  match: TextMatch | null
}

/** A page of the console's list. */
export interface CallRows {
  data: CallRow[]
  /** Null on the last page. */
  nextCursor: string | null
  /** How many calls match; null if more than `totalMax` do. On later pages it may be lower. */
  total: number | null
  totalMax: number
  /** What the search text was taken for; null without one. */
  foundBy: FoundBy | null
}

interface HeadRow extends Listed {
  seq: number
  changeSeq: number
  costUsd: number | null
  latencyMs: number | null
  heardAt: number | null
  passed: number
  judged: number
  chars: number
  /** The whole document, or its start. */
  document: string
  /** JSON; null for a long timeline. */
  timeline: string | null
  detailsStart: string | null
}

interface RowsOptions {
  db: ReadDatabase
  /** Answers short queries sooner. */
  read: ReadDatabase
  matcher: Pick<TextMatcher, 'ask'>
  talkTimelines: TalkTimelines
  shownNumbers: ShownNumbers
  cursors: Cursors
  /** What else the calls must meet. */
  conditions: readonly Condition[]
}

type ReadingOptions = Omit<RowsOptions, 'read' | 'cursors' | 'conditions'>

/**
 * A page of the calls that match a query. `id` restricts it to these ids.
 * @throws invalid_request for a value that cannot be read
 */
export async function findRows(
  projectId: number,
  query: CallQuery,
  { db, read, cursors, conditions, ...reading }: RowsOptions,
): Promise<CallRows> {
  const errors: FieldError[] = []
  const limit = readLimit(query, errors)
  const ids = valuesOf(query, 'id')
  if (ids && ids.length > limitMax)
    errors.push({ field: 'id', message: `must be at most ${limitMax} values` })
  const box = await readSearchBox(db, projectId, query, { readCursor: cursors.read, errors, conditions })
  const { search, foundBy, valueOrder } = box
  if (ids) search.conditions = [...search.conditions, hasId(ids)]
  const pages = new FoundPages(db, projectId, search, read)
  const { places, end } = valueOrder
    ? await sortedPage(db, pages, valueOrder, { limit, after: search.after })
    : await pages.page(limit)
  // Counting a phrase would read as many documents again.
  const isPhrase = (search.phrases ?? []).length > 0
  const isWhole = end === null && !search.after
  const totals = isPhrase || isWhole ? { total: places.length, isCapped: end !== null } : await pages.count()
  const { rows, last } = await readRows(projectId, places, search.words, { db, ...reading })
  const next = last ?? end
  return {
    data: rows,
    nextCursor: next && cursors.write(next, valueOrder ? `${valuesOf(query, 'order')}` : search.order),
    total: totals.isCapped ? null : totals.total,
    totalMax: isPhrase ? places.length : totalMax,
    foundBy,
  }
}

/** The previous and the next call in a list; null at its ends. */
export interface Neighbours {
  previous: string | null
  next: string | null
}

/** @throws not_found when there is no such call; invalid_request for a value that cannot be read */
export async function findNeighbours(
  db: ReadDatabase,
  projectId: number,
  id: string,
  query: CallQuery,
  conditions: readonly Condition[],
): Promise<Neighbours> {
  const { search, valueOrder } = await readSearchBox(db, projectId, query, { conditions })
  if (valueOrder) return await findSortedNeighbours(db, projectId, id, search, valueOrder)
  const [after] = await db
    .select({ createdAt: calls.createdAt, id: calls.id })
    .from(calls)
    .where(and(eq(calls.projectId, projectId), eq(calls.id, id)))
  if (!after) throw callNotFound()
  const firstOf = async (order: TimeOrder) => {
    const { places } = await new FoundPages(db, projectId, { ...search, order }).page(1, { after })
    return places[0]?.id ?? null
  }
  const [next, previous] = [await firstOf(search.order), await firstOf(reversed[search.order])]
  return { previous, next }
}

async function findSortedNeighbours(
  db: ReadDatabase,
  projectId: number,
  id: string,
  search: CallSearch,
  order: ValueOrder,
): Promise<Neighbours> {
  const after = await placeIn(db, projectId, id, order)
  if (!after) throw callNotFound()
  const pages = new FoundPages(db, projectId, search)
  const firstOf = async (isReversed: boolean) => {
    const { places } = await sortedPage(db, pages, order, { limit: 1, after, isReversed })
    return places[0]?.id ?? null
  }
  return { next: await firstOf(false), previous: await firstOf(true) }
}

function readLimit(query: CallQuery, errors: FieldError[]): number {
  const text = valuesOf(query, 'limit')?.[0] ?? String(limitDefault)
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= limitMax) return limit
  errors.push({ field: 'limit', message: `must be a whole number from 1 to ${limitMax}` })
  return limitDefault
}

/**
 * What a list shows of these calls, in order, without those deleted meanwhile.
 * @param query what to find in them: one of the queries
 * @returns `last`: where the rows end, if the page has more calls
 */
async function readRows(
  projectId: number,
  places: readonly FoundPlace[],
  query: readonly WordQuery[] | undefined,
  { db, matcher, talkTimelines, shownNumbers }: ReadingOptions,
): Promise<{ rows: CallRow[]; last: FoundPlace | undefined }> {
  const all = places.map(({ seq }) => seq)
  const toRows = (heads: HeadRow[], timelines: Timelines, matches: readonly (TextMatch | null)[] = []) =>
    Promise.all(
      heads.map(async (head, at) => ({
        ...toRow(head, matches[at] ?? null, timelines.get(head.seq) ?? null),
        numbers: await shownNumbers.of(head),
      })),
    )
  if (!query) {
    const heads = await readHeads(db, projectId, all, shownDocument)
    const timelines = await timelinesOf(projectId, heads, { db, matcher, talkTimelines })
    return { rows: await toRows(heads, timelines), last: undefined }
  }
  const [seqs = []] = inSlices(sizesOf(places), matchedCharsMax)
  const heads = await readHeads(db, projectId, seqs, servedDocument)
  const texts: WeighedText[] = []
  for (const words of query)
    texts.push({ text: words.text, weights: await readWeights(db, projectId, words) })
  const matches = await matcher.ask(
    'findAll',
    texts,
    heads.map(({ document }) => document),
  )
  const timelines = await timelinesOf(projectId, heads, { db, matcher, talkTimelines })
  return {
    rows: await toRows(heads, timelines, matches),
    last: seqs.length < all.length ? places[seqs.length - 1] : undefined,
  }
}

/** Whole if the call is short. Appended turns do not change the start of a document. */
const shownDocument = sql<string>`case when ${calls.documentChars} <= ${talkTimelineCharsMax} then ${servedDocument}
  else substr(${callDocuments.document}, 1, ${documentStartChars}) end`
const shownTimeline = sql<string | null>`(select details ->> '$.timeline' from call_details
  where call_details.seq = calls.seq and octet_length(details) <= ${talkTimelineCharsMax})`

async function readHeads(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
  document: SQL<string>,
): Promise<HeadRow[]> {
  return await db
    .select({
      ...listedColumns,
      seq: calls.seq,
      changeSeq: calls.changeSeq,
      costUsd: calls.costUsd,
      latencyMs: calls.latencyMs,
      heardAt: calls.heardAt,
      passed: criteriaPassed,
      judged: criteriaJudged,
      chars: calls.documentChars,
      document,
      timeline: shownTimeline,
      detailsStart,
    })
    .from(sql`json_each(${JSON.stringify(seqs)}) as wanted`)
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(
      and(sql`${calls.seq} = wanted.value`, eq(calls.projectId, projectId), eq(callDocuments.seq, calls.seq)),
    )
    .orderBy(sql`wanted.key`)
}

function toRow(
  head: HeadRow,
  match: TextMatch | null,
  talkTimeline: TalkTimeline | null,
): Omit<CallRow, 'numbers'> {
  const { seq: _, changeSeq: __, chars: ___, document, timeline: ____, ...listed } = head
  const { detailsStart, passed, judged, heardAt, ...shown } = listed
  const summary = readSummary(document)
  return {
    ...shown,
    ...readDetailsStart(detailsStart),
    createdAt: new Date(shown.createdAt).toISOString(),
    updatedAt: new Date(shown.updatedAt).toISOString(),
    summary,
    criteria: { passed, judged },
    heardAt: heardAt === null ? null : new Date(heardAt).toISOString(),
    match,
    said: summary === null && match === null ? readFirstWords(document) : null,
    talkTimeline,
  }
}

type Timelines = Map<number, TalkTimeline | null>

/** The talk timelines of these calls, by row number: of short calls at once, of long ones on another thread. */
async function timelinesOf(
  projectId: number,
  heads: readonly HeadRow[],
  { db, matcher, talkTimelines }: Omit<ReadingOptions, 'shownNumbers'>,
): Promise<Timelines> {
  const timelines = new Map<number, TalkTimeline | null>()
  const unknown: [number, number][] = []
  const nameOf = ({ seq, changeSeq }: Pick<HeadRow, 'seq' | 'changeSeq'>) => `${seq} ${changeSeq}`
  for (const head of heads) {
    const cached = talkTimelines.get(nameOf(head))
    if (head.chars <= talkTimelineCharsMax) timelines.set(head.seq, readTalkTimeline(head))
    else if (cached) timelines.set(head.seq, cached.timeline)
    else unknown.push([head.seq, head.chars])
  }
  const [seqs = []] = inSlices(unknown, longCharsMax)
  const long = await readLong(db, projectId, seqs)
  const longTimelines = long.length === 0 ? [] : await matcher.ask('talkTimelines', long, talkTimelineColumns)
  for (const [at, call] of long.entries()) {
    const timeline = longTimelines[at] ?? null
    talkTimelines.set(nameOf(call), { timeline })
    timelines.set(call.seq, timeline)
  }
  return timelines
}

async function readLong(db: ReadDatabase, projectId: number, seqs: readonly number[]) {
  if (seqs.length === 0) return []
  return await db
    .select({
      seq: calls.seq,
      changeSeq: calls.changeSeq,
      document: servedDocument,
      timeline: sql<
        string | null
      >`(select details ->> '$.timeline' from call_details where call_details.seq = calls.seq)`,
    })
    .from(sql`json_each(${JSON.stringify(seqs)}) as wanted`)
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(
      and(sql`${calls.seq} = wanted.value`, eq(calls.projectId, projectId), eq(callDocuments.seq, calls.seq)),
    )
}

function readTalkTimeline({ document, timeline }: HeadRow): TalkTimeline | null {
  const { transcript, duration }: Call = JSON.parse(document)
  if (transcript.length === 0) return null
  return talkTimelineOf(transcript, JSON.parse(timeline ?? '[]'), duration, talkTimelineColumns)
}
