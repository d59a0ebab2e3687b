import { count, eq, type SQL, sql } from 'drizzle-orm'
import { countOf } from '../../audit/audit-trail.ts'
import type { Core } from '../../core/core.ts'
import { Daily, isOfToday } from '../../core/daily.ts'
import type { Job, Turn } from '../../core/jobs.ts'
import { calls, projects } from '../../db/schema.ts'
import type { Erasure } from '../../erasure/erasure.ts'
import type { CallDeletion } from './call-deletion.ts'
import { dueCallsMax, writeDueCalls } from './due-calls.ts'
import type { Holds } from './holds.ts'

const dayMs = 86_400_000
/** How often settings are checked, since another process may change them. */
const checkMs = 60_000

interface RetentionParts {
  holds: Holds
  deletion: CallDeletion
  erasure: Pick<Erasure, 'schedule'>
}

/** A call to delete, with its place in their order. */
interface DueCall {
  seq: number
  id: string
  createdAt: number
  chars: number
}

/**
 * Deletes calls that were completed longer ago than their project keeps them, and old audit entries: at start, daily,
 * and within a minute of a changed setting. A call is completed at the `occurredAt` of the request that completed it,
 * or when that arrived; an imported call at its end, `createdAt` plus `duration`.
 */
export class Retention {
  readonly #parts: Core & RetentionParts
  readonly #job: Job
  readonly #daily: Daily
  #auditDoneAt = Number.NEGATIVE_INFINITY

  constructor(core: Core, parts: RetentionParts) {
    this.#parts = { ...core, ...parts }
    this.#daily = new Daily({ ...core, days: projects.retainDays })
    this.#job = core.jobs.add({
      name: 'retention',
      run: (turn) => this.#run(turn),
      everyMs: checkMs,
      retryMs: checkMs,
      failure: 'Deleting expired records failed',
    })
  }

  /** Call it after a changed setting. */
  schedule(): void {
    this.#job.soon()
  }

  /** Deletes what is due, unless it was done today. */
  async run(): Promise<void> {
    if (this.#parts.owner.isOwner) await this.#job.now()
  }

  /** How many calls would be deleted if calls were kept for so many days. */
  async countDue(projectId: number, retainDays: number): Promise<number> {
    const { store, holds } = this.#parts
    const { readInBackground } = store(projectId)
    const due = isDue(projectId, this.#dueBefore(retainDays))
    const [row] = await readInBackground.select({ calls: count() }).from(calls).where(due)
    const onHold = await holds.among(readInBackground, projectId, sql`select seq from ${calls} where ${due}`)
    return (row?.calls ?? 0) - onHold.seqs.size
  }

  async #run(turn: Turn): Promise<void> {
    const { audit, now } = this.#parts
    if (!(await turn.isMine())) return
    await this.#daily.run((projectId, retainDays) => this.#deleteDue(projectId, retainDays, turn))
    if (isOfToday(this.#auditDoneAt, now())) return
    await audit.expire(turn.signal)
    this.#auditDoneAt = now()
  }

  #dueBefore(retainDays: number): number {
    return this.#parts.now() - retainDays * dayMs
  }

  /** @returns false if it stopped because the setting changed or another node does the work */
  async #deleteDue(projectId: number, retainDays: number, turn: Turn): Promise<boolean> {
    const { erasure } = this.#parts
    const before = this.#dueBefore(retainDays)
    let deleted = 0
    try {
      return await writeDueCalls<DueCall>({
        read: (last) => this.#readDue(projectId, before, last),
        write: async (slice) => {
          if (!(await this.#isAsked(projectId, retainDays)) || !(await turn.isMine())) return false
          deleted += await this.#deleteSlice(projectId, slice, { before, deleted })
          return true
        },
        turn,
      })
    } finally {
      if (deleted > 0) erasure.schedule(projectId)
    }
  }

  /** Whether the setting is unchanged. Reads the database, since cached settings may be older. */
  async #isAsked(projectId: number, retainDays: number): Promise<boolean> {
    const [project] = await this.#parts.read
      .select({ retainDays: projects.retainDays })
      .from(projects)
      .where(eq(projects.id, projectId))
    return project?.retainDays === retainDays
  }

  /** Deletes the calls that are not on hold. Returns how many. */
  async #deleteSlice(
    projectId: number,
    slice: readonly DueCall[],
    { before, deleted }: { before: number; deleted: number },
  ): Promise<number> {
    const { store, holds, deletion, audit } = this.#parts
    const selection = sql`select value as seq from json_each(${JSON.stringify(slice.map(({ seq }) => seq))})`
    const onHold = await holds.among(store(projectId).writeWhenFull, projectId, selection)
    const target = sql`${countOf('call', deleted)} || ${` completed before ${minuteOf(before)}`}`
    const after = [audit.progress({ projectId, action: 'calls_expired', target }, deleted === 0)]
    return (await deletion.delete(projectId, slice, { onHold, requestId: null, after })).size
  }

  /** The next calls that are due, oldest first, after the previous ones. */
  async #readDue(projectId: number, before: number, last: DueCall | undefined): Promise<DueCall[]> {
    const { createdAt, id } = last ?? { createdAt: -1, id: '' }
    return await this.#parts
      .store(projectId)
      .readInBackground.select({
        seq: calls.seq,
        id: calls.id,
        createdAt: calls.createdAt,
        chars: calls.documentChars,
      })
      .from(calls)
      .where(sql`${isDue(projectId, before)} and (created_at, id) > (${createdAt}, ${id})`)
      .orderBy(calls.createdAt, calls.id)
      .limit(dueCallsMax)
  }
}

/**
 * The calls of a project that were completed before a time. Completion is never before `createdAt`, so the index by
 * status finds them.
 */
function isDue(projectId: number, before: number): SQL {
  return sql`project_id = ${projectId} and status = 'completed' and created_at < ${before} and completed_at < ${before}`
}

/** Returns ISO 8601, UTC, to the minute. */
function minuteOf(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16)}Z`
}
