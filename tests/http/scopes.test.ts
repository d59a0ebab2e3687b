import { describe, expect, test } from 'bun:test'
import type { OpenAPIV3 } from 'openapi-types'
import { type KeyScope, keyScopes } from '../../src/identity.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const notAllowed = 'Key does not allow this'

const service = await startService()
const project = await service.mintProject()
const keys: Record<KeyScope, string> = {
  full: await make('full'),
  read: await make('read'),
  search: await make('search'),
  knowledge: await make('knowledge'),
  manage: await make('manage'),
}
const document: OpenAPIV3.Document = await (await fetch(`${service.url}/docs/json`)).json()
const described = Object.entries(document.paths).flatMap(([path, item = {}]) =>
  Object.keys(item).map((method) => ({ method: method.toUpperCase(), path: path.replace('{id}', 'no-id') })),
)
/** Every operation of the document that takes an API key, and /mcp. */
const routes = [...described, { method: 'POST', path: '/mcp' }].filter(({ path }) =>
  /^\/(v1|integrations|mcp)\b/.test(path),
)

async function make(scope: KeyScope | undefined, rules: { allowedIps?: string[] } = {}): Promise<string> {
  const input = { name: `${scope}`, kind: 'live' as const, allowedIps: [], expiresAt: null, scope, ...rules }
  return (await service.services.keys.create(project.projectId, input)).key
}

/** Sends a body that no route accepts, so that an answer shows whether the key was judged first. */
function ask(key: string, method: string, path: string, init: RequestInit = {}): Promise<Response> {
  const takesBody = method !== 'GET' && method !== 'HEAD'
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(service.url + path, {
    method,
    headers,
    ...(takesBody ? { body: '{"malformed' } : {}),
    ...init,
  })
}

/** The scopes that may send a request, as the guide says it. */
function allowedFor(method: string, path: string): KeyScope[] {
  const isSafe = method === 'GET' || method === 'HEAD'
  if (/^\/(integrations|mcp)\b/.test(path) || path === '/v1/key') return [...keyScopes]
  if (method === 'POST' && path === '/v1/knowledge/search') return [...keyScopes]
  if (/^\/v1\/(sources|webhooks)\b/.test(path)) return ['manage']
  if (isSafe && path === '/v1/erasures/no-id') return ['full', 'read', 'knowledge', 'manage']
  if (/^\/v1\/(knowledge|questions\/golden)\b/.test(path))
    return isSafe || path === '/v1/knowledge/preview'
      ? ['full', 'read', 'knowledge', 'manage']
      : ['full', 'knowledge', 'manage']
  if (isSafe || path.endsWith('/recording/links')) return ['full', 'read', 'manage']
  return ['full', 'manage']
}

