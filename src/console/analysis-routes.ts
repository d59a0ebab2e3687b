import type { Agreements } from '../analysis/agreement.ts'
import type { Analyses } from '../analysis/analyses.ts'
import type { AnalysisRuns } from '../analysis/analysis-runs.ts'
import type { Rubrics } from '../analysis/rubrics.ts'
import { NewAnalysisRun, RubricChange, RubricTrial, readVersion } from '../analysis/schemas.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'

export interface AnalysisParts {
  rubrics: Rubrics
  analyses: Analyses
  analysisRuns: AnalysisRuns
  agreements: Agreements
}

/** /console/api/projects/:project/analysis, and the analysis of a call. */
export function analysisRoutes({ rubrics, analyses, analysisRuns, agreements }: AnalysisParts) {
  return consoleRoutes('/console/api/projects/:project')
    .get('/analysis', ({ member }) => analyses.status(member.projectId))
    .get('/analysis/rubric', async ({ member, query }) => ({
      rubric: await rubrics.find(member.projectId, readVersion(query.version)),
      versions: await rubrics.versions(member.projectId),
    }))
    .put(
      '/analysis/rubric',
      async ({ member, by, body }) => (await rubrics.put(member.projectId, body, by)).rubric,
      jsonBody(RubricChange),
    )
    .post(
      '/analysis/trial',
      ({ member, by, body }) => analyses.try(member.projectId, body.call, body.rubric, by),
      jsonBody(RubricTrial),
    )
    .get('/analysis/runs', async ({ member }) => ({ data: await analysisRuns.list(member.projectId) }))
    .post(
      '/analysis/runs',
      ({ member, by, body }) => analysisRuns.start(member.projectId, body, by),
      jsonBody(NewAnalysisRun),
    )
    .delete('/analysis/runs/:id', ({ member, by, params }) =>
      analysisRuns.stop(member.projectId, params.id, by),
    )
    .get('/analysis/agreement', ({ member, query }) =>
      agreements.of(member.projectId, readVersion(query.version)),
    )
    .get('/analysis/next', async ({ member }) => ({ data: await agreements.next(member.projectId) }))
    .get('/calls/:id/analysis', ({ member, params }) => analyses.get(member.projectId, params.id))
}
