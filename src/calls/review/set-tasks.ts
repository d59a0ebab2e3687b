import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import type { Job, Turn } from '../../core/jobs.ts'
import { callSets, members } from '../../db/schema.ts'
import { type AppError, invalidRequest } from '../../errors.ts'
import { type ActedBy, mayDo, type Role, type SignedIn } from '../../identity.ts'
import type { Calls } from '../calls.ts'
import { noSuchSet } from './call-sets.ts'
import type { Reviews } from './reviews.ts'
import type { ReviewChange } from './schemas.ts'

/** How long a change waits, so that it can be taken back. */
const undoMs = 10_000
const checkMs = 60_000
const leaseRetryMs = 1_000
/** How soon after a commit the owner looks whether another process has asked. */
const lookMs = 250
const failure = 'Changing many calls failed'

/** What is done to all calls of a set, and for whom. Without a change, they are deleted. */
interface SetTask {
  change: ReviewChange | null
  by: ActedBy
  /** The person's name. */
  name: string
}

/** Who asks for a task. */
interface AskedBy {
  person: Pick<SignedIn, 'personId' | 'name'>
  by: ActedBy
}

/** How far a task is. */
export interface TaskState {
  state: 'waiting' | 'running' | 'done'
  calls: number
  changed: number
  /** Calls that were not deleted because they are on hold. */
  held: number
  /** Calls that could not be changed, such as those with too many labels. */
  failed: number
}

interface SetTasksParts {
  reviews: Pick<Reviews, 'changeMany'>
  calls: Pick<Calls, 'deleteAll'>
}

const openSets = sql`${callSets} join projects on projects.id = call_sets.project_id and deleted_at is null`

/** A slice of a task that is due; without calls, the task is done. */
interface DueSlice {
  id: string
  projectId: number
  slicesDone: number
  task: string
  seqs: string | null
  /** What the person is in the project now; null once they have left it. */
  role: Role | null
  membersMayDelete: number
}

/**
 * Changes or deletes all calls of a set, in slices that leave half of the writer's time to other writes. A change waits for
 * ten seconds, in which it can be taken back; nothing is written before. A restart goes on with the slice that was under way.
 */
export class SetTasks {
  readonly #parts: Core & SetTasksParts
  readonly #job: Job
  /** The sets whose last slice failed, and until when the others go first. */
  readonly #putOff = new Map<string, number>()

