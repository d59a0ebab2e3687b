import { type SQL, sql } from 'drizzle-orm'
import type { Alerts } from '../alerts/alerts.ts'
import { byService } from '../audit/audit-trail.ts'
import type { CallDeletion, CallToDelete } from '../calls/keeping/call-deletion.ts'
import type { AskedCalls, CallSelections } from '../calls/keeping/call-selection.ts'
import type { Holds } from '../calls/keeping/holds.ts'
import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import type { ReadDatabase } from '../db/reader.ts'
import { callSets, callViews, erasureRequests, erasureSlices, erasures, projects } from '../db/schema.ts'
import type { Erasure } from '../erasure/erasure.ts'
import type { ActedBy } from '../identity.ts'
import { newId } from '../ids.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { AcceptedErasure, CountedCalls, ErasureRequest } from './schemas.ts'

/** A slice deletes about this many bytes, in about 10 ms of the writer's time. */
const sliceBytes = 400_000
/** Deleting a call takes at least as long as this many bytes. */
const callBytesMin = 8_000
const delayMs = 100
/** How long another node that deletes is waited for. */
const leaseRetryMs = 1_000
const retryMsMax = 30_000

export interface ErasureRequestsParts {
  selections: CallSelections
  holds: Holds
  deletion: CallDeletion
  erasure: Erasure
  alerts: Alerts
  webhooks: Webhooks
}

/** The request to work on next. */
interface OpenRequest {
  id: string
  projectId: number
  /** Its next slice; null when all are deleted. */
  number: number | null
  seqs: string | null
}

/**
 * Deletes and erases many calls. When a request is accepted, its calls are stored as slices of row numbers. Each slice
 * is deleted in one transaction, with its row, so that the next owner of the folder can continue from there.
 */
export class ErasureRequests {
  readonly #parts: Core & ErasureRequestsParts
  readonly #job: Job

