import { describe, expect, test } from 'bun:test'
import { createServer } from '../../src/server.ts'
import { tokenOf } from '../sources/otel/livekit-requests.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { madeWav } from '../support/recordings.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.mintProject()
await project.send('PUT', '/ingest/calls/call-1', { summary: 'ünïcödé 📞' })
const itemId: string = (
  await (await project.send('POST', '/v1/knowledge', { name: 'n', text: 'ünïcödé 📞' })).json()
).id

describe('HEAD', () => {
  test('answers as GET does, without a body, on every route that takes GET', async () => {
    const paths = createServer(service.services, () => null)
      .routes.filter(({ method }) => method === 'GET')
      .map(({ path }) => path.replace('/v1/calls/:id', '/v1/calls/call-1').replace(':id', itemId))
    expect(paths.length).toBeGreaterThan(10)
    for (const path of [...paths, '/v1/calls/nobody', '/nowhere', '/v1/calls?limit=x', '/docs/errors/']) {
      // The page of metrics counts the requests for it.
      const varies = path === '/metrics' ? ['content-length'] : []
      const headersOf = async (method: string) => {
        const answer = await project.fetch(path, {
          method,
          // A compressed answer is made as it is sent, so HEAD does not tell of it.
          headers: { 'x-request-id': 'one', 'accept-encoding': 'identity' },
          redirect: 'manual',
        })
        const bytes = (await answer.arrayBuffer()).byteLength
        const headers = [...answer.headers]
          .filter(([name]) => !['date', 'transfer-encoding', 'content-length', ...varies].includes(name))
          // The console's pages have a nonce of their own in each answer.
          .map(([name, value]) => [name, value.replace(/'nonce-[^']+'/, "'nonce'")])
        return { status: answer.status, headers, bytes, length: Number(answer.headers.get('content-length')) }
      }
      const [get, headed] = [await headersOf('GET'), await headersOf('HEAD')]
      expect([path, headed.status, headed.headers]).toEqual([path, get.status, get.headers])
      expect([path, headed.bytes]).toEqual([path, 0])
      // A compressed answer is decompressed by the client, so its length is not that of the bytes given here.
      const isComparable = varies.length === 0 && !get.headers.some(([name]) => name === 'content-encoding')
      if (isComparable) expect([path, headed.length]).toEqual([path, get.bytes])
    }
  })
})

describe('ids in the path', () => {
  const odd = [
    'a%2Fb',
    '%2Fetc%2Fpasswd',
    '..%2F..',
    '%00',
    'a%00b',
    '%',
    '%zz',
    '%E0%A4%A',
    '%FF',
    '%C0%AF',
    'a%20b',
    "'%20or%201=1--",
    '%F0%9F%93%9E',
    '*',
    '{id}',
    ':id',
    'null',
    'undefined',
    '__proto__',
    'x'.repeat(129),
    'x'.repeat(10_000),
  ]

  test.each(odd)('%p is no record, on any route, and no fault of ours', async (id) => {
    for (const [method, path, title] of [
      ['GET', '/v1/calls/', 'Call not found'],
      ['DELETE', '/v1/calls/', 'Call not found'],
      ['GET', '/v1/knowledge/', 'Knowledge item not found'],
      ['DELETE', '/v1/knowledge/', 'Knowledge item not found'],
    ] as const) {
      const line = `${method} ${path}${id} HTTP/1.1`
      const answer = await rawRequest(service.url, head(line, { Authorization: `Bearer ${project.key}` }))
      expect([answer.status, JSON.parse(answer.body).title]).toEqual([404, title])
    }
  })

  test.each(odd.filter((id) => !/^(\w|:)+$/.test(id) || id.length > 128))(
    'a call cannot be ingested as %p: 400 names the id',
    async (id) => {
      const headers = {
        Authorization: `Bearer ${project.ingestKey}`,
        'Content-Type': 'application/json',
        'Content-Length': '2',
      }
      const answer = await rawRequest(service.url, `${head(`PUT /ingest/calls/${id} HTTP/1.1`, headers)}{}`)
      const { code, errors } = JSON.parse(answer.body)
      const message = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, and neither . nor ..'
      expect([answer.status, code, errors]).toEqual([400, 'invalid_request', [{ field: 'id', message }]])
    },
  )

  test.each(['..', '%2e%2e', '.', '%2E'])(
    '%s walks the path, and finds nothing that the path has not',
    async (id) => {
      for (const method of ['GET', 'DELETE']) {
        const headers = { Authorization: `Bearer ${project.key}` }
        const answer = await rawRequest(
          service.url,
          head(`${method} /v1/knowledge/x/${id} HTTP/1.1`, headers),
        )
        expect([200, 404, 405]).toContain(answer.status ?? 0)
        expect(answer.body).not.toContain('internal')
      }
    },
  )

  test('every id of the allowed characters and lengths is stored, read and deleted under its own name', async () => {
    for (const id of [
      'a',
      'null',
      '__proto__',
      'A-Z.a_z:0-9',
      '.a',
      '-',
      ':',
      '0',
      'x'.repeat(128),
      'a..b',
      '...',
      '_',
    ]) {
      expect((await project.send('PUT', `/ingest/calls/${id}`, { summary: id })).status).toBe(201)
      const call = await (await project.fetch(`/v1/calls/${id}`)).json()
      expect([call.id, call.summary]).toEqual([id, id])
      expect(await (await project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })).json()).toEqual({
        id,
        deleted: true,
      })
    }
  })

  test('percent-encoding of an allowed character is that character', async () => {
    await project.send('PUT', '/ingest/calls/a%3Ab%2D1', { summary: 'colon' })
    expect(await (await project.fetch('/v1/calls/a:b-1')).json()).toMatchObject({
      id: 'a:b-1',
      summary: 'colon',
    })
  })
})

