import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'
import { byKey, callerContext } from '../http/caller.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import { deletedAnswer, jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import type { Calls } from './calls.ts'
import type { JsonBytes } from './document.ts'
import { readPageRequest, toPageResponse } from './page-response.ts'
import { Call, CallPage } from './schemas.ts'

const tags = ['Calls']
const security = [{ apiKey: [] }]
const idParameter = pathParameter('id', "The platform's own id for the call.", 'call-1042')

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
      {
        detail: {
          tags,
          security,
          operationId: 'listCalls',
          summary: 'List calls, newest first',
          parameters: [
            pageParameter(
              'limit',
              100,
              'Calls on the page; above 1000 is served as 1000, 0 gives only the total.',
            ),
            pageParameter('offset', 0, 'Calls to skip; past the end the page is empty.'),
          ],
          responses: keyedAnswers({ 200: jsonAnswer('A page of calls.', CallPage) }, ['invalid_request']),
        },
      },
    )
    .get(
      '/:id',
      async ({ caller, params }) => {
        const { document } = await buffers.bodyOf((admit) => calls.get(caller.projectId, params.id, admit))
        return toCallResponse(document)
      },
      {
        detail: {
          tags,
          security,
          operationId: 'getCall',
          summary: 'Get a call',
          parameters: [idParameter],
          responses: keyedAnswers({ 200: jsonAnswer('The call.', Call) }, ['not_found']),
        },
      },
    )
    .delete('/:id', ({ caller, params }) => calls.remove(caller.projectId, params.id, byKey(caller)), {
      detail: {
        tags,
        security,
        operationId: 'deleteCall',
        summary: 'Delete a call for good',
        description: 'It is gone when this answers; its erasure receipt tells when its bytes are.',
        parameters: [idParameter],
        responses: keyedAnswers({ 200: deletedAnswer('The call is gone; its id stays deleted.') }, [
          'not_found',
          'insufficient_storage',
        ]),
      },
    })
}

/** A stored document is the answer, byte for byte. */
export function toCallResponse(document: string | JsonBytes | ReadableStream, status = 200): Response {
  return new Response(document, { status, headers: jsonHeaders })
}

function pageParameter(name: string, fallback: number, description: string): OpenAPIV3.ParameterObject {
  const schema: OpenAPIV3.SchemaObject = {
    type: 'string',
    pattern: '^[0-9]{1,15}$',
    default: String(fallback),
  }
  return { name, in: 'query', required: false, description, schema, example: String(fallback) }
}
