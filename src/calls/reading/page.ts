import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { calls, projects } from '../../db/schema.ts'
import { inSlices, type SizedRow } from '../../db/slices.ts'
import { preparedQueries } from '../../db/store.ts'
import { detailsBytes } from '../details.ts'
import type { JsonBytes } from '../document.ts'
import { type FoundPages, sizesOf } from '../finding/found-pages.ts'
import { newestFirst, type Place, type TimeOrder } from '../finding/place.ts'
import { type CallForm, documentsOf } from './forms.ts'

/**
 * How many characters of documents the database joins at once. Above 128 KiB, the allocator maps and unmaps memory for
 * each copy, which takes several times as long as reading.
 */
const sliceCharsMax = 50_000

/** Calls found per query of an export. Their documents follow in slices. */
const placesMax = 1_000
/** An export reads documents up to about this many characters at once. */
export const exportedCharsMax = 262_144

export interface CallPage {
  /** All calls of the project; for a search, the matching ones, counted to a limit. */
  total: number
  /** Whether more calls match a search than were counted. */
  totalIsCapped?: boolean
  /** Where the page ends; null if it is the last. */
  end: Place | null
  /** The page's documents as JSON, joined by commas, in slices that are read on demand. */
  documents: AsyncIterable<JsonBytes | string>
  /** Characters of the largest slice. */
  sliceChars: number
  /** Without filters: the project's last change number before the page was read. */
  changeSeq?: number
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
    detailsBytes: db
      .select({ seq: sql<number>`seq`, chars: detailsBytes })
      .from(sql`json_each(${sql.placeholder('seqs')}) cross join call_details on call_details.seq = value`)
      .prepare(),
  }
})

/** The place before the first call, in each order. */
const beginnings: Record<TimeOrder, Place> = {
  [newestFirst]: { createdAt: Number.MAX_SAFE_INTEGER, id: '' },
  createdAt: { createdAt: -1, id: '' },
}

interface ListRange {
  limit: number
  offset: number
  /** The newest come first by default. */
  order?: TimeOrder
  /** Where the previous page ended. */
  after?: Place | undefined
}

/** A page of all calls of a project. Memory stays bounded whatever its size. */
export async function readPage(
  db: ReadDatabase,
  projectId: number,
  { limit, offset, order = newestFirst, after = beginnings[order] }: ListRange,
  form: CallForm = wholeDocuments,
): Promise<CallPage> {
  const row = await queries(db)[order].get({ projectId, limit, offset, ...after })
  const heads: SizedRow[] = JSON.parse(`[${row?.heads ?? ''}]`)
  return {
    total: row?.total ?? 0,
    changeSeq: row?.changeSeq ?? 0,
    end: row?.end && limit > 0 ? toPlace(row.end) : null,
    ...(await readDocuments(db, heads.slice(0, limit), form)),
  }
}

/**
 * The documents of calls in this order, joined by commas. Calls deleted meanwhile are left out; changed ones are
 * current.
 */
export async function readDocuments(
  db: ReadDatabase,
  heads: readonly SizedRow[],
  form: CallForm,
): Promise<Pick<CallPage, 'documents' | 'sliceChars'>> {
  const sizes = await sizesIn(form, db, heads)
  // A call longer than a slice is a slice of its own.
  const sliceChars = sizes.reduce((most, [, chars]) => Math.max(most, chars), sliceCharsMax)
  return { documents: readSlices(db, sizes, form), sliceChars }
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

/** How to export the calls of a search. */
export interface ExportOptions {
  /** The database to read documents from. */
  read: ReadDatabase
  form: CallForm
  limit?: number | undefined
  offset?: number | undefined
  /** Called with the number of calls of each part. */
  onPart?: ((calls: number) => void) | undefined
}

/**
 * The calls that a search finds, in parts. Each part continues where the previous one ended, so that concurrent changes
 * neither skip nor repeat calls.
 */
export async function* exportCalls(
  pages: FoundPages,
  { read, form, limit = Number.POSITIVE_INFINITY, offset = 0, onPart }: ExportOptions,
): AsyncGenerator<string | JsonBytes> {
  let rowsLeft = limit
  let start: Parameters<FoundPages['page']>[1] = { offset }
  while (rowsLeft > 0) {
    const { places, end } = await pages.page(Math.min(rowsLeft, placesMax), start)
    for (const seqs of inSlices(await sizesIn(form, read, sizesOf(places)), exportedCharsMax)) {
      const part = await form.read(read, JSON.stringify(seqs))
      if (part.length > 0) yield part
      onPart?.(seqs.length)
    }
    if (!end) return
    rowsLeft -= places.length
    start = { after: end }
  }
}

/** The row number and the size of each call, in the form. */
async function sizesIn(
  { isDetailed }: CallForm,
  db: ReadDatabase,
  heads: readonly SizedRow[],
): Promise<readonly SizedRow[]> {
  if (!isDetailed) return heads
  const rows = await queries(db).detailsBytes.all({ seqs: JSON.stringify(heads.map(([seq]) => seq)) })
  const more = new Map(rows.map(({ seq, chars }) => [seq, chars]))
  return heads.map(([seq, chars]) => [seq, chars + (more.get(seq) ?? 0)])
}
