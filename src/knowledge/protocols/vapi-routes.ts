import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'
import { AppError, type ErrorCode } from '../../errors.ts'
import { callerContext } from '../../http/caller.ts'
import { jsonAnswer, protocolAnswers } from '../../http/openapi.ts'
import type { Protocol } from '../../http/surface.ts'
import { bodyOf } from '../../validation.ts'
import type { Search } from '../search/search.ts'
import { errorSentence } from './error-sentence.ts'
import { parametersOf, queryOf, type ToolCall, toDocument, toFailure, toolCallsOf, toResult } from './vapi.ts'
import {
  VapiError,
  VapiKnowledgeAnswer,
  VapiKnowledgeRequest,
  VapiToolAnswer,
  VapiToolRequest,
  type VapiToolResult,
} from './vapi-schemas.ts'

interface VapiRoutesOptions {
  search: Pick<Search, 'search'>
  /** Called with every search that failed; the request is answered all the same. */
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

/** Vapi's own servers answer an error as `{error}` in their examples; `message` would be spoken to the caller. */
export const vapiProtocol: Protocol = {
  prefix,
  // A bad Authorization wins, too: the secret may be the whole organisation's, meant for another server.
  authorizationOf(headers) {
    const secret = headers.get('x-vapi-secret')
    return headers.get('authorization') || (secret ? secret.replace(/^(?!bearer\s)/i, 'Bearer ') : null)
  },
  errorBody: (error): VapiError => ({ error: errorSentence(error) }),
}

/** /integrations/vapi: the knowledge as a custom knowledge base and as a tool. */
export function vapiRoutes(options: VapiRoutesOptions) {
  return new Elysia({ prefix })
    .use(callerContext())
    .post(
      '/knowledge',
      ({ caller, body, request }) => findDocuments(options, caller.projectId, body, request),
      {
        parse: 'json',
        body: bodyOf(VapiKnowledgeRequest),
        detail: {
          tags,
          security,
          operationId: 'answerVapiKnowledge',
          summary: "Be a Vapi assistant's custom knowledge base",
          description: "Searches for the user's last turn. When the search fails there are no documents.",
          responses: answers('Passages, best first.', VapiKnowledgeAnswer),
        },
      },
    )
    .post(
      '/tool',
      async ({ caller, body, request }) => ({
        // In parallel: there are few, and a caller on the phone waits for all of them.
        results: await Promise.all(
          toolCallsOf(body).map((call) => answerCall(options, caller.projectId, call, request)),
        ),
      }),
      {
        parse: 'json',
        body: bodyOf(VapiToolRequest),
        detail: {
          tags,
          security,
          operationId: 'answerVapiToolCalls',
          summary: 'Be a function tool of a Vapi assistant',
          description: 'Each call is a search by its parameters `query`, `limit` and `itemIds`.',
          responses: answers('One result or error for each call.', VapiToolAnswer),
        },
      },
    )
}

async function findDocuments(
  { search, onFailure }: VapiRoutesOptions,
  projectId: number,
  body: VapiKnowledgeRequest,
  request: Request,
): Promise<VapiKnowledgeAnswer> {
  const query = queryOf(body)
  if (query === null) return { documents: [] }
  try {
    const { answer } = await search.search(projectId, { query })
    return { documents: answer.data.map(toDocument) }
  } catch (error) {
    // The phone call goes on: the model answers from what it knows.
    onFailure(error, request)
    return { documents: [] }
  }
}

async function answerCall(
  { search, onFailure }: VapiRoutesOptions,
  projectId: number,
  call: ToolCall,
  request: Request,
): Promise<VapiToolResult> {
  try {
    const { answer } = await search.search(projectId, parametersOf(call))
    return toResult(call, answer.data)
  } catch (error) {
    // The answer stays 200, since Vapi reads no results from another, and the other calls have theirs.
    if (!(error instanceof AppError && error.code === 'invalid_request')) onFailure(error, request)
    return toFailure(call, error)
  }
}
