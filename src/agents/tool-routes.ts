import { Elysia } from 'elysia'
import { callerContext, callIdOf } from '../http/caller.ts'
import { jsonAnswer, protocolAnswers } from '../http/openapi.ts'
import { readParameters } from '../http/parameters.ts'
import type { Protocol } from '../http/surface.ts'
import { badBody, callHeader, tagParameters } from '../knowledge/docs.ts'
import { within } from '../tags.ts'
import { bodyOf } from '../validation.ts'
import { errorSentence } from './error-sentence.ts'
import { answerTool, type LookUpOptions, ToolAnswer, ToolError, ToolParameters } from './tool.ts'

export interface LookUpRoutesOptions extends Pick<LookUpOptions, 'search'> {
  onFailure: (error: unknown, request: Request) => void
}

/** The options of one request's look-ups. */
export function forRequest({ search, onFailure }: LookUpRoutesOptions, request: Request): LookUpOptions {
  return { search, onFailure: (error) => onFailure(error, request) }
}

const prefix = '/integrations/tool'

export const toolProtocol: Protocol = {
  prefix,
  errorBody: (error) => ({ error: errorSentence(error) }),
}

/** /integrations/tool: serves knowledge as a tool for any platform that sends JSON with a key. */
export function toolRoutes(options: LookUpRoutesOptions) {
  return new Elysia({ prefix }).use(callerContext()).post(
    '',
    ({ caller, body, request }) =>
      answerTool(forRequest(options, request), within(caller, readParameters(request.url)), {
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
        parameters: [callHeader, ...tagParameters],
        description:
          'The passages are one text, which a model can read aloud. If the search fails, the text says so.',
        responses: protocolAnswers(
          { 200: jsonAnswer('The passages found.', ToolAnswer) },
          badBody,
          ToolError,
        ),
      },
    },
  )
}
