import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ModelUnavailable } from '../../src/analysis/chat-failures.ts'
import { ChatModel } from '../../src/analysis/chat-model.ts'
import { judge } from '../../src/analysis/judge.ts'
import { answerSchema } from '../../src/analysis/prompt.ts'
import {
  type ChatServer,
  type FakeChat,
  type FakeChatOptions,
  goodJudgement,
  startFakeChat,
} from '../support/fake-chat.ts'
import { booking, bookingRubric, rubricOf } from './rubrics.ts'

let fake: FakeChat
beforeEach(async () => {
  fake = await startFakeChat()
})
afterEach(() => fake.stop())

async function start(options: FakeChatOptions): Promise<void> {
  await fake.stop()
  fake = await startFakeChat(options)
}

function judgeBooking(options: Partial<Parameters<typeof judge>[0]> = {}) {
  return judge({
    rubric: bookingRubric,
    transcript: booking,
    model: new ChatModel({ model: 'qwen3:8b', endpoint: fake.url, token: null, timeoutMs: 2_000 }),
    contextTokens: 32_768,
    signal: new AbortController().signal,
    ...options,
  })
}

const evidence = { turns: [0], quote: 'Hello, how can I help?' }
const goodFindings = {
  summary: 'The summary of a call.',
  criteria: ['confirmed_date', 'named_price'].map((id) => ({
    id,
    result: 'pass',
    rationale: 'The rationale of a call.',
    ...evidence,
    support: null,
  })),
  fields: Object.entries({ day: evidence.quote, is_new: true, people: 7, price: 1.5, mood: 'calm' }).map(
    ([key, value]) => ({ key, value, ...evidence }),
  ),
}

/** What a good model says, as text. */
const goodText = (request: Parameters<typeof goodJudgement>[0]) => JSON.stringify(goodJudgement(request))

describe('the prompt', () => {
  test('has the rules, the questions, and the turns between fences that no request shares', async () => {
    await judgeBooking()
    await judgeBooking()
    const [system, user] = fake.requests[0]?.messages ?? []
    expect([system?.role, user?.role]).toEqual(['system', 'user'])
    const fences = fake.requests.map(
      ({ messages }) => /^BEGIN ([0-9a-f]{32})$/m.exec(messages[1]?.content ?? '')?.[1],
    )
    expect(new Set(fences).size).toBe(2)
    expect(user?.content.split('\n').slice(-8)).toEqual([
      `The turns are the lines between "BEGIN ${fences[0]}" and "END ${fences[0]}":`,
      `BEGIN ${fences[0]}`,
      '{"turn":0,"assistant":"Hello, how can I help?"}',
      '{"turn":1,"user":"I would like a table for 4 on Friday at ten, please."}',
      '{"turn":2,"assistant":"Friday at ten,\\n for four. It is 12.50 dollars each. Have you been here before?"}',
      '{"turn":3,"user":"Never! Friday at TEN, that works."}',
      `END ${fences[0]}`,
      'Those were all the turns. Answer the questions about them with the JSON object.',
    ])
    for (const { question } of bookingRubric.criteria) expect(user?.content).toContain(question)
    for (const { key, description } of bookingRubric.fields) {
      expect(user?.content).toContain(`"key":"${key}"`)
      expect(user?.content).toContain(description)
    }
    expect(user?.content).toContain('"choices":["calm","angry"]')
    expect(user?.content).toContain('what the caller wanted, and how it ended')
  })

  test('starts the same for every call, so that servers can reuse what they computed', async () => {
    await judgeBooking({ fence: () => 'a' })
    await judgeBooking({ fence: () => 'b', transcript: booking.slice(1) })
    const [one = '', two = ''] = fake.requests.map(({ messages }) =>
      messages.map(({ content }) => content).join('\n'),
    )
    const same = Array.from(one).findIndex((letter, at) => letter !== two[at])
    expect(one.slice(same - 6, same + 1)).toBe('BEGIN a')
  })

  test('asks for no more than the rubric has', async () => {
    const [criterion] = bookingRubric.criteria
    const judged = await judgeBooking({ rubric: rubricOf({ criteria: criterion ? [criterion] : [] }) })
    expect(judged).toMatchObject({ state: 'done', findings: { summary: null, fields: [] } })
    const [{ schema, messages } = { schema: {}, messages: [] }] = fake.requests
    expect(Object.keys(schema?.properties ?? {})).toEqual(['criteria'])
    expect(messages[1]?.content).not.toContain('"summary": text')
    expect(messages[1]?.content).not.toContain('"fields": {')
  })

  test('leaves room for the answer', async () => {
    await judgeBooking()
    expect(fake.requests[0]?.body.max_tokens).toBe(1_000 + 7 * 200)
  })

  test('has a form of the few keywords that all servers know, with every property required', () => {
    const known = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'anyOf']
    const check = (schema: object): void => {
      const { properties = {}, items = [], anyOf = [], ...rest } = schema as Record<string, object>
      expect(known).toEqual(expect.arrayContaining(Object.keys(rest)))
      if ('properties' in schema) {
        expect<unknown>(rest.required).toEqual(Object.keys(properties))
        expect<unknown>(rest.additionalProperties).toBe(false)
      }
      for (const part of [Object.values(properties), items, anyOf].flat()) check(part as object)
    }
    check(answerSchema(bookingRubric))
    expect(JSON.stringify(answerSchema(bookingRubric)).length).toBeGreaterThan(1_000)
  })
})

