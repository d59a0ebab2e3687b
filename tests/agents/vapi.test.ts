import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { lookUp } from '../../src/agents/tool.ts'
import { answerCalls, findDocuments } from '../../src/agents/vapi.ts'
import { AppError } from '../../src/errors.ts'
import type { RecordedSearch } from '../../src/knowledge/questions/recorded-search.ts'
import type { SearchHit } from '../../src/knowledge/schemas.ts'
import fc from '../support/fast-check.ts'
import { addItems } from '../support/items.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

interface Answer {
  documents: { content: string; similarity: number; uuid: string }[]
}

interface Results {
  results: { name?: string; toolCallId?: string; result?: string; error?: string }[]
}

const items = [
  {
    name: 'Returns',
    text: '## Time\n\nItems can be returned within 30 days.\n\n## Condition\n\nUnworn, with tags.',
  },
  { name: 'Shipping', text: 'Standard shipping takes three to five days.' },
  { name: 'Bicycles', text: 'The blue bicycle costs 900 euros.' },
]
const knowledgePath = '/integrations/vapi/knowledge'
const toolPath = '/integrations/vapi/tool'
const paths = [knowledgePath, toolPath]
const clock = { ms: Date.UTC(2026, 0, 31) }

const service = await startService({ now: () => clock.ms, env: { BODY_MAX_BYTES: '100000' } })
const project = await service.mintProject()
const ids = await addItems(project, items)

async function ask(messages: unknown[], target = project): Promise<Answer> {
  const message = { type: 'knowledge-base-request', messages }
  const answer = await target.send('POST', knowledgePath, { message })
  expect(answer.status).toBe(200)
  return await answer.json()
}

async function call(message: unknown, target = project): Promise<Results> {
  const answer = await target.send('POST', toolPath, { message })
  expect(answer.status).toBe(200)
  return await answer.json()
}

/** Vapi's form of an error and nothing else: above all no `message`, which would be spoken to the caller. */
async function expectVapiError(answer: Response, status: number, error: RegExp | string): Promise<void> {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
  expect(answer.headers.get('x-request-id')).toMatch(/\S/)
  const body = await answer.json()
  expect(Object.keys(body)).toEqual(['error'])
  expect(body.error).toMatch(error)
}

