import { Type } from '@sinclair/typebox'
import { deletedAnswer, jsonAnswer, keyedAnswers, pathParameter, problemAnswers } from '../http/openapi.ts'
import { limits } from '../limits.ts'
import { HistoryImport, HistoryPreview } from './history/schemas.ts'
import { MadeSource, Source, SourceFailures, SourceList, SourceSecret } from './schemas.ts'

// The routes of sources in the OpenAPI document.

const event = {
  message: {
    type: 'status-update',
    status: 'in-progress',
    timestamp: 1_700_000_002_000,
    call: { id: '7b1f3c52-0d4e-4a6b-9c1d-2f8e5a7b9c10', type: 'webCall' },
  },
}

const Received = Type.Unsafe<Record<string, unknown>>({
  title: 'EventAnswer',
  type: 'object',
  additionalProperties: true,
  example: {},
})

export const receiveEvent = {
  tags: ['Ingest'],
  security: [],
  operationId: 'receiveEvent',
  summary: "Receive an event from a platform's webhook",
  description:
    'For Vapi, Retell, ElevenLabs, Bland, Telnyx, Ultravox, Synthflow, Cartesia and Dograh: the platform ' +
    'sends its own body, signed with the secret of the source. Every genuine event is answered 200, even ' +
    'if it is not about a call, is about a deleted call, or cannot be read. An event that cannot be read ' +
    'is listed as a failure of its source. Questions from Vapi and Retell during a call are answered with ' +
    'passages from the knowledge.',
  parameters: [
    pathParameter('id', 'The id of the source.', 'src_5f0c2b7e7cc0a1d2e3f4051627384950', Type.String()),
  ],
  requestBody: {
    required: true,
    description: `Where the platform signs its requests and sends no secret, at most ${limits.signedBody.most} bytes. Otherwise:`,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/JsonObject' }, example: event } },
  },
  responses: {
    200: jsonAnswer('The event was received. `{}` unless the platform asked a question.', Received),
    ...problemAnswers([
      'invalid_request',
      'invalid_signature',
      'not_found',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limited',
      'internal',
      'unavailable',
    ]),
  },
}

const keyed = { tags: ['Sources'], security: [{ apiKey: [] }] }
const bodyErrors = ['payload_too_large', 'unsupported_media_type', 'insufficient_storage'] as const
const parameters = [pathParameter('id', 'Of a source.', 'src_5f0c2b7e7cc0a1d2e3f4051627384950')]

export const listSources = {
  ...keyed,
  operationId: 'listSources',
  summary: 'List the sources',
  description:
    'The platforms that send calls, the newest first. For a key of the scope `manage`, as all of this.',
  responses: keyedAnswers({ 200: jsonAnswer('The sources.', SourceList) }, []),
}

export const createSource = {
  ...keyed,
  operationId: 'createSource',
  summary: 'Create a source',
  description:
    'Give its `url` to the platform. Without `secret` one is made where the platform lets you choose it, and shown once; ' +
    'else set the one that the platform shows.',
  responses: keyedAnswers({ 201: jsonAnswer('The source.', MadeSource) }, [...bodyErrors]),
}

export const getSource = {
  ...keyed,
  parameters,
  operationId: 'getSource',
  summary: 'Get a source',
  responses: keyedAnswers({ 200: jsonAnswer('The source.', Source) }, ['not_found']),
}

export const changeSource = {
  ...keyed,
  parameters,
  operationId: 'changeSource',
  summary: 'Change the name or options of a source',
  description: 'Options that are left out stay, and null clears one. Another `host` clears `apiKey`.',
  responses: keyedAnswers({ 200: jsonAnswer('The source.', Source) }, ['not_found', ...bodyErrors]),
}

export const deleteSource = {
  ...keyed,
  parameters,
  operationId: 'deleteSource',
  summary: 'Delete a source',
  description: 'With its secrets and failures. Its calls stay.',
  responses: keyedAnswers({ 200: deletedAnswer('The source is deleted.') }, [
    'not_found',
    'insufficient_storage',
  ]),
}

export const rotateSource = {
  ...keyed,
  parameters,
  operationId: 'rotateSource',
  summary: 'Replace the secret of a source',
  description: 'The previous one is accepted for 24 hours.',
  responses: keyedAnswers({ 200: jsonAnswer('The source.', SourceSecret) }, ['not_found', ...bodyErrors]),
}

export const listSourceFailures = {
  ...keyed,
  parameters,
  operationId: 'listSourceFailures',
  summary: 'List the events of a source that could not be read',
  description: 'Of the last week, the newest first.',
  responses: keyedAnswers({ 200: jsonAnswer('The failures.', SourceFailures) }, ['not_found']),
}

export const importHistory = {
  ...keyed,
  parameters,
  operationId: 'importHistory',
  summary: 'Import the past calls of a source',
  description:
    "Asks the platform's API, with the API key of the source, for the calls that began in the span. What is newer here stays. " +
    'A call that it creates is sent to no webhook, and analyzed only when somebody asks. The same request as one that has ' +
    'failed goes on from there.',
  responses: keyedAnswers(
    {
      200: jsonAnswer('With `dryRun`: what the platform says.', HistoryPreview),
      202: jsonAnswer('The import has begun.', HistoryImport),
    },
    ['not_found', 'import_is_running', ...bodyErrors],
  ),
}

export const getImport = {
  ...keyed,
  parameters,
  operationId: 'getHistoryImport',
  summary: 'See how far the last import of a source came',
  responses: keyedAnswers({ 200: jsonAnswer('The import.', HistoryImport) }, ['not_found']),
}

export const stopImport = {
  ...keyed,
  parameters,
  operationId: 'stopHistoryImport',
  summary: 'Stop the import of a source',
  description: 'What it has written stays.',
  responses: keyedAnswers({ 200: jsonAnswer('The import.', HistoryImport) }, [
    'not_found',
    'insufficient_storage',
  ]),
}
