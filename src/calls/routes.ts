import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { answerTagged, hasAnswer, notModified, type Tags, taggedHeaders } from '../http/conditional.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { bodyOf } from '../validation.ts'
import type { Calls } from './calls.ts'
import { deleteCall, getCall, ingestCall, listCalls } from './docs.ts'
import type { JsonBytes } from './document.ts'
import type { Ingest } from './ingest.ts'
import { changeErrors } from './merge.ts'
import { readPageRequest, toPageResponse } from './page-response.ts'
import { CallChange } from './schemas.ts'

/** /v1/calls: what customers do with the records of their calls. */
export function callRoutes(calls: Calls, tags: Tags, buffers: ResponseBuffers) {
  return new Elysia({ prefix: '/v1/calls' })
    .use(callerContext())
    .get(
      '',
      async ({ caller, query, request }) => {
        const page = readPageRequest(query)
        return await answerTagged(request, await tags.ofProject(caller.projectId), async () =>
          toPageResponse(await calls.list(caller.projectId, page), page, buffers),
        )
      },
      { detail: listCalls },
    )
    .get(
      '/:id',
      async ({ caller: { projectId }, params, request }) => {
        if (request.headers.has('if-none-match')) {
          const tag = tags.of(projectId, await calls.changeSeq(projectId, params.id))
          if (hasAnswer(request, tag)) return notModified(request, tag)
        }
        const { document, changeSeq } = await buffers.bodyOf((admit) =>
          calls.get(projectId, params.id, admit),
        )
        const response = new Response(document, { headers: taggedHeaders })
        response.headers.set('ETag', tags.of(projectId, changeSeq))
        return response
      },
      { detail: getCall },
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
      return toCallResponse(document, isNew ? 201 : 200)
    },
    { parse: 'json', body: bodyOf(CallChange, changeErrors), detail: ingestCall },
  )
}

/** A stored document is the answer, byte for byte. */
function toCallResponse(document: string | JsonBytes | ReadableStream, status: number): Response {
  return new Response(document, { status, headers: jsonHeaders })
}
