import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { type AuditTrail, countOf } from '../audit/audit-trail.ts'
import type { Lease } from '../db/lease.ts'
import type { ReadDatabase } from '../db/reader.ts'
import { calls, projects, recordings } from '../db/schema.ts'
import type { StoreOf } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../observability/log.ts'
import { Background } from '../threads/background.ts'
import type { Recordings } from './recordings.ts'

const dayMs = 86_400_000
/** How often settings are checked, since another process may change them. */
const checkMs = 60_000
const recordingsPerSlice = 50

interface ExpiryOptions {
  /** Only the process that owns the folder deletes what is due. */
  owner: { readonly isOwner: boolean }
  read: ReadDatabase
  store: StoreOf
  recordings: Pick<Recordings, 'expire'>
  audit: Pick<AuditTrail, 'progress'>
  lease: Pick<Lease, 'take' | 'release'>
  /** Milliseconds since 1970. */
  now: () => number
  log: Pick<Log, 'error'>
}

/**
 * Deletes recordings of calls that were completed longer ago than their project keeps recordings: daily, and within a
 * minute of a changed setting. The calls stay. Those on hold keep their recordings.
 */
export class RecordingExpiry {
  readonly #options: ExpiryOptions
  readonly #background: Background
  /** When each project was last done, and with which setting. */
  readonly #done = new Map<number, { days: number; at: number }>()

  constructor(options: ExpiryOptions) {
    this.#options = options
    this.#background = new Background({
      work: (signal) => this.#run(signal),
      everyMs: checkMs,
      delayMs: 0,
      retryMs: checkMs,
      onFailure: (error) =>
        options.log.error({ error }, 'Deleting expired recordings failed and will be tried again'),
    })
  }

  schedule(): void {
    if (this.#options.owner.isOwner) this.#background.soon()
  }

  /** Deletes what is due, unless it was done today. */
  async run(): Promise<void> {
    await this.#background.now()
  }

  async close(): Promise<void> {
    await this.#background.close()
    await this.#options.lease.release().catch(() => undefined)
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { read, lease, now } = this.#options
    const open = await read
      .select({ projectId: projects.id, days: sql<number>`${projects.recordingRetainDays}` })
      .from(projects)
      .where(and(isNotNull(projects.recordingRetainDays), isNull(projects.deletedAt)))
    for (const { projectId, days } of open) {
      const done = this.#done.get(projectId)
      if (done?.days === days && Math.abs(now() - done.at) < dayMs) continue
      if (!(await lease.take())) return
      await this.#expireDue(projectId, days, signal)
      this.#done.set(projectId, { days, at: now() })
    }
  }

  async #expireDue(projectId: number, days: number, signal: AbortSignal): Promise<void> {
    const { recordings, audit, now } = this.#options
    const before = now() - days * dayMs
    const words = ` of calls completed before ${new Date(before).toISOString().slice(0, 16)}Z`
    let expired = 0
    for (let last = 0; ; ) {
      const due = await this.#readDue(projectId, before, last)
      if (due.length === 0) return
      last = due.at(-1)?.seq ?? last
      for (const { id } of due) {
        signal.throwIfAborted()
        const target = sql`${countOf('recording', expired)} || ${words}`
        const entry = audit.progress({ projectId, action: 'recordings_expired', target }, expired === 0)
        if (await isDone(recordings.expire(projectId, id, entry))) expired++
      }
    }
  }

  /** In the order of arrival. Looks through the project's recordings once a day. */
  async #readDue(projectId: number, before: number, after: number) {
    return await this.#options
      .store(projectId)
      .readInBackground.select({ seq: recordings.seq, id: calls.id })
      .from(recordings)
      .innerJoin(calls, eq(calls.seq, recordings.seq))
      .where(
        sql`recordings.project_id = ${projectId} and recordings.seq > ${after} and status = 'completed'
          and completed_at < ${before}`,
      )
      .orderBy(recordings.seq)
      .limit(recordingsPerSlice)
  }
}

/** Whether it was deleted: a call on hold keeps its recording, and a person may have deleted it meanwhile. */
async function isDone(expiring: Promise<void>): Promise<boolean> {
  try {
    await expiring
    return true
  } catch (error) {
    if (error instanceof AppError && (error.code === 'call_on_hold' || error.code === 'not_found'))
      return false
    throw error
  }
}
