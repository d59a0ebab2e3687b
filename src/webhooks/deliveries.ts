import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { ownsProject } from '../db/requirements.ts'
import {
  calls,
  erasureRequests,
  erasures,
  knowledgeItems,
  webhookAttempts,
  webhookQueue,
} from '../db/schema.ts'
import { AppError, invalidRequest } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { newId } from '../ids.ts'
import { toIso } from '../text/instant.ts'
import type { Addresses } from './addresses.ts'
import type { WebhookEvent } from './events.ts'
import { exampleOf } from './examples.ts'
import type { Messages } from './message.ts'
import { Poster } from './post.ts'
import type { QueuedEvent } from './queue.ts'
import { signedHeaders } from './signing.ts'
import { type Webhooks, webhookIsOff } from './webhooks.ts'

const attemptsShownMax = 200
const attemptsOfMessageMax = 20
/** How much of a body people are shown. */
const bodyCharsShownMax = 262_144
/** Tests that run at once, of all projects. */
const testsMax = 8

/** One attempt to send an event. */
export interface WebhookAttempt {
  messageId: string
  event: string
  seq: number
  /** 1 for the first one. */
  attempt: number
  at: string
  /** Null when there was no answer; then `error` says why. */
  status: number | null
  error: string | null
  durationMs: number
  /** The size of the sent body. */
  bytes: number
  /** Whether a person sent it to try the endpoint. */
  isTest: boolean
}

/** A message with its attempts, newest first. */
export interface WebhookMessage {
  /** `answer`: how the answer to a failed attempt begins; null once it is forgotten. */
  attempts: (WebhookAttempt & { answer: string | null })[]
  /** When it is tried again; null if it is not. */
  nextAt: string | null
  /** What would be sent now; null for nothing. */
  body: { text: string; isCut: boolean } | null
  /** The id of the call that the body tells of. */
  callId: string | null
}

interface DeliveriesParts {
  webhooks: Webhooks
  messages: Messages
  addresses: Addresses
}

/** What was sent to a webhook, what it would get now, and sending it again. */
export class Deliveries {
  readonly #parts: Core & DeliveriesParts
  #tests = 0

