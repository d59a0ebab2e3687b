import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'
import type { ErrorCode } from '../../errors.ts'
import { callerContext } from '../../http/caller.ts'
import { jsonAnswer, protocolAnswers } from '../../http/openapi.ts'
import type { Protocol } from '../../http/surface.ts'
import { bodyOf } from '../../validation.ts'
import type { AskedSearch } from '../questions/asked-search.ts'
import { errorSentence } from './error-sentence.ts'
import { answerCalls, findDocuments, type LookUpOptions } from './vapi-answers.ts'
import {
  VapiError,
  VapiKnowledgeAnswer,
  VapiKnowledgeRequest,
  VapiToolAnswer,
  VapiToolRequest,
} from './vapi-schemas.ts'

interface VapiRoutesOptions {
  search: Pick<AskedSearch, 'search'>
  /** Called for every failed search. The request still gets an answer. */
  onFailure: (error: unknown, request: Request) => void
}

const prefix = '/integrations/vapi'
const tags = ['Integrations']
const security: OpenAPIV3.SecurityRequirementObject[] = [{ apiKey: [] }, { vapiSecret: [] }]
const badBody: ErrorCode[] = ['invalid_request', 'payload_too_large', 'unsupported_media_type']
const answers = (description: string, schema: TSchema) =>
  protocolAnswers({ 200: jsonAnswer(description, schema) }, badBody, VapiError)

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
  errorBody: (error): VapiError => ({ error: errorSentence(error) }),
}

/** /integrations/vapi: serves knowledge as a custom knowledge base and as a tool. */
export function vapiRoutes(options: VapiRoutesOptions) {
  return new Elysia({ prefix })
    .use(callerContext())
    .post(
      '/knowledge',
      ({ caller, body, request }) => findDocuments(forRequest(options, request), caller.projectId, body),
      {
        parse: 'json',
        body: bodyOf(VapiKnowledgeRequest),
        detail: {
          tags,
          security,
          operationId: 'answerVapiKnowledge',
          summary: 'Serve as the custom knowledge base of a Vapi assistant',
          description: "Searches for the user's last turn. If the search fails, `documents` is empty.",
          responses: answers('Passages, best first.', VapiKnowledgeAnswer),
        },
      },
    )
    .post(
      '/tool',
      async ({ caller, body, request }) => ({
        results: await answerCalls(forRequest(options, request), caller.projectId, body),
      }),
      {
        parse: 'json',
        body: bodyOf(VapiToolRequest),
        detail: {
          tags,
          security,
          operationId: 'answerVapiToolCalls',
          summary: 'Serve as a function tool of a Vapi assistant',
          description: 'Each tool call is a search with its parameters `query`, `limit` and `itemIds`.',
          responses: answers('One result or error for each tool call.', VapiToolAnswer),
        },
      },
    )
}

function forRequest({ search, onFailure }: VapiRoutesOptions, request: Request): LookUpOptions {
  return { search, onFailure: (error) => onFailure(error, request) }
}
