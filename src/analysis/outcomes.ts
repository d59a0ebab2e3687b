import type { SQL } from 'drizzle-orm'
import { byService } from '../audit/audit-trail.ts'
import type { CallAnalysis } from '../calls/writing/fills.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import { AppError } from '../errors.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { type AnalysisQueue, type DueCall, noRun } from './analysis-queue.ts'
import type { Budget, Model, Usage } from './budget.ts'
import type { JudgedCall } from './call-judge.ts'
import { evaluationOf } from './evaluation.ts'
import type { Judgement } from './judge.ts'
import type { Analysis, Findings } from './schemas.ts'

/** The rest of it, which is stored for this room. */
export type AnalysisRecord = Pick<
  Analysis,
  'reason' | 'model' | 'at' | 'tokens' | 'summary' | 'criteria' | 'fields'
>

const nothingSent: Usage = { tokens: { prompt: 0, completion: 0 }, requests: 0 }

interface OutcomesParts {
  queue: AnalysisQueue
  budget: Budget
  ingest: Pick<Ingest, 'setAnalysis'>
  webhooks: Pick<Webhooks, 'callAnalyzed'>
  model: Model
}

/** Stores what comes of analyses: with the call, in one transaction with its place in the queue, its tokens and its audit entry. */
export class Outcomes {
  readonly #parts: Core & OutcomesParts

  constructor(core: Core, parts: OutcomesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Ends an analysis. Nothing is stored if the call was deleted or has changed, or if the run was stopped. */
  async store(due: DueCall, result: JudgedCall): Promise<void> {
    const { queue, ingest, webhooks, write } = this.#parts
    const { call, judgement } = result
    const { projectId, runId } = due
    const spending = this.#spent(projectId, call.id, judgement)
    const ending = queue.ending(due, judgement.state)
    // A run that finds out nothing takes nothing away.
    if (runId !== noRun && judgement.state !== 'done' && call.analysis?.brief.state === 'done') {
      await write.batch({ ending, spending })
      return
    }
    const requirement = { condition: queue.isWaiting(due), otherwise: () => new Overtaken() }
    const statements = (seq: SQL) => [
      ...ending,
      ...(judgement.state === 'done' ? [webhooks.callAnalyzed(projectId, seq)] : []),
      ...spending,
    ]
    try {
      await ingest.setAnalysis(projectId, call.id, this.#toGiven(result), { requirement, statements })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const isTooLarge = error.code === 'payload_too_large'
      if (isTooLarge && judgement.state === 'done')
        return await this.fail(due, result, 'too large', judgement)
      const isOver = error instanceof Overtaken || ['not_found', 'call_was_deleted'].includes(error.code)
      if (!isOver && !isTooLarge) throw error
      // A call without room for even that stays as it is. What was sent was paid for all the same.
      const rest = isTooLarge ? [...ending, ...spending] : spending
      if (rest.length > 0) await write.batch({ rest })
    }
  }

  /** Stores that a call could not be analyzed. @param sent what is not counted yet */
  async fail(
    due: DueCall,
    { call, rubric }: Pick<JudgedCall, 'call' | 'rubric'>,
    reason: string,
    { tokens, requests }: Usage = nothingSent,
  ): Promise<void> {
    const judgement = { state: 'failed', reason, tokens, requests } as const
    await this.store(due, { call, rubric, judgement, redacted: {} })
  }

  /** Notes what was sent of a call without an outcome. */
  async spend(projectId: number, id: string, usage: Usage): Promise<void> {
    const spending = this.#spent(projectId, id, usage)
    if (spending.length > 0) await this.#parts.write.batch({ spending })
  }

  #spent(projectId: number, id: string, usage: Usage): SQL[] {
    return this.#parts.budget.spending(projectId, id, usage, { action: 'call_analyzed', by: byService })
  }

  #toGiven({ rubric, judgement, redacted }: JudgedCall): CallAnalysis {
    const { model, now } = this.#parts
    const findings = judgement.state === 'done' ? judgement.findings : noFindings
    const verdicts = Object.fromEntries(findings.criteria.map(({ id, result }) => [id, result]))
    const pairs = findings.fields.flatMap(({ key, value }) => (value === null ? [] : [[key, value] as const]))
    return {
      brief: { state: judgement.state, version: rubric.version, criteria: verdicts },
      fills: {
        summary: findings.summary,
        evaluation: evaluationOf(rubric, findings.criteria),
        fields: Object.fromEntries(pairs),
      },
      redacted,
      record: recordOf(judgement, { model: model.name, at: now() }),
    }
  }
}

/** A judgement as it is stored and served. @param at milliseconds since 1970 */
export function recordOf(judgement: Judgement, { model, at }: { model: string; at: number }): AnalysisRecord {
  const { state, tokens, requests } = judgement
  return {
    reason: state === 'done' ? null : judgement.reason,
    model,
    at: new Date(at).toISOString(),
    tokens: requests === 0 ? null : tokens,
    ...(state === 'done' ? judgement.findings : noFindings),
  }
}

const noFindings: Findings = { summary: null, criteria: [], fields: [] }

/** The call has changed, or somebody has stopped its analysis. */
class Overtaken extends AppError {
  constructor() {
    super('unavailable', 'Service unavailable')
  }
}
