import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'
import { callerContext } from '../http/caller.ts'
import { jsonAnswer, protocolAnswers } from '../http/openapi.ts'
import { readParameters } from '../http/parameters.ts'
import type { Protocol } from '../http/surface.ts'
import { badBody, tagParameters } from '../knowledge/docs.ts'
import { within } from '../tags.ts'
import { bodyOf } from '../validation.ts'
import { errorSentence } from './error-sentence.ts'
import { ToolError } from './tool.ts'
import { forRequest, type LookUpRoutesOptions } from './tool-routes.ts'
import { answerCalls, findDocuments } from './vapi.ts'
import { VapiKnowledgeAnswer, VapiKnowledgeRequest, VapiToolAnswer, VapiToolRequest } from './vapi-schemas.ts'

const prefix = '/integrations/vapi'
const tags = ['Integrations']
const security: OpenAPIV3.SecurityRequirementObject[] = [{ apiKey: [] }, { vapiSecret: [] }]
const answers = (description: string, schema: TSchema) =>
  protocolAnswers({ 200: jsonAnswer(description, schema) }, badBody, ToolError)

export const vapiSecuritySchemes: Record<string, OpenAPIV3.SecuritySchemeObject> = {
  vapiSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Vapi-Secret',
    description: 'An API key, `ck_live_…`, where there is no Authorization header.',
  },
}

/** Errors are `{error}`, as in Vapi's examples: Vapi would speak a `message` to the caller. */
export const vapiProtocol: Protocol = {
  prefix,
  // Authorization counts even if it is invalid: `X-Vapi-Secret` may be the whole organisation's, meant for another
  // server.
  authorizationOf(headers) {
    const secret = headers.get('x-vapi-secret')
    return headers.get('authorization') || (secret ? secret.replace(/^(?!bearer\s)/i, 'Bearer ') : null)
  },
  errorBody: (error) => ({ error: errorSentence(error) }),
}

/** /integrations/vapi: serves knowledge as a custom knowledge base and as a tool. */
export function vapiRoutes(options: LookUpRoutesOptions) {
  return new Elysia({ prefix })
    .use(callerContext())
    .post(
      '/knowledge',
      ({ caller, body, request }) =>
        findDocuments(forRequest(options, request), within(caller, readParameters(request.url)), body),
      {
        parse: 'json',
        body: bodyOf(VapiKnowledgeRequest),
        detail: {
          tags,
          security,
          operationId: 'answerVapiKnowledge',
          parameters: tagParameters,
          summary: 'Serve as the custom knowledge base of a Vapi assistant',
          description: "Searches for the user's last turn. If the search fails, `documents` is empty.",
          responses: answers('Passages, best first.', VapiKnowledgeAnswer),
        },
      },
    )
    .post(
      '/tool',
      async ({ caller, body, request }) => ({
        results: await answerCalls(
          forRequest(options, request),
          within(caller, readParameters(request.url)),
          body,
        ),
      }),
      {
        parse: 'json',
        body: bodyOf(VapiToolRequest),
        detail: {
          tags,
          security,
          operationId: 'answerVapiToolCalls',
          parameters: tagParameters,
          summary: 'Serve as a function tool of a Vapi assistant',
          description: 'Each tool call is a search with its parameters `query`, `limit` and `itemIds`.',
          responses: answers('One result or error for each tool call.', VapiToolAnswer),
        },
      },
    )
}
