import { beforeAll, describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { createServer } from '../../src/server.ts'
import { expectProblem } from '../support/problem.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

type Kind = 'live' | 'ingest'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'))
// Elsewhere only 127.0.0.1 of the loopback range is an address of the machine.
const hasOtherLoopback = process.platform === 'linux'
const startMs = Date.UTC(2026, 0, 31)
const clock = { ms: startMs }

const service = await startService({ now: () => clock.ms })
const project = await service.mintProject()

async function makeKey(kind: Kind, { allowedIps = [] as string[], expiresAt = null as number | null } = {}) {
  return service.services.keys.create(project.projectId, { name: 'made', kind, allowedIps, expiresAt })
}

/** Sends what no route would accept as a body, so that an answer shows whether the key was judged first. */
function request(path: string, authorization: string | null, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (authorization !== null) headers.set('authorization', authorization)
  const takesBody = init.method === 'POST' || init.method === 'PUT'
  return fetch(service.url + path, { ...init, headers, ...(takesBody ? { body: '{"malformed' } : {}) })
}

const missing = ['missing_authorization', 'Missing or invalid Authorization header', 'Bearer'] as const
const format = ['invalid_api_key_format', 'Invalid API key format', 'Bearer error="invalid_token"'] as const
const unknown = ['invalid_api_key', 'Invalid API key', 'Bearer error="invalid_token"'] as const
const expired = ['api_key_expired', 'API key has expired', 'Bearer error="invalid_token"'] as const
const elsewhere = ['ip_address_not_allowed', 'IP address not allowed', null] as const

describe('a key is judged before anything else about a request', () => {
  test('a path or a method that does not exist is 401 without a key, and only told to who has one', async () => {
    const paths = [
      '/v1',
      '/v1/',
      '/v1/nope',
      '/v1/calls/a/b',
      '/v1//',
      '/ingest',
      '/ingest/',
      '/ingest/nope',
      '/mcp/nope',
    ]
    for (const path of paths) {
      await expectProblem(await request(path, null), 'missing_authorization', missing[1])
      await expectProblem(await project.fetch(path), 'not_found')
    }
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])
      expect((await request('/v1/calls', null, { method })).status).toBe(401)
  })

  test('a body that is too large, of another type or not JSON is 401 without a key', async () => {
    for (const [type, length] of [
      ['text/plain', '5'],
      ['application/json', '99999999999'],
      ['application/json', '5'],
    ] as const) {
      const headers = { 'Content-Type': type, 'Content-Length': length }
      const { status } = await rawRequest(service.url, `${head('POST /v1/knowledge HTTP/1.1', headers)}{"a":`)
      expect(status).toBe(401)
    }
  })

  test('parameters that are not valid are 401 without a key', async () => {
    expect((await request('/v1/calls?limit=x', null)).status).toBe(401)
    expect((await request('/ingest/calls/%zz', null, { method: 'PUT' })).status).toBe(401)
  })

  test.each([
    ['a host name of one letter', 'GET /v1/calls HTTP/1.1', 'x'],
    ['a path with dots', 'GET /docs/../v1/calls HTTP/1.1', 'localhost'],
    ['an absolute URL', 'GET http://elsewhere/v1/calls HTTP/1.1', 'localhost'],
    ['a backslash', 'GET /v1\\calls HTTP/1.1', 'localhost'],
  ])('no key is no way in through %s', async (_, line, host) => {
    expect((await rawRequest(service.url, head(line, { Host: host }))).status).toBe(401)
    const { status } = await rawRequest(
      service.url,
      head(line, { Host: host, Authorization: `Bearer ${project.key}` }),
    )
    expect([200, 404]).toContain(status ?? 0)
  })

  test('a request of HTTP/1.0 without a host name is judged and routed as any other', async () => {
    await project.send('PUT', '/ingest/calls/old-client', { summary: 'still here' })
    const line = 'GET /v1/calls/old-client HTTP/1.0\r\n'
    expect((await rawRequest(service.url, `${line}\r\n`)).status).toBe(401)
    const answer = await rawRequest(service.url, `${line}Authorization: Bearer ${project.key}\r\n\r\n`)
    expect(answer.status).toBe(200)
    expect(answer.body).toContain('still here')
  })
})

