import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { calls, erasures, projects } from '../../db/schema.ts'
import type { CallsOnHold } from './holds.ts'

/** A call to delete, by its row number and its id. */
export interface CallToDelete {
  seq: number
  id: string
}

interface Deletion {
  /** The calls on hold, which are not deleted. */
  onHold: CallsOnHold
  /** The erasure request that deletes them; null for a deletion by hand. */
  requestId: string | null
  /** Statements right after the deletion: in them, `changes()` is the number of deleted calls. */
  after: readonly SQL[]
}

/** The only way to delete calls: with a ledger row for each. A trigger notes that their words are to be erased. */
export class CallDeletion {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Deletes calls in one transaction. Returns the row numbers of those deleted. @throws unavailable if a hold was just set */
  async delete(
    projectId: number,
    toDelete: readonly CallToDelete[],
    { onHold, requestId, after }: Deletion,
  ): Promise<Set<number>> {
    const { store, recordHash, now } = this.#core
    const { writeWhenFull: write } = store(projectId)
    const free = toDelete.filter(({ seq }) => !onHold.seqs.has(seq))
    const rows = JSON.stringify(free.map(({ seq, id }) => [seq, recordHash(projectId, 'call', id)]))
    const seqs = sql`(select value ->> 0 from json_each(${rows}))`
    const doneAt = requestId === null ? null : now()
    // Without the plus, SQLite would look for them among all calls of the project.
    const isOfProject = sql`+project_id = ${projectId}`
    const { deleted } = await write.batchIf([onHold.isAsSeen], {
      numbers: sql`
          update ${projects} set change_seq = change_seq + ${free.length} where id = ${projectId}`,
      ledger: sql`
          insert into ${erasures} (project_id, kind, id_hash, record, change_seq, requested_at, done_at, request_id)
          select projects.id, 'call', value ->> 1, calls.seq, projects.change_seq - ${free.length} + 1 + key,
            ${now()}, ${doneAt}, ${requestId}
          from json_each(${rows}) cross join ${calls} on calls.seq = value ->> 0 and calls.project_id = ${projectId}
            cross join ${projects} on projects.id = ${projectId}
          where true on conflict do nothing`,
      deleted: write.all<{ seq: number }>(sql`
          delete from ${calls} where seq in ${seqs} and ${isOfProject} returning seq`),
      after,
    })
    return new Set(deleted.map(({ seq }) => seq))
  }
}