describe('an answer', () => {
  test.each(['llama.cpp', 'vllm', 'ollama'] satisfies ChatServer[])(
    'of %s is done in one request',
    async (server) => {
      await start({ server })
      const judged = await judgeBooking()
      expect(judged).toMatchObject({ state: 'done', findings: goodFindings, requests: 1 })
      expect(judged.tokens.prompt).toBeGreaterThan(500)
      expect(judged.tokens.completion).toBeGreaterThan(100)
    },
  )

  test('of a server that refuses the form comes by a second request without it', async () => {
    await start({ server: 'tgi' })
    expect(await judgeBooking()).toMatchObject({ state: 'done', findings: goodFindings, requests: 2 })
    expect(fake.requests.map(({ schema }) => schema !== undefined)).toEqual([true, false])
  })

  test.each([
    ['prose', (json: string) => `Sure! Here is what I found:\n${json}\nLet me know if you need {more}.`],
    ['a code fence', (json: string) => `\`\`\`json\n${json}\n\`\`\``],
    [
      'thoughts',
      (json: string) => `<think>The form is {"summary": text}. Or {"summary": "no"}?</think>\n${json}`,
    ],
    ['white space', (json: string) => `\n\n ${JSON.stringify(JSON.parse(json), null, 2)} \n`],
  ])('with %s around it', async (_, around) => {
    fake.next({ says: (request: Parameters<typeof goodText>[0]) => around(goodText(request)) })
    expect(await judgeBooking()).toMatchObject({ state: 'done', findings: goodFindings, requests: 1 })
  })

  test('may be without some answers when asked again: they are unknown', async () => {
    fake.always({
      says: {
        summary: 'It.',
        criteria: { named_price: { ...evidence, rationale: 'So.', result: 'fail' } },
        fields: {},
      },
    })
    const judged = await judgeBooking()
    expect(judged).toMatchObject({ state: 'done', requests: 2 })
    const { findings } = judged.state === 'done' ? judged : { findings: null }
    expect(findings?.criteria.map(({ id, result }) => [id, result])).toEqual([
      ['confirmed_date', 'unknown'],
      ['named_price', 'fail'],
    ])
    expect(findings?.fields.map(({ value }) => value)).toEqual([null, null, null, null, null])
  })

  test('without words of the call is unknown', async () => {
    const made = { turns: [0], quote: 'I confirm Saturday', rationale: 'So.', result: 'pass' }
    fake.next({
      says: (request: Parameters<typeof goodJudgement>[0]) => ({
        ...(goodJudgement(request) as object),
        criteria: { confirmed_date: made, named_price: { ...made, result: 'fail' } },
      }),
    })
    const judged = await judgeBooking()
    expect(judged).toMatchObject({ state: 'done', requests: 1 })
    const { findings } = judged.state === 'done' ? judged : { findings: null }
    expect(findings?.criteria.map(({ result }) => result)).toEqual(['unknown', 'unknown'])
  })

  test('about a call without turns knows nothing', async () => {
    const judged = await judgeBooking({ transcript: [] })
    const { findings } = judged.state === 'done' ? judged : { findings: null }
    expect(findings?.criteria.map(({ result }) => result)).toEqual(['unknown', 'unknown'])
    expect(findings?.fields.every(({ value }) => value === null)).toBe(true)
  })

  test('to no question needs no request', async () => {
    expect(await judgeBooking({ rubric: rubricOf({}) })).toEqual({
      state: 'done',
      findings: { summary: null, criteria: [], fields: [] },
      tokens: { prompt: 0, completion: 0 },
      requests: 0,
    })
    expect(fake.requests).toEqual([])
  })
})

