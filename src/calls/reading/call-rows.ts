import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { callDocuments, calls } from '../../db/schema.ts'
import { inSlices } from '../../db/slices.ts'
import { callNotFound, type FieldError } from '../../errors.ts'
import { listedColumns } from '../call-head.ts'
import { readFirstWords, readSummary, servedDocument } from '../document.ts'
import { detailsStart, readAgentName } from '../finding/agent-names.ts'
import { type CallQuery, valuesOf } from '../finding/call-query.ts'
import { type Condition, hasId } from '../finding/conditions.ts'
import { type FoundPlace, totalMax } from '../finding/find-calls.ts'
import { FoundPages, sizesOf } from '../finding/found-pages.ts'
import { type CallOrder, type Cursors, reversed } from '../finding/place.ts'
import { type FoundBy, readSearchBox } from '../finding/search-box.ts'
import { readWeights } from '../finding/word-match.ts'
import type { WordQuery } from '../finding/word-query.ts'
import type { Call } from '../schemas.ts'
import { type TalkTimeline, talkTimelineOf } from './talk-timeline.ts'
import type { TextMatch, WeighedText } from './text-match.ts'
import type { TextMatcher } from './text-matcher.ts'

const limitDefault = 50
const limitMax = 200
/** Without a word search, matches are counted up to this many. */
const rowsCountedMax = 100_000
/** The documents of a page of search results have at most this many characters; heavier pages are shorter. */
const matchedCharsMax = 500_000
/** Enough to hold the start of the summary, however it is escaped, and the first turns of most calls. */
const documentStartChars = 8_000
const talkTimelineColumns = 36
/** Longer calls have no talk timeline in a list, to keep pages fast. */
const talkTimelineCharsMax = 20_000

type Listed = { [Column in keyof typeof listedColumns]: (typeof calls.$inferSelect)[Column] }

/** What a list shows of a call. */
export interface CallRow extends Omit<Listed, 'createdAt' | 'updatedAt'> {
  createdAt: string
  updatedAt: string
  /** At most 300 characters. */
  summary: string | null
  /** What the caller says first, if there is neither a summary nor a match; else null. */
  said: string | null
  /** Who speaks when; null for a call without turns and for a very long one. */
  talkTimeline: TalkTimeline | null
  agentName: string | null
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
  chars: number
  /** The whole document, or its start. */
  document: string
  /** As JSON; null for a long one. */
  timeline: string | null
  detailsStart: string | null
}

interface RowsOptions {
  db: ReadDatabase
  matcher: Pick<TextMatcher, 'ask'>
  cursors: Cursors
  /** What else the calls must meet. */
  conditions: readonly Condition[]
}

/**
 * A page of the calls that match a query. `id` restricts it to these ids.
 * @throws invalid_request for a value that cannot be read
 */
export async function findRows(
  projectId: number,
  query: CallQuery,
  { db, matcher, cursors, conditions }: RowsOptions,
): Promise<CallRows> {
  const errors: FieldError[] = []
  const limit = readLimit(query, errors)
  const ids = valuesOf(query, 'id')
  if (ids && ids.length > limitMax)
    errors.push({ field: 'id', message: `must be at most ${limitMax} values` })
  const box = { readCursor: cursors.read, errors, conditions }
  const { search, foundBy } = await readSearchBox(db, projectId, query, box)
  if (ids) search.conditions = [...search.conditions, hasId(ids)]
  const pages = new FoundPages(db, projectId, search)
  const { places, end } = await pages.page(limit)
  // Counting a phrase would read as many documents again.
  const isPhrase = (search.phrases ?? []).length > 0
  const countedMax = search.words ? totalMax : rowsCountedMax
  const isWhole = end === null && !search.after
  const counted =
    isPhrase || isWhole ? { total: places.length, isCapped: end !== null } : await pages.count(countedMax)
  const { rows, last } = await readRows(projectId, places, search.words, { db, matcher })
  const next = last ?? end
  return {
    data: rows,
    nextCursor: next && cursors.write(next, search.order),
    total: counted.isCapped ? null : counted.total,
    totalMax: isPhrase ? places.length : countedMax,
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
  const { search } = await readSearchBox(db, projectId, query, { conditions })
  const [after] = await db
    .select({ createdAt: calls.createdAt, id: calls.id, duration: calls.duration })
    .from(calls)
    .where(and(eq(calls.projectId, projectId), eq(calls.id, id)))
  if (!after) throw callNotFound()
  const firstOf = async (order: CallOrder) => {
    const { places } = await new FoundPages(db, projectId, { ...search, order }).page(1, { after })
    return places[0]?.id ?? null
  }
  const [next, previous] = [await firstOf(search.order), await firstOf(reversed[search.order])]
  return { previous, next }
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
  { db, matcher }: Pick<RowsOptions, 'db' | 'matcher'>,
): Promise<{ rows: CallRow[]; last: FoundPlace | undefined }> {
  const all = places.map(({ seq }) => seq)
  if (!query) {
    const heads = await readHeads(db, projectId, all, shownDocument)
    return { rows: heads.map((head) => toRow(head, null)), last: undefined }
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
  return {
    rows: heads.map((head, at) => toRow(head, matches[at] ?? null)),
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

function toRow(head: HeadRow, match: TextMatch | null): CallRow {
  const { chars: _, document, timeline: __, detailsStart, ...shown } = head
  const summary = readSummary(document)
  return {
    ...shown,
    createdAt: new Date(shown.createdAt).toISOString(),
    updatedAt: new Date(shown.updatedAt).toISOString(),
    summary,
    agentName: readAgentName(detailsStart),
    match,
    said: summary === null && match === null ? readFirstWords(document) : null,
    talkTimeline: readTalkTimeline(head),
  }
}

function readTalkTimeline({ chars, document, timeline }: HeadRow): TalkTimeline | null {
  if (chars > talkTimelineCharsMax) return null
  const { transcript, duration }: Call = JSON.parse(document)
  if (transcript.length === 0) return null
  return talkTimelineOf(transcript, JSON.parse(timeline ?? '[]'), duration, talkTimelineColumns)
}