describe('X-Request-Id', () => {
  const idOf = async (own: string | null) => {
    const headers: Record<string, string> = own === null ? {} : { 'x-request-id': own }
    return (await fetch(`${service.url}/health`, { headers })).headers.get('x-request-id') ?? ''
  }

  test.each(['a', 'A-Z.a_z-0.9', 'x'.repeat(128), '0'])("a client's own %p is kept", async (own) => {
    expect(await idOf(own)).toBe(own)
  })

  test.each([null, '', 'x'.repeat(129), 'a b', 'a,b', 'a/b', '<script>', 'a:b', 'é', 'a"b'])(
    '%p is replaced by a new one',
    async (own) => {
      const [first, second] = [await idOf(own), await idOf(own)]
      expect(first).toMatch(/^[0-9a-f-]{36}$/)
      expect(second).not.toBe(first)
    },
  )

  test('is on every kind of answer, and in the body of every error', async () => {
    const headers = { 'x-request-id': 'mine-1', 'x-forwarded-for': '192.0.2.1' }
    for (const path of [
      '/v1/calls',
      '/v1/calls/x',
      '/v1/calls?limit=x',
      '/nowhere',
      '/metrics',
      '/docs',
      '/',
      '/console',
    ]) {
      const answer = await project.fetch(path, { headers, redirect: 'manual' })
      expect(answer.headers.get('x-request-id')).toBe('mine-1')
      if (answer.status >= 400) expect((await answer.json()).requestId).toBe('mine-1')
    }
    const unauthorized = await fetch(`${service.url}/v1/calls`, { headers })
    expect((await unauthorized.json()).requestId).toBe('mine-1')
  })
})

