import { Elysia } from 'elysia'
import { callerContext } from '../http/caller.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { bodyOf } from '../validation.ts'
import { ingestCall } from './docs.ts'
import type { Ingest } from './ingest.ts'
import { changeErrors } from './merge.ts'
import { toCallResponse } from './routes.ts'
import { CallChange } from './schemas.ts'

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
    { parse: 'json', body: bodyOf(CallChange, changeErrors), detail: ingestCall },
  )
}