describe('the scope of a key', () => {
  test.each([...keyScopes])('%s opens exactly what it names, of every route there is', async (scope) => {
    const asked = routes.flatMap(({ method, path }) =>
      method === 'GET'
        ? [
            { method, path },
            { method: 'HEAD', path },
          ]
        : [{ method, path }],
    )
    expect(asked.length).toBeGreaterThan(15)
    for (const { method, path } of asked) {
      const answer = await ask(keys[scope], method, path)
      const isAllowed = allowedFor(method, path).includes(scope)
      await answer.body?.cancel()
      expect([method, path, answer.status === 403]).toEqual([method, path, !isAllowed])
      expect([method, path, answer.status]).not.toEqual([method, path, 401])
    }
  })

  test('holds for a path with a slash at its end, and for paths and methods that there are not', async () => {
    expect((await ask(keys.search, 'POST', '/v1/knowledge/search/')).status).toBe(400)
    expect((await ask(keys.search, 'GET', '/v1/key/')).status).toBe(200)
    expect((await ask(keys.read, 'POST', '/v1/knowledge/preview/')).status).toBe(400)
    for (const [key, method, path] of [
      [keys.search, 'GET', '/v1/calls/'],
      [keys.search, 'POST', '/v1/knowledge/search/x'],
      [keys.search, 'DELETE', '/v1/knowledge/search'],
      [keys.search, 'POST', '/v1/knowledge/preview'],
      [keys.search, 'GET', '/v1/nowhere'],
      [keys.knowledge, 'GET', '/v1/calls/'],
      [keys.knowledge, 'GET', '/v1/questions/'],
      [keys.knowledge, 'GET', '/v1/knowledges'],
      [keys.full, 'GET', '/v1/webhooks/'],
      [keys.full, 'POST', '/v1/sources/x/secret/'],
      [keys.read, 'POST', '/v1/nowhere'],
      [keys.read, 'POST', '/v1/calls'],
      [keys.read, 'DELETE', '/v1/calls/x/'],
      [keys.read, 'PROPFIND', '/v1/calls'],
    ] as const)
      await expectProblem(await ask(key, method, path), 'insufficient_scope', notAllowed)
    await expectProblem(await ask(keys.read, 'GET', '/v1/nowhere'), 'not_found')
  })

  test('is judged after the address, and before anything of the body', async () => {
    const elsewhere = await make('search', { allowedIps: ['192.0.2.1'] })
    const refused = await ask(elsewhere, 'DELETE', '/v1/calls/x')
    await expectProblem(refused, 'ip_address_not_allowed', 'IP address not allowed')
    for (const type of ['text/plain', 'application/json']) {
      const headers = { authorization: `Bearer ${keys.read}`, 'content-type': type }
      const answer = await ask(keys.read, 'POST', '/v1/knowledge', { headers, body: '{"name":' })
      const { detail } = await expectProblem(answer, 'insufficient_scope', notAllowed)
      expect(detail).toBe('This needs a key with the scope knowledge or full. The scope of this key is read.')
    }
  })

  test('knowledge sees the receipt of an item, and of no call', async () => {
    const receipt = async (key: string, id: string) => (await ask(key, 'GET', `/v1/erasures/${id}`)).status
    const item = await (
      await project.send('POST', '/v1/knowledge', { name: 'Gone', text: 'Gone soon.' })
    ).json()
    await project.send('PUT', '/ingest/calls/gone', { summary: 'Gone soon.' })
    for (const path of [`knowledge/${item.id}`, 'calls/gone'])
      expect((await project.fetch(`/v1/${path}`, { method: 'DELETE' })).status).toBe(200)
    const statuses = [await receipt(keys.knowledge, item.id), await receipt(keys.knowledge, 'gone')]
    expect([...statuses, await receipt(keys.read, 'gone')]).toEqual([200, 404, 200])
  })

  test('is full where none is named', async () => {
    const { scope } = await (await ask(await make(undefined), 'GET', '/v1/key')).json()
    expect(scope).toBe('full')
  })

  test('search is enough for an agent, in each of its protocols', async () => {
    const item = { name: 'Refunds', text: 'We refund any order within thirty days.' }
    expect((await project.send('POST', '/v1/knowledge', item)).status).toBe(201)
    const headers = { authorization: `Bearer ${keys.search}`, 'content-type': 'application/json' }
    const send = async (path: string, body: unknown) =>
      await (await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).text()
    const messages = [{ role: 'user', content: 'refund of my order' }]
    const vapi = { message: { type: 'knowledge-base-request', messages } }
    expect(await send('/integrations/vapi/knowledge', vapi)).toContain('thirty days')
    const dify = { knowledge_id: project.id, query: 'refund', retrieval_setting: { top_k: 3 } }
    expect(await send('/integrations/dify/retrieval', dify)).toContain('thirty days')
    expect(await send('/v1/knowledge/search', { query: 'refund' })).toContain('thirty days')
  })
})

describe('the tools of /mcp', () => {
  async function rpc(key: string, method: string, params: object = {}) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    return await (await ask(key, 'POST', '/mcp', { body })).json()
  }

  const all = [
    'search_knowledge',
    'list_knowledge',
    'get_knowledge',
    'list_calls',
    'get_call',
    'get_metrics',
    'compare_calls',
    'list_gaps',
    'get_gap',
  ]
  test.each([
    ['search', ['search_knowledge']],
    ['read', all],
    ['full', all],
    ['knowledge', ['search_knowledge']],
    ['manage', all],
  ] as const)('a key of the scope %s has %p', async (scope, names) => {
    const { result } = await rpc(keys[scope], 'tools/list')
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([...names])
  })

  test('that a key does not have do nothing', async () => {
    for (const name of ['list_knowledge', 'get_knowledge']) {
      const { error, result } = await rpc(keys.search, 'tools/call', { name, arguments: {} })
      expect([error.code, result]).toEqual([-32602, undefined])
      expect(error.message).toContain('Unknown tool; there are search_knowledge')
    }
    const found = await rpc(keys.search, 'tools/call', {
      name: 'search_knowledge',
      arguments: { query: 'refund' },
    })
    expect(found.result.structuredContent.data).toBeArray()
  })
})

describe('GET /v1/key', () => {
  test('tells each API key what it is, and nothing of its secret', async () => {
    for (const scope of keyScopes) {
      const answer = await ask(keys[scope], 'GET', '/v1/key')
      expect(answer.status).toBe(200)
      expect(await answer.json()).toEqual({
        id: expect.stringMatching(/^key_/),
        name: scope,
        project: project.name,
        kind: 'live',
        scope,
        tags: [],
        expiresAt: null,
      })
    }
  })

  test('tells when the key expires', async () => {
    const expiresAt = Date.UTC(2999, 0, 31)
    const input = { name: 'k', kind: 'live' as const, allowedIps: [], expiresAt }
    const { key } = await service.services.keys.create(project.projectId, input)
    const own = await (await ask(key, 'GET', '/v1/key')).json()
    expect(own.expiresAt).toBe('2999-01-31T00:00:00.000Z')
  })
})

test('requests that the scope refuses count against the limit', async () => {
  const limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '2' } })
  const { key } = await (await limited.mintProject()).makeKey({ scope: 'read' })
  const headers = { authorization: `Bearer ${key}` }
  const statuses: number[] = []
  for (let n = 0; n < 3; n++)
    statuses.push((await fetch(`${limited.url}/v1/calls/x`, { method: 'DELETE', headers })).status)
  expect(statuses).toEqual([403, 403, 429])
})
