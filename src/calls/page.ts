import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../db/reader.ts'
import { calls, projects } from '../db/schema.ts'
import { inSlices, type SizedRow } from '../db/slices.ts'
import { preparedQueries } from '../db/store.ts'
import type { JsonBytes } from './document.ts'
import { type CallForm, documentsOf } from './forms.ts'
import { newestFirst, type Place, type TimeOrder } from './place.ts'
import { callCount, pageStart } from './ranges.ts'

/**
 * How many characters of documents the database joins at once. Above 128 KiB, the allocator maps and unmaps memory for
 * each copy, which takes several times as long as reading.
 */
const sliceCharsMax = 50_000

export interface PageRequest {
  limit: number
  offset: number
  /** By default newest first. */
  order?: TimeOrder
  /** Where the previous page ended. */
  after?: Place | undefined
}

export interface CallPage {
  /** All calls of the project; for a search, the matching ones, counted to a limit. */
  total: number
  /** For a search: whether more calls match than were counted. */
  totalIsCapped?: boolean
  /** Where the page ends; null if it is the last. */
  end: Place | null
  /** The page's documents as JSON, joined by commas, in slices that are read on demand. */
  documents: AsyncIterable<JsonBytes | string>
  /** Characters of the largest slice. */
  sliceChars: number
}

export interface ListedPage extends CallPage {
  /** The project's last change number before the page was read. */
  changeSeq: number
}

const wholeDocuments = documentsOf({ isDetailed: false })
const comma = new TextEncoder().encode(',')

// One statement, so that the total, the page and the change number are consistent.
const queries = preparedQueries((db: ReadDatabase) => {
  const projectId = sql`${sql.placeholder('projectId')}`
  const limit = sql`${sql.placeholder('limit')}`
  const offset = sql`${sql.placeholder('offset')}`
  /** @param rows the page's calls and one more, if there is one */
  const pageOf = (rows: SQL) => {
    const page = db.$with('page', {}).as(rows)
    return db
      .with(page)
      .select({
        total: callCount(projectId),
        changeSeq: sql<number>`(select change_seq from ${projects} where id = ${projectId})`,
        /** [seq, characters] of each call, joined by commas. */
        heads: sql<string | null>`group_concat(json_array(seq, chars), ',')`,
        end: sql<string | null>`case when count(*) > ${limit} then (
          select json_array(created_at, id) from page limit 1 offset ${limit} - 1) end`,
      })
      .from(page)
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
      // Ranges count from the newest call.
      at: pageOf(sql`${start(sql`${callCount(projectId)} - 1 - ${offset}`)}, first as (
          select created_at, id from ${calls} where project_id = ${projectId} and ${offset} < ${callCount(projectId)}
          and (created_at, id) <= (select +created_at, +id from start)
          order by created_at desc, id desc limit 1 offset coalesce((select skip from start), 0))
        ${rows} and (created_at, id) >= (select +created_at, +id from first) ${oldest}`),
    },
  }
})

/** The place before the first call, in each order. */
const beginnings: Record<TimeOrder, Place> = {
  [newestFirst]: { createdAt: Number.MAX_SAFE_INTEGER, id: '' },
  createdAt: { createdAt: -1, id: '' },
}

/** A page of all calls of a project. Memory stays bounded whatever its size. */
export async function readPage(
  db: ReadDatabase,
  projectId: number,
  request: PageRequest,
): Promise<ListedPage> {
  const { limit, offset, order = newestFirst, after = beginnings[order] } = request
  const { after: pageAfter, at } = queries(db)[order]
  const row = await (offset === 0
    ? pageAfter.get({ projectId, limit, ...after })
    : at.get({ projectId, limit, offset }))
  const heads: SizedRow[] = JSON.parse(`[${row?.heads ?? ''}]`)
  return {
    total: row?.total ?? 0,
    changeSeq: row?.changeSeq ?? 0,
    end: row?.end && limit > 0 ? toPlace(row.end) : null,
    ...readDocuments(db, heads.slice(0, limit)),
  }
}

/**
 * The documents of calls in this order, joined by commas. Calls deleted meanwhile are left out; changed ones are
 * current.
 */
export function readDocuments(
  db: ReadDatabase,
  heads: readonly SizedRow[],
  form: CallForm = wholeDocuments,
): Pick<CallPage, 'documents' | 'sliceChars'> {
  // A call longer than a slice is a slice of its own.
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
    const documents = await form.read(db, JSON.stringify(seqs))
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
