import { and, eq, sql } from 'drizzle-orm'
import type { AuditTrail } from '../audit/audit-trail.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { calls } from '../db/schema.ts'
import { preparedQueries, type StoreOf } from '../db/store.ts'
import { AppError, type FieldError } from '../errors.ts'
import type { By } from '../identity.ts'
import type { CallDeletion } from './call-deletion.ts'
import {
  type CallQuery,
  type CallSearch,
  isFiltered,
  readCallSearch,
  refuse,
  valuesOf,
} from './call-query.ts'
import { type CallRows, findNeighbours, findRows, type Neighbours } from './call-rows.ts'
import { detailsBytes, documentInForm, servedDetails } from './details.ts'
import { type Admit, type JsonBytes, readAtOnceCharsMax } from './document.ts'
import { type ExportOptions, exportCalls, sizesOf } from './export.ts'
import { type CallFacets, readFacets } from './facets.ts'
import type { CallForm } from './forms.ts'
import { FoundPages } from './found-pages.ts'
import type { Holds } from './holds.ts'
import { type CallPage, type ListedPage, type PageRequest, readDocuments, readPage } from './page.ts'
import { servedBytes, servedDocument } from './parts.ts'
import { Cursors, callOrders } from './place.ts'
import { callIsOnHold, callNotFound } from './refusals.ts'
import { readSearchBox } from './search-box.ts'
import type { TextMatcher } from './text-matcher.ts'

/** The result of deleting many calls: those deleted, and those that stay because they are on hold. */
export interface DeletedCalls {
  deleted: string[]
  held: string[]
}

interface CallsOptions {
  store: StoreOf
  recordHash: RecordHash
  audit: Pick<AuditTrail, 'entry'>
  /** Erases what a committed deletion leaves in free pages and logs. */
  erasure: { schedule(projectId: number): void }
  holds: Holds
  deletion: CallDeletion
  matcher: TextMatcher
}

const queries = preparedQueries((db) => {
  const isThisCall = and(
    eq(calls.projectId, sql.placeholder('projectId')),
    eq(calls.id, sql.placeholder('id')),
  )
  return {
    changeSeqById: db.select({ changeSeq: calls.changeSeq }).from(calls).where(isThisCall).prepare(),
    /** The document is null if it has more than `bytesMax` bytes. */
    byId: db
      .select({
        changeSeq: sql<number>`case when has_parts then calls.change_seq else call_change_seq end`,
        bytes: servedBytes,
        document: sql<JsonBytes | null>`case when ${servedBytes} <= ${sql.placeholder('bytesMax')}
          then cast(${servedDocument} as blob) end`,
      })
      .from(sql`calls join call_documents on call_documents.seq = calls.seq`)
      .where(isThisCall)
      .prepare(),
    /** The same for its details. */
    detailsById: db
      .select({
        changeSeq: sql<number>`calls.change_seq`,
        bytes: detailsBytes,
        document: sql<JsonBytes | null>`case when ${detailsBytes} <= ${sql.placeholder('bytesMax')}
          then cast(${servedDetails} as blob) end`,
      })
      .from(sql`calls left join call_details on call_details.seq = calls.seq`)
      .where(isThisCall)
      .prepare(),
    bySeqs: db
      .select({ seq: sql<number>`calls.seq`, document: documentInForm })
      .from(sql`json_each(${sql.placeholder('seqs')}) cross join calls on calls.seq = value
        and project_id = ${sql.placeholder('projectId')}
        cross join call_documents on call_documents.seq = calls.seq`)
      .prepare(),
  }
})

/** A project's calls: list, search, read, delete. */
export class Calls {
  readonly #options: CallsOptions

  constructor(options: CallsOptions) {
    this.#options = options
  }

