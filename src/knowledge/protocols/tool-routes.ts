import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { ErrorCode } from '../../errors.ts'
import { callerContext } from '../../http/caller.ts'
import { jsonAnswer, protocolAnswers } from '../../http/openapi.ts'
import type { Protocol } from '../../http/surface.ts'
import { bodyOf, named } from '../../validation.ts'
import { callHeader } from '../docs.ts'
import { type AskedSearch, callIdOf } from '../questions/asked-search.ts'
import { errorSentence } from './error-sentence.ts'
import { answerTool } from './tool.ts'
import { ToolParameters, VapiError } from './vapi-schemas.ts'

interface ToolRoutesOptions {
  search: Pick<AskedSearch, 'search'>
  /** Called for every failed search. The request still gets an answer. */
  onFailure: (error: unknown, request: Request) => void
}

const prefix = '/integrations/tool'
const badBody: ErrorCode[] = ['invalid_request', 'payload_too_large', 'unsupported_media_type']

const ToolAnswer = named('ToolAnswer', {
  result: Type.String({
    description:
      'The passages, best first, at most 8,000 characters, or a sentence that says why there are none.',
    example: 'Returns › Refunds\nWe refund any order within 30 days.',
  }),
})

export const toolProtocol: Protocol = {
  prefix,
  errorBody: (error): VapiError => ({ error: errorSentence(error) }),
}

/** /integrations/tool: serves knowledge as a tool for any platform that sends JSON with a key. */
export function toolRoutes({ search, onFailure }: ToolRoutesOptions) {
  return new Elysia({ prefix }).use(callerContext()).post(
    '',
    ({ caller, body, request }) =>
      answerTool({ search, onFailure: (error) => onFailure(error, request) }, caller.projectId, {
        parameters: body,
        callId: callIdOf(request),
      }),
    {
      parse: 'json',
      body: bodyOf(ToolParameters),
      detail: {
        tags: ['Integrations'],
        security: [{ apiKey: [] }],
        operationId: 'answerTool',
        summary: 'Serve as a tool of an agent on any platform',
        parameters: [callHeader],
        description:
          'The passages are one text, which a model can read aloud. If the search fails, the text says so.',
        responses: protocolAnswers(
          { 200: jsonAnswer('The passages found.', ToolAnswer) },
          badBody,
          VapiError,
        ),
      },
    },
  )
}
