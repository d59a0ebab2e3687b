import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ModelUnavailable, RequestRefused } from '../../src/analysis/chat-failures.ts'
import { ChatModel, type ChatModelOptions, type ChatRequest } from '../../src/analysis/chat-model.ts'
import { type ChatServer, type FakeChat, type FakeChatOptions, startFakeChat } from '../support/fake-chat.ts'

const token = 'hf_very_secret_token'
const secret = 'her pin is 4711'
const request: ChatRequest = {
  messages: [
    { role: 'system', content: 'Judge the call. '.repeat(40) },
    { role: 'user', content: `Questions: {"summary":"What?"}\n${secret}` },
  ],
  schema: { type: 'object', properties: { summary: { type: 'string' } } },
  tokensMax: 500,
}

let fake: FakeChat
beforeEach(async () => {
  fake = await startFakeChat()
})
afterEach(() => fake.stop())

/** Another server than the one with the defaults. */
async function start(options: FakeChatOptions): Promise<void> {
  await fake.stop()
  fake = await startFakeChat(options)
}

function modelWith(options: Partial<ChatModelOptions> = {}): ChatModel {
  return new ChatModel({ model: 'qwen3:8b', endpoint: fake.url, token, ...options })
}

function never(): AbortSignal {
  return new AbortController().signal
}

/** The failure, which holds nothing of the request, the answer and the token. */
async function failureOf(promise: Promise<unknown>): Promise<ModelUnavailable | RequestRefused> {
  const error = await promise.then(
    (value) => {
      throw new Error(`It should have failed, but gave ${JSON.stringify(value).slice(0, 100)}`)
    },
    (error: unknown) => error,
  )
  if (!(error instanceof ModelUnavailable || error instanceof RequestRefused)) throw error
  const everything = `${error.stack}\n${JSON.stringify(error, Object.getOwnPropertyNames(error))}\n${Bun.inspect(error)}`
  expect(error.cause).toBeUndefined()
  expect(everything).not.toContain(token)
  expect(everything).not.toContain('4711')
  return error
}

async function unavailable(options: Partial<ChatModelOptions> = {}): Promise<ModelUnavailable> {
  const failure = await failureOf(modelWith(options).ask(request, never()))
  if (failure instanceof ModelUnavailable) return failure
  throw failure
}

describe('what is sent', () => {
  test('the model, the messages, the form of the answer and limits, at temperature 0', async () => {
    await modelWith().ask(request, never())
    const [sent] = fake.requests
    expect(sent?.method).toBe('POST')
    expect(sent?.headers.authorization).toBe(`Bearer ${token}`)
    expect(sent?.body).toEqual({
      model: 'qwen3:8b',
      messages: request.messages,
      temperature: 0,
      max_tokens: 500,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'analysis', strict: true, schema: request.schema },
      },
    })
  })

  test.each(['', '/', '/v1', '/v1/', '/v1/chat/completions', '/v1/chat/completions/'])(
    'an endpoint may end in "%s"',
    async (end) => {
      await modelWith({ endpoint: fake.url + end }).ask(request, never())
      expect(fake.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
    },
  )

  test('without an endpoint, calls go to the providers of Hugging Face, and no other address is asked', async () => {
    const hosts: string[] = []
    const spy = (input: RequestInfo | URL, init?: RequestInit) => {
      hosts.push(new URL(input instanceof Request ? input.url : input).host)
      return fake.fetch(input, init)
    }
    const model = modelWith({ endpoint: null, fetch: Object.assign(spy, fake.fetch) })
    expect((await model.ask(request, never())).text).toContain('summary')
    expect(hosts).toEqual(['router.huggingface.co'])
    expect(fake.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
    expect(model.destination).toBe('https://router.huggingface.co/v1/chat/completions')
  })

  test.each([null, 'sk-other'])(
    'the providers of Hugging Face are not asked with the token %p',
    async (other) => {
      const failure = await unavailable({ endpoint: null, token: other, fetch: fake.fetch })
      expect(failure).toMatchObject({ reason: 'credentials', isOfCall: false })
      expect(fake.requests).toEqual([])
    },
  )

  test('without a token there is no Authorization header, and without a form no response_format', async () => {
    await modelWith({ token: null }).ask({ ...request, schema: null }, never())
    expect(fake.requests[0]?.headers.authorization).toBeUndefined()
    expect(fake.requests[0]?.body.response_format).toBeUndefined()
  })

  test('where calls are sent is told without what may be secret', () => {
    const endpoint = 'https://user:password@models.example.com/v1?key=secret'
    expect(modelWith({ endpoint }).destination).toBe('https://models.example.com/v1')
  })

  test.each(['nonsense', 'ftp://models.example.com', ''])(
    'an endpoint of "%s" is an error at once',
    (endpoint) => {
      expect(() => modelWith({ endpoint })).toThrow(
        'The endpoint of the analysis must be an http or https URL',
      )
    },
  )
})