describe('an answer that cannot be used', () => {
  const wrong = {
    'half of it': (json: string) => json.slice(0, json.length / 2),
    'no JSON': () => 'I cannot judge calls. MARK',
    nothing: () => '',
    'two objects': (json: string) => `${json} or ${json}`,
    'a list': (json: string) => `[${json}, ${json}]`,
    'a wrong verdict': (json: string) => json.replace('"pass"', '"MARK"'),
    'a wrong choice': (json: string) => json.replace('"calm"', '"MARK"'),
    'another form': () => '{"answer": {"MARK": true}}',
    'an object without end': () => '{"summary": "MARK'.repeat(10_000),
    'braces without end': () => '{'.repeat(100_000),
    'a text without end': () => `{"${'\\"'.repeat(100_000)}`,
  }

  test.each(Object.entries(wrong))('%s: the model is asked once more', async (_, says) => {
    fake.next({ says: (request: Parameters<typeof goodText>[0]) => says(goodText(request)) })
    const judged = await judgeBooking()
    expect(judged).toMatchObject({ state: 'done', findings: goodFindings, requests: 2 })
    const [first, second] = fake.requests.map(({ messages }) => messages[1]?.content ?? '')
    expect(second?.split('\n').at(-1)).toStartWith('An earlier answer could not be used, since ')
    // What the model wrote may be what a caller dictated.
    expect(second).not.toContain('MARK')
    expect(second?.length).toBeLessThan((first?.length ?? 0) + 600)
    expect(/^BEGIN (.*)$/m.exec(second ?? '')?.[1]).not.toBe(/^BEGIN (.*)$/m.exec(first ?? '')?.[1])
  })

  test.each([
    ['no JSON', 'it held no JSON object'],
    ['half of it', 'it held no JSON object'],
    ['two objects', 'it held more than one object'],
    ['a wrong verdict', 'criteria.confirmed_date.result must be pass, fail or unknown'],
    ['a wrong choice', 'fields.mood.value must be one of the choices or null'],
    [
      'another form',
      'criteria must be an object, fields must be an object, summary must be a text, criteria.confirmed_date is missing, criteria.named_price is missing',
    ],
  ] as const)('%s, twice: the analysis fails', async (name, problem) => {
    const says = wrong[name]
    fake.always({ says: (request: Parameters<typeof goodText>[0]) => says(goodText(request)) })
    const judged = await judgeBooking()
    expect(judged).toMatchObject({ state: 'failed', reason: `no usable answer: ${problem}`, requests: 2 })
    expect(fake.requests.length).toBe(2)
  })

  test('an answer that was cut off, twice', async () => {
    fake.always({ says: '{"summary": "It ', finishReason: 'length' })
    expect(await judgeBooking()).toMatchObject({
      state: 'failed',
      reason: 'no usable answer: it was too long',
      requests: 2,
    })
  })

  test('the tokens of both requests count', async () => {
    fake.next({ says: 'No.', usage: { prompt_tokens: 1_000, completion_tokens: 2 } })
    fake.next({ usage: { prompt_tokens: 1_100, completion_tokens: 300 } })
    expect((await judgeBooking()).tokens).toEqual({ prompt: 2_100, completion: 302 })
  })

  test('the form that a server refused is not sent again', async () => {
    await start({ server: 'tgi' })
    fake.next(null, { says: 'No.' })
    expect(await judgeBooking()).toMatchObject({ state: 'done', requests: 3 })
    expect(fake.requests.map(({ schema }) => schema !== undefined)).toEqual([true, false, false])
  })

  test('a server that refuses the request with and without the form', async () => {
    fake.always({ status: 400, body: { error: 'response_format is wrong' } })
    expect(await judgeBooking()).toMatchObject({
      state: 'failed',
      reason: 'request refused (400)',
      requests: 2,
    })
  })

  test('an answer without an end', async () => {
    fake.next({ isEndless: true })
    expect(await judgeBooking()).toMatchObject({ state: 'failed', reason: 'answer too long', requests: 1 })
  })
})

