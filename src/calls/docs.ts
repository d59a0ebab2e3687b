import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'
import {
  deletedAnswer,
  fieldsParameter,
  headerOf,
  headerParameter,
  jsonAnswer,
  keyedAnswers,
  listParameter,
  notModified,
  pathParameter,
  queryParameter,
} from '../http/openapi.ts'
import { certainTimeOrDayPattern } from '../text/instant.ts'
import {
  analysisPrefix,
  type CallFilter,
  callFilters,
  criterionPrefix,
  type FilterName,
  metadataPrefix,
  takesSeveral,
  verdicts,
} from './filters.ts'
import { callFields } from './reading/fields.ts'
import { Call, CallDetails, CallId, CallPage, HeardSound, Review } from './schemas.ts'

// The routes of calls in the OpenAPI document.

const keyed = { tags: ['Calls'], security: [{ apiKey: [] }] }
const parameters = [pathParameter('id', "The platform's own id for the call.", 'call-1042', CallId)]

const countMax = 999_999_999_999_999
const character = '[^\\u0000]'
/** One of several values, which commas separate. */
const oneOfSeveral: OpenAPIV3.SchemaObject = {
  type: 'string',
  maxLength: 500,
  pattern: '^([^\\u0000,\\\\]|\\\\[,\\\\])+$',
}

const filterDocs: Record<FilterName, { about: string; example: unknown }> = {
  status: { about: '`live` or `completed`.', example: 'completed' },
  evaluation: {
    about:
      "Exactly this value; `none` for null. If a person evaluated the call, their evaluation counts, not the platform's.",
    example: 'fail',
  },
  isEngaged: {
    about:
      'Whether it was a meaningful conversation; `none` where that is not known, which calls show as `false`.',
    example: true,
  },
  from: { about: '`createdAt` at or after this time, or this day in UTC.', example: '2026-01-31' },
  to: { about: '`createdAt` before this time, or this day in UTC.', example: '2026-02-01' },
  completedFrom: {
    about: 'Completed at or after this time, or this day in UTC.',
    example: '2026-01-31T09:30:00.000Z',
  },
  completedTo: {
    about: 'Completed before this time, or this day in UTC.',
    example: '2026-01-31T10:30:00.000Z',
  },
  updatedFrom: {
    about: '`updatedAt` at or after this time, or this day in UTC.',
    example: '2026-01-31T09:30:00.000Z',
  },
  minDuration: { about: 'Seconds, inclusive.', example: 60 },
  maxDuration: { about: 'Seconds, inclusive.', example: 90.5 },
  number: {
    about: "Digits that the caller's or the called number starts or ends with.",
    example: '4053',
  },
  callerNumber: { about: 'Exactly this number, as it is stored.', example: '+15557294053' },
  calledNumber: { about: 'Exactly this number, as it is stored.', example: '+15550100000' },
  endedReason: { about: 'Exactly this value; `none` for null.', example: 'customer-ended-call' },
  source: { about: 'The platform that sent the call; `none` for null.', example: 'vapi' },
  agentId: {
    about: 'An agent that took part in the call; `none` for calls without one.',
    example: 'agent-7',
  },
  agentVersion: { about: "The version of the call's agent; `none` for calls without one.", example: 'v3' },
  direction: { about: '`inbound`, `outbound`, `web`; `none` for null.', example: 'inbound' },
  label: {
    about: 'One of the labels that people gave the call; `none` for calls without one.',
    example: 'billing',
  },
  assignee: {
    about: 'The person who is to review the call; `none` for calls that are for nobody.',
    example: 'Ada Lovelace',
  },
  recording: { about: 'The state of its recording.', example: 'kept' },
  sound: { about: 'Whether its recording was measured.', example: 'measured' },
  minResponseMs: {
    about: 'The longest wait for an answer, as heard, in milliseconds; inclusive.',
    example: 3_000,
  },
  maxResponseMs: {
    about: 'The longest wait for an answer, as heard, in milliseconds; inclusive.',
    example: 1_500,
  },
  minDeadAirSeconds: { about: 'Seconds of dead air in all, as heard; inclusive.', example: 10 },
  minTalkOverSeconds: { about: 'Seconds in which both speak, as heard; inclusive.', example: 5 },
  minAgentShare: { about: "The agent's share of what is spoken, 0 to 1; inclusive.", example: 0.8 },
  maxAgentShare: { about: "The agent's share of what is spoken, 0 to 1; inclusive.", example: 0.2 },
  reviewed: { about: 'Whether a person evaluated the call or marked it as reviewed.', example: true },
  flagged: { about: 'Whether a person flagged a turn of the call.', example: true },
  noted: { about: 'Whether a person wrote a note on the call.', example: true },
  text: {
    about:
      'Calls that contain all of these words, in any form, in the transcript or the summary. Words in quotation marks must appear as written, in this order. ' +
      'One page looks for such a phrase in at most 2,000 calls, so a page can be short or empty and still have a `next`.',
    example: 'late refund',
  },
}