describe('answers', () => {
  test.each(['llama.cpp', 'vllm', 'ollama'] satisfies ChatServer[])('of %s', async (server) => {
    await start({ server })
    const answer = await modelWith().ask(request, never())
    expect(JSON.parse(answer.text)).toEqual({ summary: 'The summary of a call.' })
    expect(answer.isCut).toBe(false)
    expect(answer.tokens.prompt).toBeGreaterThan(10)
    expect(answer.tokens.completion).toBeGreaterThan(5)
  })

  test('of text-generation-inference, without the form that it refuses', async () => {
    await start({ server: 'tgi' })
    const failure = await failureOf(modelWith().ask(request, never()))
    expect(failure).toMatchObject({
      name: 'RequestRefused',
      message: 'request refused (422)',
      isOfFormat: true,
    })
    expect((await modelWith().ask({ ...request, schema: null }, never())).text).toContain('summary')
  })

  test('an answer that reached its limit is told', async () => {
    fake.next({ finishReason: 'length', says: '{"summary": "It w' })
    expect(await modelWith().ask(request, never())).toMatchObject({ isCut: true, text: '{"summary": "It w' })
  })

  test.each([null, {}, { prompt_tokens: '12', completion_tokens: -3 }, { prompt_tokens: null }])(
    'tokens counted as %j are none',
    async (usage) => {
      fake.next({ usage })
      expect((await modelWith().ask(request, never())).tokens).toEqual({ prompt: 0, completion: 0 })
    },
  )

  test('a model that says nothing has an empty answer', async () => {
    fake.next({
      body: { choices: [{ message: { role: 'assistant', content: null }, finish_reason: 'stop' }] },
    })
    expect((await modelWith().ask(request, never())).text).toBe('')
  })
})

describe('a server without an answer', () => {
  test.each([
    [401, 'credentials', false],
    [402, 'credentials', false],
    [403, 'credentials', false],
    [404, 'model', false],
    [405, 'model', false],
    [408, 'unreachable', true],
    [415, 'unreachable', false],
    [424, 'unreachable', true],
    [429, 'busy', false],
    [500, 'unreachable', true],
    [502, 'unreachable', false],
    [503, 'unreachable', false],
    [504, 'unreachable', true],
    [529, 'unreachable', true],
  ] as const)('%d is %s, and that it may be of the call is %p', async (status, reason, isOfCall) => {
    fake.next({ status })
    expect(await unavailable()).toMatchObject({ reason, isOfCall, retryAfterMs: null })
    expect(fake.requests.length).toBe(1)
  })

  test.each(['llama.cpp', 'vllm', 'ollama', 'tgi'] satisfies ChatServer[])(
    'a wrong token for %s is of the credentials',
    async (server) => {
      await start({ server, token: 'another' })
      expect((await unavailable()).detail).toBe('The model server refused the token (401)')
    },
  )

  test.each(['vllm', 'ollama'] satisfies ChatServer[])('a model that %s does not know', async (server) => {
    await start({ server, model: 'llama3' })
    expect((await unavailable()).reason).toBe('model')
  })

  test.each([
    { error: { message: 'The model `x` does not exist.', type: 'NotFoundError', param: null, code: 404 } },
    {
      object: 'error',
      message: 'The model `x` does not exist.',
      type: 'NotFoundError',
      param: null,
      code: 404,
    },
    {
      error: {
        message: "The requested model 'x' is not supported by any provider you have enabled.",
        code: 'model_not_supported',
      },
    },
    {
      error: {
        message:
          'Invalid model name passed in model=x. Call `/v1/models` to view available models for your key.',
        type: 'None',
        code: '400',
      },
    },
    { error: 'model "x" not found, try pulling it first' },
    { detail: 'Unknown model x' },
  ])('400 with %j is of the model', async (body) => {
    fake.next({ status: 400, body })
    expect(await unavailable()).toMatchObject({ reason: 'model', isOfCall: false })
  })

  test.each([
    ['12', 12_000],
    ['0.5', 500],
    [new Date(1_767_225_690_000).toUTCString(), 90_000],
    ['99999999', 86_400_000],
    ['-1', null],
    ['soon', null],
  ])('Retry-After %s', async (header, retryAfterMs) => {
    fake.always({ status: 429, headers: { 'retry-after': header } })
    const failure = await unavailable({ now: () => 1_767_225_600_000 })
    // A runtime may read a number below 0 as a date, which is past.
    expect(failure.retryAfterMs || null).toBe(retryAfterMs)
    expect(failure).toMatchObject({
      reason: 'busy',
      detail: 'The model server limits the rate of requests (429)',
    })
  })

  test('503 is told with its Retry-After and not repeated', async () => {
    fake.next({ status: 503, headers: { 'retry-after': '30' } })
    expect((await unavailable()).retryAfterMs).toBe(30_000)
    expect(fake.requests.length).toBe(1)
  })

  test.each([302, 307, 308])('a redirect (%d) is not followed', async (status) => {
    const other = await startFakeChat()
    fake.next({ status, headers: { location: `${other.url}/v1/chat/completions` } })
    expect(await unavailable()).toMatchObject({
      reason: 'unreachable',
      detail: `The model server redirects to another address, where no call is sent (${status})`,
    })
    expect(other.requests).toEqual([])
    await other.stop()
  })

  test('a page with 200 is no answer', async () => {
    fake.next({ html: true })
    expect(await unavailable()).toMatchObject({ reason: 'unreachable', isOfCall: false })
  })

  test.each([
    {},
    { choices: null },
    { choices: [] },
    { error: { message: secret } },
    '[]',
    'null',
    '{"choices": [',
    `"${secret}"`,
  ])('200 with %j is no answer', async (body) => {
    fake.next({ body })
    expect(await unavailable()).toMatchObject({
      reason: 'unreachable',
      detail: 'The model server sent no chat answer',
      isOfCall: true,
    })
  })

  test.each(['before', 'middle'] as const)('a connection cut %s the answer', async (cut) => {
    fake.next({ cut })
    expect(await unavailable()).toMatchObject({
      reason: 'unreachable',
      detail: 'The model server broke off the connection (ECONNRESET)',
      isOfCall: true,
    })
  })

  test.each([{ delayMs: 60_000 }, { cut: 'stall' as const }])(
    'one that does not come in time: %j',
    async (slow) => {
      fake.next(slow)
      expect(await unavailable({ timeoutMs: 100 })).toMatchObject({
        reason: 'unreachable',
        detail: 'The model server did not answer within 0.1 s',
        isOfCall: true,
      })
    },
  )

  test('nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(await unavailable({ endpoint: `http://127.0.0.1:${port}` })).toMatchObject({
      reason: 'unreachable',
      detail: 'The model server cannot be reached (ECONNREFUSED)',
      isOfCall: false,
    })
  })

  test('whoever asked gives up: it was sent all the same, and the connection is closed', async () => {
    fake.always({ delayMs: 60_000 })
    const controller = new AbortController()
    const asked = modelWith().ask(request, controller.signal)
    while (fake.atOnce.now === 0) await Bun.sleep(1)
    controller.abort(new Error('The call was erased'))
    await expect(asked).rejects.toMatchObject({ reason: 'unreachable', detail: 'The request was given up' })
    while (fake.atOnce.now > 0) await Bun.sleep(1)
  })
})

