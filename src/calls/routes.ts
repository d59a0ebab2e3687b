import { Elysia } from 'elysia'
import type { Admission } from '../http/admission.ts'
import { byKey, callerContext } from '../http/caller.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import type { RequestContexts } from '../http/request-context.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { bodyOf } from '../validation.ts'
import type { Calls } from './calls.ts'
import { deleteCall, getCall, getCallDetails, ingestCall, ingestLines, listCalls } from './docs.ts'
import type { JsonBytes } from './document.ts'
import type { Ingest } from './ingest.ts'
import { answerLines } from './lines-response.ts'
import { changeErrors } from './merge.ts'
import { readPageRequest, toPageResponse } from './page-response.ts'
import { CallChange } from './schemas.ts'

/** /v1/calls: what customers do with the records of their calls. */
export function callRoutes(calls: Calls, buffers: ResponseBuffers) {
  return new Elysia({ prefix: '/v1/calls' })
    .use(callerContext())
    .get(
      '',
      async ({ caller, query }) => {
        const request = readPageRequest(query)
        return await toPageResponse(await calls.list(caller.projectId, request), request, buffers)
      },
      { detail: listCalls },
    )
    .get(
      '/:id',
      async ({ caller, params }) => {
        const { document } = await buffers.bodyOf((admit) => calls.get(caller.projectId, params.id, admit))
        return toCallResponse(document)
      },
      { detail: getCall },
    )
    .get(
      '/:id/details',
      async ({ caller, params }) => {
        const { document } = await buffers.bodyOf((admit) =>
          calls.details(caller.projectId, params.id, admit),
        )
        return toCallResponse(document)
      },
      { detail: getCallDetails },
    )
    .delete('/:id', ({ caller, params }) => calls.delete(caller.projectId, params.id, byKey(caller)), {
      detail: deleteCall,
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
      const answer = toCallResponse(document, isNew ? 201 : 200)
      if (isNew) answer.headers.set('Location', `/v1/calls/${params.id}`)
      return answer
    },
    { parse: 'json', body: bodyOf(CallChange, changeErrors), detail: ingestCall },
  )
}

interface IngestLinesOptions {
  ingest: Ingest
  admission: Admission
  contexts: RequestContexts
  onUnexpected: (error: unknown, requestId: string) => void
}

/** POST /ingest/calls: many calls, one a line. It reads its body itself. */
export function ingestLinesRoutes({ ingest, admission, contexts, onUnexpected }: IngestLinesOptions) {
  return new Elysia().use(callerContext()).post(
    '/ingest/calls',
    ({ caller, request }) => {
      const { requestId, surface } = contexts.of(request)
      const report = (error: unknown) => onUnexpected(error, requestId)
      const limits = { bytesMax: surface.bodyBytesMax, admission }
      return answerLines(request, caller.projectId, { ...limits, ingest, onUnexpected: report })
    },
    { parse: 'none', detail: ingestLines },
  )
}

/** A stored document is the answer, byte for byte. */
function toCallResponse(document: string | JsonBytes | ReadableStream, status = 200): Response {
  return new Response(document, { status, headers: jsonHeaders })
}
