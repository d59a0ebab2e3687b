import { beforeAll, describe, expect, test } from 'bun:test'
import { AppError } from '../../src/errors.ts'
import { parseJson } from '../../src/http/json-body.ts'
import { addSource } from '../sources/deliver.ts'
import fc from '../support/fast-check.ts'
import { expectProblem } from '../support/problem.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { testMode } from '../support/test-mode.ts'

const bodyBytesMax = 4_000

const service = await startService({ env: { BODY_MAX_BYTES: String(bodyBytesMax) } })
const project = await service.mintProject()

const routes = [
  ['POST', '/v1/knowledge'],
  ['POST', '/v1/knowledge/preview'],
  ['POST', '/v1/knowledge/search'],
  ['PUT', '/ingest/calls/some-id'],
] as const

function send(method: string, path: string, body: string | Buffer | undefined, contentType: string | null) {
  const headers: Record<string, string> = contentType === null ? {} : { 'content-type': contentType }
  // A string would be given a content type by the client.
  return project.fetch(path, { method, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) })
}

function rawHead([method, path]: readonly [string, string], headers: Record<string, string>): string {
  const key = path.startsWith('/ingest') ? project.ingestKey : project.key
  const usual = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  return head(`${method} ${path} HTTP/1.1`, { ...usual, ...headers })
}

/** The fields at fault and what is said of them. */
async function errorsOf(answer: Response): Promise<Record<string, string>> {
  const { errors = [] } = await expectProblem(answer, 'invalid_request')
  return Object.fromEntries(errors.map(({ field, message }) => [field, message]))
}

/** One character a byte. */
const bytes = (text: string) => Buffer.from(text, 'latin1')

describe('the type of a body', () => {
  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; version=1; charset="utf-8"',
    ' application/json ',
  ])('%p is JSON', async (contentType) => {
    expect((await send('POST', '/v1/knowledge/search', '{"query":"a"}', contentType)).status).toBe(200)
  })

  test('the encoding "identity" is none', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' }
    const body = '{"query":"a"}'
    expect((await project.fetch('/v1/knowledge/search', { method: 'POST', headers, body })).status).toBe(200)
  })
})

describe('the size of a body', () => {
  test('of exactly the limit is read, of one byte more is 413', async () => {
    const padded = (size: number) => `{"query":"a"${' '.repeat(size - 13)}}`
    expect(
      (await send('POST', '/v1/knowledge/search', padded(bodyBytesMax), 'application/json')).status,
    ).toBe(200)
    const answer = await send('POST', '/v1/knowledge/search', padded(bodyBytesMax + 1), 'application/json')
    const { detail } = await expectProblem(answer, 'payload_too_large')
    expect(detail).toContain(String(bodyBytesMax))
  })

  test('many small chunks of a whole body are that body', async () => {
    const chunks = [...'{"query":"a"}'].map((character) => `1\r\n${character}\r\n`).join('')
    const route = ['POST', '/v1/knowledge/search'] as const
    const text = `${rawHead(route, { 'Transfer-Encoding': 'chunked' })}${chunks}0\r\n\r\n`
    expect((await rawRequest(service.url, text)).status).toBe(200)
  })

  test('a Content-Length that is too short is not JSON, and nothing is stored', async () => {
    const body = '{"name":"too short","text":"b"}'
    const route = ['POST', '/v1/knowledge'] as const
    const answer = await rawRequest(service.url, rawHead(route, { 'Content-Length': '9' }) + body)
    expect(answer.status).toBe(400)
    // While ours waits for a database server, Bun answers what follows the body, with nothing but the status.
    if (testMode === 'file' || answer.body !== '')
      expect(JSON.parse(answer.body).code).toBe('invalid_request')
    expect(await (await project.fetch('/v1/knowledge')).text()).not.toContain('too short')
  })

  test('a body that ends before its Content-Length is never taken for whole', async () => {
    const body = '{"name":"too long","text":"b"}'
    const route = ['POST', '/v1/knowledge'] as const
    const text = rawHead(route, { 'Content-Length': '500', 'X-Request-Id': 'cut-off' }) + body
    const answer = await rawRequest(service.url, text, { end: true, waitMs: 300 })
    expect(answer.status === null || answer.status === 400).toBe(true)
    expect(await (await project.fetch('/v1/knowledge')).text()).not.toContain('too long')
    expect(service.logs.some(({ msg, requestId }) => msg === 'internal' && requestId === 'cut-off')).toBe(
      false,
    )
  })

  test.each(['abc', '-1', '1, 2', '0x10'])('a Content-Length of %p is refused', async (length) => {
    const route = ['POST', '/v1/knowledge'] as const
    const answer = await rawRequest(service.url, `${rawHead(route, { 'Content-Length': length })}{}`)
    expect(answer.status).toBe(400)
  })
})