describe('a request that is refused', () => {
  test.each(['llama.cpp', 'vllm'] satisfies ChatServer[])(
    'by %s, since its context is too small',
    async (server) => {
      await start({ server, contextTokens: 10 })
      const failure = await failureOf(modelWith().ask(request, never()))
      expect(failure).toMatchObject({
        name: 'RequestRefused',
        message: 'context too small',
        isOfFormat: false,
      })
    },
  )

  test('by text-generation-inference, since its context is too small', async () => {
    await start({ server: 'tgi', contextTokens: 10 })
    const failure = await failureOf(modelWith().ask({ ...request, schema: null }, never()))
    expect(failure.message).toBe('context too small')
  })

  test('by a version of llama.cpp that says 500', async () => {
    const message = 'the request exceeds the available context size. try increasing the context size'
    fake.next({ status: 500, body: { error: { code: 500, message, type: 'exceed_context_size_error' } } })
    expect((await failureOf(modelWith().ask(request, never()))).message).toBe('context too small')
  })

  test('for another reason: which is not told, since it may hold the call', async () => {
    fake.next({ status: 400 })
    const failure = await failureOf(modelWith().ask(request, never()))
    expect(failure).toMatchObject({
      name: 'RequestRefused',
      message: 'request refused (400)',
      isOfFormat: false,
    })
  })

  test.each([
    { error: { message: 'This model does not support response_format', param: 'response_format' } },
    { error: { message: "'json_schema' is unavailable now" } },
    {
      detail: [{ type: 'extra_forbidden', loc: ['body', 'response_format'], msg: 'Extra inputs', input: {} }],
    },
  ])('for its form: %j', async (body) => {
    fake.next({ status: 400, body })
    expect(await failureOf(modelWith().ask(request, never()))).toMatchObject({ isOfFormat: true })
  })

  test('what a caller said, repeated by the server, names no reason', async () => {
    const input = 'unknown model, context size, response_format'
    fake.next({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body', 'seed'], msg: 'Required', input }] },
    })
    const failure = await failureOf(modelWith().ask(request, never()))
    expect(failure).toMatchObject({
      name: 'RequestRefused',
      message: 'request refused (422)',
      isOfFormat: false,
    })
  })

  test.each([
    [200, 'answer too long'],
    [400, 'request refused (400)'],
    [404, 'The model server does not know the model or the path (404)'],
  ])('an answer without an end is cut off: %d', async (status, message) => {
    fake.next({ isEndless: true, status })
    expect((await failureOf(modelWith().ask(request, never()))).message).toBe(message)
    while (fake.atOnce.now > 0) await Bun.sleep(1)
  })

  test('a complaint without an end is not read', async () => {
    fake.next({ status: 400, body: `{"error": "unknown model ${'x'.repeat(100_000)}"}` })
    expect((await failureOf(modelWith().ask(request, never()))).message).toBe('request refused (400)')
  })
})
