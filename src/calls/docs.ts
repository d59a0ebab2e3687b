import type { OpenAPIV3 } from 'openapi-types'
import {
  deletedAnswer,
  fieldsParameter,
  headerOf,
  jsonAnswer,
  keyedAnswers,
  notModified,
  pathParameter,
  queryParameter,
} from '../http/openapi.ts'
import { certainTimeOrDayPattern } from '../text/instant.ts'
import { type CallFilter, callFilters, type FilterName } from './filters.ts'
import { Call, CallDetails, CallId, CallPage } from './schemas.ts'

// What the OpenAPI document says about the routes of calls.

const keyed = { tags: ['Calls'], security: [{ apiKey: [] }] }
const parameters = [pathParameter('id', "The platform's own id for the call.", 'call-1042', CallId)]

const countMax = 999_999_999_999_999
const character = '[^\\u0000]'

const filterDocs: Record<FilterName, { about: string; example: unknown }> = {
  status: { about: '`live` or `completed`.', example: 'completed' },
  evaluation: {
    about:
      "Exactly this; `none` for null. Where a person evaluated the call, theirs counts, not the platform's.",
    example: 'fail',
  },
  isEngaged: { about: 'Whether it was a meaningful conversation.', example: true },
  from: { about: '`createdAt` at or after this time, or this day in UTC.', example: '2026-01-31' },
  to: { about: '`createdAt` before this time, or this day in UTC.', example: '2026-02-01' },
  updatedFrom: {
    about: '`updatedAt` at or after this time, or this day in UTC.',
    example: '2026-01-31T09:30:00.000Z',
  },
  minDuration: { about: 'Seconds, inclusive.', example: 60 },
  maxDuration: { about: 'Seconds, inclusive.', example: 90.5 },
  number: {
    about: "Digits that the caller's or the called number begins or ends with.",
    example: '4053',
  },
  callerNumber: { about: 'Exactly this number, as it is stored.', example: '+15557294053' },
  calledNumber: { about: 'Exactly this number, as it is stored.', example: '+15550100000' },
  endedReason: { about: 'Exactly this; `none` for null.', example: 'customer-ended-call' },
  source: { about: 'The platform that sent the call.', example: 'vapi' },
  agentId: { about: 'Exactly this agent.', example: 'agent-7' },
  label: { about: 'One of the labels that people gave the call.', example: 'billing' },
  reviewed: { about: 'Whether a person evaluated the call or marked it as reviewed.', example: true },
  flagged: { about: 'Whether a person flagged a turn of the call.', example: true },
  noted: { about: 'Whether a person wrote a note on the call.', example: true },
  text: {
    about:
      'All of these words, in any form, in the transcript or the summary; in quotation marks, one after another as written. ' +
      'Such a phrase is looked for in at most 2000 calls a page: a page that is short or empty can have a `next`.',
    example: 'late refund',
  },
}

/** Without a default in the schema: generated clients would send it together with a cursor. */
const offset = queryParameter(
  'offset',
  'Calls to skip, by default none; past the end the page is empty. Not together with `cursor`.',
  { type: 'integer', minimum: 0, maximum: countMax },
  0,
)

export const listCalls = {
  ...keyed,
  operationId: 'listCalls',
  summary: 'List calls, newest first',
  description:
    'Several values of a filter are separated by commas, and any of them matches (a comma within a value is `%2C`); a ' +
    'call must match every filter. `analysis.KEY=VALUE` is one too: a string, number or boolean at the top level of ' +
    '`callAnalysis` (of the first 200). `fields=status,duration` gives these fields of each call alone, with its id. ' +
    'With `Accept: application/x-ndjson` or `text/csv` the answer is every call that ' +
    'matches, one a line, without a limit unless one is given.',
  parameters: [
    queryParameter(
      'limit',
      'Calls on the page; above 1000 is served as 1000, 0 gives only the total.',
      { type: 'integer', minimum: 0, maximum: countMax, default: 100 },
      100,
    ),
    offset,
    queryParameter(
      'cursor',
      '`next` of the page before: goes on from there, whatever has changed meanwhile.',
      { type: 'string' },
      'N2Y0YjNjMmExZDVlNmY3MDE3Njk4NTE4MDAwMDAuY2FsbC0xMDQy',
    ),
    queryParameter(
      'order',
      'By the time of creation, the newest or the oldest call first.',
      {
        type: 'string',
        enum: ['createdAt', '-createdAt'],
        default: '-createdAt',
      },
      '-createdAt',
    ),
    fieldsParameter,
    ...callFilters.map((filter) => {
      const { about, example } = filterDocs[filter.name]
      return queryParameter(filter.name, about, schemaOf(filter), example)
    }),
  ],
  responses: keyedAnswers(
    {
      200: {
        description: 'A page of calls, or all that match.',
        content: {
          ...jsonAnswer('', CallPage).content,
          'application/x-ndjson': { schema: { type: 'string' } },
          'text/csv': { schema: { type: 'string' } },
        },
      },
      ...notModified,
    },
    ['invalid_request'],
  ),
}

