import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { calls, projects } from '../db/schema.ts'
import { inSlices, type SizedRow } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import { DayCounts } from './day-counts.ts'
import type { JsonBytes } from './document.ts'
import { servedDocuments } from './parts.ts'

/**
 * Documents are joined in the database up to about this many characters. A value of over 128 KiB is mapped and
 * unmapped by the allocator at each copy, which costs several times what the reading does.
 */
const sliceCharsMax = 50_000
/** Attempts to find a page's first call by the counts per day, which changes make invalid, before it is counted. */
const attemptsMax = 3

export interface PageRequest {
  limit: number
  offset: number
}

export interface CallPage {
  /** Every call of the project. */
  total: number
  /** The page's documents joined by commas, as JSON bytes: at once, or in slices that are read when asked for. */
  documents: JsonBytes[] | AsyncIterable<JsonBytes>
  /** Characters of the largest slice. */
  sliceChars: number
}

/** Where a page begins: so many calls after the newest one that is older than `before`. */
interface PageStart {
  before: number
  skip: number
}

const comma = new TextEncoder().encode(',')
const newest: PageStart = { before: Number.MAX_SAFE_INTEGER, skip: 0 }

// One statement, so that the total and the page agree. Its outermost select joins the documents, since the value of a
// subquery would be copied once more. They are read as bytes: decoding and encoding a string would cost twice the rest.
const queries = preparedQueries((db: ReadDatabase) => {
  const projectId = sql.placeholder('projectId')
  const page = db.$with('page').as(
    db
      .select({ seq: calls.seq, chars: sql<number>`document_chars`.as('chars') })
      .from(calls)
      .where(and(eq(calls.projectId, projectId), lt(calls.createdAt, sql.placeholder('before'))))
      .orderBy(desc(calls.createdAt), desc(calls.id))
      .limit(sql.placeholder('limit'))
      .offset(sql.placeholder('skip')),
  )
  const weight = db
    .$with('weight')
    .as(db.select({ total: sql<number>`coalesce(sum(chars), 0)`.as('total') }).from(page))
  const isLight = sql`weight.total <= ${sql.raw(`${sliceCharsMax}`)}`
  return {
    page: db
      .with(page, weight)
      .select({
        changeSeq: sql<number>`(select change_seq from ${projects} where id = ${projectId})`,
        total: sql<number>`(select call_count from ${projects} where id = ${projectId})`,
        /** The joined documents, when they are few characters. */
        documents: sql<JsonBytes | null>`cast(group_concat(case when ${isLight} then document end, ',') as blob)`,
        /** Else [seq, characters] of each, joined by commas. */
        heads: sql<
          string | null
        >`group_concat(case when not ${isLight} then json_array(page.seq, chars) end, ',')`,
      })
      .from(sql`weight cross join page cross join ${servedDocuments} on documents.seq = page.seq`)
      .prepare(),
    slice: db
      .select({ documents: sql<JsonBytes | null>`cast(group_concat(document, ',') as blob)` })
      .from(sql`json_each(${sql.placeholder('seqs')}) cross join ${servedDocuments} on documents.seq = value`)
      .prepare(),
    dayCounts: new DayCounts(db),
  }
})

/** A page of a project's calls, newest first. Memory stays bounded whatever the page weighs. */
export async function readPage(db: ReadDatabase, projectId: number, request: PageRequest): Promise<CallPage> {
  const row = await readRow(db, projectId, request)
  if (!row?.heads)
    return { total: row?.total ?? 0, documents: row?.documents ? [row.documents] : [], sliceChars: 0 }
  const heads: SizedRow[] = JSON.parse(`[${row.heads}]`)
  // A slice is one call when that is longer than what slices are filled up to.
  const sliceChars = heads.reduce((most, [, chars]) => Math.max(most, chars), sliceCharsMax)
  return { total: row.total, documents: readSlices(db, heads), sliceChars }
}

/** Skipping a call costs 0.1 us, so the counts per day give a start within one day of the offset. */
async function readRow(db: ReadDatabase, projectId: number, { limit, offset }: PageRequest) {
  const { page, dayCounts } = queries(db)
  const read = async (start: PageStart) => await page.get({ projectId, limit, ...start })
  if (offset === 0) return read(newest)
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { start, changeSeq } = await dayCounts.locate(projectId, offset)
    const row = await read(start)
    if (row?.changeSeq === changeSeq) return row
    dayCounts.forget(projectId)
  }
  return read({ ...newest, skip: offset })
}

/** A call deleted meanwhile is left out; one that changed meanwhile is given as it is now. */
async function* readSlices(db: ReadDatabase, heads: SizedRow[]): AsyncGenerator<JsonBytes> {
  let isFirst = true
  for (const seqs of inSlices(heads, sliceCharsMax)) {
    const row = await queries(db).slice.get({ seqs: JSON.stringify(seqs) })
    if (!row?.documents) continue
    if (!isFirst) yield comma
    yield row.documents
    isFirst = false
  }
}
