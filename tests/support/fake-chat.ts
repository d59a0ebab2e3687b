import type { IncomingMessage, ServerResponse } from 'node:http'
import { type FakeModel, type ModelMisbehaviour, type Reply, startFakeModel } from './fake-model.ts'

export type ChatServer = 'llama.cpp' | 'vllm' | 'ollama' | 'tgi'

export interface ChatMisbehaviour extends ModelMisbehaviour {
  /** An answer that never ends. */
  isEndless?: boolean
  /** What the model says: a text as it is, anything else as JSON. */
  says?: Said
  finishReason?: string
  /** What the server counts; null for nothing. */
  usage?: Record<string, unknown> | null
}

export interface ChatTurn {
  turn: number
  role: string
  content: string
}

export interface RecordedChat {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
  messages: { role: string; content: string }[]
  /** The schema that the answer must have; undefined without one. */
  schema: Schema | undefined
  /** The turns of the call, as a model finds them in the prompt. */
  turns: ChatTurn[]
}

type Said = unknown | ((request: RecordedChat) => unknown)

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  enum?: unknown[]
}

export type FakeChat = FakeModel<RecordedChat, ChatMisbehaviour>

export interface FakeChatOptions {
  /** Whose form errors and answers have. */
  server?: ChatServer
  /** When set, vLLM and Ollama know no other model. */
  model?: string
  /** When set, other tokens get 401. */
  token?: string
  /** Prompt and answer together. Ollama, by default with 4,096, drops the start of a longer prompt; others refuse it. */
  contextTokens?: number
  /** How long each answer takes. */
  delayMs?: number
  /** What the model says; by default a judgement that passes, with a quotation of the first turn that has words. */
  says?: (request: RecordedChat) => unknown
  /** Whether to keep the requests; a benchmark need not. */
  isRecording?: boolean
}

/** A server of the OpenAI chat API, with the forms and quirks of one of four that people run themselves. */
export function startFakeChat(options: FakeChatOptions = {}): Promise<FakeChat> {
  return startFakeModel<RecordedChat, ChatMisbehaviour>({
    record: recordOf,
    reply(recorded, misbehaviour, response) {
      if (!misbehaviour.isEndless) return replyTo(recorded, misbehaviour, options)
      sendWithoutEnd(response, misbehaviour.status)
      return null
    },
    delayMs: options.delayMs,
    isRecording: options.isRecording,
  })
}

/** The judgement of a model that follows the rules: everything passes, by the words of one turn. */
export function goodJudgement({
  schema,
  messages,
  turns,
}: Pick<RecordedChat, 'schema' | 'messages' | 'turns'>) {
  const said = turns.find(({ content }) => /[\p{L}\p{N}]/u.test(content))
  const evidence = said
    ? { turns: [said.turn], quote: said.content.slice(0, 80).toWellFormed() }
    : { turns: [], quote: '' }
  const fill = (each: Schema, name = ''): unknown => {
    const [first] = each.anyOf ?? []
    if (first) return said ? fill(first) : null
    if (each.properties)
      return Object.fromEntries(Object.entries(each.properties).map(([key, part]) => [key, fill(part, key)]))
    if (name === 'turns') return evidence.turns
    if (name === 'quote') return evidence.quote
    if (name === 'result') return said ? 'pass' : 'unknown'
    if (each.enum) return each.enum[0]
    if (each.type === 'boolean') return true
    if (each.type === 'integer') return 7
    if (each.type === 'number') return 1.5
    return name ? `The ${name} of a call.` : evidence.quote
  }
  return fill(schema ?? schemaOf(messages))
}

/** What a model without a schema reads in the prompt. */
function schemaOf(messages: RecordedChat['messages']): Schema {
  const [, json = '{}'] = /^Questions: (.*)$/m.exec(messages.at(-1)?.content ?? '') ?? []
  const {
    summary,
    criteria = [],
    fields = [],
  } = JSON.parse(json) as {
    summary?: string
    criteria?: { id: string }[]
    fields?: { key: string; type: string; choices?: string[] }[]
  }
  const evidence = { turns: {}, quote: {} }
  const judged = { properties: { ...evidence, rationale: {}, result: {} } }
  const found = ({ type, choices }: { type: string; choices?: string[] }) => ({
    properties: { ...evidence, value: { anyOf: [choices ? { enum: choices } : { type }] } },
  })
  return {
    properties: {
      ...(summary !== undefined && { summary: {} }),
      ...(criteria.length > 0 && {
        criteria: { properties: Object.fromEntries(criteria.map(({ id }) => [id, judged])) },
      }),
      ...(fields.length > 0 && {
        fields: { properties: Object.fromEntries(fields.map((field) => [field.key, found(field)])) },
      }),
    },
  }
}

