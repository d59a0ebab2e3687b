import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { AuditAction } from '../audit/actions.ts'
import { byService } from '../audit/audit-trail.ts'
import type { Core } from '../core/core.ts'
import { erasing } from '../db/erasing.ts'
import { ownsProject } from '../db/requirements.ts'
import { calls, projects, webhookAttempts, webhookQueue, webhooks } from '../db/schema.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { type AppError, type FieldError, invalidRequest, notFound } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { newId } from '../ids.ts'
import { toIso } from '../text/instant.ts'
import type { Addresses } from './addresses.ts'
import { answersKeptMs } from './answers.ts'
import { failingMsMax, rotationMs, type WebhookEvent, webhookEvents } from './events.ts'
import type { Endpoint, WebhookQueue } from './queue.ts'
import { queueChanges } from './replay.ts'
import type { WebhookChange } from './schemas.ts'
import { newSecret } from './signing.ts'

const webhooksMax = 50
/** And no other destination of alerts: those stand in rules alone. */
const isWebhook = eq(webhooks.kind, 'webhook')

interface NewWebhook {
  url: string
  /** All by default. */
  events?: readonly string[] | undefined
  /** Whether to send calls with their details. */
  details?: boolean | undefined
  createdBy?: string | null
}

/** A webhook as people see it, without its secret. */
export interface WebhookRecord {
  id: string
  url: string
  events: WebhookEvent[]
  /** Whether calls are sent with their details. */
  details: boolean
  /** False when it was switched off. */
  enabled: boolean
  /** Events that wait to be sent. */
  pending: number
  /** Failed attempts since the last success. */
  failures: number
  lastSuccessAt: string | null
  failingSince: string | null
  disabledAt: string | null
  disabledReason: string | null
  /** Until when the previous secret also signs. */
  previousSecretUntil: string | null
  createdAt: string
  createdBy: string | null
}

/** A new webhook, with its secret. No other answer but that of a rotation has a secret. */
export interface CreatedWebhook extends Pick<WebhookRecord, 'id' | 'url' | 'events'> {
  secret: string
}

interface WebhooksParts {
  queue: WebhookQueue
  addresses: Addresses
  erasure: Pick<Erasure, 'schedule'>
}

/** The webhook endpoints of projects. */
export class Webhooks {
  readonly #parts: Core & WebhooksParts

  constructor(core: Core, parts: WebhooksParts) {
    this.#parts = { ...core, ...parts }
  }

  /** @throws invalid_request naming each bad field; forbidden unless `by` owns the project */
  async create(projectId: number, input: NewWebhook, by?: ActedBy): Promise<CreatedWebhook> {
    const { url, events = webhookEvents, details = false, createdBy = null } = input
    const { read, write, audit, addresses, now } = this.#parts
    const problem = await addresses.problemOf(url)
    const problems: FieldError[] = problem === null ? [] : [{ field: 'url', message: problem }]
    problems.push(...eventProblems(events))
    const [{ n = 0 } = {}] = await read
      .select({ n: sql<number>`count(*)` })
      .from(webhooks)
      .where(and(eq(webhooks.projectId, projectId), isWebhook))
    if (n >= webhooksMax)
      problems.push({
        field: 'url',
        message: `cannot be added: a project can have at most ${webhooksMax} webhooks`,
      })
    if (problems.length > 0) throw invalidRequest(problems)
    const ordered = webhookEvents.filter((event) => events.includes(event))
    const row = { id: newId('wh'), projectId, url, events: ordered, secret: newSecret() }
    const target = labelOf(row)
    await write.batchIf([ownsProject(projectId, by)], {
      created: write.insert(webhooks).values({ ...row, isDetailed: details, createdAt: now(), createdBy }),
      entry: audit.entry({ by, projectId, action: 'webhook_created', target, targetRef: row.id }),
    })
    return { id: row.id, url, events: ordered, secret: row.secret }
  }