describe('the members of a body', () => {
  let large: TestService
  let owner: TestProject
  beforeAll(async () => {
    large = await startService()
    owner = await large.mintProject()
  })
  const put = (body: string, path = '/ingest/calls/many') =>
    owner.fetch(path, { method: 'PUT', body, headers: { 'content-type': 'application/json' } })

  const ones = (count: number) => Array(count).fill('1').join(',')
  const empty = (count: number) => Array.from({ length: count }, (_, at) => (at % 2 ? '[ ]' : '{}')).join(',')
  const text = '[{,\\\\\\"'.repeat(100_000)
  const bodies: readonly (readonly [string, (members: number) => string])[] = [
    ['entries of a list', (n) => `{"unknown":[${ones(n - 1)}]}`],
    ['spread over lines', (n) => `{ "unknown" :\n[ ${ones(n - 2)} ,\n 2 ] }`],
    ['empty lists and objects', (n) => `{"unknown":[${empty(n - 1)}]}`],
    ['names', (n) => `{${Array.from({ length: n }, (_, at) => `"${at}":"a,b"`).join(',')}}`],
    ['beside a long text full of signs', (n) => `{"x":"${text}","unknown":[${ones(n - 2)}]}`],
  ]
  test.each(bodies)('are counted before they are parsed: %s', async (_, bodyOf) => {
    expect((await put(bodyOf(250_000))).status).toBeLessThan(300)
    const refused = await put(bodyOf(250_001))
    const { detail } = await expectProblem(refused, 'payload_too_large')
    expect(detail).toContain('250000 members')
  })

  test('are as many in a line of NDJSON, and a larger one is refused alone', async () => {
    const body = [`{"id":"a","x":[${ones(249_998)}]}`, `{"id":"b","x":[${ones(249_999)}]}`, '{"id":"c"}']
    const answer = await owner.fetch('/ingest/calls', {
      method: 'POST',
      body: body.join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    const lines = (await answer.text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).status)).toEqual([201, 413, 201])
  })

  test('are as many in a body that a platform sends', async () => {
    const source = await addSource(large, owner, 'dograh')
    expect((await source.send(`{"id":"r","x":[${ones(249_998)}]}`)).status).toBe(200)
    expect((await source.send(`{"id":"r","x":[${ones(249_999)}]}`)).status).toBe(413)
  })

  test('are as many in a JSON text within a body', async () => {
    const source = await addSource(large, owner, 'dograh')
    const analysisOf = async (id: string, members: number) => {
      expect((await source.send({ id, analysis: `{"x":[${ones(members - 1)}]}` })).status).toBe(200)
      return (await (await owner.fetch(`/v1/calls/${id}`)).json()).callAnalysis?.x.length
    }
    expect(await analysisOf('as-many', 250_000)).toBe(249_999)
    expect(await analysisOf('too-many', 250_001)).toBeUndefined()
    const withMembers = (members: number) => `{"query":"q","x":[${ones(members - 2)}]}`
    const toolCallList = [250_000, 250_001].map((members) => ({
      id: `${members}`,
      function: { name: 'search', arguments: withMembers(members) },
    }))
    const answers = toolCallList.map(async (call) => {
      const answer = await owner.send('POST', '/integrations/vapi/tool', {
        message: { toolCallList: [call] },
      })
      return (await answer.json()).results[0]
    })
    const [taken, refused] = await Promise.all(answers)
    expect(taken.result).toBe('Nothing was found.')
    expect(refused.error).toContain('must be valid JSON')
  })
})

describe('a body that is not JSON', () => {
  test.each(routes)('%s %s: is 400, and says so', async (method, path) => {
    for (const body of [
      undefined,
      '',
      ' ',
      '{',
      '}',
      '{"a":1,}',
      "{'a':1}",
      '{"a":1}x',
      'NaN',
      'undefined',
      '01',
      '"\n"',
      '[1,]',
      '{"a":"\0"}',
    ])
      expect(await errorsOf(await send(method, path, body, 'application/json'))).toEqual({
        body: body ? 'must be valid JSON' : 'is required, as JSON',
      })
  })

  test.each(routes)('%s %s: JSON that is no object is 400', async (method, path) => {
    for (const body of ['null', '[]', '1', '"text"', 'true'])
      expect(await errorsOf(await send(method, path, body, 'application/json'))).toEqual({
        body: 'must be an object',
      })
  })

  test('a byte order mark in front is not part of it', async () => {
    const body = '\ufeff{"query":"a"}'
    expect((await send('POST', '/v1/knowledge/search', body, 'application/json')).status).toBe(200)
  })
})

