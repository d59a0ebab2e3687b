import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { readParameters } from '../http/parameters.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { bodyOf } from '../validation.ts'
import type { Calls } from './calls.ts'
import * as docs from './docs.ts'
import type { JsonBytes } from './document.ts'
import type { Ingest } from './ingest.ts'
import { changeErrors } from './merge.ts'
import { listCalls } from './page-response.ts'
import { CallChange } from './schemas.ts'

/** /v1/calls: what customers do with the records of their calls. */
export function callRoutes(calls: Calls, buffers: ResponseBuffers) {
  return new Elysia({ prefix: '/v1/calls' })
    .use(callerContext())
    .get(
      '',
      ({ caller, request }) =>
        listCalls(calls, caller.projectId, readParameters(request.url), {
          accept: request.headers.get('accept'),
          buffers,
        }),
      { detail: docs.listCalls },
    )
    .get(
      '/:id',
      async ({ caller, params }) => {
        const { document } = await buffers.bodyOf((admit) => calls.get(caller.projectId, params.id, admit))
        return toCallResponse(document)
      },
      { detail: docs.getCall },
    )
    .delete('/:id', ({ caller, params }) => calls.delete(caller.projectId, params.id, byKey(caller)), {
      detail: docs.deleteCall,
    })
}

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
    { parse: 'json', body: bodyOf(CallChange, changeErrors), detail: docs.ingestCall },
  )
}

/** A stored document is the answer, byte for byte. */
function toCallResponse(document: string | JsonBytes | ReadableStream, status = 200): Response {
  return new Response(document, { status, headers: jsonHeaders })
}
