import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { calls } from '../db/schema.ts'
import { inSlices, type SizedRow } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import type { JsonBytes } from './document.ts'
import { servedDocuments } from './parts.ts'
import { callCount, pageStart } from './ranges.ts'

/**
 * Documents are joined in the database up to about this many characters. A value of over 128 KiB is mapped and
 * unmapped by the allocator at each copy, which costs several times what the reading does.
 */
const sliceCharsMax = 50_000

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

const comma = new TextEncoder().encode(',')

// One statement, so that the total and the page agree. Its outermost select joins the documents, since the value of a
// subquery would be copied once more. They are read as bytes: decoding and encoding a string would cost twice the rest.
const queries = preparedQueries((db: ReadDatabase) => {
  const projectId = sql`${sql.placeholder('projectId')}`
  const newestFirst = sql`order by created_at desc, id desc limit ${sql.placeholder('limit')}`
  const pageOf = (rows: SQL) => {
    const page = db.$with('page', {}).as(rows)
    const weight = db
      .$with('weight')
      .as(db.select({ total: sql<number>`coalesce(sum(chars), 0)`.as('total') }).from(page))
    const isLight = sql`weight.total <= ${sql.raw(`${sliceCharsMax}`)}`
    return db
      .with(page, weight)
      .select({
        total: callCount(projectId),
        /** The joined documents, when they are few characters. */
        documents: sql<JsonBytes | null>`cast(group_concat(case when ${isLight} then document end, ',') as blob)`,
        /** Else [seq, characters] of each, joined by commas. */
        heads: sql<
          string | null
        >`group_concat(case when not ${isLight} then json_array(page.seq, chars) end, ',')`,
      })
      .from(sql`weight cross join page cross join ${servedDocuments} on documents.seq = page.seq`)
      .prepare()
  }
  const rows = sql`select seq, document_chars as chars from ${calls} where project_id = ${projectId}`
  return {
    firstPage: pageOf(sql`${rows} ${newestFirst}`),
    page: pageOf(sql`
      with start as (${pageStart(projectId, sql`${sql.placeholder('offset')}`)})
      ${rows} and (created_at, id) <= (select +created_at, +id from start)
      ${newestFirst} offset coalesce((select skip from start), 0)`),
    slice: db
      .select({ documents: sql<JsonBytes | null>`cast(group_concat(document, ',') as blob)` })
      .from(sql`json_each(${sql.placeholder('seqs')}) cross join ${servedDocuments} on documents.seq = value`)
      .prepare(),
  }
})

/** A page of a project's calls, newest first. Memory stays bounded whatever the page weighs. */
export async function readPage(db: ReadDatabase, projectId: number, request: PageRequest): Promise<CallPage> {
  const { firstPage, page } = queries(db)
  const row = await (request.offset === 0 ? firstPage : page).get({ projectId, ...request })
  if (!row?.heads)
    return { total: row?.total ?? 0, documents: row?.documents ? [row.documents] : [], sliceChars: 0 }
  const heads: SizedRow[] = JSON.parse(`[${row.heads}]`)
  // A slice is one call when that is longer than what slices are filled up to.
  const sliceChars = heads.reduce((most, [, chars]) => Math.max(most, chars), sliceCharsMax)
  return { total: row.total, documents: readSlices(db, heads), sliceChars }
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
