import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { WindowFigures } from '../calls/figures/window-figures.ts'
import type { Core } from '../core/core.ts'
import type { Requirement } from '../db/requirements.ts'
import { alertChanges, alerts, auditEvents, projects, webhookQueue } from '../db/schema.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { AppError, invalidRequest } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { newId } from '../ids.ts'
import { FairQueue } from '../threads/fair-queue.ts'
import { compileCheck } from '../validation.ts'
import { type AlertMessages, queueing, windowOf } from './alert-message.ts'
import type { Destinations, OfferedDestination } from './destinations.ts'
import { type Preview, previewOf } from './preview.ts'
import {
  type Alert,
  AlertChange,
  type AlertMessage,
  alertErrors,
  completeRule,
  type Destination,
  type Rule,
} from './schemas.ts'

const alertsMax = 50
const keptDays = 90
const dayMs = 86_400_000
const changesPerPageMax = 100
const changesPerDeletionMax = 1_000
/** For each project: the console asks for several while somebody types. */
const previewsWaitingMax = 4
const testsPerHourMax = 10
const testRetrySeconds = 600
const hourMs = 3_600_000
/** How many of the newest entries of the audit trail are searched for tests. */
const entriesSearchedMax = 5_000

interface AlertsParts {
  figures: WindowFigures
  destinations: Destinations
  messages: AlertMessages
  erasure: Pick<Erasure, 'schedule'>
}

/** A change of an alert's state, with the figure that the rule had then. */
export interface AlertChangeRow extends AlertMessage, Pick<Rule, 'of' | 'show'> {
  seq: number
  at: string
  /** When the next change came; null while this state lasts. */
  until: string | null
}

interface AlertChanges {
  data: AlertChangeRow[]
  /** The `before` of the next page; null on the last one. */
  next: number | null
}

const check = compileCheck(AlertChange, alertErrors)

/** The alerts of projects: rules about figures of recent calls, and their states. */
export class Alerts {
  readonly #parts: Core & AlertsParts
  readonly #previews = new FairQueue<Preview>(previewsWaitingMax)

