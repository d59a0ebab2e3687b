import { jsonAnswer, keyedAnswers, queryParameter } from '../../http/openapi.ts'
import { filterParameters, tooLong } from '../docs.ts'
import { groupings } from './figures-request.ts'
import { measures, shows } from './measures.ts'
import { CallFigures } from './schemas.ts'

// The route of figures in the OpenAPI document.

const member = '[^\\u0000]{1,490}'
const grouping = `(${groupings.join('|')}|analysis\\.${member}|criterion\\.[a-z0-9_]{1,40})`

export const readFigures = {
  tags: ['Calls'],
  security: [{ apiKey: [] }],
  operationId: 'readFigures',
  summary: 'Figures of calls, in groups',
  description:
    'Counts the calls that filters find, or shows a number of them: of all together, of each hour, day, week or month, of groups of durations, ' +
    "of each value of a field, or of two of these together. The filters are those of the list of calls, and a group's `calls` are as many as the list finds " +
    'with the filters and the group. Groups of time and of durations follow each other without holes; other groups begin with those of ' +
    'the most calls. Two groupings have the combinations that calls have. At most 1,000 groups are shown; more days or ' +
    'hours are a 400. With `Accept: text/csv` they are a table of `key`, or both keys, `value` and `calls`.',
  parameters: [
    queryParameter(
      'of',
      'What is shown: of `duration` that of completed calls, of `analysis.KEY` numbers alone.',
      {
        type: 'string',
        pattern: `^(${Object.keys(measures).join('|')}|analysis\\.${member}|criterion\\.[a-z0-9_]{1,40})$`,
        default: 'calls',
      },
      'success',
    ),
    queryParameter(
      'show',
      '`count` of calls; `share` of `success`, `isEngaged` and `criterion.ID`, among the calls that succeeded or failed, are known to ' +
        'be engaged or not, or passed or failed; the others of numbers, where it is required. Percentiles are numbers of the group (nearest rank).',
      { type: 'string', pattern: `^(${shows.join('|')})$` },
      'share',
    ),
    queryParameter(
      'by',
      'What makes a group, or two with a comma, at most one of them of `hour`, `day`, `week`, `month`. Without it, all ' +
        'calls are one.',
      { type: 'string', pattern: `^${grouping}(,${grouping})?$` },
      'day',
    ),
    queryParameter(
      'timeZone',
      "Of groups of time, by default the project's, or else UTC.",
      { type: 'string', maxLength: 100 },
      'Europe/Berlin',
    ),
    ...filterParameters,
  ],
  responses: keyedAnswers(
    {
      200: {
        description: 'The figures.',
        content: { ...jsonAnswer('', CallFigures).content, 'text/csv': { schema: { type: 'string' } } },
      },
      ...tooLong,
    },
    ['invalid_request'],
  ),
}