/** The schema has no default: generated clients would send it together with a cursor. */
const offset = queryParameter(
  'offset',
  'Calls to skip (default 0). Past the end, the page is empty. Not together with `cursor`.',
  { type: 'integer', minimum: 0, maximum: countMax },
  0,
)

/** The filters of a list of calls. */
export const filterParameters = [
  ...callFilters.map((filter) => {
    const { about, example } = filterDocs[filter.name]
    const parameterOf = takesSeveral(filter.name) ? listParameter : queryParameter
    return parameterOf(filter.name, about, schemaOf(filter), example)
  }),
  listParameter(
    `${analysisPrefix}KEY`,
    'A string, number or boolean under any KEY at the top level of `callAnalysis` (its first 200 count).',
    oneOfSeveral,
    'billing',
  ),
  listParameter(
    `${metadataPrefix}KEY`,
    'A string of up to 100 characters, a number or a boolean under any KEY at the top level of `metadata` (the first 32 such keys count).',
    oneOfSeveral,
    'acme',
  ),
  listParameter(
    `${criterionPrefix}ID`,
    "The verdict on a criterion of the project's rubric: a person's, or else that of the analysis.",
    { type: 'string', pattern: `^(${verdicts.join('|')})$` },
    'fail',
  ),
]

/** The answer 431: of all parameters, only those of filters can be that long. */
export const tooLong = {
  431: { description: 'The URL and the headers have more than 16 KiB in all. The answer has no body.' },
}

