import { InferenceClient } from '@huggingface/inference'
import { networkCode } from '../text/connection-problem.ts'
import { readWhole } from '../text/whole-answer.ts'
import { valueAt } from '../validation.ts'
import { failureOf, ModelUnavailable, RequestRefused } from './chat-failures.ts'
import type { Tokens } from './schemas.ts'

const timeoutMsDefault = 60_000
const answerBytesMax = 1024 * 1024
const hostedUrl = 'https://router.huggingface.co/v1/chat/completions'

export interface ChatModelOptions {
  /** The id of the model at the server. */
  model: string
  /**
   * URL of a server of the OpenAI chat API, with or without `/v1` or `/v1/chat/completions` at its end; null for
   * Hugging Face's providers.
   */
  endpoint: string | null
  token: string | null
  /** How long one request may take. */
  timeoutMs?: number
  fetch?: typeof fetch
  now?: () => number
}

export type ChatMessage = { role: 'system' | 'user'; content: string }

/** A body of the chat API without the model. */
export interface ChatBody {
  messages: readonly object[]
  [member: string]: unknown
}

export type JsonSchema = Record<string, unknown>

export interface ChatRequest {
  messages: ChatMessage[]
  /** The form of the answer; null for a server that cannot enforce one. */
  schema: JsonSchema | null
  /** How long the answer may be. */
  tokensMax: number
}

export interface ChatAnswer {
  text: string
  /** Whether it ended because it reached `tokensMax`. */
  isCut: boolean
  tokens: Tokens
}

/** A model behind the OpenAI chat API. Throws when the endpoint is not valid. */
export class ChatModel {
  readonly model: string
  /** For people: where calls are sent, without user, password and query, which may be secrets. */
  readonly destination: string
  readonly #endpoint: { endpointUrl?: string }
  readonly #hasToken: boolean
  readonly #timeoutMs: number
  readonly #client: InferenceClient
  readonly #fetch: typeof fetch

  constructor(options: ChatModelOptions) {
    const { model, endpoint, token, timeoutMs = timeoutMsDefault } = options
    const url = urlOf(endpoint ?? hostedUrl)
    this.model = model
    this.destination = url.origin + url.pathname
    this.#endpoint = endpoint === null ? {} : { endpointUrl: url.href }
    this.#hasToken = endpoint !== null || token?.startsWith('hf_') === true
    this.#timeoutMs = timeoutMs
    this.#client = new InferenceClient(token ?? undefined)
    this.#fetch = checkedFetch(options.fetch ?? fetch, options.now ?? Date.now)
  }

  /** Sends one request. @throws as `complete` */
  async ask({ messages, schema, tokensMax }: ChatRequest, signal: AbortSignal): Promise<ChatAnswer> {
    const format = schema && {
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 'analysis', strict: true, schema },
      },
    }
    return readAnswer(
      await this.complete({ messages, temperature: 0, max_tokens: tokensMax, ...format }, signal),
    )
  }

  /**
   * Sends a body as it is, with the name of the model. Returns the answer, which has a message.
   * @throws ModelUnavailable, also when the signal aborts it; RequestRefused; an earlier abort's reason
   */
  async complete(body: ChatBody, signal: AbortSignal): Promise<unknown> {
    if (!this.#hasToken)
      throw new ModelUnavailable('credentials', "Hugging Face's providers need a token that begins with hf_")
    signal.throwIfAborted()
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    // The client sends members as they are.
    const sent = { ...this.#endpoint, model: this.model, ...body } as Parameters<
      InferenceClient['chatCompletion']
    >[0]
    try {
      const answer = await this.#client.chatCompletion(sent, {
        signal: AbortSignal.any([signal, timeout]),
        fetch: this.#fetch,
        // By default the client repeats a request that got 503, at once and for ever.
        retry_on_error: false,
      })
      if (valueAt(answer, 'choices', 0, 'message') === undefined) throw noChatAnswer()
      return answer
    } catch (error) {
      if (signal.aborted) throw new ModelUnavailable('unreachable', 'The request was given up')
      if (timeout.aborted) {
        const problem = `The model server did not answer within ${this.#timeoutMs / 1_000} s`
        throw new ModelUnavailable('unreachable', problem, { isOfCall: true })
      }
      throw isOurs(error) ? error : noChatAnswer()
    }
  }
}

function urlOf(address: string): URL {
  if (/^https?:/i.test(address) && URL.canParse(address)) return new URL(address)
  throw new Error('The endpoint of the analysis must be an http or https URL')
}

function isOurs(error: unknown): boolean {
  return error instanceof ModelUnavailable || error instanceof RequestRefused
}

function noChatAnswer(): ModelUnavailable {
  return new ModelUnavailable('unreachable', 'The model server sent no chat answer', { isOfCall: true })
}

/** The client does not check what an endpoint answers. */
function readAnswer(answer: unknown): ChatAnswer {
  const choice = valueAt(answer, 'choices', 0)
  // A model that refuses, or only thinks, says nothing.
  const content = valueAt(choice, 'message', 'content')
  const count = (name: string) => {
    const tokens = valueAt(answer, 'usage', name)
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) ? Math.max(0, tokens) : 0
  }
  return {
    text: typeof content === 'string' ? content : '',
    isCut: valueAt(choice, 'finish_reason') === 'length',
    tokens: { prompt: count('prompt_tokens'), completion: count('completion_tokens') },
  }
}

/** A fetch that throws for every answer that cannot be one of the chat API. */
function checkedFetch(fetch: typeof globalThis.fetch, now: () => number): typeof globalThis.fetch {
  const checkedRequest = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    try {
      // Calls and the token go to the configured address and nowhere else.
      const response = await fetch(input, { ...init, redirect: 'manual' })
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      if (!response.ok || !isJson) {
        const failure = await failureOf(response, now())
        // Closes the connection if not all was read; if it is closed already, that is as well.
        await response.body?.cancel().catch(() => undefined)
        throw failure
      }
      return await readWhole(response, answerBytesMax, () => new RequestRefused('answer too long'))
    } catch (error) {
      throw isOurs(error) ? error : networkFailure(networkCode(error))
    }
  }
  return Object.assign(checkedRequest, { preconnect: fetch.preconnect })
}

function networkFailure(code: string | null): ModelUnavailable {
  const isOfCall = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code ?? '')
  const problem = isOfCall ? 'broke off the connection' : 'cannot be reached'
  return new ModelUnavailable('unreachable', `The model server ${problem} (${code ?? 'no code'})`, {
    isOfCall,
  })
}
