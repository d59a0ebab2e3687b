import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Ajv } from 'ajv'
import type { OpenAPIV3_1 } from 'openapi-types'
import { type Operation, operationsOf, readDocument } from '../support/document.ts'
import { startFakeChat } from '../support/fake-chat.ts'
import fc from '../support/fast-check.ts'
import { spoiled, valuesOf } from '../support/from-schema.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'

setDefaultTimeout(1_200_000)
// By hand: FUZZ_RUNS=20000 bun test tests/properties/fuzz.test.ts
const runs = Number(process.env.FUZZ_RUNS ?? 40)
const ajv = new Ajv({ strict: false, allErrors: true, formats: { 'date-time': isTime } })
let requests = 0
const seen = new Map<string, number>()

const chat = await startFakeChat()
const env = { BODY_MAX_BYTES: '20000', KNOWLEDGE_TEXT_MAX_BYTES: '4000', INDEX_WAIT_MS: '1' }
const service = await startService({ env: { ...env, ANALYSIS_MODEL: 'm', ANALYSIS_ENDPOINT: chat.url } })
const project = await service.mintProject()
const operations = operationsOf(await readDocument(service.url))
for (const id of ['a', 'call-1', 'b.c_d:e-f'])
  await project.send('PUT', `/ingest/calls/${id}`, { summary: id })
afterAll(async () => {
  console.info(
    `${requests} requests: ${[...seen]
      .sort()
      .map(([status, n]) => `${status} × ${n}`)
      .join(', ')}`,
  )
})

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text))
}

interface Fuzzed {
  method: string
  id: string
  query: string
  contentType: string
  authorization: string
  body: string | Uint8Array<ArrayBuffer> | null
}

const ids = fc.oneof(
  fc.constantFrom('a', 'call-1', 'b.c_d:e-f', 'kn_019a5f0c2b7e7cc0a1d2e3f405162738'),
  fc.constantFrom(
    '%',
    '%ff',
    '%00',
    '%2e%2e',
    '..',
    '%2F',
    'a%2Fb',
    '%ED%A0%80',
    '\\',
    "'--",
    'a;b',
    '%25',
    '~',
    'x'.repeat(129),
  ),
  fc.string({ maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
)
const queries = fc.oneof(
  fc.constant(''),
  fc
    .array(
      fc.tuple(
        fc.constantFrom('limit', 'offset', 'x', ''),
        fc.constantFrom(
          '0',
          '1',
          '-1',
          '1e3',
          '',
          '999999999999999',
          '1000000000000000',
          '٣',
          '%',
          '%00',
          'a&b',
        ),
      ),
      { maxLength: 3 },
    )
    .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
)
const contentTypes = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'text/plain',
      '',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json5',
    ),
  },
)

function bodiesOf(operation: Operation): fc.Arbitrary<string | Uint8Array<ArrayBuffer> | null> {
  const schema = operation.requestBody?.content['application/json']?.schema as
    | OpenAPIV3_1.SchemaObject
    | undefined
  const good = schema ? valuesOf(schema) : fc.jsonValue()
  const toJson = (value: unknown) => JSON.stringify(value) ?? 'null'
  return fc.oneof(
    { weight: 5, arbitrary: good.map(toJson) },
    { weight: 5, arbitrary: spoiled(good).map(toJson) },
    { weight: 1, arbitrary: fc.string() },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => new Uint8Array(bytes)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '{',
        '',
        '{"a":1e999}',
        '{"name":"a","name":"b"}',
        '\ufeff{}',
        '{"__proto__":{"a":1}}',
        `{"a":"${'x'.repeat(20_500)}"}`,
      ),
    },
  )
}

function isAnswerDocumented(operation: Operation, status: number, type: string, body: string): string | null {
  const documented = operation.responses[String(status)]
  if (!documented) return `status ${status} is not in the document`
  const schema = documented.content?.[type.split(';')[0] ?? '']?.schema
  if (!schema) return `${type} is not in the document for ${status}`
  if (!type.includes('json')) return null
  const check = ajv.compile(schema)
  return check(JSON.parse(body)) ? null : ajv.errorsText(check.errors)
}

test('no request gets a 5xx, and every answer matches the OpenAPI document', async () => {
  for (const operation of operations) {
    const { path, method } = operation
    const takesBody = operation.requestBody !== undefined
    const key = path.startsWith('/ingest') ? project.ingestKey : project.key
    const fuzzed: fc.Arbitrary<Fuzzed> = fc.record({
      method: fc.constant(method.toUpperCase()),
      id: ids,
      query: queries,
      contentType: contentTypes,
      authorization: fc.oneof(
        { weight: 12, arbitrary: fc.constant(`Bearer ${key}`) },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            '',
            'Bearer',
            'Basic abc',
            'Bearer ck_live_x',
            `Bearer ${project.ingestKey}`,
            'bearer\tx',
          ),
        },
      ),
      body: takesBody ? bodiesOf(operation) : fc.constant(null),
    })
    await fc.assert(
      fc.asyncProperty(fuzzed, async ({ id, query, contentType, authorization, body }) => {
        const headers: Record<string, string> = { Authorization: authorization, 'Content-Type': contentType }
        const target = path.replace('{id}', id) + query
        const answer = await fetch(service.url + target, {
          method: method.toUpperCase(),
          headers,
          ...(body === null ? {} : { body }),
        })
        const text = await answer.text()
        requests++
        seen.set(String(answer.status), (seen.get(String(answer.status)) ?? 0) + 1)
        expect(answer.status, text).toBeLessThan(500)
        expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/)
        // An id may lead to another route, such as `..` to the list.
        const isOwnRoute =
          new URL(answer.url).pathname === new URL(service.url + path.replace('{id}', id)).pathname &&
          !/^(\.|%2e)*$/i.test(id) &&
          id !== ''
        if (!path.includes('{id}') || (isOwnRoute && answer.status !== 405 && !text.includes('"Not found"')))
          expect(
            isAnswerDocumented(operation, answer.status, answer.headers.get('content-type') ?? '', text),
          ).toBeNull()
      }),
      { numRuns: runs },
    )
  }
  expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
})

test('malformed HTTP gets a 4xx or no answer, and the service goes on', async () => {
  const lines = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .tuple(
        fc.constantFrom('GET', 'get', 'PUT', 'BREW', 'OPTIONS', 'TRACE', 'CONNECT', ''),
        fc.constantFrom(
          '/v1/calls',
          '*',
          '//v1/calls',
          '/v1/./calls',
          '/v1/calls?%',
          'http://a/v1/calls',
          '/ingest/calls/%zz',
          '/\u0001',
          '',
        ),
        fc.dictionary(
          fc.constantFrom(
            'Host',
            'Content-Length',
            'Transfer-Encoding',
            'Expect',
            'Connection',
            'X-Request-Id',
          ),
          fc.constantFrom('', '-1', '5', 'chunked', '100-continue', 'a'.repeat(500), 'localhost'),
        ),
      )
      .map(([method, target, headers]) => Buffer.from(head(`${method} ${target} HTTP/1.1`, headers))),
  )
  await fc.assert(
    fc.asyncProperty(lines, async (bytes) => {
      const { status } = await rawRequest(service.url, bytes, { end: true, waitMs: 100 })
      requests++
      // 505 is the runtime's, for another version than HTTP/1.
      if (status !== null && status !== 505) expect(status).toBeLessThan(500)
    }),
    { numRuns: runs * 2 },
  )
  expect((await fetch(`${service.url}/health`)).status).toBe(200)
  expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
})