describe('a custom knowledge base of Vapi', () => {
  test("answers Vapi's published request in Vapi's published form", async () => {
    const answer = await project.send('POST', knowledgePath, {
      message: {
        type: 'knowledge-base-request',
        messages: [
          { role: 'user', content: 'What is your return policy?' },
          { role: 'assistant', content: "I'll help you with information about our return policy." },
          { role: 'user', content: 'How long do I have to return items?' },
        ],
        call: { id: 'call-uuid', orgId: 'org-uuid', type: 'webCall', assistant: {} },
      },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    const body: Answer = await answer.json()
    expect(Object.keys(body)).toEqual(['documents'])
    expect(body.documents[0]).toEqual({
      content: expect.stringMatching(/^Returns( › Time)?\n[\s\S]*within 30 days/),
      similarity: expect.any(Number),
      uuid: `${ids[0]}:0`,
    })
    for (const document of body.documents) {
      expect(Object.keys(document)).toEqual(['content', 'similarity', 'uuid'])
      expect(document.similarity >= 0 && document.similarity <= 1).toBe(true)
    }
    const asked = { query: 'How long do I have to return items?' }
    const { coverage } = await (await project.send('POST', '/v1/knowledge/search', asked)).json()
    expect(body.documents[0]?.similarity).toBe(coverage)
    expect(new Set(body.documents.map(({ uuid }) => uuid)).size).toBe(body.documents.length)
  })

  test("takes the messages as Vapi's call log has them: `message` for `content`, `bot` and tool messages between", async () => {
    const { documents } = await ask([
      { role: 'system', message: 'You sell bicycles.', time: 1, secondsFromStart: 0 },
      { role: 'bot', message: 'Bicycle shop, how can I help?', time: 2, endTime: 3, secondsFromStart: 1 },
      { role: 'user', message: 'How long does standard shipping take?', time: 4, secondsFromStart: 3 },
      { role: 'tool_calls', message: '', toolCalls: [] },
      { role: 'tool_call_result', name: 'x', result: 'The blue bicycle', toolCallId: '1' },
    ])
    expect(documents[0]?.content).toStartWith('Shipping\n')
  })

  test('takes the list formatted for OpenAI when it is the only one', async () => {
    const message = {
      type: 'knowledge-base-request',
      messagesOpenAIFormatted: [{ role: 'user', content: [{ type: 'text', text: 'blue bicycle price' }] }],
    }
    const answer = await project.send('POST', knowledgePath, { message })
    expect((await answer.json()).documents[0].uuid).toBe(`${ids[2]}:0`)
  })

  test('understands "how much?" by the turn before', async () => {
    const { documents } = await ask([
      { role: 'user', content: 'I like the blue bicycle' },
      { role: 'assistant', content: 'A good choice. Do you want shipping, or returns?' },
      { role: 'user', content: 'how much?' },
    ])
    expect(documents[0]?.uuid).toBe(`${ids[2]}:0`)
  })

  test('has no documents for who said nothing yet', async () => {
    for (const messages of [
      [],
      [{ role: 'system', content: 'Returns' }],
      [{ role: 'assistant', content: 'Returns' }],
      [{ role: 'user', content: '' }],
      [{ role: 'user', content: ' \n\t ' }],
      [{ role: 'user' }],
      [{ role: 'user', content: null }],
      [{ role: 'user', content: 5 }],
      [{ role: 'user', content: [] }],
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
      [null, 5, 'text', ['user'], { content: 'Returns' }],
    ])
      expect(await ask(messages)).toEqual({ documents: [] })
  })

  test('a body that is not a knowledge base request is 400 in Vapi’s form', async () => {
    const turn = { role: 'user', content: 'q' }
    for (const [body, error] of [
      [{}, 'Invalid request: message: is required'],
      [[], 'Invalid request: body: must be an object'],
      [{ message: null }, 'message: must be an object'],
      [{ message: 'q' }, 'message: must be an object'],
      [{ message: {} }, 'message.type: is required'],
      [{ message: { messages: [turn] } }, 'message.type: is required'],
      [
        { message: { type: 'status-update', messages: [turn] } },
        'message.type: must be one of knowledge-base-request',
      ],
      [{ message: { type: 'knowledge-base-request' } }, 'message.messages: is required'],
      [{ message: { type: 'knowledge-base-request', messages: 'q' } }, 'message.messages: must be an array'],
      [{ message: { type: 'knowledge-base-request', messages: {} } }, 'message.messages: must be an array'],
    ] as const)
      await expectVapiError(await project.send('POST', knowledgePath, body), 400, error)
  })
})

describe('a search that fails', () => {
  let broken: TestService
  let victim: TestProject

  beforeAll(async () => {
    broken = await startService()
    victim = await broken.mintProject()
    await addItems(victim, items)
    await broken.services.database.write.run('alter table chunks rename to lost')
  })
  afterAll(async () => {
    await broken.services.database.write.run('alter table lost rename to chunks')
  })

  function loggedOf(answer: Response) {
    const requestId = answer.headers.get('x-request-id')
    return broken.logs.filter((line) => line.requestId === requestId)
  }

  test('leaves the call without documents, and the log with everything', async () => {
    const message = { type: 'knowledge-base-request', messages: [{ role: 'user', content: 'returns' }] }
    const answer = await victim.send('POST', knowledgePath, { message })
    expect([answer.status, await answer.json()]).toEqual([200, { documents: [] }])
    const logged = loggedOf(answer)
    expect(logged.map(({ msg }) => msg)).toEqual(['A search for Vapi failed', 'request'])
    expect(JSON.stringify(logged[0])).toContain('no such table')
  })

  test('is an error of that tool call, which tells nothing of the cause; a bad parameter is not logged as ours', async () => {
    const answer = await victim.send('POST', toolPath, {
      message: {
        toolCallList: [
          { id: '1', name: 'search', parameters: { query: 'returns' } },
          { id: '2', name: 'search', parameters: {} },
        ],
      },
    })
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        results: [
          { name: 'search', toolCallId: '1', error: 'The search failed.' },
          { name: 'search', toolCallId: '2', error: 'query: is required' },
        ],
      },
    ])
    expect(loggedOf(answer).map(({ msg }) => msg)).toEqual(['A search for Vapi failed', 'request'])
  })
})

