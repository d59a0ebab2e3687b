import { describe, expect, test } from 'bun:test'
import type { Keys } from '../../src/access/keys/keys.ts'
import { startService } from '../support/service.ts'

// A path that ends in "?" is the same read, but answered by Elysia.
const service = await startService({ env: { RATE_LIMIT_PER_MINUTE: '100' } })
const project = await service.mintProject()
const other = await service.mintProject()
const call = { status: 'completed', summary: 'Où est “mon” rendez-vous?', duration: 12.5 }
await project.send('PUT', '/ingest/calls/c1', call)
const turns = Array.from({ length: 500 }, (_, at) => ({ role: 'user', content: `Turn ${at}, a long one.` }))
await project.send('PUT', '/ingest/calls/long', { transcript: turns })
await other.send('PUT', '/ingest/calls/theirs', call)

type NewKey = Parameters<Keys['create']>[1]

async function make(input: Partial<NewKey>): Promise<Record<string, string>> {
  const whole: NewKey = { name: 'x', kind: 'live', allowedIps: [], expiresAt: null, ...input }
  const { key } = await service.services.keys.create(project.projectId, whole)
  return { authorization: `Bearer ${key}` }
}

async function read(path: string, headers: Record<string, string>) {
  const answer = await fetch(service.url + path, { headers: { ...headers, 'x-request-id': 'same' } })
  const told = Object.fromEntries(answer.headers)
  // Each read is counted.
  const { date, ratelimit, ...rest } = told
  return { status: answer.status, headers: rest, body: await answer.text(), ratelimit }
}

const cases: readonly { what: string; status: number; path?: string; headers: () => object }[] = [
  { what: 'a call', status: 200, headers: () => make({}) },
  { what: 'a call that is compressed', status: 200, path: '/v1/calls/long', headers: () => make({}) },
  {
    what: 'a call that the client has',
    status: 304,
    headers: async () => {
      const key = await make({})
      const { headers } = await read('/v1/calls/c1', key)
      return { ...key, 'if-none-match': headers.etag }
    },
  },
  { what: 'an unknown call', status: 404, path: '/v1/calls/nobody', headers: () => make({}) },
  { what: "another project's call", status: 404, path: '/v1/calls/theirs', headers: () => make({}) },
  { what: 'no key', status: 401, headers: () => ({}) },
  { what: 'a malformed key', status: 401, headers: () => ({ authorization: 'Bearer nonsense' }) },
  {
    what: 'an unknown key',
    status: 401,
    headers: () => ({ authorization: `Bearer ck_live_${'0'.repeat(60)}` }),
  },
  { what: 'an ingest key', status: 401, headers: () => ({ authorization: `Bearer ${project.ingestKey}` }) },
  { what: 'a key for other addresses', status: 403, headers: () => make({ allowedIps: ['192.0.2.1'] }) },
  { what: 'a key without the scope', status: 403, headers: () => make({ scope: 'search' }) },
  {
    what: 'a page of another origin',
    status: 200,
    headers: async () => ({
      ...(await make({ scope: 'read', allowedOrigins: ['https://app.example.com'] })),
      origin: 'https://app.example.com',
    }),
  },
]

describe('a read without Elysia answers as the route does', () => {
  test.each(cases)('$what: $status', async ({ status, path = '/v1/calls/c1', headers: prepare }) => {
    const headers = { 'accept-encoding': 'gzip', ...(await prepare()) }
    const direct = await read(path, headers)
    const routed = await read(`${path}?`, headers)
    expect(direct.status).toBe(status)
    expect({ ...direct, ratelimit: null }).toEqual({ ...routed, ratelimit: null })
    expect(direct.headers['x-request-id']).toBe('same')
  })

  test('it counts against the limit of the key', async () => {
    const key = await make({})
    const first = await read('/v1/calls/c1', key)
    const second = await read('/v1/calls/c1', key)
    expect(first.ratelimit).toContain('r=99')
    expect(second.ratelimit).toContain('r=98')
    // A few more, since some are refilled meanwhile.
    for (let at = 0; at < 110; at++) await read('/v1/calls/c1', key)
    expect((await read('/v1/calls/c1', key)).status).toBe(429)
    expect((await read('/v1/calls/c1?', key)).status).toBe(429)
  })

  test('a revoked key is refused by the next read', async () => {
    const { key, id } = await project.makeKey({ name: 'x' })
    const headers = { authorization: `Bearer ${key}` }
    expect((await read('/v1/calls/c1', headers)).status).toBe(200)
    await service.services.keys.revoke(project.projectId, id)
    expect((await read('/v1/calls/c1', headers)).status).toBe(401)
  })
})
