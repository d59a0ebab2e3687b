import type { OpenAPIV3 } from 'openapi-types'
import { deletedAnswer, jsonAnswer, keyedAnswers, notModified, pathParameter } from '../http/openapi.ts'
import { Call, CallId, CallPage } from './schemas.ts'

// What the OpenAPI document says about the routes of calls.

const keyed = { tags: ['Calls'], security: [{ apiKey: [] }] }
const parameters = [pathParameter('id', "The platform's own id for the call.", 'call-1042', CallId)]

export const listCalls = {
  ...keyed,
  operationId: 'listCalls',
  summary: 'List calls, newest first',
  parameters: [
    pageParameter('limit', 100, 'Calls on the page; above 1000 is served as 1000, 0 gives only the total.'),
    pageParameter('offset', 0, 'Calls to skip; past the end the page is empty.'),
  ],
  responses: keyedAnswers({ 200: jsonAnswer('A page of calls.', CallPage), ...notModified }, [
    'invalid_request',
  ]),
}

export const getCall = {
  ...keyed,
  operationId: 'getCall',
  summary: 'Get a call',
  parameters,
  responses: keyedAnswers({ 200: jsonAnswer('The call.', Call), ...notModified }, ['not_found']),
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
  parameters,
  responses: keyedAnswers(
    { 200: jsonAnswer('The call, merged.', Call), 201: jsonAnswer('The call, created.', Call) },
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

function pageParameter(name: string, fallback: number, description: string): OpenAPIV3.ParameterObject {
  const schema: OpenAPIV3.SchemaObject = {
    type: 'integer',
    minimum: 0,
    maximum: 999_999_999_999_999,
    default: fallback,
  }
  return { name, in: 'query', required: false, description, schema, example: fallback }
}
