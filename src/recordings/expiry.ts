import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import { countOf } from '../audit/audit-trail.ts'
import type { Core } from '../core/core.ts'
import { Daily } from '../core/daily.ts'
import type { Job, Turn } from '../core/jobs.ts'
import { calls, projects, recordings, soundDue } from '../db/schema.ts'
import { AppError } from '../errors.ts'
import type { Recordings } from './recordings.ts'

const dayMs = 86_400_000
/** How often settings are checked, since another process may change them. */
const checkMs = 60_000
const recordingsPerSlice = 50

interface ExpiryParts {
  recordings: Pick<Recordings, 'expire'>
}

/**
 * Deletes recordings of calls that were completed longer ago than their project keeps recordings: daily, and within a
 * minute of a changed setting. The calls stay. Those on hold keep their recordings.
 */
export class RecordingExpiry {
  readonly #parts: Core & ExpiryParts
  readonly #job: Job

  constructor(core: Core, parts: ExpiryParts) {
    this.#parts = { ...core, ...parts }
    const daily = new Daily({ ...core, days: projects.recordingRetainDays })
    this.#job = core.jobs.add({
      name: 'recordings',
      run: async (turn) => {
        await this.#lookAtWaiting()
        await daily.run((projectId, days) => this.#expireDue(projectId, days, turn))
      },
      everyMs: checkMs,
      retryMs: checkMs,
      failure: 'Deleting expired recordings failed',
    })
  }

  /** Deletes what is due, unless it was done today. */
  run(): Promise<void> {
    return this.#job.now()
  }

  /** Those that have waited for a day to be muted are muted or deleted: see `Muter`. */
  async #lookAtWaiting(): Promise<void> {
    const { read, write, now } = this.#parts
    const isOver = and(lt(recordings.waitingSince, now() - dayMs), isNull(recordings.soundDue))
    const [waiting] = await read.select({ seq: recordings.seq }).from(recordings).where(isOver).limit(1)
    if (waiting) await write.update(recordings).set({ soundDue: soundDue.figures }).where(isOver)
  }

  /** @returns false if another node does the work */
  async #expireDue(projectId: number, days: number, { signal, isMine }: Turn): Promise<boolean> {
    const { recordings, audit, now } = this.#parts
    if (!(await isMine())) return false
    const before = now() - days * dayMs
    const words = ` of calls completed before ${new Date(before).toISOString().slice(0, 16)}Z`
    let expired = 0
    for (let last = 0; ; ) {
      const due = await this.#readDue(projectId, before, last)
      if (due.length === 0) return true
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
    return await this.#parts
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