/** The turns between the fences of a prompt. */
export function turnsOf(prompt: string): ChatTurn[] {
  const [, json = ''] = /^BEGIN (\S+)\n(?:([\s\S]*?)\n)?END \1$/m.exec(prompt)?.slice(1) ?? []
  return (
    json
      .split('\n')
      .filter((line) => line !== '')
      // What a call's searches and tools found comes after the turns.
      .filter((line) => line.startsWith('{"turn"'))
      .map((line) => {
        const { turn, ...said } = JSON.parse(line) as { turn: number } & Record<string, string>
        const [role = '', content = ''] = Object.entries(said)[0] ?? []
        return { turn, role, content }
      })
  )
}

function recordOf(request: IncomingMessage, text: string): RecordedChat {
  const body = JSON.parse(text || '{}') as Record<string, unknown>
  const messages = (body.messages ?? []) as RecordedChat['messages']
  const format = body.response_format as { json_schema?: { schema?: Schema } } | undefined
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body,
    messages,
    schema: format?.json_schema?.schema,
    turns: turnsOf(messages.at(-1)?.content ?? ''),
  }
}

function replyTo(request: RecordedChat, misbehaviour: ChatMisbehaviour, options: FakeChatOptions): Reply {
  const { server = 'llama.cpp', contextTokens = server === 'ollama' ? 4_096 : Number.POSITIVE_INFINITY } =
    options
  const headers = { 'content-type': 'application/json', ...misbehaviour.headers }
  if (misbehaviour.html) {
    const body = '<!doctype html><h1>Sign in</h1>'
    return {
      status: misbehaviour.status ?? 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body,
    }
  }
  if (misbehaviour.body !== undefined || misbehaviour.status !== undefined) {
    // Some servers repeat what they do not understand.
    const body = misbehaviour.body ?? errorOf(server, `Failed on ${JSON.stringify(request.body)}`, 500)
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return { status: misbehaviour.status ?? 200, headers, body: text }
  }
  const problem = problemOf(request, options)
  if (problem) return { headers, ...problem }
  const prompt = tokensOf(request.messages.map(({ content }) => content).join(''))
  const says = misbehaviour.says ?? options.says ?? goodJudgement
  const said =
    typeof says === 'function' ? says(prompt > contextTokens ? endOf(request, contextTokens) : request) : says
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  const usage = { prompt_tokens: Math.min(prompt, contextTokens), completion_tokens: tokensOf(text) }
  const answer = answerOf(server, {
    text,
    finishReason: misbehaviour.finishReason ?? 'stop',
    model: request.body.model,
  })
  const counted = { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens }
  const body = JSON.stringify({
    ...answer,
    ...(misbehaviour.usage !== null && { usage: misbehaviour.usage ?? counted }),
  })
  return { status: 200, headers, body }
}

/** The end of a prompt, which is all that the model gets to see. */
function endOf(request: RecordedChat, contextTokens: number): RecordedChat {
  const messages = request.messages
    .slice(-1)
    .map((message) => ({ ...message, content: message.content.slice(-contextTokens * 4) }))
  return { ...request, messages, turns: turnsOf(messages.at(-1)?.content ?? '') }
}

/** As the servers' tokenizers count English, about. */
function tokensOf(text: string): number {
  return Math.ceil(text.length / 4)
}

