import { Type } from '@sinclair/typebox'
import { jsonAnswer, pathParameter, problemAnswers } from '../http/openapi.ts'
import { limits } from '../limits.ts'

// What the OpenAPI document says about the route of sources.

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