export const listCalls = {
  ...keyed,
  operationId: 'listCalls',
  summary: 'List calls, newest first',
  description:
    'Repeat a filter, or separate its values with commas; any of them matches. Write a comma within a value ' +
    'as `\\,` and a backslash as `\\\\`. A call must match every filter. With `Accept: application/x-ndjson` or `text/csv`, the ' +
    'answer is every matching call, one per line, without a limit unless you set one. In CSV, `fields` also takes ' +
    'members of the details, such as `details.agent.id`; `text/csv;header=bom` begins with a byte order mark, for Excel.',
  parameters: [
    queryParameter(
      'limit',
      'Calls per page, at most 1000; a larger value counts as 1000. 0 returns only the total.',
      { type: 'integer', minimum: 0, maximum: countMax, default: 100 },
      100,
    ),
    offset,
    queryParameter(
      'cursor',
      '`next` from the previous page. Continues from there, whatever has changed in the meantime.',
      { type: 'string' },
      'N2Y0YjNjMmExZDVlNmY3MDE3Njk4NTE4MDAwMDAuY2FsbC0xMDQy',
    ),
    queryParameter(
      'order',
      'By creation time: `-createdAt` is newest first, `createdAt` oldest first.',
      {
        type: 'string',
        enum: ['createdAt', '-createdAt'],
        default: '-createdAt',
      },
      '-createdAt',
    ),
    fieldsParameter(callFields),
    queryParameter(
      'details',
      '`include` adds the member `details` to each call.',
      { type: 'string', enum: ['include'] },
      'include',
    ),
    ...filterParameters,
  ],
  responses: keyedAnswers(
    {
      200: {
        description: 'A page of calls, or all matching calls.',
        content: {
          ...jsonAnswer('', CallPage).content,
          'application/x-ndjson': { schema: { type: 'string' } },
          'text/csv': { schema: { type: 'string' } },
        },
      },
      ...notModified,
      ...tooLong,
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
  description:
    'Everything known about the call besides its thirteen fields. The details are deleted with the call.',
  parameters,
  responses: keyedAnswers({ 200: jsonAnswer('The details.', CallDetails), ...notModified }, ['not_found']),
}

export const getSound = {
  ...keyed,
  parameters,
  operationId: 'getSound',
  summary: "Who speaks when in a call's recording, and what follows from it",
  description:
    'As `details.sound`, with when each speaks, how long each answer was waited for, dead air and talk-over. These are empty ' +
    'unless the sound is measured.',
  responses: keyedAnswers({ 200: jsonAnswer('The sound.', HeardSound) }, ['not_found']),
}

export const deleteCall = {
  ...keyed,
  operationId: 'deleteCall',
  summary: 'Delete a call for good',
  description: 'The call is gone once this answers. Its erasure receipt says when its last byte is gone.',
  parameters,
  responses: keyedAnswers({ 200: deletedAnswer('The call is gone. Its id stays deleted.') }, [
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
  description:
    'Repeating a request changes nothing, so every failure can be retried. The answer carries the whole call: with ' +
    '`Prefer: return=minimal` it has no body, which is cheaper for turns that are appended to a long call.',
  parameters: [
    ...parameters,
    headerParameter(
      'Prefer',
      '`return=minimal` to get 201 or 204 without a body (RFC 7240).',
      'return=representation',
      { required: false },
    ),
  ],
  responses: keyedAnswers(
    {
      200: jsonAnswer('The merged call.', Call),
      201: jsonAnswer('The created call; without a body if the request prefers that.', Call, {
        headers: {
          Location: headerOf("The call's path.", '/v1/calls/call-1042'),
          'Preference-Applied': preferenceApplied(false),
        },
      }),
      204: {
        description: 'The change is merged, and the request prefers an answer without a body.',
        headers: { 'Preference-Applied': preferenceApplied(true) },
      },
    },
    [
      'invalid_request',
      'transcript_gap',
      'timeline_gap',
      'call_was_deleted',
      'payload_too_large',
      'unsupported_media_type',
      'insufficient_storage',
    ],
  ),
}

export const reviewCall = {
  ...keyed,
  parameters,
  operationId: 'reviewCall',
  summary: "Change a call's review",
  description:
    'Each member that is sent replaces its own; null, or an empty list, takes it back. `by` is then the name of the key. ' +
    'The answer is null if nothing is left of the review.',
  responses: keyedAnswers(
    { 200: jsonAnswer('The review.', Type.Unsafe({ ...Review, title: 'CallReview', nullable: true })) },
    ['not_found', 'payload_too_large', 'unsupported_media_type', 'insufficient_storage'],
  ),
}

function preferenceApplied(isRequired: boolean): OpenAPIV3.HeaderObject {
  return headerOf('`return=minimal` where the request prefers it.', 'return=minimal', isRequired)
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
  summary: 'Create or merge many calls, one per line',
  description: `Each line is a call as for \`PUT /ingest/calls/{id}\`, with its \`id\`. Blank lines are skipped. Calls are \
written while the body arrives. As soon as a line is committed, it is answered, in order, by a line with its \
\`id\` and the \`status\` that a request of its own would get; \`ignored\` lists unknown names. The answer to a \
refused line also has \`line\`, its number, \`code\`, \`title\` and \`detail\`. A refused line stops no other. A request has at most \
10,000 lines and BODY_MAX_BYTES. If the body is too large, too slow or ends early, a last line with a null \
\`id\` says so, and no line after it was written. Sending everything again does no harm.`,
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

/** The schema of one value. */
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
    case 'words':
      return { type: 'string', maxLength: 500, pattern: `^${character}+$` }
    default:
      return oneOfSeveral
  }
}
