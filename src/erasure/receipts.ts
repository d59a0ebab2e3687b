import { sql } from 'drizzle-orm'
import type { RecordHash } from '../db/record-hash.ts'
import { preparedQueries, type StoreOf } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { ErasureReceipt } from './schemas.ts'

interface ErasureReceiptsOptions {
  store: StoreOf
  recordHash: RecordHash
}

const queries = preparedQueries((db) => ({
  // Of a call, an item and an item's earlier texts under the same id: what is not done, or was requested last.
  newest: db
    .select({ requestedAt: sql<number>`requested_at`, doneAt: sql<number | null>`done_at` })
    .from(sql`erasures`)
    .where(
      sql`project_id = ${sql.placeholder('projectId')} and (
        kind = 'call' and id_hash = ${sql.placeholder('callHash')}
        or kind in ('item', 'text') and id_hash = ${sql.placeholder('itemHash')})`,
    )
    .orderBy(sql`done_at is not null, requested_at desc`)
    .limit(1)
    .prepare(),
}))

/** Says whether every byte of a deleted call or item is erased. */
export class ErasureReceipts {
  readonly #options: ErasureReceiptsOptions

  constructor(options: ErasureReceiptsOptions) {
    this.#options = options
  }

  /** @throws not_found when no record with this id was deleted in the project */
  async get(projectId: number, id: string): Promise<ErasureReceipt> {
    const { store, recordHash } = this.#options
    const row = await queries(store(projectId).read).newest.get({
      projectId,
      callHash: recordHash(projectId, 'call', id),
      itemHash: recordHash(projectId, 'item', id),
    })
    if (!row) {
      throw new AppError('not_found', 'Not found', {
        detail: 'No call and no knowledge item with this id was deleted or changed in this project.',
      })
    }
    const { requestedAt, doneAt } = row
    return {
      id,
      status: doneAt === null ? 'pending' : 'done',
      requestedAt: new Date(requestedAt).toISOString(),
      doneAt: doneAt === null ? null : new Date(doneAt).toISOString(),
    }
  }
}
