import { describe, expect, test } from 'bun:test'
import type { KeyScope } from '../../src/identity.ts'
import { browserPath, openBrowser } from '../support/browser.ts'
import { startService } from '../support/service.ts'

const origin = 'https://app.example.com'
const service = await startService()
const project = await service.mintProject()
await project.send('PUT', '/ingest/calls/call-1', { summary: 'x' })

async function make(scope: KeyScope, allowedOrigins: string[] = [origin]): Promise<string> {
  const input = {
    name: 'page',
    kind: 'live' as const,
    scope,
    allowedIps: [],
    allowedOrigins,
    expiresAt: null,
  }
  return (await service.services.keys.create(project.projectId, input)).key
}

function ask(key: string, path: string, init: { method?: string; from?: string; body?: unknown } = {}) {
  const { method = 'GET', from = origin, body } = init
  const headers = { authorization: `Bearer ${key}`, origin: from, 'content-type': 'application/json' }
  return fetch(service.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
}

function preflight(method: string, path: string, headers: Record<string, string> = {}) {
  return fetch(service.url + path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, ...headers },
  })
}

const allowed = (answer: Response) => answer.headers.get('access-control-allow-origin')

describe('a page of an origin that the key allows', () => {
  test('reads answers, errors about a record or the limit included, and all their headers', async () => {
    const key = await make('read')
    for (const [path, status] of [
      ['/v1/calls', 200],
      ['/v1/calls/call-1', 200],
      ['/v1/calls/nobody', 404],
      ['/v1/calls?limit=x', 400],
      ['/v1/key', 200],
    ] as const) {
      const answer = await ask(key, path)
      expect([path, answer.status, allowed(answer)]).toEqual([path, status, origin])
      expect(answer.headers.get('access-control-expose-headers')).toBe('*')
      expect(answer.headers.get('vary')).toContain('Origin')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  test('searches with a key of the scope search', async () => {
    const answer = await ask(await make('search'), '/v1/knowledge/search', {
      method: 'POST',
      body: { query: 'refunds' },
    })
    expect([answer.status, allowed(answer)]).toEqual([200, origin])
  })

  test('is told nothing where the key may do nothing, or the protocol is not for pages', async () => {
    const key = await make('read')
    for (const [method, path] of [
      ['DELETE', '/v1/calls/call-1'],
      ['POST', '/v1/knowledge'],
      ['POST', '/integrations/dify/retrieval'],
      ['POST', '/mcp'],
    ] as const)
      expect([path, allowed(await ask(key, path, { method, body: {} }))]).toEqual([path, null])
  })

  test('reads the answer to a request beyond the limit', async () => {
    const limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1' } })
    const { key } = await (await limited.mintProject()).makeKey({ scope: 'read', allowedOrigins: [origin] })
    const headers = { authorization: `Bearer ${key}`, origin }
    await fetch(`${limited.url}/v1/calls`, { headers })
    const answer = await fetch(`${limited.url}/v1/calls`, { headers })
    expect([answer.status, allowed(answer)]).toEqual([429, origin])
    expect(answer.headers.get('ratelimit-policy')).not.toBeNull()
  })
})

describe('any other page', () => {
  test('cannot read an answer', async () => {
    const key = await make('read')
    for (const from of [
      'https://evil.example',
      `${origin}.evil.example`,
      'http://app.example.com',
      'null',
      '',
    ]) {
      const answer = await ask(key, '/v1/calls', { from })
      expect([from, answer.status, allowed(answer)]).toEqual([from, 200, null])
      expect(answer.headers.get('vary')).toContain('Origin')
    }
  })

  test('cannot with a key that names no origin, that changes things, or that is unknown', async () => {
    for (const key of [await make('read', []), project.key, `ck_live_${'0'.repeat(60)}`])
      expect(allowed(await ask(key, '/v1/calls'))).toBeNull()
  })
})

describe("a browser's question before the request", () => {
  test('is answered without a key, for what read and search keys may do', async () => {
    for (const [method, path] of [
      ['GET', '/v1/calls'],
      ['HEAD', '/v1/calls/call-1'],
      ['GET', '/v1/key'],
      ['POST', '/v1/knowledge/search'],
      ['POST', '/v1/knowledge/preview'],
    ] as const) {
      const answer = await preflight(method, path, { 'access-control-request-headers': 'authorization' })
      expect([path, answer.status, allowed(answer)]).toEqual([path, 204, '*'])
      expect(answer.headers.get('access-control-allow-methods')).toBe(method)
      expect(answer.headers.get('access-control-allow-headers')).toStartWith('Authorization')
      expect(answer.headers.get('x-request-id')).not.toBeNull()
    }
  })

  test('is refused for what changes something, and where no pages are meant', async () => {
    for (const [method, path, status] of [
      ['DELETE', '/v1/calls/call-1', 401],
      ['POST', '/v1/knowledge', 401],
      ['PUT', '/ingest/calls/call-1', 401],
      ['POST', '/mcp', 401],
      ['POST', '/integrations/vapi/tool', 401],
      ['get', '/v1/calls', 401],
      ['GET', '/health', 405],
    ] as const) {
      const answer = await preflight(method, path)
      expect([method, path, answer.status, allowed(answer)]).toEqual([method, path, status, null])
    }
  })
})

test.skipIf(browserPath === null)('a browser agrees', async () => {
  const site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('a page') })
  const opened = await openBrowser()
  try {
    const page = await (await opened.browser.newContext()).newPage()
    await page.goto(site.url.href)
    const results = async (key: string) =>
      await page.evaluate(
        async ({ url, authorization }) => {
          const send = async (method: string, path: string, body?: string) => {
            const headers = { authorization, 'content-type': 'application/json', 'x-request-id': 'mine' }
            const answer = await fetch(url + path, { method, headers, ...(body ? { body } : {}) })
            return [answer.status, answer.headers.get('x-request-id')]
          }
          const refused = () => 'refused'
          return await Promise.all([
            send('GET', '/v1/calls').catch(refused),
            send('POST', '/v1/knowledge/search', '{"query":"refunds"}').catch(refused),
            send('DELETE', '/v1/calls/call-1').catch(refused),
          ])
        },
        { url: service.url, authorization: `Bearer ${key}` },
      )
    const answered = [200, 'mine']
    expect(await results(await make('read', [site.url.origin]))).toEqual([answered, answered, 'refused'])
    expect(await results(await make('read'))).toEqual(['refused', 'refused', 'refused'])
  } finally {
    await opened.close()
    await site.stop(true)
  }
})