describe('JSON that could not be given back as it was', () => {
  const put = (body: string | Buffer) => send('PUT', '/ingest/calls/some-id', body, 'application/json')

  test.each([
    ['invalid UTF-8 in a value', bytes('{"summary":"a\xff"}'), 'summary', 'must be valid UTF-8'],
    [
      'invalid UTF-8 in a key',
      bytes('{"callAnalysis":{"\xff":1}}'),
      'callAnalysis.\xff',
      'must be valid UTF-8',
    ],
    [
      'an overlong encoding',
      bytes('{"callAnalysis":{"a":[0,"\xc0\xaf"]}}'),
      'callAnalysis.a.1',
      'must be valid UTF-8',
    ],
    ['a surrogate in UTF-8', bytes('{"unknown":"\xed\xa0\x80"}'), 'unknown', 'must be valid UTF-8'],
    ['invalid UTF-8 outside of strings', bytes('{"summary":"a"}\xff'), 'body', 'must be valid UTF-8'],
    ['UTF-16', Buffer.from('{"summary":"a"}', 'utf16le'), 'body', 'must be valid JSON'],
    ['a lone high surrogate', '{"summary":"\\ud800"}', 'summary', 'must not contain a lone surrogate'],
    [
      'a lone low surrogate',
      '{"transcript":[{"role":"user","content":"\\udc00x"}]}',
      'transcript.0.content',
      'must not contain a lone surrogate',
    ],
    [
      'a lone surrogate in a key',
      '{"callAnalysis":{"a\\ud83d":1}}',
      'callAnalysis.a\ufffd',
      'must not contain a lone surrogate',
    ],
    ['swapped surrogates', '{"summary":"\\udcde\\ud83d"}', 'summary', 'must not contain a lone surrogate'],
    ['U+0000 in a value', '{"metadata":{"a":{"b":"x\\u0000y"}}}', 'metadata.a.b', 'must not contain U+0000'],
    ['U+0000 in a key', '{"callAnalysis":{"x\\u0000":1}}', 'callAnalysis.x\ufffd', 'must not contain U+0000'],
    ['U+0000 in a field that is ignored', '{"unknown":["\\u0000"]}', 'unknown.0', 'must not contain U+0000'],
    [
      'a number beyond a double',
      '{"callAnalysis":{"a":1e400}}',
      'callAnalysis.a',
      'must be within the range of a double',
    ],
    [
      'a negative number beyond a double',
      '{"duration":-1e309}',
      'duration',
      'must be within the range of a double',
    ],
    [
      'a number of 400 digits',
      `{"callAnalysis":{"a":${'9'.repeat(400)}}}`,
      'callAnalysis.a',
      'must be within the range of a double',
    ],
  ])('%s is 400 and names the field', async (_, body, field, message) => {
    expect(await errorsOf(await put(body))).toEqual({ [field]: message })
    expect((await project.fetch('/v1/calls/some-id')).status).toBe(404)
  })

  const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const arrays = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`

  test('a value of 100 levels is stored and given back, of 101 levels it is 400', async () => {
    for (const value of [objects(100), `{"a":${arrays(99)}}`]) {
      const answer = await put(`{"callAnalysis":${value}}`)
      expect(answer.status).toBeLessThan(300)
      expect(JSON.stringify((await answer.json()).callAnalysis)).toBe(value)
    }
    for (const value of [objects(101), `{"a":${arrays(100)}}`]) {
      const [[field = '', message] = []] = Object.entries(
        await errorsOf(await put(`{"callAnalysis":${value}}`)),
      )
      expect(field).toStartWith('callAnalysis.a.')
      expect(message).toBe('must not nest deeper than 100 levels')
    }
    expect(Object.values(await errorsOf(await put(`{"unknown":${objects(101)}}`)))).toEqual([
      'must not nest deeper than 100 levels',
    ])
  })
})

describe('parseJson', () => {
  function problemOf(text: string | Buffer): string {
    try {
      parseJson(Buffer.from(text))
    } catch (error) {
      if (error instanceof AppError) return error.detail
    }
    return 'none'
  }

  test('gives what JSON.parse gives, for everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(text.isWellFormed() && !/\\u(0000|d[89a-f])/.test(text))
        expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  test('never throws anything but a 400, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (some) => {
        expect(problemOf(Buffer.from(some))).toBeString()
      }),
    )
  })

  test('a bad body does not spoil the reading of the next', () => {
    expect(problemOf(bytes('{"a":"\xe2\x82'))).toContain('UTF-8')
    expect(parseJson(Buffer.from('{"a":"€"}'))).toEqual({ a: '€' })
  })

  test('a name that is very long is told in part', () => {
    expect(problemOf(`{"${'k'.repeat(10_000)}":"\\u0000"}`).length).toBeLessThan(300)
  })

  test.each([
    ['numbers', `[${'0,'.repeat(2_000_000)}0]`, 'none'],
    ['empty objects', `[${'{},'.repeat(1_000_000)}0]`, 'none'],
    ['levels', '['.repeat(1_000_000) + ']'.repeat(1_000_000), 'nest'],
    ['open brackets', '['.repeat(4_000_000), 'JSON'],
    ['open brackets of a body that is short enough to be searched', '['.repeat(1_000_000), 'JSON'],
    ['broken strings', bytes(`[${'"\xc3\xa9",'.repeat(300_000)}"\xff"]`), 'UTF-8'],
  ])('a million %s are judged', (_, text, problem) => {
    expect(problemOf(text)).toContain(problem)
  })
})
