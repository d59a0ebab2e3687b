import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import type { ReadDatabase } from '../db/reader.ts'
import { projects, webhookAttempts, webhookQueue, webhooks } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import type { WriteDatabase } from '../db/write-database.ts'
import { forgetAnswersBeyond, mayKeepAnswer } from './answers.ts'
import { attemptsKeptMs, liveChangesMs, retryAt, type WebhookEvent } from './events.ts'
import { isSuccess, type PostResult } from './post.ts'

const rowsPerDeletionMax = 1_000

const endpointColumns = {
  id: webhooks.id,
  projectId: webhooks.projectId,
  kind: webhooks.kind,
  url: webhooks.url,
  isDetailed: webhooks.isDetailed,
  secret: webhooks.secret,
  previousSecret: webhooks.previousSecret,
  previousSecretUntil: webhooks.previousSecretUntil,
  failures: webhooks.failures,
  failingSince: webhooks.failingSince,
}

/** An endpoint that events are sent to. */
export interface Endpoint extends Pick<typeof webhooks.$inferSelect, keyof typeof endpointColumns> {
  /** When its next event is due: 0 means at once; null means that the queue has no events for this endpoint. */
  dueAt: number | null
}

/** A row of the queue that is due. */
export interface QueuedEvent {
  id: number
  kind: 'call' | 'item' | 'erasure' | 'alert'
  record: number | null
  erasedCalls: number | null
  /** JSON: the state and the numbers of an alert. */
  alert: string | null
  ref: string | null
  event: WebhookEvent
  seq: number
  at: number
  attempts: number
  isSent: boolean
  /** The record's id; null once the record is deleted. */
  recordId: string | null
  /** The length of what is sent of the record. */
  chars: number
}

/** How an attempt ended. */
interface Attempt extends PostResult {
  messageId: string
  at: number
  bytes: number
}

/** The outcome of an event: how its attempt ended, until when it waits, or null if it is not sent. */
export interface Outcome {
  endpoint: Endpoint
  row: QueuedEvent
  result: Attempt | { dueAt: number } | null
}

const queries = preparedQueries((db) => ({
  endpoints: db
    .select({
      ...endpointColumns,
      dueAt: sql<number | null>`(select min(due_at) from webhook_queue where webhook_id = webhooks.id)`,
    })
    .from(webhooks)
    .where(
      sql`${webhooks.disabledAt} is null
        and ${webhooks.projectId} in (select id from ${projects} where deleted_at is null)`,
    )
    .prepare(),
  due: db
    .select({
      id: sql<number>`queue.id`,
      kind: sql<QueuedEvent['kind']>`kind`,
      record: sql<number | null>`record`,
      erasedCalls: sql<number | null>`erased_calls`,
      alert: sql<string | null>`alert`,
      ref: sql<string | null>`ref`,
      event: sql<WebhookEvent>`event`,
      seq: sql<number>`queue.seq`,
      at: sql<number>`at`,
      attempts: sql<number>`attempts`,
      isSent: sql<number>`is_sent`,
      recordId: sql<string | null>`coalesce(calls.id, items.id)`,
      chars: sql<number>`coalesce(document_chars, octet_length(text), 0) + coalesce((
        select octet_length(details) from call_details join webhooks on webhooks.id = webhook_id and is_detailed
        where call_details.seq = calls.seq), 0)`,
    })
    .from(sql`webhook_queue as queue left join calls on kind = 'call' and calls.seq = record
      left join knowledge_items as items on kind = 'item' and items.seq = record`)
    .where(
      sql`webhook_id = ${sql.placeholder('webhookId')}
        and due_at between ${sql.placeholder('from')} and ${sql.placeholder('to')}`,
    )
    .orderBy(sql`due_at, is_sent, queue.id`)
    .limit(sql.placeholder('limit'))
    .prepare(),
  /** When earlier events with this ref are due. */
  before: db
    .select({ dueAt: sql<number | null>`max(coalesce(due_at, 0))` })
    .from(webhookQueue)
    .where(
      sql`ref = ${sql.placeholder('ref')} and webhook_id = ${sql.placeholder('webhookId')}
        and id < ${sql.placeholder('id')} and kind = ${sql.placeholder('kind')}`,
    )
    .prepare(),
  hasPendingChunks: db
    .select({ one: sql<number>`1` })
    .from(sql`chunks`)
    .where(sql`item_seq = ${sql.placeholder('item')} and embedding_space is null`)
    .limit(1)
    .prepare(),
  refOf: db
    .select({ ref: webhookQueue.ref })
    .from(webhookQueue)
    .where(sql`${webhookQueue.id} = ${sql.placeholder('id')}`)
    .prepare(),
}))