describe('headers of every answer', () => {
  test('name JSON without a charset, on every route', async () => {
    const routes = createServer(service.services, () => null).routes
    let found = 0
    for (const { method, path } of routes.filter(({ method }) => /^(GET|POST|PUT)$/.test(method))) {
      const request = path.replace(':id', itemId)
      const body = { name: 'n', text: 't', query: 'n', token: 'x' }
      const answer = await (method === 'GET' ? project.fetch(request) : project.send(method, request, body))
      await answer.body?.cancel()
      const type = answer.headers.get('content-type') ?? ''
      if (!type.includes('json')) continue
      found++
      expect([method, path, type]).toEqual([
        method,
        path,
        expect.stringMatching(/^application\/(problem\+|schema\+)?json$/),
      ])
    }
    expect(found).toBeGreaterThan(50)
  })

  test('say that a browser may do nothing with it, and nobody keep it', async () => {
    const paths = [
      '/v1/calls',
      '/v1/calls/nobody',
      '/v1/knowledge',
      '/nowhere',
      '/health',
      '/ready',
      '/metrics',
      '/docs',
      '/docs/json',
      '/docs/errors',
      '/docs/guide',
      '/docs/guide/operating',
      '/docs/scalar.js',
      '/console',
      '/console/setup',
      '/',
    ]
    for (const path of paths) {
      for (const init of [{}, { headers: { authorization: 'Bearer x' } }, { method: 'PATCH' }]) {
        const { headers } = await project.fetch(path, { ...init, redirect: 'manual' })
        const of = (name: string) => headers.get(name) ?? ''
        expect([path, of('x-content-type-options')]).toEqual([path, 'nosniff'])
        expect([path, of('referrer-policy')]).toEqual([path, 'no-referrer'])
        expect([path, of('x-frame-options')]).toEqual([path, 'DENY'])
        expect([path, of('cross-origin-resource-policy')]).toEqual([path, 'same-origin'])
        expect([path, of('content-security-policy')]).toEqual([
          path,
          expect.stringContaining("default-src '"),
        ])
        expect([path, of('content-security-policy')]).toEqual([
          path,
          expect.stringContaining("frame-ancestors 'none'"),
        ])
        expect(of('content-security-policy')).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline/)
        const isViewer = path === '/docs/scalar.js' && init.method === undefined
        const caching = isViewer
          ? 'public, max-age=86400'
          : headers.has('etag')
            ? 'private, no-cache'
            : 'no-store'
        expect([path, of('cache-control')]).toEqual([path, caching])
        expect(headers.has('server')).toBe(false)
        expect(headers.has('x-powered-by')).toBe(false)
        expect(headers.has('access-control-allow-origin')).toBe(false)
      }
    }
  })

  test('tell browsers to keep to https, where people come by https', async () => {
    const secure = await startService({ env: { PUBLIC_URL: 'https://callbook.example' } })
    for (const path of ['/health', '/v1/calls', '/console', '/docs', '/nowhere']) {
      const told = async (url: string) => (await fetch(url + path)).headers.get('strict-transport-security')
      expect([path, await told(secure.url)]).toEqual([path, 'max-age=31536000'])
      expect([path, await told(service.url)]).toEqual([path, null])
    }
    await secure.stop()
  })
})

describe('rate limit', () => {
  test('is off by default: no header speaks of it', async () => {
    const { headers } = await project.fetch('/v1/calls')
    expect([headers.has('ratelimit'), headers.has('ratelimit-policy')]).toEqual([false, false])
  })

  test('counts links by their key, and events by their source, once they are genuine', async () => {
    const limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '3' } })
    const one = await limited.mintProject()
    const { sources } = limited.services
    const own = await sources.create(one.projectId, { platform: 'vapi', secret: 'a'.repeat(16) })
    await sources.create(one.projectId, {
      platform: 'livekit',
      secret: 'the-secret',
      options: { apiKey: 'APIone' },
    })
    await one.send('PUT', '/ingest/calls/c', {})
    const audio = { method: 'PUT', body: madeWav(), headers: { 'content-type': 'audio/wav' } }
    expect((await one.fetch('/ingest/calls/c/recording', audio)).status).toBe(201)
    const { url } = await (await one.send('POST', '/v1/calls/c/recording/links', {})).json()
    const listen = () => fetch(url)
    const event = (secret: string) => () =>
      fetch(`${limited.url}/ingest/from/${own.id}`, {
        method: 'POST',
        body: '{}',
        headers: { 'x-vapi-secret': secret },
      })
    const observe = () =>
      fetch(`${limited.url}/observability/traces/otlp/v0`, {
        method: 'POST',
        body: new Uint8Array(),
        headers: {
          authorization: `Bearer ${tokenOf({ iss: 'APIone' }, { secret: 'the-secret' })}`,
          'content-type': 'application/x-protobuf',
        },
      })
    const statuses = async (send: () => Promise<Response>, times: number) => {
      const all: number[] = []
      for (let at = 0; at < times; at++) all.push((await send()).status)
      return all
    }
    // The link was made with the key.
    expect(await statuses(listen, 3)).toEqual([200, 200, 429])
    expect((await one.fetch('/v1/calls')).status).toBe(429)
    expect(await statuses(event('b'.repeat(16)), 5)).toEqual([401, 401, 401, 401, 401])
    expect(await statuses(event('a'.repeat(16)), 4)).toEqual([200, 200, 200, 429])
    expect(await statuses(observe, 4)).toEqual([200, 200, 200, 429])
    await limited.stop()
  })
})
