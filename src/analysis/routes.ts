import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { bodyOf } from '../validation.ts'
import type { Agreements } from './agreement.ts'
import type { Analyses } from './analyses.ts'
import type { AnalysisRuns } from './analysis-runs.ts'
import * as docs from './docs.ts'
import type { Rubrics } from './rubrics.ts'
import { NewAnalysisRun, RubricChange, RubricTrial, readVersion, rubricErrors } from './schemas.ts'

interface AnalysisParts {
  rubrics: Rubrics
  analyses: Analyses
  analysisRuns: AnalysisRuns
  agreements: Agreements
}

/** /v1/rubric, /v1/analyses, and the analysis of a call. */
export function analysisRoutes({ rubrics, analyses, analysisRuns, agreements }: AnalysisParts) {
  return (
    new Elysia({ prefix: '/v1' })
      .use(callerContext())
      .get('/rubric', ({ caller, query }) => rubrics.get(caller.projectId, readVersion(query.version)), {
        detail: docs.getRubric,
      })
      .put(
        '/rubric',
        async ({ caller, body, set }) => {
          const { rubric, isNew, warning } = await rubrics.put(caller.projectId, body, byKey(caller))
          set.status = isNew ? 201 : 200
          if (warning) set.headers['callbook-warning'] = warning
          return rubric
        },
        { parse: 'json', body: bodyOf(RubricChange, rubricErrors), detail: docs.putRubric },
      )
      .post(
        '/rubric/trial',
        ({ caller, body }) => analyses.try(caller.projectId, body.call, body.rubric, byKey(caller)),
        { parse: 'json', body: bodyOf(RubricTrial), detail: docs.tryRubric },
      )
      .get(
        '/rubric/agreement',
        ({ caller, query }) => agreements.of(caller.projectId, readVersion(query.version)),
        { detail: docs.getAgreement },
      )
      .post(
        '/analyses',
        async ({ caller, body, set }) => {
          const answer = await analysisRuns.start(caller.projectId, body, byKey(caller))
          set.status = 'id' in answer ? 202 : 200
          return answer
        },
        { parse: 'json', body: bodyOf(NewAnalysisRun), detail: docs.startAnalyses },
      )
      // Elysia gives null for an id with broken percent-encoding.
      .get('/analyses/:id', ({ caller, params }) => analysisRuns.get(caller.projectId, params.id ?? ''), {
        detail: docs.getAnalyses,
      })
      .delete(
        '/analyses/:id',
        ({ caller, params }) => analysisRuns.stop(caller.projectId, params.id ?? '', byKey(caller)),
        { detail: docs.stopAnalyses },
      )
      .get('/calls/:id/analysis', ({ caller, params }) => analyses.get(caller.projectId, params.id ?? ''), {
        detail: docs.getCallAnalysis,
      })
  )
}