/**
 * The queue of events to send. Triggers fill it, in the transaction of the change. Of the rows of one record and
 * endpoint, only the earliest has a due time; its deletion makes the next one due. The row of a live call's change stays
 * after it was sent until the next may be sent; a change before then makes it due again.
 */
export class WebhookQueue {
  readonly #read: ReadDatabase
  readonly #write: WriteDatabase

  constructor({ read, write }: Pick<Core, 'read' | 'write'>) {
    this.#read = read
    this.#write = write
  }

  /** The endpoints that are enabled. */
  async endpoints(): Promise<Endpoint[]> {
    return await queries(this.#read).endpoints.all()
  }

  /** The events that are due at an endpoint. Retries come first, or new events would hold them up. */
  async due(webhookId: string, now: number, limit: number): Promise<QueuedEvent[]> {
    const { due } = queries(this.#read)
    const retried = await due.all({ webhookId, from: 1, to: now, limit })
    const room = limit - retried.length
    const fresh = room > 0 ? await due.all({ webhookId, from: 0, to: 0, limit: room }) : []
    return [...retried, ...fresh].map((row) => ({ ...row, isSent: row.isSent === 1 }))
  }

  /** The hash of a deleted record; null if it is unknown. */
  async deletedRef(row: QueuedEvent): Promise<string | null> {
    return (await queries(this.#read).refOf.get({ id: row.id }))?.ref ?? null
  }

  /** Whether an item has chunks that vector search does not find yet. */
  async isPending(item: number): Promise<boolean> {
    return (await queries(this.#read).hasPendingChunks.get({ item })) !== undefined
  }

  /** When the events of an earlier, deleted record with the same id are due; null if there are none. */
  async earlierDueAt(webhookId: string, row: QueuedEvent, ref: string): Promise<number | null> {
    const { id, kind } = row
    return (await queries(this.#read).before.get({ ref, webhookId, id, kind }))?.dueAt ?? null
  }

  /** Writes outcomes in one transaction. */
  async record(outcomes: readonly Outcome[]): Promise<void> {
    const attempts = outcomes.flatMap(({ endpoint, row, result }) => {
      if (!result || !('messageId' in result)) return []
      const { kind, record, event, seq, attempts } = row
      const of = { webhookId: endpoint.id, kind, record, ref: refOf(row), event, seq, attempt: attempts + 1 }
      return [{ ...of, ...result }]
    })
    await this.#write.batch({
      attempts: sql`
        insert into ${webhookAttempts} (webhook_id, message_id, kind, record, ref, event, seq, attempt, at, status, error,
          duration_ms, bytes, answer)
        select webhooks.id, value ->> 'messageId', value ->> 'kind', value ->> 'record', value ->> 'ref',
          value ->> 'event', value ->> 'seq', value ->> 'attempt', value ->> 'at', value ->> 'status', value ->> 'error',
          value ->> 'durationMs', value ->> 'bytes', iif(${mayKeepAnswer}, value ->> 'answer', null)
        from json_each(${JSON.stringify(attempts)}) cross join webhooks on webhooks.id = value ->> 'webhookId'`,
      answers: forgetAnswersBeyond(failedOf(outcomes)),
      queue: applying(outcomes.map(updateOf)),
      health: sql`
        update ${webhooks} set
          failures = case when value ->> 'lastSuccessAt' is null then failures else 0 end + value ->> 'failures',
          failing_since = case when value ->> 'lastSuccessAt' is null
            then coalesce(failing_since, value ->> 'failingSince') else value ->> 'failingSince' end,
          last_success_at = coalesce(value ->> 'lastSuccessAt', last_success_at)
        from json_each(${JSON.stringify(healthOf(outcomes))}) where webhooks.id = value ->> 'id'`,
    })
  }

  /** Deletes the queue or the attempts of a disabled endpoint, in slices, so that other writes are not held up. */
  async clear(webhookId: string, table: 'webhook_queue' | 'webhook_attempts'): Promise<void> {
    const rows = sql.raw(table)
    await this.#inSlices(
      sql`delete from ${rows} where id in (
        select id from ${rows} where webhook_id = ${webhookId}
          and exists (select 1 from ${webhooks} where id = ${webhookId} and disabled_at is not null)
        limit ${rowsPerDeletionMax}) returning id`,
    )
  }

  /** Deletes attempts older than 30 days. */
  async prune(now: number): Promise<void> {
    await this.#inSlices(
      sql`delete from ${webhookAttempts} where id in (
        select id from ${webhookAttempts} where at < ${now - attemptsKeptMs} limit ${rowsPerDeletionMax}) returning id`,
    )
  }

  async #inSlices(deletion: SQL): Promise<void> {
    while ((await this.#write.all(deletion)).length === rowsPerDeletionMax);
  }
}

/** The id of an erasure. A deleted record is found by its row number. */
function refOf({ kind, ref }: QueuedEvent): string | null {
  return kind === 'erasure' ? ref : null
}

/** The endpoints that have failed. */
function failedOf(outcomes: readonly Outcome[]): string[] {
  const failed = outcomes.filter(({ result }) => result && 'messageId' in result && !isSuccess(result))
  return [...new Set(failed.map(({ endpoint }) => endpoint.id))]
}

/** The new state of a row. A row that got a newer change meanwhile is not deleted, because that has to be sent. */
interface RowUpdate {
  id: number
  seq: number
  /** Null deletes it. */
  dueAt: number | null
  attempts: number
  /** Whether it was sent and is kept only while its call is live. */
  isSent: boolean
}

function updateOf({ row, result }: Outcome): RowUpdate {
  const { id, seq, attempts } = row
  const deletion: RowUpdate = { id, seq, dueAt: null, attempts: 0, isSent: false }
  if (result === null) return deletion
  if ('dueAt' in result) return { ...deletion, dueAt: result.dueAt, attempts }
  if (!isSuccess(result)) {
    const failures = attempts + 1
    return { ...deletion, dueAt: retryAt(failures, result.at + result.durationMs), attempts: failures }
  }
  if (row.event !== 'call.changed') return deletion
  return { ...deletion, dueAt: result.at + liveChangesMs, isSent: true }
}

function applying(updates: readonly RowUpdate[]): SQL[] {
  const postponed = updates.filter(({ dueAt }) => dueAt !== null)
  const deleted = updates.filter(({ dueAt, isSent }) => dueAt === null || isSent)
  return [
    sql`delete from ${webhookQueue} where id in (
      select queue.id from json_each(${JSON.stringify(deleted)})
        cross join webhook_queue as queue on queue.id = value ->> 'id' and queue.seq = value ->> 'seq'
      where not (value ->> 'isSent' and exists (select 1 from calls where calls.seq = record and status = 'live')))`,
    sql`update ${webhookQueue} set due_at = value ->> 'dueAt',
        attempts = case when seq = value ->> 'seq' then value ->> 'attempts' else 0 end,
        is_sent = case when seq = value ->> 'seq' then value ->> 'isSent' else 0 end
      from json_each(${JSON.stringify(postponed)}) where webhook_queue.id = value ->> 'id'`,
  ]
}

interface Health {
  id: string
  /** Failures since the last success among these attempts. */
  failures: number
  /** When the first of these failures was. */
  failingSince: number | null
  lastSuccessAt: number | null
}

/** The health of each endpoint, as far as these attempts tell. */
function healthOf(outcomes: readonly Outcome[]): Health[] {
  const all = new Map<string, Health>()
  for (const { endpoint, result } of outcomes) {
    if (!result || 'dueAt' in result) continue
    const none = { id: endpoint.id, failures: 0, failingSince: null, lastSuccessAt: null }
    const before = all.get(endpoint.id) ?? none
    const { failures, failingSince } = before
    const after = isSuccess(result)
      ? { ...none, lastSuccessAt: result.at }
      : { ...before, failures: failures + 1, failingSince: failingSince ?? result.at }
    all.set(endpoint.id, after)
  }
  return [...all.values()]
}
