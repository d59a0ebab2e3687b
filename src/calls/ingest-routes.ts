import { Elysia } from 'elysia'
import { callerContext } from '../http/caller.ts'
import { jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { bodyOf } from '../validation.ts'
import type { Ingest } from './ingest.ts'
import { changeErrors } from './merge.ts'
import { toCallResponse } from './routes.ts'
import { Call, CallChange } from './schemas.ts'

/** /ingest/calls: how platforms write calls. */
export function ingestRoutes(ingest: Ingest, buffers: ResponseBuffers) {
  return new Elysia({ prefix: '/ingest/calls' }).use(callerContext()).put(
    '/:id',
    async ({ caller, params, body }) => {
      const { document, isNew } = await buffers.bodyOf((admit) =>
        // Elysia gives null for an id whose percent-encoding is broken.
        ingest.put(caller.projectId, params.id ?? '', body, admit),
      )
      return toCallResponse(document, isNew ? 201 : 200)
    },
    {
      parse: 'json',
      body: bodyOf(CallChange, changeErrors),
      detail: {
        tags: ['Ingest'],
        security: [{ ingestKey: [] }],
        operationId: 'ingestCall',
        summary: 'Create a call or merge into it',
        description:
          'The same request twice changes nothing the second time, so every failure can be retried.',
        parameters: [pathParameter('id', '1 to 128 characters of A-Z a-z 0-9 . _ : -', 'call-1042')],
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
      },
    },
  )
}
