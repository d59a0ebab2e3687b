import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { calls } from '../db/schema.ts'
import { inSlices, type SizedRow } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import type { JsonBytes } from './document.ts'
import { readCallCount } from './find-calls.ts'
import { asDocuments, type CallForm } from './forms.ts'
import { servedDocuments } from './parts.ts'
import { type CallOrder, newestFirst, type Place } from './place.ts'
import { callCount, pageStart } from './ranges.ts'

/**
 * Documents are joined in the database up to about this many characters. A value of over 128 KiB is mapped and
 * unmapped by the allocator at each copy, which costs several times what the reading does.
 */
const sliceCharsMax = 50_000

export interface PageRequest {
  limit: number
  offset: number
  /** By default newest first. */
  order?: CallOrder
  /** Where the page before ended. */
  after?: Place | undefined
}

export interface CallPage {
  /** Every call of the project; of a search, those that match, counted up to a limit. */
  total: number
  /** Of a search: whether more calls match than were counted. */
  totalIsCapped?: boolean
  /** Where the page ends; null when no page follows. */
  end: Place | null
  /** The page's documents joined by commas, as JSON bytes: at once, or in slices that are read when asked for. */
  documents: JsonBytes[] | AsyncIterable<JsonBytes | string>
  /** Characters of the largest slice. */
  sliceChars: number
}

const comma = new TextEncoder().encode(',')

// One statement, so that the total and the page agree. Its outermost select joins the documents, since the value of a
// subquery would be copied once more. They are read as bytes: decoding and encoding a string would cost twice the rest.
const queries = preparedQueries((db: ReadDatabase) => {
  const projectId = sql`${sql.placeholder('projectId')}`
  const limit = sql`${sql.placeholder('limit')}`
  const offset = sql`${sql.placeholder('offset')}`
  const pageOf = (rows: SQL) => {
    // With one call more than the page holds, if there is one.
    const page = db.$with('page', {}).as(rows)
    const weight = db.$with('weight').as(
      db
        .select({
          total:
            sql<number>`coalesce((select sum(chars) from (select chars from page limit ${limit})), 0)`.as(
              'total',
            ),
          end: sql<string | null>`case when count(*) > ${limit} then (
            select json_array(created_at, id) from page limit 1 offset ${limit} - 1) end`.as('end'),
        })
        .from(page),
    )
    const isLight = sql`weight.total <= ${sql.raw(`${sliceCharsMax}`)}`
    return db
      .with(page, weight)
      .select({
        total: callCount(projectId),
        end: sql<string | null>`weight.end`,
        /** The joined documents, when they are few characters. */
        documents: sql<JsonBytes | null>`cast(group_concat(case when ${isLight} then document end, ',') as blob)`,
        /** Else [seq, characters] of each, joined by commas. */
        heads: sql<
          string | null
        >`group_concat(case when not ${isLight} then json_array(listed.seq, chars) end, ',')`,
      })
      .from(sql`weight cross join (select * from page limit ${limit}) as listed
        cross join ${servedDocuments} on documents.seq = listed.seq`)
      .prepare()
  }
  const rows = sql`select seq, created_at, id, document_chars as chars from ${calls} where project_id = ${projectId}`
  const after = sql`(${sql.placeholder('createdAt')}, ${sql.placeholder('id')})`
  const newest = sql`order by created_at desc, id desc limit ${limit} + 1`
  const oldest = sql`order by created_at, id limit ${limit} + 1`
  const start = (skipped: SQL) => sql`with start as (${pageStart(projectId, skipped)})`
  return {
    [newestFirst]: {
      after: pageOf(sql`${rows} and (created_at, id) < ${after} ${newest}`),
      at: pageOf(sql`${start(offset)} ${rows} and (created_at, id) <= (select +created_at, +id from start)
        ${newest} offset coalesce((select skip from start), 0)`),
    },
    createdAt: {
      after: pageOf(sql`${rows} and (created_at, id) > ${after} ${oldest}`),
      // The tree of ranges counts from the newest call.
      at: pageOf(sql`${start(sql`${callCount(projectId)} - 1 - ${offset}`)}, first as (
          select created_at, id from ${calls} where project_id = ${projectId} and ${offset} < ${callCount(projectId)}
          and (created_at, id) <= (select +created_at, +id from start)
          order by created_at desc, id desc limit 1 offset coalesce((select skip from start), 0))
        ${rows} and (created_at, id) >= (select +created_at, +id from first) ${oldest}`),
    },
  }
})

/** Before the first call, in each order. */
const beginnings: Record<CallOrder, Place> = {
  [newestFirst]: { createdAt: Number.MAX_SAFE_INTEGER, id: '' },
  createdAt: { createdAt: -1, id: '' },
}

/** A page of all calls of a project. Memory stays bounded whatever the page weighs. */
export async function readPage(db: ReadDatabase, projectId: number, request: PageRequest): Promise<CallPage> {
  const { limit, offset, order = newestFirst, after = beginnings[order] } = request
  const { after: pageAfter, at } = queries(db)[order]
  const row = await (offset === 0
    ? pageAfter.get({ projectId, limit, ...after })
    : at.get({ projectId, limit, offset }))
  const total = row?.total ?? (await readCallCount(db, projectId))
  const end = row?.end ? toPlace(row.end) : null
  if (!row?.heads) return { total, end, documents: row?.documents ? [row.documents] : [], sliceChars: 0 }
  const heads: SizedRow[] = JSON.parse(`[${row.heads}]`)
  return { total, end, ...readDocuments(db, heads) }
}

/**
 * The documents of calls in this order, joined by commas. A call deleted meanwhile is left out; one that changed
 * meanwhile is given as it is now.
 */
export function readDocuments(
  db: ReadDatabase,
  heads: readonly SizedRow[],
  form: CallForm = asDocuments,
): Pick<CallPage, 'documents' | 'sliceChars'> {
  // A slice is one call when that is longer than what slices are filled up to.
  const sliceChars = heads.reduce((most, [, chars]) => Math.max(most, chars), sliceCharsMax)
  return { documents: readSlices(db, heads, form), sliceChars }
}

async function* readSlices(
  db: ReadDatabase,
  heads: readonly SizedRow[],
  form: CallForm,
): AsyncGenerator<JsonBytes | string> {
  let isFirst = true
  for (const seqs of inSlices(heads, sliceCharsMax)) {
    const documents = await form(db, JSON.stringify(seqs))
    if (documents.length === 0) continue
    if (!isFirst) yield comma
    yield documents
    isFirst = false
  }
}

function toPlace(json: string): Place {
  const [createdAt, id] = JSON.parse(json)
  return { createdAt, id }
}