  /** Makes and reads the cursors of lists. */
  cursors(projectId: number): Cursors {
    return new Cursors(this.#options.recordHash, projectId)
  }

  /** A page of all calls, as JSON. */
  list(projectId: number, page: PageRequest): Promise<ListedPage> {
    return readPage(this.#options.store(projectId).read, projectId, page)
  }

  /** A page of the calls that a search finds, as JSON. */
  async search(
    projectId: number,
    search: CallSearch,
    { limit, offset, form }: { limit: number; offset: number; form: CallForm },
  ): Promise<CallPage> {
    const { read, readAside } = this.#options.store(projectId)
    const pages = new FoundPages(readAside, projectId, search)
    const { places, end } = await pages.page(limit, { offset })
    // A first page that is the last has all of them: counting would look through as many calls again.
    const isWhole = end === null && limit > 0 && offset === 0 && !search.after
    const { total, isCapped } = isWhole ? { total: places.length, isCapped: false } : await pages.count()
    return {
      total,
      ...(isFiltered(search) ? { totalIsCapped: isCapped } : {}),
      end,
      ...readDocuments(read, await sizesOf(read, form, places), form),
    }
  }

  /** A page of the calls that match a query, for the console. @throws invalid_request for a value that cannot be read */
  find(projectId: number, query: CallQuery): Promise<CallRows> {
    const { store, matcher } = this.#options
    const cursors = this.cursors(projectId)
    return findRows(projectId, query, { db: store(projectId).readForPeople, matcher, cursors })
  }

  /** The calls before and after one in the console's list. @throws not_found; invalid_request */
  neighbours(projectId: number, id: string, query: CallQuery): Promise<Neighbours> {
    return findNeighbours(this.#options.store(projectId).readForPeople, projectId, id, query)
  }

  /** The search behind the console's list, for an export. @throws invalid_request for a value that cannot be read */
  async readBox(projectId: number, query: CallQuery): Promise<CallSearch> {
    const errors: FieldError[] = []
    const asked = readCallSearch(query, { orders: callOrders, readCursor: () => undefined }, errors)
    refuse(errors)
    const { readForPeople } = this.#options.store(projectId)
    return (await readSearchBox(readForPeople, projectId, asked, valuesOf(query, 'text')?.[0])).search
  }

  /** The values that calls can be filtered by. */
  facets(projectId: number): Promise<CallFacets> {
    return readFacets(this.#options.store(projectId).readForPeople, projectId)
  }

  /** How many calls a search finds, and whether there are more than were counted. */
  count(projectId: number, search: CallSearch): ReturnType<FoundPages['count']> {
    return new FoundPages(this.#options.store(projectId).readAside, projectId, search).count()
  }

  /** All calls that a search finds, in parts. */
  export(
    projectId: number,
    search: CallSearch,
    options: Omit<ExportOptions, 'read'>,
  ): AsyncGenerator<string | JsonBytes> {
    const { read, readAside } = this.#options.store(projectId)
    return exportCalls(new FoundPages(readAside, projectId, search), { ...options, read })
  }

  /** The number of the call's last change. @throws not_found */
  async changeSeq(projectId: number, id: string): Promise<number> {
    const row = await queries(this.#options.store(projectId).read).changeSeqById.get({ projectId, id })
    if (!row) throw callNotFound()
    return row.changeSeq
  }

  /** The stored JSON of the call, byte for byte. */
  get(projectId: number, id: string, admit?: Admit): Promise<StoredDocument> {
    return readDocument(queries(this.#options.store(projectId).read).byId, { projectId, id }, admit)
  }

  /** What is known about a call beyond its thirteen fields, as JSON bytes. */
  details(projectId: number, id: string, admit?: Admit): Promise<StoredDocument> {
    return readDocument(queries(this.#options.store(projectId).read).detailsById, { projectId, id }, admit)
  }

  /** Documents by row number. Deleted calls are absent. */
  async documents(
    projectId: number,
    seqs: readonly number[],
    isDetailed = false,
  ): Promise<Map<number, string>> {
    if (seqs.length === 0) return new Map()
    const { bySeqs } = queries(this.#options.store(projectId).read)
    const wanted = { projectId, seqs: JSON.stringify(seqs), isDetailed: Number(isDetailed) }
    const rows = await bySeqs.all(wanted)
    return new Map(rows.map(({ seq, document }) => [seq, document]))
  }

  /** Deletes calls for good, one after another. Returns which were deleted, and which stay because they are on hold. */
  async deleteAll(projectId: number, ids: readonly string[], by?: By): Promise<DeletedCalls> {
    const answer: DeletedCalls = { deleted: [], held: [] }
    for (const id of new Set(ids)) {
      try {
        await this.delete(projectId, id, by)
        answer.deleted.push(id)
      } catch (error) {
        if (error instanceof AppError && error.code === 'call_on_hold') answer.held.push(id)
        // Another person may have deleted it meanwhile.
        else if (!(error instanceof AppError && error.code === 'not_found')) throw error
      }
    }
    return answer
  }

  /** Deletes a call for good: its id cannot be ingested again. @throws not_found, call_on_hold */
  async delete(projectId: number, id: string, by?: By): Promise<{ id: string; deleted: true }> {
    const { store, recordHash, audit, holds, deletion, erasure } = this.#options
    const { read } = store(projectId)
    const [call] = await read
      .select({ seq: calls.seq, id: calls.id })
      .from(calls)
      .where(and(eq(calls.projectId, projectId), eq(calls.id, id)))
    if (!call) throw callNotFound()
    const held = await holds.among(read, projectId, sql`select ${call.seq} as seq`)
    if (held.seqs.size > 0) throw callIsOnHold()
    const target = recordHash(projectId, 'call', id)
    const after = [audit.entry({ by, projectId, action: 'call_deleted', target })]
    if ((await deletion.delete(projectId, [call], { held, requestId: null, after })) === 0)
      throw callNotFound()
    erasure.schedule(projectId)
    return { id, deleted: true }
  }
}

interface StoredDocument {
  document: JsonBytes
  /** The number of the call's last change. */
  changeSeq: number
}

type DocumentQuery = ReturnType<typeof queries>['byId' | 'detailsById']

/** Reads a large document only once there is room for it. */
async function readDocument(
  query: DocumentQuery,
  call: { projectId: number; id: string },
  admit: Admit = () => undefined,
): Promise<StoredDocument> {
  let row = await query.get({ ...call, bytesMax: readAtOnceCharsMax })
  if (row && !row.document) {
    admit(row.bytes)
    row = await query.get({ ...call, bytesMax: Number.MAX_SAFE_INTEGER })
  }
  if (!row?.document) throw callNotFound()
  return { document: row.document, changeSeq: row.changeSeq }
}
