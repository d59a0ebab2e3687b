import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { KeyKind } from '../../src/access/keys/token.ts'
import { type ErrorCode, errorStatus } from '../../src/errors.ts'
import { createServer } from '../../src/server.ts'
import { operationsOf, readDocument } from '../support/document.ts'
import { expectProblem } from '../support/problem.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService, type TestProject } from '../support/service.ts'

// What holds for every route, asked of each route that there is: keys, methods, the size and the type of a body, and the
// limit of requests. A new route is judged without anybody thinking of it, or fails here until somebody has said which
// key it takes. What another project sees of a record: see tenancy.test.ts.

const bodyBytesMax = 4_000
const clock = { ms: Date.UTC(2026, 0, 31) }
const service = await startService({
  now: () => clock.ms,
  env: { BODY_MAX_BYTES: `${bodyBytesMax}`, RECORDING_MAX_BYTES: '1000000' },
})
const minted = await service.mintProject()
const { key } = await minted.makeKey({ scope: 'manage' })
/** Its key opens everything under /v1. */
const project: TestProject = {
  ...minted,
  key,
  fetch: (path, { headers = {}, ...init } = {}) => {
    const all = new Headers(headers)
    if (!path.startsWith('/ingest') && !all.has('authorization')) all.set('authorization', `Bearer ${key}`)
    return minted.fetch(path, { ...init, headers: all })
  },
}

interface KeyedRoute {
  method: string
  path: string
  kind: KeyKind
}

/** What platforms sign, what a link opens, what people sign in to, and what is open: each has tests of its own. */
const withoutKey =
  /^\/(ingest\/from\/|observability\/|recordings\/|console|(health|ready|metrics|favicon.ico|openapi.json|llms.txt|docs.*)?$)/
const served = createServer(service.services, () => null).routes.map(({ method, path }) => ({
  method,
  path: path.replace(/:\w+/g, 'some-id'),
}))
const keyed: KeyedRoute[] = served
  .filter(({ path }) => !withoutKey.test(path))
  .map(({ method, path }) => ({ method, path, kind: kindOf(path) }))
const withBody = keyed.filter(({ method }) => /^(POST|PUT|PATCH)$/.test(method))
/** Those whose body is lines, or bytes of any type. */
const lines = '/ingest/calls'
const bytes = '/ingest/calls/some-id/recording'
const file = '/v1/knowledge/files'

function kindOf(path: string): KeyKind {
  if (/^\/(v1|mcp|integrations)(\/|$)/.test(path)) return 'live'
  if (/^\/ingest\//.test(path)) return 'ingest'
  throw new Error(`Say in this test which key ${path} takes`)
}

type Form = (body: unknown, error: { status: number; code: ErrorCode; title: string }) => void

/** The errors of others' protocols have forms of their own: that of Vapi above all no `message`, which would be spoken. */
const forms: [RegExp, Form][] = [
  [
    /^\/integrations\/(vapi|tool)\b/,
    (body, { title }) => expect(body).toEqual({ error: expect.stringMatching(new RegExp(`^${title}: `)) }),
  ],
  [
    /^\/integrations\/dify\b/,
    (body, { status, code, title }) =>
      expect(body).toEqual({
        error_code:
          code === 'missing_authorization' ? 1001 : status === 401 || status === 403 ? 1002 : status,
        error_msg: expect.stringMatching(new RegExp(`^${title}: `)),
      }),
  ],
  [/^\/ingest\/otlp\b/, (body) => expect(body).toEqual({ message: expect.stringMatching(/\S{2,}/) })],
]
/** Once a message is read, its errors are those of JSON-RPC. */
const ofMessages: [RegExp, Form] = [
  /^\/mcp$/,
  (body) =>
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_000, message: expect.stringMatching(/\S{2,}/) },
    }),
]

async function expectRefusal(path: string, answer: Response, code: ErrorCode, title: string): Promise<void> {
  expect([path, answer.status]).toEqual([path, errorStatus[code]])
  const isOfBody = code === 'payload_too_large' || code === 'unsupported_media_type'
  const form = [...forms, ...(isOfBody ? [ofMessages] : [])].find(([pattern]) => pattern.test(path))?.[1]
  if (!form) {
    expect((await expectProblem(answer, code, title)).errors).toBeUndefined()
    return
  }
  expect([answer.headers.get('content-type'), answer.headers.get('x-request-id')]).toEqual([
    'application/json',
    expect.stringMatching(/\S/),
  ])
  form(await answer.json(), { status: answer.status, code, title })
}

