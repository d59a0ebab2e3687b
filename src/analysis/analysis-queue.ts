import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { analysisPauses, analysisQueue, analysisRuns, analysisSlices, calls, projects } from '../db/schema.ts'

/** A run has fewer rows in the queue than this, or the next of its slices follows. */
const rowsOfRunMin = 100

/** `run_id` of a completed call that no run asks for: part of the queue's key, so not null. */
export const noRun = ''

/** A call whose turn it is. */
export interface DueCall {
  seq: number
  projectId: number
  /** The run that asks for it, or `noRun`. */
  runId: string
  /** The version that the run asks for; null for the one in force. */
  version: number | null
  isAgain: boolean
  changeSeq: number
  attempts: number
}

/** A project with calls in the queue. */
interface Waiting {
  projectId: number
  dueAt: number
  /** Whether its last request failed: one call shows whether the next will. */
  isPaused: boolean
}

/** The calls to analyze. Those of runs come from their slices, some at a time, so that a call that ends now waits for few. */
export class AnalysisQueue {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Whether there may be anything to do. */
  async isEmpty(): Promise<boolean> {
    const [any] = await this.#core.read.all(sql`
      select 1 where exists (select 1 from ${analysisQueue}) or exists (select 1 from ${analysisSlices})`)
    return any === undefined
  }

  /** Projects with calls in the queue, in the order in which they are due. */
  async waiting(): Promise<Waiting[]> {
    return await this.#core.read.all<Waiting>(sql`
      with recursive waiting (id) as (
        select min(project_id) from ${analysisQueue}
        union all select (select min(project_id) from ${analysisQueue} where project_id > waiting.id)
        from waiting where waiting.id is not null)
      select waiting.id as projectId, pauses.until is not null as isPaused, max(coalesce(pauses.until, 0),
        (select min(due_at) from ${analysisQueue} where project_id = waiting.id)) as dueAt
      from waiting join ${projects} on projects.id = waiting.id and deleted_at is null
        left join ${analysisPauses} as pauses on pauses.project_id = waiting.id
      order by dueAt`)
  }

  /** The first calls of a project that are due. @param inFlight row numbers of calls to leave out */
  async due(projectId: number, inFlight: readonly number[], limit: number): Promise<DueCall[]> {
    return await this.#core.read.all<DueCall>(sql`
      select seq, queue.project_id as projectId, run_id as runId, version, coalesce(is_again, false) as isAgain,
        change_seq as changeSeq, attempts
      from ${analysisQueue} as queue left join ${analysisRuns} as runs on run_id <> '' and runs.id = run_id
      where queue.project_id = ${projectId} and due_at <= ${this.#core.now()}
        and seq not in (select value from json_each(${JSON.stringify(inFlight)}))
      order by due_at, position limit ${limit}`)
  }

  /** Moves the next slice of each run that has few calls left in the queue. */
  async refill(): Promise<void> {
    const { read, write, now } = this.#core
    const next = await read.all<{ runId: string; number: number }>(sql`
      select run_id as runId, min(number) as number from ${analysisSlices} as slices
      where (select count(*) from ${analysisQueue} where run_id = slices.run_id and run_id <> '') < ${rowsOfRunMin}
      group by run_id`)
    for (const { runId, number } of next) {
      const isThis = sql`run_id = ${runId} and number = ${number}`
      await write.batch({
        added: sql`
          insert into ${analysisQueue} (seq, run_id, project_id, due_at, position)
          select calls.seq, ${runId}, calls.project_id, ${now()}, json.key
          from ${analysisSlices} cross join json_each(seqs) as json cross join ${calls} on calls.seq = json.value
          where ${isThis} on conflict do nothing`,
        removed: sql`delete from ${analysisSlices} where ${isThis}`,
      })
    }
  }

  /** Holds as long as the call waits for this analysis, and has not changed since. */
  isWaiting({ seq, runId, changeSeq }: DueCall): SQL {
    return sql`exists (select 1 from ${analysisQueue}
      where seq = ${seq} and run_id = ${runId} and change_seq = ${changeSeq})`
  }

  /** The statements that end an analysis, and count it in its run. */
  ending({ seq, runId, changeSeq }: DueCall, outcome: 'done' | 'skipped' | 'failed'): SQL[] {
    const column = sql.raw(outcome)
    return [
      sql`delete from ${analysisQueue} where seq = ${seq} and run_id = ${runId} and change_seq = ${changeSeq}`,
      sql`update ${analysisRuns} set ${column} = ${column} + 1 where changes() > 0 and id = ${runId}`,
    ]
  }

  /** Ends an analysis of which nothing is stored. */
  async drop(due: DueCall, outcome: 'skipped' | 'failed'): Promise<void> {
    const [removed, count] = this.ending(due, outcome)
    if (removed && count) await this.#core.write.batch({ removed, count })
  }

  /** Notes a failed attempt. @param isOfCall whether the call may be at fault */
  async postpone({ seq, runId }: DueCall, dueAt: number, isOfCall: boolean): Promise<void> {
    await this.#core.write.run(sql`
      update ${analysisQueue} set attempts = attempts + ${Number(isOfCall)}, due_at = ${dueAt}
      where seq = ${seq} and run_id = ${runId}`)
  }
}