describe('a function tool of Vapi', () => {
  const parameters = { query: 'How long does standard shipping take?', limit: 1 }
  const expected = (id: string, name = 'search_knowledge') => ({
    name,
    toolCallId: id,
    result: '(1) Shipping: Standard shipping takes three to five days.',
  })

  test("answers Vapi's published message, in Vapi's published form", async () => {
    const answer = await project.send('POST', toolPath, {
      message: {
        type: 'tool-calls',
        call: { id: 'call-uuid' },
        toolWithToolCallList: [{ name: 'search_knowledge', toolCall: { id: 'abc123', parameters } }],
        toolCallList: [{ id: 'abc123', name: 'search_knowledge', parameters }],
      },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    expect(await answer.json()).toEqual({ results: [expected('abc123')] })
  })

  const schema = { type: 'object', properties: { query: { type: 'string' } } }
  test.each<[string, Record<string, unknown>]>([
    [
      'arguments as an object',
      { toolCallList: [{ id: 'a', name: 'search_knowledge', arguments: parameters }] },
    ],
    [
      "OpenAI's form, arguments as JSON text",
      {
        toolCalls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'search_knowledge', arguments: JSON.stringify(parameters) },
          },
        ],
      },
    ],
    [
      "OpenAI's form, arguments as an object",
      {
        toolCallList: [
          { id: 'a', type: 'function', function: { name: 'search_knowledge', arguments: parameters } },
        ],
      },
    ],
    [
      'a call inside its tool',
      { toolWithToolCallList: [{ name: 'search_knowledge', toolCall: { id: 'a', parameters } }] },
    ],
    [
      "a call inside its tool, whose own parameters are the tool's schema",
      {
        toolWithToolCallList: [
          {
            type: 'function',
            name: 'search_knowledge',
            parameters: schema,
            server: { url: 'https://example.com' },
            messages: [],
            toolCall: { id: 'a', type: 'function', function: { name: 'search_knowledge', parameters } },
          },
        ],
      },
    ],
    [
      'a call that bears no name inside a tool that does',
      {
        toolWithToolCallList: [
          {
            type: 'function',
            function: { name: 'search_knowledge', parameters: schema },
            toolCall: { id: 'a', arguments: parameters },
          },
        ],
      },
    ],
    [
      'an empty list beside the one that is meant',
      { toolCallList: [], toolCalls: [{ id: 'a', name: 'search_knowledge', parameters }] },
    ],
  ])('takes the form of %s', async (_, message) => {
    expect(await call({ type: 'tool-calls', ...message })).toEqual({ results: [expected('a')] })
  })

  test('a bad call is an error of its own among the others, in their order', async () => {
    const { results } = await call({
      toolCallList: [
        { id: '1', name: 'one', parameters: { query: ' ' } },
        { id: '2', name: 'two', parameters },
        { id: '3', name: 'three', parameters: { query: 'q', limit: 51 } },
        { id: '4', name: 'four', parameters: { query: 'q', limit: 'many', itemIds: 'kn' } },
        { id: '5', name: 'five', arguments: '{"query": ' },
        { id: '6', name: 'six', arguments: '[]' },
        { id: '7', name: 'seven', parameters: { query: 'x'.repeat(2_001) } },
        { id: '8', name: 'eight', arguments: '{"query": "a\\u0000b"}' },
        { id: '9', name: 'nine', arguments: '{"query": "a\\ud800b"}' },
        { id: '10', name: 'ten', parameters: { question: 'q' } },
        { id: '11', name: 'eleven' },
        { name: 'nobody', parameters },
        null,
        'text',
      ],
    })
    expect(results).toEqual([
      { name: 'one', toolCallId: '1', error: 'query: must not be blank' },
      expected('2', 'two'),
      { name: 'three', toolCallId: '3', error: 'limit: must be at most 50' },
      { name: 'four', toolCallId: '4', error: 'limit: must be an integer; itemIds: must be an array' },
      { name: 'five', toolCallId: '5', error: 'arguments: must be valid JSON' },
      { name: 'six', toolCallId: '6', error: 'query: is required' },
      { name: 'seven', toolCallId: '7', error: 'query: must be at most 2000 characters' },
      { name: 'eight', toolCallId: '8', error: 'query: must be Unicode text without U+0000' },
      { name: 'nine', toolCallId: '9', error: 'query: must be Unicode text without U+0000' },
      { name: 'ten', toolCallId: '10', error: 'query: is required' },
      { name: 'eleven', toolCallId: '11', error: 'query: is required' },
      { name: 'nobody', result: expected('').result },
      { error: 'query: is required' },
      { error: 'query: is required' },
    ])
  })

  test('a parameter that is null was left out, as models bound to a strict schema write it', async () => {
    const { results } = await call({
      toolCallList: [{ id: 'a', name: 'n', parameters: { query: 'bicycle', limit: null, itemIds: null } }],
    })
    expect(results[0]?.result).toContain('(1) Bicycles: The blue bicycle costs 900 euros.')
  })

  test('searches the items asked for, and never those of another project', async () => {
    const other = await service.mintProject()
    const toolCallList = [
      { id: 'own', name: 'n', parameters: { query: 'shipping bicycle', itemIds: [ids[2]] } },
      { id: 'none', name: 'n', parameters: { query: 'shipping bicycle', itemIds: [] } },
    ]
    const { results } = await call({ toolCallList })
    expect(results[0]?.result).toBe('(1) Bicycles: The blue bicycle costs 900 euros.')
    expect(results[1]?.result).toBe('Nothing was found.')
    const elsewhere = await call({ toolCallList }, other)
    expect(elsewhere.results.map(({ result }) => result)).toEqual([
      'Nothing was found.',
      'Nothing was found.',
    ])
  })

  test('an empty list has no results; 16 calls are answered and 17 are 400', async () => {
    expect(await call({ toolCallList: [] })).toEqual({ results: [] })
    const calls = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ id: String(n), name: 'search_knowledge', parameters }))
    expect(await call({ toolCallList: calls(16) })).toEqual({
      results: calls(16).map(({ id }) => expected(id)),
    })
    const tooMany = await project.send('POST', toolPath, { message: { toolCallList: calls(17) } })
    await expectVapiError(tooMany, 400, 'message.toolCallList: must have at most 16 entries')
  })

  test('a body that holds no list of calls is 400 in Vapi’s form', async () => {
    for (const [body, error] of [
      [{}, 'Invalid request: message: is required'],
      ['text', 'body: must be an object'],
      [{ message: [] }, 'message: must be an object'],
      [{ message: { type: 'tool-calls' } }, 'message.toolCallList: is required'],
      [{ message: { type: 'status-update', status: 'ended' } }, 'message.toolCallList: is required'],
      [{ message: { toolCallList: {} } }, 'message.toolCallList: must be an array'],
      [{ message: { toolCalls: 'x' } }, 'message.toolCalls: must be an array'],
    ] as const)
      await expectVapiError(await project.send('POST', toolPath, body), 400, error)
  })
})

