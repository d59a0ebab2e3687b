import { afterAll, describe, expect, test } from 'bun:test'
import fc from '../support/fast-check.ts'
import { startService } from '../support/service.ts'

const service = await startService({ env: { RATE_LIMIT_RPM: '1000000' } })
const project = await service.mintProject()
await project.send('POST', '/v1/knowledge', { name: 'Refunds', text: 'We refund orders.' })

afterAll(async () => {
  expect(service.logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const deepObject = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
/** Bodies that are no request of any protocol, but for what is at home in JSON. */
const raw = {
  empty: '',
  'white space': ' \n',
  'deep lists': deep(100_000),
  'deep objects': deepObject(100_000),
  'a name of JavaScript': '{"__proto__":{"message":{}},"constructor":1}',
  'the same name twice': '{"message":1,"message":{},"query":"a","query":"b"}',
  'a number out of range': '1e999',
  'a long number': '9'.repeat(100_000),
  'half a text': '"abc',
  'U+0000': '\u0000',
}

interface Route {
  path: string
  /** Whether it is an answer that the protocol has. */
  isAnswer(status: number, body: unknown): boolean
  /** Requests with one odd value, at each place that may hold it. */
  around(odd: unknown): unknown[]
}

const has = (body: unknown, name: string, check: (value: unknown) => boolean) =>
  typeof body === 'object' && body !== null && name in body && check(Reflect.get(body, name))
const isText = (value: unknown) => typeof value === 'string'

const routes: Record<string, Route> = {
  'a knowledge base of Vapi': {
    path: '/integrations/vapi/knowledge',
    isAnswer: (status, body) =>
      status === 200 ? has(body, 'documents', Array.isArray) : status < 500 && has(body, 'error', isText),
    around: (odd) => {
      const type = 'knowledge-base-request'
      const messages = [
        odd,
        [odd],
        [{ role: 'user', content: odd }],
        [{ role: 'user', content: [{ text: odd }, odd] }],
        [{ role: odd, message: 'x' }],
      ]
      return [odd, { message: odd }, { message: { type: odd } }].concat(
        messages.map((list) => ({ message: { type, messages: list } })),
      )
    },
  },
  'a tool of Vapi': {
    path: '/integrations/vapi/tool',
    isAnswer: (status, body) =>
      status === 200
        ? has(body, 'results', Array.isArray) && !JSON.stringify(body).includes('The search failed')
        : status < 500 && has(body, 'error', isText),
    around: (odd) => {
      const calls = [
        odd,
        [odd],
        [{ id: odd, name: odd, parameters: odd }],
        [{ id: 'a', name: 'b', parameters: { query: odd, limit: odd, itemIds: odd } }],
        [{ id: 'a', name: 'b', parameters: { query: 'refund', itemIds: [odd] } }],
        [{ id: 'a', function: { name: odd, arguments: JSON.stringify(odd) } }],
        [{ id: 'a', function: { name: 'b', arguments: JSON.stringify({ query: odd, limit: odd }) } }],
      ]
      return [odd, { message: odd }]
        .concat(calls.map((toolCallList) => ({ message: { toolCallList } })))
        .concat({
          message: { toolWithToolCallList: [odd, { toolCall: odd }, { toolCall: { function: odd } }] },
        })
    },
  },
  'an external knowledge base of Dify': {
    path: '/integrations/dify/retrieval',
    isAnswer: (status, body) =>
      status === 200
        ? has(body, 'records', Array.isArray)
        : status < 500 && has(body, 'error_code', Number.isInteger) && has(body, 'error_msg', isText),
    around: (odd) => {
      const good = { knowledge_id: project.id, query: 'refund', retrieval_setting: { top_k: 3 } }
      const odds = ['knowledge_id', 'query', 'retrieval_setting', 'metadata_condition'].map((name) => ({
        ...good,
        [name]: odd,
      }))
      return [odd, ...odds, { ...good, retrieval_setting: { top_k: odd, score_threshold: odd } }]
    },
  },
  'the Model Context Protocol': {
    path: '/mcp',
    isAnswer: (status, body) => {
      if (status === 202) return body === null
      const isError = (error: unknown) =>
        has(error, 'code', Number.isInteger) && has(error, 'message', isText)
      const isRpc = has(body, 'jsonrpc', (version) => version === '2.0')
      const isOurFault = JSON.stringify(body).includes('-32603')
      return (
        isRpc &&
        !isOurFault &&
        (has(body, 'error', isError) || (status === 200 && has(body, 'result', Boolean)))
      )
    },
    around: (odd) => {
      const call = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const names = ['search_knowledge', 'list_knowledge', 'get_knowledge']
      return [
        odd,
        [odd, call({ name: 'search_knowledge', arguments: { query: 'refund' } })],
        { jsonrpc: odd, id: 1, method: 'ping' },
        { jsonrpc: '2.0', id: odd, method: 'ping' },
        { jsonrpc: '2.0', id: 1, method: odd },
        { jsonrpc: '2.0', method: odd, params: odd },
        { jsonrpc: '2.0', id: 1, result: odd },
        { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: odd, capabilities: odd } },
        call(odd),
        call({ name: odd, arguments: {} }),
        ...names.map((name) => call({ name, arguments: odd })),
        call({ name: 'search_knowledge', arguments: { query: odd, limit: odd, itemIds: [odd], mode: odd } }),
        call({ name: 'list_knowledge', arguments: { cursor: odd, limit: odd } }),
        call({ name: 'get_knowledge', arguments: { id: odd, offset: odd, maxChars: odd } }),
      ]
    },
  },
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', ' ', '\u0000', '\ud800', '__proto__', 'constructor', 'toString', '𝕏🙂'),
  fc.constantFrom<unknown>(
    0,
    -1,
    1.5,
    1e308,
    -1e308,
    Number.MAX_SAFE_INTEGER,
    true,
    false,
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom<unknown>(
    'x'.repeat(100_000),
    '\u0301'.repeat(20_000),
    '9999-99-99',
    '0000-00-00',
    '2024-02-30',
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

for (const [name, { path, isAnswer, around }] of Object.entries(routes))
  describe(name, () => {
    const post = async (body: string) => {
      const answer = await project.fetch(path, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
    }

    for (const [kind, body] of Object.entries(raw))
      test(`answers in its own form: ${kind}`, async () => {
        const { status, body: answer } = await post(body)
        expect(isAnswer(status, answer)).toBe(true)
        expect(status).toBeGreaterThanOrEqual(400)
      })

    test('answers in its own form whatever stands where, never 500', async () => {
      await fc.assert(
        fc.asyncProperty(odd, async (value) => {
          for (const request of around(value)) {
            const { status, body } = await post(JSON.stringify(request))
            if (!isAnswer(status, body))
              throw new Error(`${status} ${JSON.stringify(body)} to ${JSON.stringify(request)}`)
          }
        }),
        { numRuns: 40 },
      )
    })
  })
