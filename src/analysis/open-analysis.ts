import type { Calls } from '../calls/calls.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { Agreements } from './agreement.ts'
import { Analyses } from './analyses.ts'
import { AnalysisQueue } from './analysis-queue.ts'
import { AnalysisRuns } from './analysis-runs.ts'
import { Analyzer } from './analyzer.ts'
import { Budget, type Model } from './budget.ts'
import { type AskModel, CallJudge, type SearchesOfCall } from './call-judge.ts'
import { Outcomes } from './outcomes.ts'
import { Rubrics } from './rubrics.ts'

/** A model that is asked about calls. */
interface AskedModel extends Model {
  ask: AskModel
  charsMax: number
  requestsAtOnce: number
}

interface Beside {
  /** Null if none is configured: then analyses are only read. */
  model: AskedModel | null
  calls: Calls
  ingest: Ingest
  webhooks: Webhooks
  searchesOfCall: SearchesOfCall
}

/** What asks a model about calls. */
export function openAnalysis(core: Core, { model, calls, ingest, webhooks, searchesOfCall }: Beside) {
  const rubrics = new Rubrics(core)
  const budget = new Budget(core, { model })
  const queue = new AnalysisQueue(core)
  const { ask: askModel = null, charsMax = 0 } = model ?? {}
  const judge = new CallJudge(core, { rubrics, calls, searchesOfCall, askModel, charsMax })
  const analyzer =
    model &&
    new Analyzer(core, {
      queue,
      budget,
      judge,
      outcomes: new Outcomes(core, { queue, budget, ingest, webhooks, model }),
      requestsAtOnce: model.requestsAtOnce,
    })
  const isRunning = (seq: number) => analyzer?.isRunning(seq) ?? false
  return {
    rubrics,
    budget,
    analyses: new Analyses(core, { rubrics, budget, judge, model, calls, isRunning }),
    analysisRuns: new AnalysisRuns(core, { rubrics, calls }),
    agreements: new Agreements(core, { rubrics }),
  }
}