describe('the key', () => {
  const body = JSON.stringify({ message: { type: 'knowledge-base-request', messages: [], toolCallList: [] } })

  function send(path: string, headers: Record<string, string>, sent = body): Promise<Response> {
    const all = { 'content-type': 'application/json', ...headers }
    return fetch(service.url + path, { method: 'POST', body: sent, headers: all })
  }

  test.each(paths)(
    'opens %s as a bearer token or as the secret, with or without its scheme',
    async (path) => {
      const ways: Record<string, string>[] = [
        { authorization: `Bearer ${project.key}` },
        { authorization: `bearer ${project.key}` },
        { 'x-vapi-secret': project.key },
        { 'x-vapi-secret': `Bearer ${project.key}` },
        { 'x-vapi-secret': `bearer ${project.key}` },
        { 'x-vapi-secret': project.key, authorization: '' },
      ]
      for (const headers of ways) expect((await send(path, headers)).status).toBe(200)
    },
  )

  test.each(paths)('in Authorization counts for %s when there is a secret as well', async (path) => {
    const bad = 'ck_live_unknown'
    const good = { authorization: `Bearer ${project.key}`, 'x-vapi-secret': bad }
    expect((await send(path, good)).status).toBe(200)
    const wrong = { authorization: `Bearer ${bad}`, 'x-vapi-secret': project.key }
    await expectVapiError(await send(path, wrong), 401, /^Invalid API key: /)
    const scheme = { authorization: `Basic ${bad}`, 'x-vapi-secret': project.key }
    await expectVapiError(await send(path, scheme), 401, /^Missing or invalid Authorization header: /)
  })

  test('as a secret opens nothing but the routes of Vapi', async () => {
    for (const path of ['/v1/knowledge', '/v1/knowledge/search', '/integrations/dify/retrieval'])
      expect((await send(path, { 'x-vapi-secret': project.key })).status).toBe(401)
  })
})