  constructor(core: Core, parts: ErasureRequestsParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'erasures',
      run: (turn) => this.#run(turn),
      delayMs,
      retryMsMax,
      failure: 'Deleting the calls of an erasure request failed',
    })
  }

  /**
   * Accepts a request, or only counts its calls for a dry run. Calls that match later are not affected.
   * @param by absent for the command line @throws invalid_request
   */
  async request(
    projectId: number,
    request: AskedCalls & Pick<ErasureRequest, 'dryRun'>,
    by?: ActedBy,
  ): Promise<CountedCalls | AcceptedErasure> {
    const { database, store, selections, alerts, audit, now } = this.#parts
    const { readInBackground, writeWhenFull: write } = store(projectId)
    // A replica may not have all of the calls yet.
    const db = database.isLocal ? readInBackground : write
    const selection = await selections.of(db, projectId, request)
    const { slices, calls, onHold } = await this.#cut(db, projectId, selection)
    if (request.dryRun) return countedCalls(calls, onHold)
    // Saved views and queues may contain the number.
    const views = request.number === undefined ? [] : await selections.viewsOf(projectId, request.number)
    // Before the request is accepted, so that none is left if this fails.
    if (request.number !== undefined)
      for (const alert of await selections.alertsOf(projectId, request.number))
        await alerts.delete(projectId, alert, by)
    const messages =
      request.number === undefined
        ? { changes: [], waiting: [] }
        : await selections.alertMessagesOf(projectId, request.number)
    const id = newId('era')
    const target = `${id}: ${calls} ${calls === 1 ? 'call' : 'calls'}`
    await write.batch({
      views: sql`
        delete from ${callViews} where project_id = ${projectId}
          and id in (select value from json_each(${JSON.stringify(views)}))`,
      queues: sql`
        delete from ${callSets} where project_id = ${projectId}
          and id in (select value from json_each(${JSON.stringify(views)}))`,
      changes: sql`
        delete from alert_changes where seq in (select value from json_each(${JSON.stringify(messages.changes)}))`,
      waiting: sql`
        delete from webhook_queue where id in (select value from json_each(${JSON.stringify(messages.waiting)}))`,
      request: write.insert(erasureRequests).values({ id, projectId, calls, onHold }),
      slices: sql`
        insert into ${erasureSlices} (request_id, number, seqs)
        select ${id}, key, value from json_each(${JSON.stringify(slices)})`,
      ledger: sql`
        insert into ${erasures} (project_id, kind, id_hash, change_seq, requested_at)
        select ${projectId}, 'calls', ${id}, change_seq, ${now()} from ${projects} where id = ${projectId}`,
      entry: audit.entry({ by, projectId, action: 'erasure_requested', target, targetRef: id }),
    })
    this.schedule()
    return { id, ...countedCalls(calls, onHold), status: 'pending' }
  }

  /** Call it when there may be an open request. */
  schedule(): void {
    this.#job.soon()
  }

  /** Deletes and erases everything that was accepted before the call. */
  finish(): Promise<void> {
    return this.#job.now()
  }

  /** The calls that are not on hold, in slices: JSON arrays of row numbers. */
  async #cut(db: ReadDatabase, projectId: number, selection: SQL) {
    const { seqs: onHold } = await this.#parts.holds.among(db, projectId, selection)
    const bytes = sql`max(${sql.raw(`${callBytesMin}`)}, document_chars + coalesce(
      (select octet_length(details) from call_details where call_details.seq = calls.seq), 0))`
    const rows = await db
      .select({ seqs: sql<string>`json_group_array(seq)`, calls: sql<number>`count(*)` })
      .from(
        sql`(select calls.seq as seq,
          sum(${bytes}) over (order by calls.seq rows unbounded preceding) / ${sql.raw(`${sliceBytes}`)} as slice
        from (${selection}) as some cross join calls on calls.seq = some.seq and calls.project_id = ${projectId}
        where calls.seq not in (select value from json_each(${JSON.stringify([...onHold])})))`,
      )
      .groupBy(sql`slice`)
      .orderBy(sql`slice`)
    return {
      slices: rows.map(({ seqs }) => seqs),
      calls: rows.reduce((sum, row) => sum + row.calls, 0),
      onHold: onHold.size,
    }
  }

  async #run(turn: Turn): Promise<number | null> {
    // A quick local check first, since the rest asks a server.
    const isAnyOpen = sql`select 1 from ${erasureRequests} where not is_done limit 1`
    if ((await this.#parts.read.all(isAnyOpen)).length === 0) return null
    for (;;) {
      turn.signal.throwIfAborted()
      const open = await this.#next()
      if (!open) {
        await turn.letGo()
        return null
      }
      if (!(await turn.isMine())) return leaseRetryMs
      if (open.seqs === null) await this.#finish(open)
      else await this.#deleteSlice(open, asSeqs(open.seqs))
      await turn.rest()
    }
  }

  /**
   * Finished requests are reported first. Then the smallest request runs, so that it does not wait for a large one.
   * Requests without calls left come last: one erasure run serves all of them.
   */
  async #next(): Promise<OpenRequest | undefined> {
    // Read through the writer, since a replica may lag.
    const [open] = await this.#parts.database.writeWhenFull.all<OpenRequest>(sql`
      select request.id as id, request.project_id as projectId, slice.number as number, seqs
      from ${erasureRequests} as request
        cross join ${erasures} as receipt
          on receipt.project_id = request.project_id and kind = 'calls' and id_hash = request.id
        left join ${erasureSlices} as slice on slice.request_id = request.id and slice.number = (
          select min(number) from ${erasureSlices} where request_id = request.id)
      where not is_done and request.project_id in (select id from ${projects} where deleted_at is null)
      order by receipt.done_at is null, slice.number is null, calls - deleted limit 1`)
    return open
  }

  async #deleteSlice({ id, projectId, number }: OpenRequest, seqs: number[]): Promise<void> {
    const { database, holds, deletion, erasure } = this.#parts
    const { writeWhenFull: write } = database
    const selection = sql`select value as seq from json_each(${JSON.stringify(seqs)})`
    const onHold = await holds.among(write, projectId, selection)
    const toDelete = await write.all<CallToDelete>(sql`
      select calls.seq as seq, id from (${selection}) as some
        cross join calls on calls.seq = some.seq and project_id = ${projectId}`)
    const isThis = sql`request_id = ${id} and number = ${number}`
    await deletion.delete(projectId, toDelete, {
      onHold,
      requestId: id,
      after: [
        // Another node may have deleted the same slice.
        sql`update ${erasureRequests} set deleted = deleted + changes(), on_hold = on_hold + ${onHold.seqs.size}
          where id = ${id} and exists (select 1 from ${erasureSlices} where ${isThis})`,
        sql`delete from ${erasureSlices} where ${isThis}`,
      ],
    })
    erasure.schedule(projectId)
  }

  /** Erases what the slices have left in files, then reports it. */
  async #finish({ id, projectId }: OpenRequest): Promise<void> {
    const { database, erasure, webhooks, audit } = this.#parts
    const { writeWhenFull: write } = database
    const read = async () =>
      (
        await write.all<{ deleted: number; doneAt: number | null }>(sql`
          select deleted, done_at as doneAt from ${erasureRequests} cross join ${erasures} on kind = 'calls'
            and erasures.project_id = ${projectId} and id_hash = erasure_requests.id where erasure_requests.id = ${id}`)
      )[0]
    let row = await read()
    if (row?.doneAt === null) {
      erasure.schedule(projectId)
      await erasure.finish()
      row = await read()
    }
    if (!row) return
    if (row.doneAt === null) throw new Error('The bytes of deleted calls are not erased yet')
    const target = `${id}: ${row.deleted} ${row.deleted === 1 ? 'call' : 'calls'}`
    await write.batch({
      done: sql`update ${erasureRequests} set is_done = true where id = ${id} and not is_done`,
      // In this order, since each has an effect only if the one before has changed a row.
      entry: audit.entry({ by: byService, projectId, action: 'erasure_done', target, targetRef: id }),
      event: webhooks.erasureDone(projectId, { id, calls: row.deleted }),
    })
  }
}

function countedCalls(calls: number, onHold: number): CountedCalls {
  return onHold === 0 ? { calls } : { calls, onHold }
}

function asSeqs(json: string): number[] {
  return JSON.parse(json)
}
