import { and, eq, sql } from 'drizzle-orm'
import type { AuditTrail } from '../audit/audit-trail.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { callDocuments, calls, erasures, projects } from '../db/schema.ts'
import { preparedQueries, type StoreOf } from '../db/store.ts'
import { callWords } from '../db/word-tables.ts'
import { AppError } from '../errors.ts'
import type { By } from '../identity.ts'
import { type CallFacets, readFacets } from './call-facets.ts'
import { type CallQuery, readCallQuery } from './call-query.ts'
import { type Admit, type JsonBytes, readAtOnceCharsMax } from './document.ts'
import { exportCalls } from './export.ts'
import { type CallRows, findCalls } from './find-calls.ts'
import { type CallPage, type PageRequest, readPage } from './page.ts'

interface CallsOptions {
  store: StoreOf
  recordHash: RecordHash
  audit: Pick<AuditTrail, 'entry'>
  /** Erases what a committed deletion leaves in free pages and logs. */
  erasure: { schedule(projectId: number): void }
  now: () => number
}

const queries = preparedQueries((db) => {
  const isThisCall = and(
    eq(calls.projectId, sql.placeholder('projectId')),
    eq(calls.id, sql.placeholder('id')),
  )
  const document = sql<JsonBytes>`cast(${callDocuments.document} as blob)`
  return {
    charsById: db.select({ chars: calls.documentChars }).from(calls).where(isThisCall).prepare(),
    /** The document is null when it is too long to be read at once. SQLite knows its bytes without reading it. */
    byId: db
      .select({
        document: sql<JsonBytes | null>`case when octet_length(${callDocuments.document}) <=
          ${sql.raw(`${readAtOnceCharsMax}`)} then ${document} end`,
      })
      .from(calls)
      .innerJoin(callDocuments, eq(callDocuments.seq, calls.seq))
      .where(isThisCall)
      .prepare(),
    documentById: db
      .select({ document })
      .from(calls)
      .innerJoin(callDocuments, eq(callDocuments.seq, calls.seq))
      .where(isThisCall)
      .prepare(),
  }
})

/** What a project's customers do with their calls: list, find, read, delete. */
export class Calls {
  readonly #options: CallsOptions

  constructor(options: CallsOptions) {
    this.#options = options
  }

  list(projectId: number, page: PageRequest): Promise<CallPage> {
    return readPage(this.#options.store(projectId).read, projectId, page)
  }

  /** A page of the calls that match a query. @throws invalid_request for a value that cannot be read */
  async find(projectId: number, query: CallQuery): Promise<CallRows> {
    return await findCalls(this.#options.store(projectId).readAside, projectId, readCallQuery(query))
  }

  /** The values that calls can be filtered by. */
  facets(projectId: number): Promise<CallFacets> {
    return readFacets(this.#options.store(projectId).readAside, projectId)
  }

  /** Every call, oldest first, as lines of JSON, some at a time. */
  export(projectId: number): AsyncGenerator<string> {
    return exportCalls(this.#options.store(projectId).read, projectId)
  }

  /** The call as JSON bytes, as it was written when it was ingested. */
  async get(projectId: number, id: string, admit: Admit = () => undefined): Promise<{ document: JsonBytes }> {
    const { byId, charsById, documentById } = queries(this.#options.store(projectId).read)
    const row = await byId.get({ projectId, id })
    if (row?.document) return { document: row.document }
    const head = row && (await charsById.get({ projectId, id }))
    if (!head) throw callNotFound()
    admit(head.chars)
    const whole = await documentById.get({ projectId, id })
    if (!whole) throw callNotFound()
    return whole
  }

  /** Deletes a call for good: its id cannot be ingested again. */
  async delete(projectId: number, id: string, by?: By): Promise<{ id: string; deleted: true }> {
    const { read, freeing: write } = this.#options.store(projectId)
    if (!(await queries(read).charsById.get({ projectId, id }))) throw callNotFound()
    const idHash = this.#options.recordHash(projectId, 'call', id)
    const isThisCall = and(eq(calls.projectId, projectId), eq(calls.id, id))
    const seq = write.select({ seq: calls.seq }).from(calls).where(isThisCall)
    const [, , , deleted] = await write.batch([
      write
        .update(projects)
        .set({ changeSeq: sql`${projects.changeSeq} + 1` })
        .where(eq(projects.id, projectId)),
      write.run(sql`
        insert into ${erasures} (project_id, kind, id_hash, change_seq, requested_at)
        select ${projectId}, 'call', ${idHash}, change_seq, ${this.#options.now()}
        from ${projects} where id = ${projectId} and exists ${seq}
        on conflict do nothing`),
      write.run(sql`delete from ${callWords(projectId)} where rowid in ${seq}`),
      write.delete(calls).where(isThisCall).returning({ seq: calls.seq }),
      write.run(this.#options.audit.entry({ by, projectId, action: 'call_deleted', target: idHash })),
    ])
    if (deleted.length === 0) throw callNotFound()
    this.#options.erasure.schedule(projectId)
    return { id, deleted: true }
  }
}

function callNotFound(): AppError {
  return new AppError('not_found', 'Call not found', {
    detail: 'No call of this project has this id; it may have been deleted.',
  })
}