  constructor(core: Core, parts: AlertsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Returns the alerts in the order in which they were made. */
  async list(projectId: number): Promise<Alert[]> {
    const rows = await this.#rows(projectId)
    const destinations = await this.#parts.destinations.byId(rows.flatMap(({ destinations }) => destinations))
    return rows.map((row) =>
      toAlert(
        row,
        row.destinations.flatMap((id) => destinations.get(id) ?? []),
      ),
    )
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<Alert> {
    const alert = (await this.list(projectId)).find((alert) => alert.id === id)
    if (!alert) throw noAlert()
    return alert
  }

  /** Where rules can be sent. */
  destinations(projectId: number): Promise<OfferedDestination[]> {
    return this.#parts.destinations.offered(projectId)
  }

  /** @throws invalid_request naming each bad field */
  async create(projectId: number, change: unknown, by?: ActedBy): Promise<Alert> {
    const { store, destinations, audit, now } = this.#parts
    const { rule, to, isPaused } = this.#read(change)
    if ((await this.#rows(projectId)).length >= alertsMax)
      throw invalidRequest([
        { field: 'name', message: `cannot be added: a project can have at most ${alertsMax} alerts` },
      ])
    const { ids, statements } = await destinations.resolve(projectId, to, [])
    const { write } = store(projectId)
    const id = newId('alr')
    await write.batch({
      destinations: statements,
      added: write.insert(alerts).values({
        id,
        projectId,
        rule: { ...rule },
        destinations: ids,
        isPaused,
        since: now(),
        createdAt: now(),
      }),
      entry: audit.entry({ by, projectId, action: 'alert_created', target: id, targetRef: id }),
    })
    return await this.get(projectId, id)
  }

  /** Replaces the rule; the state stays until the next evaluation. @throws not_found; invalid_request naming each bad field */
  async put(projectId: number, id: string, change: unknown, by?: ActedBy): Promise<Alert> {
    const { destinations } = this.#parts
    const { destinations: before } = await this.#find(projectId, id)
    const { rule, to, isPaused } = this.#read(change)
    const { ids, statements } = await destinations.resolve(projectId, to, before)
    const changes = sql`rule = ${JSON.stringify(rule)}, destinations = ${JSON.stringify(ids)}, is_paused = ${isPaused ? 1 : 0}`
    const dropped = before.filter((one) => !ids.includes(one))
    await this.#change(projectId, { id, changes, by, statements, dropped })
    return await this.get(projectId, id)
  }

  /** @throws not_found */
  async pause(projectId: number, id: string, isPaused: boolean, by?: ActedBy): Promise<Alert> {
    await this.#find(projectId, id)
    await this.#change(projectId, { id, changes: sql`is_paused = ${isPaused ? 1 : 0}`, by })
    return await this.get(projectId, id)
  }

  /** What waits to be sent of it is not sent. @throws not_found */
  async delete(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; deleted: true }> {
    const { store, destinations, audit, erasure } = this.#parts
    const { seq, destinations: destinationIds } = toStored(await this.#find(projectId, id))
    const { writeWhenFull: write } = store(projectId)
    await write.batch({
      waiting: write
        .delete(webhookQueue)
        .where(and(eq(webhookQueue.kind, 'alert'), eq(webhookQueue.record, seq))),
      deleted: write.delete(alerts).where(eq(alerts.seq, seq)),
      entry: audit.entry({ by, projectId, action: 'alert_deleted', target: id, targetRef: id }),
      dropped: destinations.release(projectId, destinationIds),
    })
    erasure.schedule(projectId)
    return { id, deleted: true }
  }

  /**
   * Sends an alert and its end to the destinations, marked as a test.
   * @throws not_found; rate_limited while a test of the alert waits, and beyond ten an hour in the project
   */
  async test(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; queued: number }> {
    const { store, messages, audit, now } = this.#parts
    const alert = toStored(await this.#find(projectId, id))
    const { rule, value, calls } = alert
    const limit = (rule.above ?? rule.below)?.alert ?? null
    const { write } = store(projectId)
    const queued = (state: 'alert' | 'ok') => {
      const message = messages.of(alert, { state, value, limit, calls }, windowOf(rule, now()))
      return queueing(alert, { ...message, test: true }, now())
    }
    const { entry: _, ...queuedTests } = await write.batchIf(mayTest(projectId, alert.seq, now()), {
      found: sql`update ${alerts} set version = version where id = ${id}`,
      entry: audit.entry({ by, projectId, action: 'alert_tested', target: id, targetRef: id }),
      alert: queued('alert'),
      ok: queued('ok'),
    })
    return { id, queued: queuedTests.alert.rowsAffected + queuedTests.ok.rowsAffected }
  }

  /** What fired, newest first. @param before of an earlier page */
  async changes(
    projectId: number,
    { alert, before }: { alert?: string; before?: number } = {},
  ): Promise<AlertChanges> {
    const rows = await this.#parts.store(projectId).read.all<{
      seq: number
      at: number
      until: number | null
      message: string
    }>(sql`
      select changes.seq as seq, changes.at as at, message, (
        select later.at from ${alertChanges} as later where later.alert_seq = changes.alert_seq and later.seq > changes.seq
        order by later.seq limit 1) as until
      from ${alertChanges} as changes cross join ${alerts} on alerts.seq = changes.alert_seq
      where project_id = ${projectId} and (${alert ?? null} is null or alerts.id = ${alert ?? null})
        and changes.seq < ${before ?? Number.MAX_SAFE_INTEGER}
      order by changes.seq desc limit ${changesPerPageMax + 1}`)
    const data = rows.slice(0, changesPerPageMax).map(({ message, seq, at, until }) => ({
      ...(JSON.parse(message) as AlertMessage & Pick<Rule, 'of' | 'show'>),
      seq,
      at: new Date(at).toISOString(),
      until: until === null ? null : new Date(until).toISOString(),
    }))
    return { data, next: rows.length > changesPerPageMax ? (data.at(-1)?.seq ?? null) : null }
  }

  /**
   * When the rule would have changed its state in the last 30 days.
   * @throws invalid_request naming each bad field; unavailable while too many others of the project wait
   */
  async preview(projectId: number, change: unknown): Promise<Preview> {
    const { figures, now } = this.#parts
    const { rule } = this.#read(change, { isPreview: true })
    const preview = () => previewOf({ figures, projectId, rule, now: now() })
    return await this.#previews.do(projectId, JSON.stringify(rule), preview)
  }

  /** Deletes changes older than 90 days. */
  async expire(): Promise<void> {
    const { read, write, now } = this.#parts
    const before = now() - keptDays * dayMs
    const old = sql`select seq from ${alertChanges} where at < ${before} limit ${changesPerDeletionMax}`
    // Read first, since a write needs the primary.
    while ((await read.all(old)).length > 0)
      await write.run(sql`delete from ${alertChanges} where seq in (${old})`)
  }

  /** @param options.isPreview of a rule that nobody is told of yet */
  #read(
    change: unknown,
    { isPreview = false } = {},
  ): { rule: Rule; to: NonNullable<AlertChange['to']>; isPaused: boolean } {
    const read = check(change)
    const errors = alertErrors(isPreview ? { ...read, to: [], showOnly: true } : read)
    const rule = completeRule(read)
    try {
      this.#parts.figures.check(rule)
    } catch (error) {
      if (!(error instanceof AppError) || !error.errors) throw error
      errors.push(...error.errors)
    }
    if (errors.length > 0) throw invalidRequest(errors)
    return { rule, to: read.to ?? [], isPaused: read.paused ?? false }
  }

  async #change(
    projectId: number,
    {
      id,
      changes,
      by,
      statements = [],
      dropped = [],
    }: {
      id: string
      changes: SQL
      by?: ActedBy | undefined
      statements?: SQL[]
      dropped?: string[]
    },
  ): Promise<void> {
    const { store, destinations, audit, erasure } = this.#parts
    await store(projectId).write.batch({
      destinations: statements,
      changed: sql`update ${alerts} set ${changes}, version = version + 1 where id = ${id}`,
      entry: audit.entry({ by, projectId, action: 'alert_changed', target: id, targetRef: id }),
      dropped: destinations.release(projectId, dropped),
    })
    if (dropped.length > 0) erasure.schedule(projectId)
  }

  async #rows(projectId: number, id?: string): Promise<Row[]> {
    const rows = await this.#parts
      .store(projectId)
      .read.select({ alert: alerts, project: projects.publicId })
      .from(alerts)
      .innerJoin(projects, eq(projects.id, alerts.projectId))
      .where(and(eq(alerts.projectId, projectId), id === undefined ? undefined : eq(alerts.id, id)))
      .orderBy(alerts.seq)
    return rows.map(({ alert, project }) => ({ ...alert, project }))
  }

  async #find(projectId: number, id: string): Promise<Row> {
    const [row] = await this.#rows(projectId, id)
    if (!row) throw noAlert()
    return row
  }
}

type Row = typeof alerts.$inferSelect & { project: string }

/** What is stored was checked before. */
function toStored(row: Row) {
  return { ...row, rule: row.rule as unknown as Rule }
}

function toAlert(row: Row, to: Destination[]): Alert {
  const { id, rule, isPaused, state, since: began, value, calls } = toStored(row)
  const { showOnly = false, ...others } = rule
  const since = new Date(began).toISOString()
  return { id, ...others, to, showOnly, paused: isPaused, state, since, value, calls }
}

/** What a test requires. The audit trail counts, so that a restart gives no further tests. */
function mayTest(projectId: number, seq: number, now: number): Requirement[] {
  const tests = sql`select action, at from ${auditEvents} where project_id = ${projectId}
    order by seq desc limit ${entriesSearchedMax}`
  const testCount = sql`select count(*) from (${tests}) where action = 'alert_tested' and at > ${now - hourMs}`
  const waitingTest = sql`select 1 from ${webhookQueue}
    where record = ${seq} and kind = 'alert' and not is_sent and alert ->> 'test'`
  const otherwise = (detail: string) => () =>
    new AppError('rate_limited', 'Too many requests', { detail, retryAfterSeconds: testRetrySeconds })
  return [
    {
      condition: sql`not exists (${waitingTest})`,
      otherwise: otherwise('A test of this alert waits to be sent.'),
    },
    {
      condition: sql`(${testCount}) < ${testsPerHourMax}`,
      otherwise: otherwise(`The alerts of a project can be tested ${testsPerHourMax} times an hour.`),
    },
  ]
}

function noAlert(): AppError {
  return new AppError('not_found', 'Not found', { detail: 'There is no such alert.' })
}
