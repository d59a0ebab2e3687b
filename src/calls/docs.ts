import type { OpenAPIV3 } from 'openapi-types'
import { deletedAnswer, headerOf, jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import { Call, CallDetails, CallPage } from './schemas.ts'

// What the OpenAPI document says about the routes of calls.

const keyed = { tags: ['Calls'], security: [{ apiKey: [] }] }
const parameters = [pathParameter('id', "The platform's own id for the call.", 'call-1042')]

export const listCalls = {
  ...keyed,
  operationId: 'listCalls',
  summary: 'List calls, newest first',
  parameters: [
    pageParameter('limit', 100, 'Calls on the page; above 1000 is served as 1000, 0 gives only the total.'),
    pageParameter('offset', 0, 'Calls to skip; past the end the page is empty.'),
  ],
  responses: keyedAnswers({ 200: jsonAnswer('A page of calls.', CallPage) }, ['invalid_request']),
}

export const getCall = {
  ...keyed,
  operationId: 'getCall',
  summary: 'Get a call',
  parameters,
  responses: keyedAnswers({ 200: jsonAnswer('The call.', Call) }, ['not_found']),
}

export const getCallDetails = {
  ...keyed,
  operationId: 'getCallDetails',
  summary: 'Get the details of a call',
  description: 'All that is known of it beside its thirteen fields. They are deleted with it.',
  parameters,
  responses: keyedAnswers({ 200: jsonAnswer('The details.', CallDetails) }, ['not_found']),
}

export const deleteCall = {
  ...keyed,
  operationId: 'deleteCall',
  summary: 'Delete a call for good',
  description: 'It is gone when this answers; its erasure receipt tells when its bytes are.',
  parameters,
  responses: keyedAnswers({ 200: deletedAnswer('The call is gone; its id stays deleted.') }, [
    'not_found',
    'insufficient_storage',
  ]),
}

export const ingestCall = {
  tags: ['Ingest'],
  security: [{ ingestKey: [] }],
  operationId: 'ingestCall',
  summary: 'Create a call or merge into it',
  description: 'The same request twice changes nothing the second time, so every failure can be retried.',
  parameters: [pathParameter('id', '1 to 128 characters of A-Z a-z 0-9 . _ : -', 'call-1042')],
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
  tags: ['Ingest'],
  security: [{ ingestKey: [] }],
  operationId: 'ingestCalls',
  summary: 'Create or merge many calls, one a line',
  description: `Each line is a call as for \`PUT /ingest/calls/{id}\`, with its \`id\`; blank lines are skipped. Calls are \
written while the body arrives, and each line is answered in its order by a line with its \`id\` and the \`status\` that a \
request of its own would have, as soon as it is committed. A refused line, also with \`code\`, \`title\` and \`detail\`, stops no \
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
  return { 'application/x-ndjson': { schema: { type: 'string', example } } }
}

function pageParameter(name: string, fallback: number, description: string): OpenAPIV3.ParameterObject {
  const schema: OpenAPIV3.SchemaObject = {
    type: 'string',
    pattern: '^[0-9]{1,15}$',
    default: String(fallback),
  }
  return { name, in: 'query', required: false, description, schema, example: String(fallback) }
}