describe('order of the checks', () => {
  test('an unknown key of the wrong kind is a matter of format', async () => {
    const answer = await request('/v1/calls', 'Bearer ck_ingest_00')
    await expectProblem(answer, 'invalid_api_key_format', format[1])
  })

  test('a key that is revoked, expired and from a wrong address is an invalid key', async () => {
    const made = await makeKey('live', { allowedIps: ['10.0.0.1'], expiresAt: clock.ms + 1 })
    clock.ms += 1
    await expectProblem(await request('/v1/calls', `Bearer ${made.key}`), 'api_key_expired', expired[1])
    await service.services.keys.revoke(project.projectId, made.id)
    await expectProblem(await request('/v1/calls', `Bearer ${made.key}`), 'invalid_api_key', unknown[1])
  })

  test('an expired key from a wrong address has expired', async () => {
    const made = await makeKey('ingest', { allowedIps: ['10.0.0.1'], expiresAt: clock.ms + 1 })
    const path = '/ingest/calls/c'
    const before = await request(path, `Bearer ${made.key}`, { method: 'PUT' })
    await expectProblem(before, 'ip_address_not_allowed', elsewhere[1])
    clock.ms += 1
    const after = await request(path, `Bearer ${made.key}`, { method: 'PUT' })
    await expectProblem(after, 'api_key_expired', expired[1])
  })
})

describe('a good key', () => {
  test('holds until the millisecond of its expiry', async () => {
    const made = await makeKey('live', { expiresAt: clock.ms + 60_000 })
    clock.ms += 59_999
    expect((await request('/v1/calls', `Bearer ${made.key}`)).status).toBe(200)
    clock.ms += 1
    expect((await request('/v1/calls', `Bearer ${made.key}`)).status).toBe(401)
  })

  test('is refused on the very next request after it was revoked', async () => {
    for (let round = 0; round < 5; round++) {
      const made = await makeKey('live')
      expect((await request('/v1/calls', `Bearer ${made.key}`)).status).toBe(200)
      await service.services.keys.revoke(project.projectId, made.id)
      expect((await request('/v1/calls', `Bearer ${made.key}`)).status).toBe(401)
    }
  })

  test('concurrent requests of many keys each see their own project', async () => {
    const projects = await Promise.all(Array.from({ length: 5 }, () => service.mintProject()))
    for (const each of projects) await each.send('PUT', '/ingest/calls/mine', { summary: each.name })
    const rounds = Array.from({ length: 100 }, (_, round) => projects[round % projects.length])
    await Promise.all(
      rounds.map(async (each) => {
        const call = await (await each?.fetch('/v1/calls/mine'))?.json()
        expect(call.summary).toBe(each?.name)
      }),
    )
  })
})