test('these are all routes of the document and of the contract that take a key', async () => {
  const named = keyed.map(({ method, path }) => `${method} ${path}`)
  const described = operationsOf(await readDocument(service.url))
  const documented = described.map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'some-id')}`,
  )
  // Spoken by clients that have its own documents.
  const ofContract = [...documented, 'POST /mcp'].filter(
    (route) => !withoutKey.test(route.split(' ')[1] ?? ''),
  )
  expect([...new Set(named)].sort()).toEqual([...new Set(ofContract)].sort())
})

function makeKey(kind: KeyKind, { allowedIps = [] as string[], expiresAt = null as number | null } = {}) {
  const scope = kind === 'live' ? ('manage' as const) : undefined
  return service.services.keys.create(project.projectId, { name: 'made', kind, scope, allowedIps, expiresAt })
}

/** Sends what no route would accept as a body, so that an answer shows whether the key was judged first. */
function request(
  { method, path }: Omit<KeyedRoute, 'kind'>,
  headers: Record<string, string>,
): Promise<Response> {
  const body = /^(POST|PUT|PATCH)$/.test(method) ? { body: '{"malformed' } : {}
  return fetch(service.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...body,
  })
}

const missing = ['missing_authorization', 'Missing or invalid Authorization header', 'Bearer'] as const
const format = ['invalid_api_key_format', 'Invalid API key format', 'Bearer error="invalid_token"'] as const
const unknown = ['invalid_api_key', 'Invalid API key', 'Bearer error="invalid_token"'] as const
const expired = ['api_key_expired', 'API key has expired', 'Bearer error="invalid_token"'] as const
const elsewhere = ['ip_address_not_allowed', 'IP address not allowed', null] as const
const bearer = async (made: Promise<{ key: string }>) => `Bearer ${(await made).key}`

const refusals: [
  when: string,
  answer: readonly [code: ErrorCode, title: string, challenge: string | null],
  authorization: (kind: KeyKind) => Promise<string | null>,
][] = [
  ['there is no header', missing, async () => null],
  ['the header is empty', missing, async () => ''],
  ['the scheme is another', missing, async (kind) => `Basic ${(await makeKey(kind)).key}`],
  ['the key comes without a scheme', missing, async (kind) => (await makeKey(kind)).key],
  ['the bearer token is empty', missing, async () => 'Bearer '],
  ['there is a scheme alone', missing, async () => 'Bearer'],
  ['the prefix is none of ours', format, async () => 'Bearer sk_live_00'],
  ['the prefix is in capitals', format, async (kind) => `Bearer ${(await makeKey(kind)).key.toUpperCase()}`],
  ['the key is of the other kind', format, (kind) => bearer(makeKey(kind === 'live' ? 'ingest' : 'live'))],
  ['the key is unknown', unknown, async (kind) => `Bearer ck_${kind}_${randomBytes(30).toString('hex')}`],
  ['the key is cut short', unknown, async (kind) => (await bearer(makeKey(kind))).slice(0, -1)],
  ['the key goes on', unknown, async (kind) => `${await bearer(makeKey(kind))} x`],
  [
    'the key is revoked',
    unknown,
    async (kind) => {
      const made = await makeKey(kind)
      await service.services.keys.revoke(project.projectId, made.id)
      return `Bearer ${made.key}`
    },
  ],
  [
    'the key has expired',
    expired,
    async (kind) => {
      const authorization = await bearer(makeKey(kind, { expiresAt: clock.ms + 1 }))
      clock.ms += 1
      return authorization
    },
  ],
  [
    'the address is not on the list of the key',
    elsewhere,
    (kind) => bearer(makeKey(kind, { allowedIps: ['10.0.0.0/8', '::1'] })),
  ],
]

describe('a key is judged before anything else about a request', () => {
  test.each(refusals)('every route refuses when %s', async (_, [code, title, challenge], authorizationOf) => {
    for (const route of keyed) {
      const authorization = await authorizationOf(route.kind)
      // Vapi may send the key as its secret, where a scheme is optional.
      const isSecret = route.path.startsWith('/integrations/vapi') && code !== 'missing_authorization'
      const ways: Record<string, string>[] = [
        authorization === null ? {} : { authorization },
        ...(isSecret ? [{ 'x-vapi-secret': authorization?.replace('Bearer ', '') ?? '' }] : []),
      ]
      for (const headers of ways) {
        const answer = await request(route, headers)
        expect([route.path, answer.headers.get('www-authenticate')]).toEqual([route.path, challenge])
        await expectRefusal(route.path, answer, code, title)
      }
    }
  })

  test('every route lets a good key of its kind in, so that a malformed body is 400 and a missing record 404', async () => {
    for (const { method, path, kind } of keyed) {
      // Not one JSON value.
      if ([lines, bytes, file].includes(path)) continue
      const answer = await request({ method, path }, { authorization: await bearer(makeKey(kind)) })
      // A comparison needs its groups, an export its format.
      const isBare = path === '/v1/compare' || path.endsWith('/export')
      const found = /some-id|rubric/.test(path) ? 404 : 200
      const expected = /^(POST|PUT|PATCH)$/.test(method) || isBare ? 400 : found
      expect([method, path, answer.status]).toEqual([method, path, expected])
    }
  })
})

describe('a method', () => {
  const paths = [...new Set(served.map(({ path }) => path))].filter(
    (path) => !/^\/(console|observability)\b/.test(path),
  )
  const methodsOf = (path: string) => {
    const own = served.filter((route) => route.path === path).map(({ method }) => method)
    return [...own, ...(own.includes('GET') ? ['HEAD'] : [])].sort()
  }

  test.each(paths.filter((path) => !path.includes('*')))(
    '%s is 405 with Allow where the path does not take it, and its body is not read',
    async (path) => {
      const takes = methodsOf(path)
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        if (takes.includes(method) || takes.includes('ALL')) continue
        const body = /^P/.test(method) ? { body: '{"malformed' } : {}
        for (const query of ['', '?a=/b']) {
          const answer = await project.fetch(path + query, { method, redirect: 'manual', ...body })
          expect([method, answer.status, answer.headers.get('allow')]).toEqual([
            method,
            405,
            takes.join(', '),
          ])
          if (method !== 'HEAD') await expectRefusal(path, answer, 'method_not_allowed', 'Method not allowed')
        }
      }
    },
  )
})

describe('a body', () => {
  /** Each line has the limit, not all of them. */
  const limited = withBody.filter(({ path }) => path !== lines)
  const typeOf = (path: string) =>
    path === lines
      ? 'application/x-ndjson'
      : path === file
        ? 'multipart/form-data; boundary=x'
        : 'application/json'
  const bytesMaxOf = (path: string) => (path === bytes ? 1_000_000 : bodyBytesMax)

  test.each(limited)(
    'that is too large is 413 before it is sent: $method $path',
    async ({ method, path, kind }) => {
      const rawHead = (headers: Record<string, string>) => {
        const authorization = `Bearer ${kind === 'live' ? project.key : project.ingestKey}`
        const usual = { Authorization: authorization, 'Content-Type': typeOf(path) }
        return head(`${method} ${path} HTTP/1.1`, { ...usual, ...headers })
      }
      const chunk = `400\r\n${' '.repeat(1_024)}\r\n`
      const announced = [bytesMaxOf(path) + 1, 2 ** 40].map((length) =>
        rawHead({ 'Content-Length': `${length}` }),
      )
      const sending = rawHead({ 'Transfer-Encoding': 'chunked' }) + chunk.repeat(bytesMaxOf(path) / 1_000)
      for (const text of [...announced, ...(path === bytes ? [] : [sending])]) {
        const { status, body } = await rawRequest(service.url, text)
        expect([path, status]).toEqual([path, 413])
        expect(body).toMatch(
          path === '/mcp' || path.startsWith('/ingest/otlp') ? /bytes/ : /Payload too large/,
        )
      }
    },
  )

  const types = [
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/problem+json',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
    'json',
    'application/json; charset=iso-8859-1',
    'application/json; version=1; charset="utf-16"',
    'application/json; charset=',
    null,
  ]

  test.each(withBody)('of another type is 415: $method $path', async ({ method, path }) => {
    // Its bytes say what a recording is.
    const body = Buffer.from('{"name":"a","text":"b","query":"c"}')
    for (const type of types) {
      // A charset there is as good as any.
      if (path.startsWith('/ingest/otlp') && type?.startsWith('application/json;')) continue
      const answer = await project.fetch(path, {
        method,
        headers: type === null ? {} : { 'content-type': type },
        body,
      })
      await expectRefusal(path, answer, 'unsupported_media_type', 'Unsupported media type')
    }
  })

  const uncompressed = withBody.filter(({ path }) => !path.startsWith('/ingest/otlp'))
  test.each(uncompressed)(
    'that is compressed is 415, and told what is taken: $method $path',
    async ({ method, path }) => {
      for (const encoding of ['gzip', 'br', 'identity, gzip']) {
        const headers = { 'content-type': typeOf(path), 'content-encoding': encoding }
        const answer = await project.fetch(path, { method, headers, body: gzipSync('{"name":"a"}') })
        expect([path, answer.headers.get('accept-encoding')]).toEqual([path, 'identity'])
        await expectRefusal(path, answer, 'unsupported_media_type', 'Unsupported media type')
      }
    },
  )
})

test('more requests than are allowed are 429 on every route, and told when to come back', async () => {
  const limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1' } })
  const asked = await limited.mintProject()
  for (const { method, path, kind } of keyed) {
    const made = await asked.makeKey({ kind })
    const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'text/plain' }
    const ask = () =>
      fetch(limited.url + path, { method, headers, ...(/^P/.test(method) ? { body: '-' } : {}) })
    const first = await ask()
    await first.body?.cancel()
    expect([path, first.status === 429, first.headers.get('ratelimit')]).toEqual([
      path,
      false,
      expect.stringContaining('r=0'),
    ])
    const second = await ask()
    expect([path, second.headers.get('ratelimit-policy')]).toEqual([path, '"default";q=1;w=60'])
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    await expectRefusal(path, second, 'rate_limited', 'Too many requests')
    const logged = limited.logs.filter(({ msg, keyId }) => msg === 'request' && keyId === made.id)
    expect([path, logged.map(({ status }) => status)]).toEqual([path, [first.status, 429]])
  }
})