/** Why a server does not take a request, in its own form; null if it does. */
function problemOf(
  request: RecordedChat,
  options: FakeChatOptions,
): (Omit<Reply, 'headers'> & Partial<Reply>) | null {
  const { server = 'llama.cpp', model, token, contextTokens = Number.POSITIVE_INFINITY } = options
  const refuse = (status: number, message: string, type?: string, more?: object) => ({
    status,
    body: JSON.stringify(errorOf(server, message, status, type, more)),
  })
  if (request.path !== '/v1/chat/completions') return refuse(404, 'Not Found')
  if (token && request.headers.authorization !== `Bearer ${token}`) {
    // The token that came is in what some servers say.
    const message = `Invalid token ${request.headers.authorization}`
    return server === 'vllm' ? { status: 401, body: '{"error":"Unauthorized"}' } : refuse(401, message)
  }
  const isUnknown = model !== undefined && request.body.model !== model
  if (isUnknown && server === 'vllm')
    return refuse(404, `The model \`${request.body.model}\` does not exist.`, 'NotFoundError', {
      param: 'model',
    })
  if (isUnknown && server === 'ollama')
    return refuse(404, `model "${request.body.model}" not found, try pulling it first`)
  // https://github.com/huggingface/text-generation-inference/pull/3276
  if (server === 'tgi' && request.body.response_format !== undefined) {
    const body =
      'Failed to deserialize the JSON body into the target type: response_format: missing field `value` at line 1 column 99'
    return { status: 422, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
  }
  const prompt = tokensOf(request.messages.map(({ content }) => content).join(''))
  const answer = Number(request.body.max_tokens)
  if (server === 'llama.cpp' && prompt > contextTokens) {
    const message = `the request exceeds the available context size (${contextTokens} tokens), try increasing it`
    return refuse(400, message, 'exceed_context_size_error', {
      n_prompt_tokens: prompt,
      n_ctx: contextTokens,
    })
  }
  if (server === 'vllm' && prompt + answer > contextTokens) {
    const message = `This model's maximum context length is ${contextTokens} tokens. However, you requested ${prompt + answer} tokens (${prompt} in the messages, ${answer} in the completion). Please reduce the length of the messages or completion.`
    return refuse(400, message)
  }
  if (server === 'tgi' && prompt + answer > contextTokens) {
    const message = `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= ${contextTokens}. Given: ${prompt} \`inputs\` tokens and ${answer} \`max_new_tokens\``
    return refuse(422, message, 'validation')
  }
  return null
}

function errorOf(server: ChatServer, message: string, status: number, type?: string, more?: object): object {
  switch (server) {
    case 'llama.cpp':
      return { error: { code: status, message, type: type ?? 'invalid_request_error', ...more } }
    case 'vllm':
      return { error: { message, type: type ?? 'BadRequestError', param: null, code: status, ...more } }
    case 'ollama':
      return { error: { message, type: 'api_error', param: null, code: null } }
    case 'tgi':
      return { error: message, error_type: type ?? 'generation' }
    default:
      return server satisfies never
  }
}

interface Answer {
  text: string
  finishReason: string
  model: unknown
}

function answerOf(server: ChatServer, { text, finishReason, model }: Answer): object {
  const choice = (message: object, more?: object) => [
    {
      index: 0,
      message: { role: 'assistant', content: text, ...message },
      finish_reason: finishReason,
      ...more,
    },
  ]
  const head = { object: 'chat.completion', id: 'chatcmpl-1', created: 1_767_225_600 }
  switch (server) {
    case 'llama.cpp':
      return {
        ...head,
        choices: choice({}),
        model: 'gpt-3.5-turbo',
        system_fingerprint: 'b6000',
        timings: {},
      }
    case 'vllm': {
      const message = {
        refusal: null,
        annotations: null,
        audio: null,
        tool_calls: [],
        reasoning_content: null,
      }
      return {
        ...head,
        model,
        choices: choice(message, { logprobs: null, stop_reason: null }),
        prompt_logprobs: null,
      }
    }
    case 'ollama':
      return { ...head, id: 'chatcmpl-42', model, system_fingerprint: 'fp_ollama', choices: choice({}) }
    case 'tgi':
      return {
        ...head,
        id: '',
        model,
        system_fingerprint: '3.3.4-native',
        choices: choice({}, { logprobs: null }),
      }
    default:
      return server satisfies never
  }
}

function sendWithoutEnd(response: ServerResponse, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.write('{"choices":[{"index":0,"message":{"role":"assistant","content":"')
  const more = 'and so on '.repeat(6_000)
  const send = () => {
    while (!response.destroyed && response.write(more));
    if (!response.destroyed) response.once('drain', send)
  }
  send()
}