describe('every error under /integrations/vapi has Vapi’s form', () => {
  test('a path that is none is 404', async () => {
    for (const path of ['', '/', '/nope', '/knowledge/nope'])
      await expectVapiError(await project.fetch(`/integrations/vapi${path}`), 404, /^Not found: /)
  })
})

const unexplained = {
  shares: { keyword: 0, embedding: 0, vector: 0, fusion: 0, total: 0 },
  starts: { keyword: 0, fusion: 0 },
  keywordLabels: null,
  vectorLabels: null,
  passageLabels: [],
}

/** A search that finds these passages, and must not fail. */
function finding(data: SearchHit[], queries: string[] = []): Parameters<typeof answerCalls>[0] {
  const search: RecordedSearch['search'] = async (_, { query }) => {
    queries.push(query)
    const coverages = data.map(({ score }) => score)
    return { ...unexplained, coverages, answer: { data, mode: 'hybrid', tookMs: 0, coverage: 0.2 } }
  }
  const onFailure = (error: unknown) => {
    throw error
  }
  return { search: { search }, onFailure }
}

const scope = { projectId: 1, tags: [] }

/** What is searched for when the agent sends this conversation; null if nothing is. */
async function queryOf(messages: unknown[]): Promise<string | null> {
  const queries: string[] = []
  await findDocuments(finding([], queries), scope, { message: { type: 'knowledge-base-request', messages } })
  return queries[0] ?? null
}