describe('allow-lists, over a socket', () => {
  async function statusFrom(localAddress: string, allowedIps: string[]): Promise<number | null> {
    const { key } = await makeKey('live', { allowedIps })
    const text = head('GET /v1/calls HTTP/1.1', { Authorization: `Bearer ${key}` })
    return (await rawRequest(service.url, text, { localAddress })).status
  }

  test.each([
    [[]],
    [['*']],
    [['127.0.0.1']],
    [['127.0.0.0/8']],
    [['::ffff:127.0.0.1']],
    [['::ffff:127.0.0.0/104']],
    [['10.0.0.1', '127.0.0.1/32']],
  ])('%j lets 127.0.0.1 pass', async (allowedIps) => {
    expect(await statusFrom('127.0.0.1', allowedIps)).toBe(200)
  })

  test.each([[['127.0.0.2']], [['127.0.0.2/31']], [['::1']], [['::/0']], [['10.0.0.0/8', '192.0.2.1']]])(
    '%j keeps 127.0.0.1 out',
    async (allowedIps) => {
      expect(await statusFrom('127.0.0.1', allowedIps)).toBe(403)
    },
  )

  test.if(hasOtherLoopback)('another address of the machine is another client', async () => {
    expect(await statusFrom('127.0.0.2', ['127.0.0.1'])).toBe(403)
    expect(await statusFrom('127.0.0.2', ['127.0.0.2'])).toBe(200)
  })

  test('X-Forwarded-For is nothing to go by when no proxy is trusted', async () => {
    const { key } = await makeKey('live', { allowedIps: ['192.0.2.1'] })
    const answer = await fetch(`${service.url}/v1/calls`, {
      headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' },
    })
    expect(answer.status).toBe(403)
  })

  test('a client whose address is unknown passes only *', async () => {
    const listed = await makeKey('live', { allowedIps: ['0.0.0.0/0', '::/0'] })
    const open = await makeKey('live', { allowedIps: ['*'] })
    const app = createServer(service.services, () => null)
    const ask = (key: string) =>
      app.handle(new Request('http://localhost/v1/calls', { headers: { authorization: `Bearer ${key}` } }))
    expect((await ask(listed.key)).status).toBe(403)
    expect((await ask(open.key)).status).toBe(200)
  })

  test.if(hasIpv6)('on a socket of both families, an IPv4 client is its IPv4 address', async () => {
    const app = createServer(service.services, (request) => server.requestIP(request)?.address ?? null)
    const server = Bun.serve({ port: 0, hostname: '::', fetch: app.fetch })
    const { key } = await makeKey('live', { allowedIps: ['127.0.0.1'] })
    const text = head('GET /v1/calls HTTP/1.1', { Authorization: `Bearer ${key}` })
    expect((await rawRequest(`http://127.0.0.1:${server.port}`, text)).status).toBe(200)
    await server.stop(true)
  })
})

describe('behind trusted proxies', () => {
  let proxied: TestService
  let tenant: TestProject

  beforeAll(async () => {
    proxied = await startService({ env: { TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' } })
    tenant = await proxied.mintProject()
  })

  async function statusVia(forwardedFor: string | null, localAddress = '127.0.0.1'): Promise<number | null> {
    const { key } = await tenant.makeKey({ name: 'listed', allowedIps: ['192.0.2.0/24', '2001:db8::/32'] })
    const fields: Record<string, string> = forwardedFor === null ? {} : { 'X-Forwarded-For': forwardedFor }
    const text = head('GET /v1/calls HTTP/1.1', { Authorization: `Bearer ${key}`, ...fields })
    return (await rawRequest(proxied.url, text, { localAddress })).status
  }

  test.each([
    '192.0.2.7',
    '203.0.113.5, 192.0.2.7',
    '192.0.2.7, 10.1.2.3',
    '[2001:db8::5]:4711',
    '192.0.2.7:80',
  ])('the client of %j passes', async (forwardedFor) => {
    expect(await statusVia(forwardedFor)).toBe(200)
  })

  test.each([
    null,
    '',
    '203.0.113.5',
    '192.0.2.7, 203.0.113.5',
    '192.0.2.7, garbage',
    '192.0.2.7,',
    'unknown',
  ])('the client of %j does not', async (forwardedFor) => {
    expect(await statusVia(forwardedFor)).toBe(403)
  })

  test.if(hasOtherLoopback)('who is not a trusted proxy cannot name an address', async () => {
    expect(await statusVia('192.0.2.7', '127.0.0.2')).toBe(403)
  })

  test('the address noted with a key is the client, not the proxy', async () => {
    await fetch(`${proxied.url}/v1/calls`, {
      headers: { authorization: `Bearer ${tenant.key}`, 'x-forwarded-for': '198.51.100.9' },
    })
    const noted = async () =>
      (await proxied.services.keys.list(tenant.projectId)).find(({ id }) => id === tenant.keyId)?.lastUsedIp
    await until(async () => Boolean(await noted()))
    expect(await noted()).toBe('198.51.100.9')
  })
})
