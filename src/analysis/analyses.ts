import { sql } from 'drizzle-orm'
import type { Calls } from '../calls/calls.ts'
import type { Core } from '../core/core.ts'
import { analysisQueue } from '../db/schema.ts'
import { AppError, callNotFound, unavailable } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import type { Budget, Model, Usage } from './budget.ts'
import { type CallJudge, estimateOf, unreadable } from './call-judge.ts'
import { ModelUnavailable } from './chat-failures.ts'
import { type AnalysisRecord, recordOf } from './outcomes.ts'
import { type Rubrics, readRubric } from './rubrics.ts'
import type { Analysis, AnalysisStatus } from './schemas.ts'

interface AnalysesParts {
  rubrics: Rubrics
  budget: Budget
  judge: CallJudge
  /** Null if none is configured. */
  model: Model | null
  calls: Pick<Calls, 'lastAnalysis'>
  /** Whether this process analyzes a call just now. */
  isRunning: (seq: number) => boolean
}

const trialMsMax = 60_000
const trialRetrySeconds = 30
/** For each project: as many as the console shows side by side. */
const trialsAtOnceMax = 2
const nothing: Analysis = {
  state: 'none',
  reason: null,
  version: null,
  model: null,
  at: null,
  tokens: null,
  summary: null,
  criteria: [],
  fields: [],
}

/** What the analyses of a project's calls came to. */
export class Analyses {
  readonly #parts: Core & AnalysesParts
  /** The project of each trial under way. */
  readonly #trials: number[] = []

  constructor(core: Core, parts: AnalysesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** The state of a call's analysis. While it waits for another one, what the last one found out is there. @throws not_found */
  async get(projectId: number, id: string): Promise<Analysis> {
    const { store, budget, calls, isRunning } = this.#parts
    const call = await calls.lastAnalysis(projectId, id)
    if (!call) throw callNotFound()
    const { seq, analysis } = call
    // What is stored was made by Outcomes.
    const answer: Analysis = analysis
      ? {
          ...recordIn(analysis.record),
          state: analysis.brief.state,
          version: analysis.brief.version,
        }
      : nothing
    const [waiting] = await store(projectId).read.all(
      sql`select 1 from ${analysisQueue} where seq = ${seq} limit 1`,
    )
    if (!waiting) return answer
    if (isRunning(seq)) return { ...answer, state: 'running', reason: null }
    const pause = await budget.pauseOf(projectId)
    return pause
      ? { ...answer, state: 'paused', reason: pause.reason }
      : { ...answer, state: 'queued', reason: null }
  }

  /** What the console shows: the model, what was used this month, and why nothing happens if nothing does. */
  async status(projectId: number): Promise<AnalysisStatus> {
    const { store, budget, model } = this.#parts
    const [queue] = await store(projectId).read.all<{ waiting: number }>(sql`
      select count(*) as waiting from (select 1 from ${analysisQueue} where project_id = ${projectId} limit 10000)`)
    const pause = await budget.pauseOf(projectId)
    return {
      model: model?.name ?? null,
      destination: model?.destination ?? null,
      waiting: queue?.waiting ?? 0,
      tokens: await budget.usedBy(projectId),
      pause: pause && {
        ...pause,
        since: new Date(pause.since).toISOString(),
        until: new Date(pause.until).toISOString(),
      },
    }
  }

  /**
   * Analyzes one call and stores nothing of it.
   * @param rubric by default the one in force, whose budget counts
   * @throws unavailable without a model, if it does not answer, and while two other trials of the project are under way;
   * not_found; call_is_live; invalid_request
   */
  async try(projectId: number, id: string, rubric: unknown, by?: ActedBy): Promise<Analysis> {
    const { rubrics, budget, calls, judge, model, now } = this.#parts
    if (!model) throw unavailable('No model is configured (ANALYSIS_MODEL).')
    const isGiven = rubric !== undefined
    const draft = isGiven
      ? { version: 0, createdAt: '', ...readRubric(rubric, 'rubric.') }
      : await rubrics.get(projectId)
    const seq = (await calls.lastAnalysis(projectId, id))?.seq
    const call = seq === undefined ? null : await judge.read(projectId, seq)
    if (!call) throw callNotFound()
    if (call.status === 'live') throw callIsLive()
    const version = isGiven ? null : draft.version
    const reason = unreadable(call)
    if (reason !== null) return { ...nothing, state: 'skipped', reason, version }
    const { tokensPerMonth } = (await rubrics.find(projectId)) ?? draft
    const question = { call, rubric: draft, tokensPerMonth, skippedFor: null }
    const signal = AbortSignal.timeout(trialMsMax)
    if (this.#trials.filter((each) => each === projectId).length >= trialsAtOnceMax)
      throw unavailable(`${trialsAtOnceMax} trials of the project are under way.`, trialRetrySeconds)
    this.#trials.push(projectId)
    let reservation: Awaited<ReturnType<Budget['reserve']>> = null
    try {
      reservation = await budget.reserve(projectId, tokensPerMonth, estimateOf(question))
      if (!reservation) return { ...nothing, state: 'skipped', reason: 'budget', version }
      const { judgement } = await judge.ask(projectId, question, signal)
      await this.#noteUsage(projectId, id, judgement, by)
      const record = recordOf(judgement, { model: model.name, at: now() })
      return { ...nothing, ...record, state: judgement.state, version }
    } catch (error) {
      if (error instanceof ModelUnavailable) await this.#noteUsage(projectId, id, error, by)
      if (signal.aborted) throw unavailable('The model did not answer within a minute.', trialRetrySeconds)
      if (!(error instanceof ModelUnavailable)) throw error
      throw unavailable(`${error.detail}.`, trialRetrySeconds)
    } finally {
      this.#trials.splice(this.#trials.indexOf(projectId), 1)
      reservation?.release()
    }
  }

  async #noteUsage(projectId: number, id: string, usage: Usage, by: ActedBy | undefined): Promise<void> {
    const { store, budget } = this.#parts
    const spending = budget.spending(projectId, id, usage, { action: 'rubric_tried', by })
    if (spending.length > 0) await store(projectId).write.batch({ spending })
  }
}

/** What is stored was made by Outcomes: that of version 1.0.0-rc.1 without what supports a verdict. */
function recordIn(stored: unknown): AnalysisRecord {
  const record = stored as AnalysisRecord
  return { ...record, criteria: record.criteria.map((one) => ({ ...one, support: one.support ?? null })) }
}

function callIsLive(): AppError {
  return new AppError('call_is_live', 'Call is live', { detail: 'A call is analyzed once it is completed.' })
}