describe('the query of a conversation', () => {
  async function queryFor(...turns: (string | [role: string, text: string])[]): Promise<string | null> {
    const messages = turns.map((turn) => {
      const [role, content] = typeof turn === 'string' ? ['user', turn] : turn
      return { role, content }
    })
    return await queryOf(messages)
  }

  test('is the last turn of the user when that says enough', async () => {
    expect(await queryFor('What is your return policy?', 'How long do I have?')).toBe('How long do I have?')
    expect(await queryFor('one', ['assistant', 'two'], 'What does it cost?', ['assistant', 'three'])).toBe(
      'What does it cost?',
    )
  })

  test('takes the turn before, when the last has fewer than four words', async () => {
    expect(await queryFor('Do you ship to Spain?', ['assistant', 'We do.'], 'how much?')).toBe(
      'Do you ship to Spain? how much?',
    )
    expect(await queryFor('What does the blue one cost?', 'yes')).toBe('What does the blue one cost? yes')
  })

  test('takes two turns before at most', async () => {
    expect(await queryFor('I want the blue bicycle', 'yes', 'how much?')).toBe(
      'I want the blue bicycle yes how much?',
    )
    expect(await queryFor('no', 'yes', 'well', 'and?')).toBe('yes well and?')
  })

  test('counts words of languages without spaces as well', async () => {
    expect(await queryFor('蓝色的自行车', '请问这个商品的退货期限是多久')).toBe(
      '请问这个商品的退货期限是多久',
    )
    expect(await queryFor('蓝色的自行车', '多少')).toBe('蓝色的自行车 多少')
  })

  test('passes over blank turns and those of others', async () => {
    expect(await queryFor('What is the price?', ' ', ['system', 's'], ['tool', 't'], ['bot', 'b'])).toBe(
      'What is the price?',
    )
    expect(await queryFor()).toBeNull()
    expect(await queryFor(['assistant', 'hello'], ' \n')).toBeNull()
  })

  test('joins the texts among the parts of a turn', async () => {
    const content = [
      { type: 'text', text: 'What does' },
      { type: 'image' },
      { type: 'text', text: 'it cost?' },
    ]
    const messages = [{ role: 'user', content }]
    expect(await queryOf(messages)).toBe('What does it cost?')
  })

  test('is the end of what is too long', async () => {
    const spoken = `${'so '.repeat(2_000)}what does the blue bicycle cost`
    const query = (await queryFor(spoken)) ?? ''
    expect(query.length).toBeLessThanOrEqual(2_000)
    expect(query).toEndWith('what does the blue bicycle cost')
    expect(await queryFor('🙂'.repeat(2_001))).toBe('🙂'.repeat(2_000))
    expect(await queryFor(`a${'🙂'.repeat(1_999)}b`)).toBe(`${'🙂'.repeat(1_999)}b`)
  })

  test('is a text that search takes, whatever was said', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '🙂', '語', 'é', '.'), maxLength: 4_100 })
    const message = fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: text }),
      fc.record({ role: fc.constant('user'), message: text }),
      fc.record({ role: fc.constant('user'), content: fc.array(fc.record({ text }), { maxLength: 3 }) }),
      fc.anything(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 6 }), async (messages) => {
        const query = await queryOf(messages)
        if (query === null) return
        expect(query.trim()).not.toBe('')
        expect([...query].length).toBeLessThanOrEqual(2_000)
        expect(query.isWellFormed()).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

describe('passages for the model', () => {
  const hit = {
    itemId: 'kn_1',
    name: 'Returns',
    heading: 'Returns › Time',
    position: 3,
    score: 0.5,
    text: 'T',
    matched: { keyword: true, vector: true },
  }

  test('say where they stand, without saying it twice', async () => {
    const messages = [{ role: 'user', content: 'How long do I have?' }]
    const hits = [hit, { ...hit, heading: null }, { ...hit, heading: 'Time' }]
    const body = { message: { type: 'knowledge-base-request' as const, messages } }
    const { documents } = await findDocuments(finding(hits), scope, body)
    expect(documents[0]).toEqual({ content: 'Returns › Time\nT', similarity: 0.5, uuid: 'kn_1:3' })
    expect(documents.slice(1).map(({ content }) => content)).toEqual(['Returns\nT', 'Returns › Time\nT'])
  })

  test('are one line in the result of a tool, whatever is in them', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '\n', '\r', '\t', '\v', '\f', '\u0085', '\u2028', '\u2029', '\u0001'),
    })
    const body = { message: { toolCallList: [{ id: 'call_1', arguments: { query: 'q' } }] } }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ name: text, heading: fc.option(text), text })), async (parts) => {
        const hits = parts.map((part) => ({ ...hit, ...part }))
        const result = (await answerCalls(finding(hits), scope, body))[0]?.result
        expect(result?.startsWith('No passage covers this question well.')).toBe(parts.length > 0)
        expect(result).not.toBe('')
        expect(result).toMatch(/^[a-zA-Z0-9 ():.›]*$/)
        if (parts.length === 0) expect(result).toBe('Nothing was found.')
      }),
    )
  })

  test('a failure tells the model what is its to mend, and nothing else', async () => {
    const told = async (error: Error, parameters: object = { query: 'q' }) => {
      const failing = { search: async () => Promise.reject(error) }
      return await lookUp({ search: failing, onFailure: () => {} }, scope, { parameters, callId: null })
    }
    expect(await told(new Error('no such table: secret'))).toBe('The search failed.')
    const unavailable = new AppError('unavailable', 'Service unavailable', { detail: 'secret' })
    expect(await told(unavailable)).toBe('The search failed.')
    expect(await told(unavailable, {})).toBe('query: is required')
  })

  test('no body makes the reading of calls fail in another way than it says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.anything(), { maxLength: 16 }), async (list) => {
        for (const message of [{ toolCallList: list }, { toolWithToolCallList: list }])
          expect((await answerCalls(finding([]), scope, { message })).length).toBe(list.length)
      }),
    )
  })
})