  async list(projectId: number): Promise<WebhookRecord[]> {
    const pending = sql<number>`(select count(*) from ${webhookQueue} where webhook_id = webhooks.id and not is_sent)`
    const rows = await this.#parts.read
      .select({ row: webhooks, pending })
      .from(webhooks)
      .where(and(eq(webhooks.projectId, projectId), isWebhook))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
    return rows.map(({ row, pending }) => toRecord(row, pending, this.#parts.now()))
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<WebhookRecord> {
    const record = (await this.list(projectId)).find((one) => one.id === id)
    if (!record) throw noSuchWebhook()
    return record
  }

  /**
   * Changes what is given. Switched off, it forgets what waits; enabled again, it is sent what it missed.
   * @throws not_found; invalid_request naming each bad field; forbidden unless `by` owns the project
   */
  async change(
    projectId: number,
    id: string,
    { url, events, details, enabled }: WebhookChange,
    by?: ActedBy,
  ): Promise<WebhookRecord> {
    const { disabledAt } = await this.find(projectId, id)
    const { addresses, queue, now } = this.#parts
    const problem = url === undefined ? null : await addresses.problemOf(url)
    const problems: FieldError[] = problem === null ? [] : [{ field: 'url', message: problem }]
    if (events) problems.push(...eventProblems(events))
    if (problems.length > 0) throw invalidRequest(problems)
    const ordered = webhookEvents.filter((event) => events?.includes(event))
    const sets = [
      ...(url === undefined ? [] : [sql`url = ${url}`]),
      ...(events ? [sql`events = ${JSON.stringify(ordered)}`] : []),
      ...(details === undefined ? [] : [sql`is_detailed = ${details}`]),
    ]
    const change = { changes: sql.join(sets, sql`, `), action: 'webhook_changed', by } as const
    if (sets.length > 0) await this.#change(projectId, id, change)
    if (enabled && disabledAt !== null) await this.enable(projectId, id, by)
    if (enabled === false && disabledAt === null) {
      const changes = switchingOff({ id, projectId, at: now(), reason: 'It was switched off.' })
      await this.#change(projectId, id, { changes, action: 'webhook_switched_off', by })
      await queue.clear(id, 'webhook_queue')
    }
    return await this.get(projectId, id)
  }

  /** Makes a new secret and returns it. For a day, the previous one also signs. @throws not_found, forbidden */
  async rotate(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; secret: string }> {
    const secret = newSecret()
    const previousSecretUntil = this.#parts.now() + rotationMs
    const changes = sql`previous_secret = secret, previous_secret_until = ${previousSecretUntil}, secret = ${secret}`
    await this.#change(projectId, id, { changes, action: 'webhook_secret_rotated', by })
    return { id, secret }
  }

  /** Erases previous secrets a day after their rotation. */
  async expireSecrets(): Promise<void> {
    const { read, write, erasure, now } = this.#parts
    const isOver = sql`previous_secret_until <= ${now()}`
    const over = await read
      .select({ id: webhooks.id, projectId: webhooks.projectId })
      .from(webhooks)
      .where(isOver)
    for (const { id, projectId } of over) {
      await write.batch({
        ledger: this.#erasing(projectId, id),
        forgotten: sql`
          update ${webhooks} set previous_secret = null, previous_secret_until = null where id = ${id} and ${isOver}`,
      })
      erasure.schedule(projectId)
    }
  }

  /** Erases answers to failed attempts after a week. */
  async expireAnswers(): Promise<void> {
    const { read, write, erasure, now } = this.#parts
    const isOver = sql`answer is not null and ${webhookAttempts.at} <= ${now() - answersKeptMs}`
    const over = await read
      .selectDistinct({ id: webhooks.id, projectId: webhooks.projectId })
      .from(webhookAttempts)
      .innerJoin(webhooks, eq(webhooks.id, webhookAttempts.webhookId))
      .where(isOver)
    for (const { id, projectId } of over) {
      await write.batch({
        ledger: this.#erasing(projectId, id),
        forgotten: sql`update ${webhookAttempts} set answer = null where webhook_id = ${id} and ${isOver}`,
      })
      erasure.schedule(projectId)
    }
  }

  /**
   * Enables a webhook that was switched off, and queues what it has missed. If that fails, the next call does it.
   * @throws not_found, forbidden
   */
  async enable(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; queued: number }> {
    const { missedAfter } = await this.find(projectId, id)
    const changes = sql`disabled_at = null, disabled_reason = null, failures = 0, failing_since = null`
    await this.#change(projectId, id, { changes, action: 'webhook_enabled', by })
    if (missedAfter === null) return { id, queued: 0 }
    const queued = await this.#queueAgain(projectId, id, missedAfter)
    // Last, so that nothing is missed if the process ends before the events are queued.
    await this.#parts.write.run(sql`
      update ${webhooks} set missed_after = null where id = ${id} and disabled_at is null`)
    return { id, queued }
  }

  /**
   * Queues every record that has changed since the change number `after`, as it is now, with new message ids.
   * @throws not_found; invalid_request for one that is switched off; forbidden
   */
  async replay(
    projectId: number,
    id: string,
    after: number,
    by?: ActedBy,
  ): Promise<{ id: string; queued: number }> {
    const { disabledAt } = await this.find(projectId, id)
    if (disabledAt !== null) throw webhookIsOff()
    if (!Number.isSafeInteger(after) || after < 0)
      throw invalidRequest([{ field: 'after', message: 'must be a whole number, the seq of a change' }])
    await this.note(projectId, id, 'webhook_replayed', by)
    return { id, queued: await this.#queueAgain(projectId, id, after) }
  }

  /** @throws not_found, forbidden */
  async delete(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; deleted: true }> {
    const { write, queue, erasure, now } = this.#parts
    const changes = sql`disabled_at = ${now()}, disabled_reason = 'It is being deleted.'`
    await this.#change(projectId, id, { changes, action: 'webhook_deleted', by })
    await queue.clear(id, 'webhook_queue')
    await queue.clear(id, 'webhook_attempts')
    await write.batch({
      ledger: this.#erasing(projectId, id),
      deleted: write.delete(webhooks).where(eq(webhooks.id, id)),
    })
    erasure.schedule(projectId)
    return { id, deleted: true }
  }

  /** Disables an endpoint whose attempts have failed for too long. `missed_after` tells what `enable` has to send. */
  async switchOff({ id, projectId, url }: Endpoint, reason: string): Promise<void> {
    const { write, audit, queue, now, log } = this.#parts
    const { off } = await write.batch({
      off: write.all(sql`
        update ${webhooks} set ${switchingOff({ id, projectId, at: now(), reason })}
        where id = ${id} and disabled_at is null and failing_since <= ${now() - failingMsMax} returning id`),
      entry: audit.entry({
        by: byService,
        projectId,
        action: 'webhook_switched_off',
        target: labelOf({ id, url }),
        targetRef: id,
      }),
    })
    if (off.length === 0) return
    log.warn({ webhook: id, reason }, 'A webhook was disabled')
    await queue.clear(id, 'webhook_queue')
  }

  /**
   * The statement that queues `erasure.done` for the endpoints that take it. Put it right after the statement that marks
   * an erasure as done; if that changed no row, it queues nothing.
   */
  erasureDone(projectId: number, { id, calls }: { id: string; calls: number }): SQL {
    return sql`
      insert into ${webhookQueue} (webhook_id, kind, erased_calls, ref, event, seq, at)
      select webhooks.id, 'erasure', ${calls}, ${id}, 'erasure.done', change_seq, ${this.#parts.now()}
      from ${webhooks} cross join ${projects} on projects.id = project_id
      where project_id = ${projectId} and disabled_at is null and instr(events, '"erasure.done"') > 0
        and changes() > 0`
  }

  /** The statement that queues the event of an analysis. @param seq selects the call's row number */
  callAnalyzed(projectId: number, seq: SQL): SQL {
    return sql`
      insert into ${webhookQueue} (webhook_id, kind, record, event, seq, at)
      select webhooks.id, 'call', calls.seq, 'call.analyzed', change_seq, ${this.#parts.now()}
      from ${webhooks} cross join ${calls} on calls.seq = ${seq}
      where webhooks.project_id = ${projectId} and disabled_at is null and instr(events, '"call.analyzed"') > 0`
  }

  /** The project that a webhook belongs to. @throws not_found */
  async projectOf(id: string): Promise<number> {
    const [row] = await this.#parts.read
      .select({ projectId: webhooks.projectId })
      .from(webhooks)
      .where(and(eq(webhooks.id, id), isWebhook))
    if (!row) throw noSuchWebhook()
    return row.projectId
  }

  async #queueAgain(projectId: number, id: string, after: number): Promise<number> {
    const { read, write } = this.#parts
    return await queueChanges({ read, write, projectId, webhookId: id, after })
  }

  /** Its row, with its secrets. @throws not_found */
  async find(projectId: number, id: string): Promise<typeof webhooks.$inferSelect> {
    const [row] = await this.#parts.read
      .select()
      .from(webhooks)
      .where(and(eq(webhooks.id, id), eq(webhooks.projectId, projectId), isWebhook))
    if (!row) throw noSuchWebhook()
    return row
  }

  /** Records what is done with a webhook. @throws not_found, forbidden */
  async note(projectId: number, id: string, action: WebhookAction, by: ActedBy | undefined): Promise<void> {
    await this.#change(projectId, id, { changes: sql`id = id`, action, by })
  }

  async #change(projectId: number, id: string, { changes, action, by }: NotedChange): Promise<void> {
    const { write, audit, erasure } = this.#parts
    const target = labelOf(await this.find(projectId, id))
    await write.batchIf([ownsProject(projectId, by)], {
      // A rotation replaces the previous secret, so the bytes of that must be erased.
      ledger: action === 'webhook_secret_rotated' ? [this.#erasing(projectId, id)] : [],
      changed: sql`update ${webhooks} set ${changes} where id = ${id} and project_id = ${projectId}`,
      entry: audit.entry({ by, projectId, action, target, targetRef: id }),
    })
    erasure.schedule(projectId)
  }

  #erasing(projectId: number, id: string): SQL {
    return erasing(this.#parts, { projectId, kind: 'webhook', id })
  }
}

type WebhookAction = Extract<AuditAction, `webhook_${string}`>

interface NotedChange {
  changes: SQL
  action: WebhookAction
  by: ActedBy | undefined
}

/** What is set of an endpoint that is switched off. `missed_after` tells what `enable` has to send. */
function switchingOff(off: { id: string; projectId: number; at: number; reason: string }): SQL {
  const { id, projectId, at, reason } = off
  return sql`disabled_at = ${at}, disabled_reason = ${reason}, missed_after = coalesce(
    missed_after, (select min(seq) - 1 from ${webhookQueue} where webhook_id = ${id} and not is_sent),
    (select change_seq from ${projects} where id = ${projectId}))`
}

function eventProblems(events: readonly string[]): FieldError[] {
  const names: readonly string[] = webhookEvents
  const unknown = events.flatMap((event, at) =>
    names.includes(event)
      ? []
      : [
          {
            field: `events.${at}`,
            message: `is ${JSON.stringify(event.slice(0, 60))}; known are ${names.join(', ')}`,
          },
        ],
  )
  return events.length === 0 ? [{ field: 'events', message: 'must name at least one event' }] : unknown
}

/** How the audit trail names a webhook: by host, since the rest of the URL may hold a secret. */
function labelOf({ id, url }: { id: string; url: string }): string {
  return `${new URL(url).host} (${id})`
}

function toRecord(row: typeof webhooks.$inferSelect, pending: number, now: number): WebhookRecord {
  const { id, url, failures, disabledReason, createdBy, previousSecretUntil } = row
  const isRotating = previousSecretUntil !== null && previousSecretUntil > now
  return {
    id,
    url,
    events: row.events as WebhookEvent[],
    details: row.isDetailed,
    enabled: row.disabledAt === null,
    pending,
    failures,
    lastSuccessAt: toIso(row.lastSuccessAt),
    failingSince: toIso(row.failingSince),
    disabledAt: toIso(row.disabledAt),
    disabledReason,
    previousSecretUntil: toIso(isRotating ? previousSecretUntil : null),
    createdAt: new Date(row.createdAt).toISOString(),
    createdBy,
  }
}

/** The error for what only an enabled webhook can do. */
export function webhookIsOff(): AppError {
  return invalidRequest([
    { field: 'id', message: 'is disabled: enable it to send the events that it missed' },
  ])
}

function noSuchWebhook(): AppError {
  return notFound('There is no such webhook.', 'Webhook not found')
}
