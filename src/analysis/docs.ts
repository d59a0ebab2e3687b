import { Type } from '@sinclair/typebox'
import {
  asOpenApi,
  headerOf,
  jsonAnswer,
  keyedAnswers,
  pathParameter,
  queryParameter,
} from '../http/openapi.ts'
import { AcceptedRun, Agreement, Analysis, AnalysisRun, PlannedRun, Rubric, versionMax } from './schemas.ts'

// The routes of analyses in the OpenAPI document.

const keyed = { tags: ['Analysis'], security: [{ apiKey: [] }] }
const bodyErrors = ['payload_too_large', 'unsupported_media_type', 'insufficient_storage'] as const
const version = queryParameter(
  'version',
  'By default the version in force.',
  asOpenApi(Type.Integer({ minimum: 1, maximum: versionMax })),
  1,
)
const run = pathParameter('id', 'Of a run.', 'ana_019a5f0c2b7e7cc0a1d2e3f405162738')

export const getRubric = {
  ...keyed,
  parameters: [version],
  operationId: 'getRubric',
  summary: 'Get the rubric: what a model is asked about each call',
  responses: keyedAnswers({ 200: jsonAnswer('The version.', Rubric) }, ['not_found']),
}

const warned = {
  headers: {
    'Callbook-Warning': headerOf(
      'Why some of it has no effect: `questions are not kept`.',
      'questions are not kept',
      false,
    ),
  },
}

export const putRubric = {
  ...keyed,
  operationId: 'putRubric',
  summary: 'Add a version of the rubric',
  description:
    'Versions never change. The newest one is in force for the calls that are completed from now on. If nothing ' +
    'differs from it, none is added. `share: 0` switches analysis off. A criterion of the kind `grounded` needs a project that keeps ' +
    'questions.',
  responses: keyedAnswers(
    {
      200: jsonAnswer('Nothing differs from the version in force.', Rubric, warned),
      201: jsonAnswer('The new version.', Rubric, warned),
    },
    [...bodyErrors],
  ),
}

export const tryRubric = {
  ...keyed,
  operationId: 'tryRubric',
  summary: 'Try a rubric on one call',
  description:
    'Asks the model and stores nothing of the answer. Takes as long as the model does. Two at once in a project; a third is 503.',
  responses: keyedAnswers({ 200: jsonAnswer('What the model found out.', Analysis) }, [
    'not_found',
    'call_is_live',
    ...bodyErrors,
  ]),
}

export const getAgreement = {
  ...keyed,
  parameters: [version],
  operationId: 'getAgreement',
  summary: "Compare the analysis with people's reviews",
  description:
    'Over the calls that people reviewed and that this version of the rubric has analyzed. Where either is ' +
    'neither success nor fail (of a criterion: neither pass nor fail), the call is left out.',
  responses: keyedAnswers({ 200: jsonAnswer('How far they agree.', Agreement) }, ['not_found']),
}

export const startAnalyses = {
  ...keyed,
  operationId: 'startAnalyses',
  summary: 'Analyze past calls',
  description:
    'The calls that match now are analyzed in the background, the newest first. What the budget of the month does ' +
    'not allow waits for the next month.',
  responses: keyedAnswers(
    { 200: jsonAnswer('A dry run.', PlannedRun), 202: jsonAnswer('Accepted.', AcceptedRun) },
    ['not_found', ...bodyErrors],
  ),
}

export const getAnalyses = {
  ...keyed,
  parameters: [run],
  operationId: 'getAnalyses',
  summary: 'Get the progress of a run',
  responses: keyedAnswers({ 200: jsonAnswer('The run.', AnalysisRun) }, ['not_found']),
}

export const stopAnalyses = {
  ...keyed,
  parameters: [run],
  operationId: 'stopAnalyses',
  summary: 'Stop a run',
  description: 'What it has found out stays.',
  responses: keyedAnswers({ 200: jsonAnswer('The run.', AnalysisRun) }, [
    'not_found',
    'insufficient_storage',
  ]),
}

export const getCallAnalysis = {
  ...keyed,
  parameters: [pathParameter('id', "The platform's own id for the call.", 'call-1042')],
  operationId: 'getCallAnalysis',
  summary: 'Get the analysis of a call',
  description:
    'While a call waits for another analysis, what the last one found out is still there. Each verdict and value ' +
    'names the turns that it rests on, and quotes one of them.',
  responses: keyedAnswers({ 200: jsonAnswer('The analysis.', Analysis) }, ['not_found']),
}
