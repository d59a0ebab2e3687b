import { sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { erasureRequests, erasures } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import { AppError } from '../errors.ts'
import { toIso } from '../text/instant.ts'
import type { ErasureReceipt } from './schemas.ts'

const [projectId, id] = [sql.placeholder('projectId'), sql.placeholder('id')]

/** The newest requests; the audit trail names the others. */
const requestsListedMax = 200

const requestColumns = {
  requestedAt: erasures.requestedAt,
  doneAt: erasures.doneAt,
  calls: erasureRequests.calls,
  deleted: erasureRequests.deleted,
  onHold: erasureRequests.onHold,
}

const queries = preparedQueries((db) => ({
  // Of a call, an item and earlier texts of an item under the same id: an erasure that is not done, or else the latest.
  newest: db
    .select({ requestedAt: sql<number>`requested_at`, doneAt: sql<number | null>`done_at` })
    .from(
      sql`(
      select requested_at, case when request_id is null then done_at else (
        select request.done_at from erasures as request where request.project_id = ${projectId}
          and request.kind = 'calls' and request.id_hash = record.request_id) end as done_at
      from erasures as record where project_id = ${projectId} and (
        kind = 'call' and id_hash = ${sql.placeholder('callHash')}
        or kind in ('item', 'text') and id_hash = ${sql.placeholder('itemHash')}))`,
    )
    .orderBy(sql`done_at is not null, requested_at desc`)
    .limit(1)
    .prepare(),
  request: db
    .select(requestColumns)
    .from(erasureRequests)
    .innerJoin(
      erasures,
      sql`${erasures.projectId} = ${projectId} and kind = 'calls' and id_hash = ${erasureRequests.id}`,
    )
    .where(sql`${erasureRequests.id} = ${id} and ${erasureRequests.projectId} = ${projectId}`)
    .prepare(),
  // Ids of requests rise with the time.
  requests: db
    .select({ id: erasureRequests.id, ...requestColumns })
    .from(erasures)
    .innerJoin(erasureRequests, sql`${erasureRequests.id} = id_hash`)
    .where(sql`${erasures.projectId} = ${projectId} and kind = 'calls'`)
    .orderBy(sql`id_hash desc`)
    .limit(requestsListedMax)
    .prepare(),
}))

/** Tells whether every byte of a deleted call or item, or of the calls of a request, is erased. */
export class ErasureReceipts {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** @throws not_found if no record with this id was deleted in the project */
  async get(projectId: number, id: string, { ofItems = false } = {}): Promise<ErasureReceipt> {
    const { store, recordHash } = this.#core
    const { newest, request } = queries(store(projectId).read)
    const requestRow = ofItems ? undefined : await request.get({ projectId, id })
    if (requestRow) return toRequestReceipt({ id, ...requestRow })
    const row = await newest.get({
      projectId,
      callHash: ofItems ? '' : recordHash(projectId, 'call', id),
      itemHash: recordHash(projectId, 'item', id),
    })
    if (!row) {
      throw new AppError('not_found', 'Not found', {
        detail:
          'No deleted call, deleted or changed knowledge item, or erasure request in this project has this id.',
      })
    }
    return toReceipt(id, row)
  }

  /** The receipts of the newest erasure requests, newest first. */
  async list(projectId: number): Promise<ErasureReceipt[]> {
    const { requests } = queries(this.#core.store(projectId).read)
    return (await requests.all({ projectId })).map(toRequestReceipt)
  }
}

interface RequestRow {
  id: string
  requestedAt: number
  doneAt: number | null
  calls: number
  deleted: number
  onHold: number
}

function toRequestReceipt({ id, calls, deleted, onHold, ...times }: RequestRow): ErasureReceipt {
  return { ...toReceipt(id, times), calls, deleted, ...(onHold > 0 ? { onHold } : {}) }
}

function toReceipt(
  id: string,
  { requestedAt, doneAt }: { requestedAt: number; doneAt: number | null },
): ErasureReceipt {
  return {
    id,
    status: doneAt === null ? 'pending' : 'done',
    requestedAt: new Date(requestedAt).toISOString(),
    doneAt: toIso(doneAt),
  }
}
