import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { callDocuments, calls } from '../../db/schema.ts'
import type { FieldError } from '../../errors.ts'
import { callNotFound, listedColumns } from '../call-head.ts'
import { readSummary, servedDocument } from '../document.ts'
import { detailsStart, readAgentName } from '../finding/agent-names.ts'
import { type CallQuery, readCallSearch, refuse, valuesOf } from '../finding/call-query.ts'
import { hasId } from '../finding/conditions.ts'
import { totalMax } from '../finding/find-calls.ts'
import { FoundPages } from '../finding/found-pages.ts'
import { type CallOrder, type Cursors, callOrders, reversed } from '../finding/place.ts'
import { type FoundBy, readSearchBox } from '../finding/search-box.ts'
import { readWeights } from '../finding/word-match.ts'
import type { WordQuery } from '../finding/word-query.ts'
import type { Density } from './density.ts'
import { readFirstWords } from './first-words.ts'
import { readDensities } from './row-densities.ts'
import type { TextMatch, WeighedText } from './text-match.ts'
import type { TextMatcher } from './text-matcher.ts'

const limitDefault = 50
const limitMax = 200
/** Without a word search, matches are counted up to this many. */
const rowsCountedMax = 100_000
/** The documents of a page of search results have at most this many characters; heavier pages are shorter. */
const matchedCharsMax = 500_000
/** Enough to hold the start of the summary, however it is escaped. */
const documentStartChars = 2_400

type Listed = { [Column in keyof typeof listedColumns]: (typeof calls.$inferSelect)[Column] }

/** What a list shows of a call. */
export interface CallRow extends Omit<Listed, 'createdAt' | 'updatedAt'> {
  createdAt: string
  updatedAt: string
  /** At most 300 characters. */
  summary: string | null
  /** What the caller says first, if there is no summary; else null. */
  said: string | null
  /** Who speaks when; null for a call without turns and for a very long one. */
  density: Density | null
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
  seq: number
  chars: number
  /** The whole document, or its start. */
  document: string
  detailsStart: string | null
}

/** Appended turns do not change the start of a document. */
const documentStart = sql<string>`substr(${callDocuments.document}, 1, ${documentStartChars})`

interface RowsOptions {
  db: ReadDatabase
  matcher: Pick<TextMatcher, 'ask'>
  cursors: Cursors
}

/**
 * A page of the calls that match a query. `id` restricts it to these ids.
 * @throws invalid_request for a value that cannot be read
 */
export async function findRows(
  projectId: number,
  query: CallQuery,
  { db, matcher, cursors }: RowsOptions,
): Promise<CallRows> {
  const errors: FieldError[] = []
  const asked = readCallSearch(query, { orders: callOrders, readCursor: cursors.read }, errors)
  const limit = readLimit(query, errors)
  const ids = valuesOf(query, 'id')
  if (ids && ids.length > limitMax)
    errors.push({ field: 'id', message: `must be at most ${limitMax} values` })
  refuse(errors)
  if (ids) asked.conditions = [...asked.conditions, hasId(ids)]
  const { search, foundBy } = await readSearchBox(db, projectId, asked, valuesOf(query, 'text')?.[0])
  const pages = new FoundPages(db, projectId, search)
  const { places, end } = await pages.page(limit)
  // Counting a phrase would read as many documents again.
  const isPhrase = (search.phrases ?? []).length > 0
  const countedMax = search.words ? totalMax : rowsCountedMax
  const isWhole = end === null && !search.after
  const counted =
    isPhrase || isWhole ? { total: places.length, isCapped: end !== null } : await pages.count(countedMax)
  const seqs = places.map(({ seq }) => seq)
  const { rows, end: shown } = await readRows(projectId, seqs, search.words, { db, matcher })
  const last = shown < places.length ? (places[shown - 1] ?? null) : end
  return {
    data: rows,
    nextCursor: last && cursors.write(last, search.order),
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
): Promise<Neighbours> {
  const errors: FieldError[] = []
  const asked = readCallSearch(query, { orders: callOrders, readCursor: () => undefined }, errors)
  refuse(errors)
  const { search } = await readSearchBox(db, projectId, asked, valuesOf(query, 'text')?.[0])
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
 * @returns `end`: how many of `seqs` the page covers
 */
async function readRows(
  projectId: number,
  seqs: readonly number[],
  query: readonly WordQuery[] | undefined,
  { db, matcher }: Omit<RowsOptions, 'cursors'>,
): Promise<{ rows: CallRow[]; end: number }> {
  const heads = await readHeads(db, projectId, seqs, documentStart)
  const densities = await readDensities(db, projectId, seqs)
  const densityOf = ({ seq }: HeadRow) => densities.get(seq) ?? null
  if (!query) {
    const silent = heads.filter(({ document }) => readSummary(document) === null)
    const said = await readFirstWords(
      db,
      projectId,
      silent.map(({ seq }) => seq),
    )
    return {
      rows: heads.map((head) =>
        toRow(head, { match: null, said: said.get(head.seq) ?? null, density: densityOf(head) }),
      ),
      end: seqs.length,
    }
  }
  const end = endOfPage(seqs, heads)
  const shown = await readHeads(db, projectId, seqs.slice(0, end), servedDocument)
  const texts: WeighedText[] = []
  for (const words of query)
    texts.push({ text: words.text, weights: await readWeights(db, projectId, words) })
  const matches = await matcher.ask(
    'findAll',
    texts,
    shown.map(({ document }) => document),
  )
  const rows = shown.map((head, at) =>
    toRow(head, { match: matches[at] ?? null, said: null, density: densityOf(head) }),
  )
  return { rows, end }
}

/** How many calls fit on a page whose whole documents are read: at least one. */
function endOfPage(seqs: readonly number[], heads: readonly HeadRow[]): number {
  let chars = 0
  const first = heads.find(({ chars: more }, at) => {
    chars += more
    return at > 0 && chars > matchedCharsMax
  })
  return first ? seqs.indexOf(first.seq) : seqs.length
}

async function readHeads(
  db: ReadDatabase,
  projectId: number,
  seqs: readonly number[],
  document: SQL<string>,
): Promise<HeadRow[]> {
  return await db
    .select({ ...listedColumns, seq: calls.seq, chars: calls.documentChars, document, detailsStart })
    .from(sql`json_each(${JSON.stringify(seqs)}) as wanted`)
    .crossJoin(calls)
    .crossJoin(callDocuments)
    .where(
      and(sql`${calls.seq} = wanted.value`, eq(calls.projectId, projectId), eq(callDocuments.seq, calls.seq)),
    )
    .orderBy(sql`wanted.key`)
}

function toRow(
  { seq: _, chars: __, document, detailsStart, ...shown }: HeadRow,
  found: Pick<CallRow, 'match' | 'said' | 'density'>,
): CallRow {
  return {
    ...shown,
    createdAt: new Date(shown.createdAt).toISOString(),
    updatedAt: new Date(shown.updatedAt).toISOString(),
    summary: readSummary(document),
    agentName: readAgentName(detailsStart),
    ...found,
  }
}
