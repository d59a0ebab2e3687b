import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Calls } from '../calls/calls.ts'
import type { Core } from '../core/core.ts'
import { analysisQueue, analysisRuns, analysisSlices } from '../db/schema.ts'
import { notFound } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { newId } from '../ids.ts'
import { estimate } from './call-judge.ts'
import type { Rubrics } from './rubrics.ts'
import type { AcceptedRun, AnalysisRun, NewAnalysisRun, PlannedRun } from './schemas.ts'

const callsPerSlice = 40
const runsShownMax = 50

interface AnalysisRunsParts {
  rubrics: Rubrics
  calls: Pick<Calls, 'completed'>
}

/** Analyses of past calls. The calls of a run are those that match when it is accepted. */
export class AnalysisRuns {
  readonly #parts: Core & AnalysisRunsParts

  constructor(core: Core, parts: AnalysisRunsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Accepts a run, or only counts its calls for a dry run. @throws not_found without a rubric; invalid_request */
  async start(
    projectId: number,
    { filters = {}, version, again = false, dryRun = false }: NewAnalysisRun,
    by?: ActedBy,
  ): Promise<PlannedRun | AcceptedRun> {
    const { store, rubrics, calls, audit, now } = this.#parts
    const rubric = await rubrics.get(projectId, version)
    const seqs: number[] = []
    let chars = 0
    for await (const page of calls.completed(projectId, filters)) {
      for (const call of page) {
        seqs.push(call.seq)
        chars += call.chars
      }
    }
    if (dryRun) {
      const whole = seqs.length === 0 ? 0 : seqs.length * estimate(chars / seqs.length, rubric)
      return { calls: seqs.length, tokens: Math.ceil(whole * rubric.share) }
    }
    const id = newId('ana')
    const slices = Array.from({ length: Math.ceil(seqs.length / callsPerSlice) }, (_, at) =>
      seqs.slice(at * callsPerSlice, (at + 1) * callsPerSlice),
    )
    const { write } = store(projectId)
    const run = { id, projectId, version: rubric.version, isAgain: again, calls: seqs.length }
    const createdBy = by && 'id' in by.actor ? by.actor.name : null
    const target = `${id}: ${seqs.length} ${seqs.length === 1 ? 'call' : 'calls'}, version ${rubric.version}`
    await write.batch({
      run: write.insert(analysisRuns).values({ ...run, createdAt: now(), createdBy }),
      entry: audit.entry({ by, projectId, action: 'analyses_started', target }),
      slices: sql`
        insert into ${analysisSlices} (run_id, number, seqs)
        select ${id}, key, value from json_each(${JSON.stringify(slices)})`,
    })
    return { id, calls: seqs.length }
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<AnalysisRun> {
    const [run] = await this.#select(projectId, sql`id = ${id}`)
    if (!run) throw noRun()
    return run
  }

  /** The newest runs, newest first. */
  async list(projectId: number): Promise<AnalysisRun[]> {
    return await this.#select(projectId, sql`true`)
  }

  /** Ends a run; analyses under way are not stored. @throws not_found */
  async stop(projectId: number, id: string, by?: ActedBy): Promise<AnalysisRun> {
    const { store, audit, now } = this.#parts
    await this.get(projectId, id)
    const isOpen = sql`(exists (select 1 from ${analysisSlices} where run_id = ${id})
      or exists (select 1 from ${analysisQueue} where run_id = ${id} and run_id <> ''))`
    await store(projectId).write.batch({
      stopped: sql`update ${analysisRuns} set stopped_at = ${now()} where id = ${id} and stopped_at is null and ${isOpen}`,
      entry: audit.entry({ by, projectId, action: 'analyses_stopped', target: id }),
      slices: sql`delete from ${analysisSlices} where run_id = ${id}`,
      queued: sql`delete from ${analysisQueue} where run_id = ${id} and run_id <> ''`,
    })
    return await this.get(projectId, id)
  }

  async #select(projectId: number, condition: SQL): Promise<AnalysisRun[]> {
    const { read } = this.#parts.store(projectId)
    const isOpen = sql<number>`exists (select 1 from analysis_slices where run_id = analysis_runs.id)
      or exists (select 1 from analysis_queue where run_id = analysis_runs.id and run_id <> '')`
    const rows = await read
      .select({ run: analysisRuns, isOpen })
      .from(analysisRuns)
      .where(and(eq(analysisRuns.projectId, projectId), condition))
      .orderBy(desc(analysisRuns.createdAt), desc(analysisRuns.id))
      .limit(runsShownMax)
    return rows.map(({ run, isOpen }) => {
      const { id, version, calls, done, skipped, failed, createdAt, createdBy, stoppedAt } = run
      const state = stoppedAt !== null ? 'stopped' : isOpen ? 'running' : 'done'
      const start = { createdAt: new Date(createdAt).toISOString(), createdBy }
      return { id, state, version, calls, done, skipped, failed, ...start }
    })
  }
}

function noRun() {
  return notFound('No run of analyses in this project has this id.')
}