export const getCall = {
  ...keyed,
  operationId: 'getCall',
  summary: 'Get a call',
  parameters,
  responses: keyedAnswers({ 200: jsonAnswer('The call.', Call), ...notModified }, ['not_found']),
}

export const getCallDetails = {
  ...keyed,
  operationId: 'getCallDetails',
  summary: 'Get the details of a call',
  description: 'All that is known of it beside its thirteen fields. They are deleted with it.',
  parameters,
  responses: keyedAnswers({ 200: jsonAnswer('The details.', CallDetails), ...notModified }, ['not_found']),
}

export const deleteCall = {
  ...keyed,
  operationId: 'deleteCall',
  summary: 'Delete a call for good',
  description: 'It is gone when this answers; its erasure receipt tells when its bytes are.',
  parameters,
  responses: keyedAnswers({ 200: deletedAnswer('The call is gone; its id stays deleted.') }, [
    'not_found',
    'call_on_hold',
    'insufficient_storage',
  ]),
}

export const ingestCall = {
  tags: ['Calls'],
  security: [{ ingestKey: [] }],
  operationId: 'ingestCall',
  summary: 'Create a call or merge into it',
  description: 'The same request twice changes nothing the second time, so every failure can be retried.',
  parameters,
  responses: keyedAnswers(
    {
      200: jsonAnswer('The call, merged.', Call),
      201: jsonAnswer('The call, created.', Call, {
        headers: { Location: headerOf("The call's path.", '/v1/calls/call-1042') },
      }),
    },
    [
      'invalid_request',
      'transcript_gap',
      'call_was_deleted',
      'payload_too_large',
      'unsupported_media_type',
      'insufficient_storage',
    ],
  ),
}

const linesExample = `{"id":"call-1042","status":"completed","duration":91.2,"summary":"Moved the booking to Friday."}
{"id":"call-1043","callerNumber":"+15557294053"}
`
const lineAnswersExample = `{"id":"call-1042","status":201}
{"id":"call-1043","status":200}
`

export const ingestLines = {
  tags: ['Calls'],
  security: [{ ingestKey: [] }],
  operationId: 'ingestCalls',
  summary: 'Create or merge many calls, one a line',
  description: `Each line is a call as for \`PUT /ingest/calls/{id}\`, with its \`id\`; blank lines are skipped. Calls are \
written while the body arrives, and each line is answered in its order by a line with its \`id\` and the \`status\` that a \
request of its own would have, as soon as it is committed; with names that are not known as \`ignored\`. A refused line, also with \`code\`, \`title\` and \`detail\`, stops no \
other. A request has at most 10,000 lines and BODY_MAX_BYTES; where the body is too large, too slow or ends early, the last \
line, with the \`id\` null, says so, and no line after it was written. Sending everything again does no harm.`,
  requestBody: {
    required: true,
    content: linesOf(linesExample),
  },
  responses: keyedAnswers(
    {
      200: {
        description: 'A line for each line of the body.',
        content: linesOf(lineAnswersExample),
      },
    },
    ['payload_too_large', 'unsupported_media_type'],
  ),
}

function linesOf(example: string): OpenAPIV3.ResponseObject['content'] & object {
  return { 'application/x-ndjson': { schema: { type: 'string', format: 'ndjson', example } } }
}

/** Of one value: generated clients send several as a repeated parameter, of which the last counts. */
function schemaOf(filter: CallFilter): OpenAPIV3.SchemaObject {
  if (filter.kind === 'choice') return { ...Call.properties.status }
  if (filter.kind === 'flag' || filter.kind === 'mark') return { type: 'boolean' }
  switch (filter.kind) {
    case 'since':
    case 'before':
      return { type: 'string', pattern: certainTimeOrDayPattern }
    case 'least':
    case 'most':
      return { type: 'number', minimum: 0 }
    case 'digits':
      return { type: 'string', maxLength: 500, pattern: `^${character}*[0-9]${character}*$` }
    default:
      return { type: 'string', maxLength: 500, pattern: `^${character}+$` }
  }
}