  constructor(core: Core, parts: DeliveriesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** The newest attempts, newest first. @throws not_found */
  async list(projectId: number, id: string, { isFailed = false } = {}): Promise<WebhookAttempt[]> {
    await this.#parts.webhooks.find(projectId, id)
    const rows = await this.#parts.read
      .select(attemptColumns)
      .from(webhookAttempts)
      .where(
        and(
          eq(webhookAttempts.webhookId, id),
          isFailed ? sql`coalesce(status, 0) not between 200 and 299` : sql`true`,
        ),
      )
      .orderBy(sql`id desc`)
      .limit(attemptsShownMax)
    return rows.map(toAttempt)
  }

  /** @throws not_found */
  async get(projectId: number, id: string, messageId: string): Promise<WebhookMessage> {
    const endpoint = await this.#parts.webhooks.find(projectId, id)
    const details = await this.#messageOf(projectId, id, messageId)
    const message = details.event && (await this.#parts.messages.of(endpoint, details.event))
    const [waiting] = await this.#parts.read
      .select({ dueAt: webhookQueue.dueAt })
      .from(webhookQueue)
      .where(waitsAgain(id, details))
    return {
      attempts: details.attempts.map(({ answer, ...row }) => ({ ...toAttempt(row), answer })),
      nextAt: toIso(waiting?.dueAt ?? null),
      body: message
        ? { text: message.body.slice(0, bodyCharsShownMax), isCut: message.body.length > bodyCharsShownMax }
        : null,
      callId: details.event?.kind === 'call' ? details.event.recordId : null,
    }
  }

  /**
   * Sends an event again, with what is stored of its record now: at once if it waits for its next try, else as a new
   * message. @throws not_found; invalid_request for one that is switched off, and for what is over; forbidden
   */
  async resend(
    projectId: number,
    id: string,
    messageId: string,
    by: ActedBy,
  ): Promise<{ id: string; resent: true }> {
    const { write, webhooks, now } = this.#parts
    const { disabledAt } = await webhooks.find(projectId, id)
    if (disabledAt !== null) throw webhookIsOff()
    const details = await this.#messageOf(projectId, id, messageId)
    if (!details.event) throw momentIsPast()
    await webhooks.note(projectId, id, 'webhook_resent', by)
    const { kind, record, ref, erasedCalls, event, seq, at } = details.event
    await write.batchIf([ownsProject(projectId, by)], {
      hurried: sql`update ${webhookQueue} set due_at = min(due_at, ${now()}) where ${waitsAgain(id, details)}`,
      queued: sql`
        insert into ${webhookQueue} (webhook_id, kind, record, ref, erased_calls, event, seq, at)
        select id, ${kind}, ${record}, ${ref}, ${erasedCalls}, ${event}, ${seq}, ${at} from webhooks
        where id = ${id} and disabled_at is null
          and not exists (select 1 from ${webhookQueue} where ${waitsAgain(id, details)})`,
    })
    return { id: messageId, resent: true }
  }

  /** Sends an example of an event, once, and tells how that ended. @throws not_found, forbidden */
  async test(
    projectId: number,
    id: string,
    event: WebhookEvent,
    by: ActedBy,
  ): Promise<{ messageId: string }> {
    const { write, webhooks, addresses, now } = this.#parts
    const { url, secret } = await webhooks.find(projectId, id)
    await webhooks.note(projectId, id, 'webhook_tested', by)
    if (this.#tests >= testsMax) throw tooManyTests()
    const [messageId, at] = [newId('msg'), now()]
    const body = JSON.stringify(exampleOf(event, at))
    const poster = new Poster({ addresses })
    this.#tests++
    try {
      const headers = signedHeaders({ secrets: [secret], messageId, body, at })
      const { signal } = new AbortController()
      const result = await poster.post(new URL(url), { body, headers, signal })
      const of = { webhookId: id, messageId, kind: 'test', event, seq: 0, attempt: 1, at } as const
      await write.insert(webhookAttempts).values({ ...of, ...result, bytes: Buffer.byteLength(body) })
      return { messageId }
    } finally {
      this.#tests--
      poster.close()
    }
  }

  /** @throws not_found */
  async #messageOf(projectId: number, id: string, messageId: string): Promise<SentMessage> {
    const attempts = await this.#parts.read
      .select({
        ...attemptColumns,
        answer: webhookAttempts.answer,
        record: webhookAttempts.record,
        ref: webhookAttempts.ref,
      })
      .from(webhookAttempts)
      .where(and(eq(webhookAttempts.webhookId, id), eq(webhookAttempts.messageId, messageId)))
      .orderBy(desc(webhookAttempts.id))
      .limit(attemptsOfMessageMax)
    const [newest] = attempts
    if (!newest) throw new AppError('not_found', 'Not found', { detail: 'There is no such message.' })
    const source = sourceOf(projectId, newest)
    const [now] = source ? await this.#parts.read.all<RecordNow>(source) : []
    // A newer process on the same database may record other events.
    const event = newest.event as WebhookEvent
    const { kind, record } = newest
    if (!now || kind === 'test') return { attempts, kind, record, event: null }
    const unsent = { id: 0, alert: null, attempts: 0, isSent: false, chars: 0 }
    return { attempts, kind, record, event: { ...unsent, ...now, kind, record, event } }
  }
}

/** What a message was about, and the event that would be sent now; null for what is over. */
interface SentMessage {
  attempts: (AttemptRow & { answer: string | null })[]
  kind: AttemptRow['kind']
  record: number | null
  event: QueuedEvent | null
}

type AttemptRow = Pick<typeof webhookAttempts.$inferSelect, keyof typeof attemptColumns>
type RecordNow = Pick<QueuedEvent, 'seq' | 'at' | 'recordId' | 'ref' | 'erasedCalls'>

const attemptColumns = {
  messageId: webhookAttempts.messageId,
  kind: webhookAttempts.kind,
  event: webhookAttempts.event,
  seq: webhookAttempts.seq,
  attempt: webhookAttempts.attempt,
  at: webhookAttempts.at,
  status: webhookAttempts.status,
  error: webhookAttempts.error,
  durationMs: webhookAttempts.durationMs,
  bytes: webhookAttempts.bytes,
}

function toAttempt({ kind, at, ...row }: AttemptRow): WebhookAttempt {
  return { ...row, at: new Date(at).toISOString(), isTest: kind === 'test' }
}

/** Selects the record of an event as it is now, or its deletion; null for an event of a moment that is over. */
function sourceOf(
  projectId: number,
  { kind, record, ref }: { kind: AttemptRow['kind']; record: number | null; ref: string | null },
): SQL | null {
  switch (kind) {
    case 'call':
    case 'item':
      return sql`
        select change_seq as seq, updated_at as at, id as recordId, null as ref, null as erasedCalls
        from ${kind === 'call' ? calls : knowledgeItems} where project_id = ${projectId} and seq = ${record}
        union all select change_seq, requested_at, null, id_hash, null
        from ${erasures} where project_id = ${projectId} and kind = ${kind} and record = ${record}`
    case 'erasure':
      return sql`
        select change_seq as seq, done_at as at, null as recordId, request.id as ref, deleted as erasedCalls
        from ${erasureRequests} as request join ${erasures} on erasures.project_id = ${projectId}
          and kind = 'calls' and id_hash = request.id where request.id = ${ref} and done_at is not null`
    case 'alert':
    case 'test':
      return null
    default:
      return kind satisfies never
  }
}

/** The row of a failed event that waits for its next try. */
function waitsAgain(webhookId: string, { kind, record, event }: SentMessage): SQL {
  // An erasure has no row number, but an id.
  const isSame = kind === 'erasure' ? sql`ref = ${event?.ref ?? ''}` : sql`record is ${record}`
  return sql`webhook_id = ${webhookId} and kind = ${kind} and ${isSame} and event = ${event?.event ?? ''}
    and attempts > 0 and not is_sent and due_at is not null`
}

function momentIsPast(): AppError {
  return invalidRequest([
    { field: 'message', message: 'tells of a moment that is over, and is not sent again' },
  ])
}

function tooManyTests(): AppError {
  return new AppError('rate_limited', 'Too many requests', {
    detail: 'Too many webhooks are being tested. Try again in a few seconds.',
    retryAfterSeconds: 5,
  })
}
