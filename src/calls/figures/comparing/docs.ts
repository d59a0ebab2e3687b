import { jsonAnswer, keyedAnswers, listParameter, queryParameter } from '../../../http/openapi.ts'
import { filterParameters, tooLong } from '../../docs.ts'
import { comparedBy } from './compare-request.ts'
import { Comparison } from './schemas.ts'

// The route of comparisons in the OpenAPI document.

const filterOf = (group: 'a' | 'b', example: string) =>
  listParameter(
    `${group}.FILTER`,
    `A filter of the calls of ${group} alone, such as \`${group}.agentVersion\` or \`${group}.from\`. Not with \`by\`.`,
    { type: 'string', minLength: 1, maxLength: 500 },
    example,
  )

export const compareCalls = {
  tags: ['Calls'],
  security: [{ apiKey: [] }],
  operationId: 'compareCalls',
  summary: 'Compare two groups of calls',
  description:
    'Says of each figure how far the calls of b are from those of a, between which numbers that difference is at a level ' +
    'of confidence, and what follows. Completed calls alone are compared. Name a and b by filters, or compare the calls of each ' +
    'value of `by` with those of the value `against`; filters without `a.` and `b.` hold for all. The first figure is the question: ' +
    'of 20 comparisons of equal calls, one says that it differs; of the others together, too. Before and after differ in all that has ' +
    'changed in between. The same calls give the same answer. A group has at most 500,000 calls, and no call may be in both.',
  parameters: [
    filterOf('a', 'v13'),
    filterOf('b', 'v14'),
    queryParameter(
      'by',
      'Compares the calls of each other value of it, at most 20.',
      { type: 'string', enum: [...comparedBy] },
      'agentVersion',
    ),
    queryParameter(
      'against',
      'The value of `by` whose calls are a.',
      { type: 'string', minLength: 1, maxLength: 500 },
      'v13',
    ),
    listParameter(
      'of',
      'At most 20: `success`, `isEngaged`, `criterion.ID`, or a number of `GET /v1/metrics` with `avg`, `p50` or `p95`. By default ' +
        '`success`, the first five criteria of the rubric, `latencyMs.p50`, `latencyMs.p95` and `costUsd.avg`.',
      { type: 'string', minLength: 1, maxLength: 500 },
      'success',
    ),
    ...filterParameters,
  ],
  responses: keyedAnswers({ 200: jsonAnswer('The comparison.', Comparison), ...tooLong }, [
    'invalid_request',
  ]),
}
