import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { calls, projects } from '../../db/schema.ts'
import { inSlices, type SizedRow } from '../../db/slices.ts'
import { preparedQueries } from '../../db/store.ts'
import type { JsonBytes } from '../document.ts'
import { newestFirst, type Place, type TimeOrder } from '../finding/place.ts'
import { type CallForm, documentsOf } from './forms.ts'

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
  const after = sql`(${sql.placeholder('createdAt')}, ${sql.placeholder('id')})`
  /** @param isAfter compares places @param direction of time and id */
  const pageIn = (isAfter: SQL, direction: SQL) => {
    const page = db.$with('page', {}).as(sql`select seq, created_at, id, document_chars as chars from ${calls}
      where project_id = ${projectId} and (created_at, id) ${isAfter} ${after}
      order by created_at ${direction}, id ${direction} limit ${limit} + 1 offset ${sql.placeholder('offset')}`)
    return db
      .with(page)
      .select({
        total: sql<number>`(select calls from ${projects} where id = ${projectId})`,
        changeSeq: sql<number>`(select change_seq from ${projects} where id = ${projectId})`,
        /** [seq, characters] of each call, joined by commas. */
        heads: sql<string | null>`group_concat(json_array(seq, chars), ',')`,
        end: sql<string | null>`case when count(*) > ${limit} then (
          select json_array(created_at, id) from page limit 1 offset ${limit} - 1) end`,
      })
      .from(page)
      .prepare()
  }
  return {
    [newestFirst]: pageIn(sql`<`, sql`desc`),
    createdAt: pageIn(sql`>`, sql`asc`),
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
  const row = await queries(db)[order].get({ projectId, limit, offset, ...after })
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