  constructor(core: Core, parts: SetTasksParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'call sets',
      run: (turn) => this.#run(turn),
      // Other processes on the file only ask. On a server each node carries out what it is asked.
      ...(core.database.isLocal ? { commitMs: lookMs } : {}),
      failure,
    })
  }

  /** Does everything that is due now. */
  run(): Promise<void> {
    return this.#job.now()
  }

  /** Changes the reviews of all calls of a set, in ten seconds. @throws not_found; invalid_request during another task */
  async change(projectId: number, id: string, change: ReviewChange, by: AskedBy): Promise<TaskState> {
    return await this.#ask(projectId, id, change, by)
  }

  /** Deletes all calls of a set that no hold covers, at once. @throws not_found; invalid_request during another task */
  async delete(projectId: number, id: string, by: AskedBy): Promise<TaskState> {
    return await this.#ask(projectId, id, null, by)
  }

  /** Takes back a change that has not begun. @throws not_found; invalid_request once it has */
  async undo(projectId: number, personId: string, id: string): Promise<TaskState> {
    const { store, now } = this.#parts
    const { write } = store(projectId)
    const { rowsAffected } = await write
      .update(callSets)
      .set({ task: null, dueAt: null })
      .where(and(isOwn(projectId, personId, id), sql`slices_done = 0 and due_at > ${now()}`))
    if (rowsAffected > 0) return await this.state(projectId, personId, id)
    await this.state(projectId, personId, id)
    throw refusal('have begun to change, which can be undone for ten seconds only')
  }

  /** @throws not_found unless the set is the person's */
  async state(projectId: number, personId: string, id: string): Promise<TaskState> {
    const [row] = await this.#parts
      .store(projectId)
      .read.select()
      .from(callSets)
      .where(isOwn(projectId, personId, id))
    // Once its time is over it is deleted, unless its calls are being changed.
    if (!row || (row.dueAt === null && row.keptUntil < this.#parts.now())) throw noSuchSet()
    const { calls, changed, held, failed, dueAt, slicesDone } = row
    const isWaiting = slicesDone === 0 && dueAt !== null && dueAt > this.#parts.now()
    return {
      state: dueAt === null ? 'done' : isWaiting ? 'waiting' : 'running',
      calls,
      changed,
      held,
      failed,
    }
  }

  async #ask(
    projectId: number,
    id: string,
    change: ReviewChange | null,
    { person: { personId, name }, by }: AskedBy,
  ): Promise<TaskState> {
    const { store, now } = this.#parts
    const delayMs = change ? undoMs : 0
    const { rowsAffected } = await store(projectId)
      .write.update(callSets)
      .set({
        task: JSON.stringify({ change, by, name } satisfies SetTask),
        dueAt: now() + delayMs,
        slicesDone: 0,
        changed: 0,
        held: 0,
        failed: 0,
      })
      .where(and(isOwn(projectId, personId, id), sql`due_at is null and kept_until >= ${now()}`))
    const state = await this.state(projectId, personId, id)
    if (rowsAffected === 0) throw refusal('are still being changed')
    this.#job.soon(delayMs)
    return state
  }

  async #run(turn: Turn): Promise<number> {
    const { read, now, log } = this.#parts
    for (;;) {
      for (const [id, until] of this.#putOff) if (until <= now()) this.#putOff.delete(id)
      const putOff = JSON.stringify([...this.#putOff.keys()])
      const isOpen = sql`due_at is not null and call_sets.id not in (select value from json_each(${putOff}))`
      // Read first, since the writer needs the primary.
      const [next] = await read.all<{ dueAt: number | null }>(sql`
        select min(due_at) as dueAt from ${openSets} where ${isOpen}`)
      if (typeof next?.dueAt !== 'number') return checkMs
      if (next.dueAt > now()) return Math.min(checkMs, next.dueAt - now())
      const due = await this.#due(isOpen)
      if (!due) return checkMs
      if (!(await turn.isMine())) return leaseRetryMs
      await this.#doSlice(due, turn).catch((error) => {
        turn.signal.throwIfAborted()
        log.error({ error }, `${failure} and will be tried again`)
        this.#putOff.set(due.id, now() + checkMs)
      })
    }
  }

  /** Read through the writer, since a replica may lag. */
  async #due(isOpen: SQL): Promise<DueSlice | undefined> {
    const { write, now } = this.#parts
    const [due] = await write.all<DueSlice>(sql`
      select call_sets.id as id, call_sets.project_id as projectId, slices_done as slicesDone, task, seqs,
        role, members_may_delete as membersMayDelete
      from ${openSets} left join call_set_slices on set_id = call_sets.id and call_set_slices.number = slices_done
      left join ${members} on members.project_id = projects.id and members.person_id = call_sets.person_id
      where ${isOpen} and due_at <= ${now()} order by due_at limit 1`)
    return due
  }

  async #doSlice(due: DueSlice, turn: Turn): Promise<void> {
    const { id, projectId, slicesDone, seqs } = due
    const { write, now } = this.#parts
    const isThis = sql`id = ${id} and slices_done = ${slicesDone} and task is not null`
    const task: SetTask = JSON.parse(due.task)
    if (seqs === null || !isStillAllowed(task, due))
      return void (await write.run(sql`update ${callSets} set task = null, due_at = null where ${isThis}`))
    const counts = await this.#do(projectId, await this.#idsOf(projectId, seqs), task)
    await write.run(sql`
      update ${callSets} set slices_done = slices_done + 1, due_at = ${now()}, changed = changed + ${counts.changed},
        held = held + ${counts.held}, failed = failed + ${counts.failed} where ${isThis}`)
    await turn.rest()
  }

  async #do(projectId: number, ids: readonly string[], { change, by, name }: SetTask) {
    const { reviews, calls } = this.#parts
    if (!change) {
      const { deleted, held: onHold } = await calls.deleteAll(projectId, ids, by)
      return { changed: deleted.length, held: onHold.length, failed: 0 }
    }
    const { changed, failed } = await reviews.changeMany(projectId, ids, change, { person: { name }, by })
    return { changed: changed.length, held: 0, failed: failed.length }
  }

  /** Leaves out the calls that were deleted meanwhile. */
  async #idsOf(projectId: number, seqs: string): Promise<string[]> {
    const rows = await this.#parts.store(projectId).write.all<{ id: string }>(sql`
      select calls.id as id from json_each(${seqs}) cross join calls on calls.seq = value and project_id = ${projectId}`)
    return rows.map(({ id }) => id)
  }
}

/** A long task stops when its person loses the right to it. */
function isStillAllowed({ change }: SetTask, { role, membersMayDelete }: DueSlice): boolean {
  const right = change ? 'change' : 'delete'
  return role !== null && mayDo(right, { role, membersMayDelete: membersMayDelete === 1 })
}

function isOwn(projectId: number, personId: string, id: string): SQL | undefined {
  return and(eq(callSets.projectId, projectId), eq(callSets.personId, personId), eq(callSets.id, id))
}

function refusal(message: string): AppError {
  return invalidRequest([{ field: 'calls', message }])
}
