import type { Core } from '../core/core.ts'
import { AppError } from '../errors.ts'
import type { SearchScope } from '../tags.ts'
import { compileCheck } from '../validation.ts'
import { faultsSentence } from './error-sentence.ts'
import { answerTool, asObject, type LookUpOptions } from './tool.ts'
import { answerCalls, findDocuments, inOneLine } from './vapi.ts'
import { VapiKnowledgeRequest, VapiToolRequest } from './vapi-schemas.ts'

const checkKnowledge = compileCheck(VapiKnowledgeRequest)
const checkTool = compileCheck(VapiToolRequest)

/** Answers questions that platforms' agents send to a source during a call, signed like its events. */
export class LookUps {
  readonly #options: LookUpOptions

  constructor({ log }: Core, { search }: Pick<LookUpOptions, 'search'>) {
    const onFailure = (error: unknown) => log.error({ error }, 'A search during a call failed')
    this.#options = { search, onFailure }
  }

  /** @returns null for a body that is not a question. A failed search has an answer, too, so that the call goes on. */
  async answer(platform: string, scope: SearchScope, body: unknown): Promise<object | null> {
    try {
      if (platform === 'vapi') return await this.#answerVapi(scope, body)
      if (platform === 'retell') return await this.#answerRetell(scope, body)
      return null
    } catch (error) {
      // The model can correct its request.
      if (error instanceof AppError && error.errors) return { error: inOneLine(faultsSentence(error.errors)) }
      throw error
    }
  }

  /** https://docs.vapi.ai/server-url/events */
  async #answerVapi(scope: SearchScope, body: unknown): Promise<object | null> {
    const type = asObject(asObject(body)?.message)?.type
    if (type === 'tool-calls') return { results: await answerCalls(this.#options, scope, checkTool(body)) }
    if (type === 'knowledge-base-request')
      return await findDocuments(this.#options, scope, checkKnowledge(body))
    return null
  }

  /** A custom function: `{name, call: {call_id}, args}`. https://docs.retellai.com/build/conversation-flow/custom-function */
  async #answerRetell(scope: SearchScope, body: unknown): Promise<object | null> {
    const { event, name, args, call } = asObject(body) ?? {}
    if (event !== undefined || typeof name !== 'string') return null
    return await answerTool(this.#options, scope, { parameters: args, callId: asObject(call)?.call_id })
  }
}