describe('a context', () => {
  const long = (content: string, turns: number) =>
    Array.from({ length: turns }, (_, turn) => ({ role: turn % 2 ? 'user' : 'assistant', content }))

  test.each([
    ['English', 'I would like to move my booking to Friday at ten, if that is possible for you. '.repeat(4)],
    ['Japanese', '金曜日の十時に予約を変更したいのですが、可能でしょうか。'.repeat(4)],
    ['Hindi', 'अगर संभव हो तो मैं अपनी बुकिंग शुक्रवार को दस बजे करना चाहता हूँ। '.repeat(3)],
    ['emoji', '👍🏽🎉'.repeat(30)],
  ])('that is too small for a transcript in %s is known before anything is sent', async (_, content) => {
    const fits = await judgeBooking({ transcript: long(content, 20), contextTokens: 16_384 })
    expect(fits.state).toBe('done')
    const sent = fake.requests.length
    const judged = await judgeBooking({ transcript: long(content, 400), contextTokens: 32_768 })
    expect(judged).toEqual({
      state: 'skipped',
      reason: 'too long',
      tokens: { prompt: 0, completion: 0 },
      requests: 0,
    })
    expect(fake.requests.length).toBe(sent)
  })

  test('that only the answer does not fit in is too small', async () => {
    const judged = await judgeBooking({ contextTokens: 2_400 })
    expect(judged).toMatchObject({ state: 'skipped', reason: 'too long', requests: 0 })
  })

  test('that Ollama cuts without a word is noticed: no call is judged by a part of it', async () => {
    await start({ server: 'ollama' })
    const judged = await judgeBooking({
      transcript: long('I would like to move my booking. '.repeat(10), 120),
    })
    expect(judged).toMatchObject({ state: 'failed', reason: 'context too small', requests: 1 })
    expect(judged.tokens.prompt).toBe(4_096)
  })

  test.each(['llama.cpp', 'vllm'] satisfies ChatServer[])('that %s says is too small', async (server) => {
    await start({ server, contextTokens: 1_000 })
    const judged = await judgeBooking({ transcript: long('I would like to move my booking. ', 100) })
    expect(judged).toMatchObject({ state: 'failed', reason: 'context too small', requests: 1 })
  })

  test('is judged by the tokens that the server counted, half of a quarter of the characters', async () => {
    const chars = () =>
      fake.requests.at(-1)?.messages.reduce((sum, { content }) => sum + content.length, 0) ?? 0
    const fence = () => 'fence'
    await judgeBooking({ fence })
    const limit = chars() / 8
    expect(chars()).toBeGreaterThan(2_000)
    for (const [prompt_tokens, state] of [
      [Math.ceil(limit), 'done'],
      [Math.ceil(limit) - 1, 'failed'],
      [1, 'failed'],
      [0, 'done'],
    ] as const) {
      fake.next({ usage: { prompt_tokens, completion_tokens: 5 } })
      expect((await judgeBooking({ fence })).state).toBe(state)
    }
  })
})

describe('a model that is unavailable', () => {
  test('after an answer that could not be used: what was used is told', async () => {
    fake.next(
      { says: 'No.', usage: { prompt_tokens: 1_000, completion_tokens: 2 } },
      { status: 503, headers: { 'retry-after': '7' } },
    )
    const failure = await judgeBooking().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ModelUnavailable)
    expect(failure).toHaveProperty('reason', 'unreachable')
    expect(failure).toHaveProperty('retryAfterMs', 7_000)
    expect(failure).toHaveProperty('requests', 2)
    expect(failure).toHaveProperty('tokens', { prompt: 1_000, completion: 2 })
  })

  test('at once', async () => {
    fake.next({ status: 401 })
    const failure = await judgeBooking().catch((error: unknown) => error)
    expect(failure).toHaveProperty('reason', 'credentials')
    expect(failure).toHaveProperty('requests', 1)
  })

  test('is not asked for a call that is given up', async () => {
    const controller = new AbortController()
    const reason = new Error('The call was erased')
    controller.abort(reason)
    await expect(judgeBooking({ signal: controller.signal })).rejects.toBe(reason)
    expect(fake.requests).toEqual([])
  })
})
