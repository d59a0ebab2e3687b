import { Elysia } from 'elysia'
import { byKey, callerContext } from '../http/caller.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import type { Calls } from './calls.ts'
import { deleteCall, getCall, listCalls } from './docs.ts'
import type { JsonBytes } from './document.ts'
import { readPageRequest, toPageResponse } from './page-response.ts'

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
    .delete('/:id', ({ caller, params }) => calls.delete(caller.projectId, params.id, byKey(caller)), {
      detail: deleteCall,
    })
}

/** A stored document is the answer, byte for byte. */
export function toCallResponse(document: string | JsonBytes | ReadableStream, status = 200): Response {
  return new Response(document, { status, headers: jsonHeaders })
}
