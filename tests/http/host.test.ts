import { describe, expect, test } from 'bun:test'
import { isHost } from '../../src/http/host.ts'
import fc from '../support/fast-check.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.mintProject()

const bad = [
  '@',
  '[',
  'x:99999',
  '%',
  'a b',
  '',
  'a@b',
  'a/b',
  'x/health?',
  'a?b',
  'a#b',
  'a\\b',
  'a"b',
  ':80',
]

describe('a Host that does not parse', () => {
  test.each(bad)('%j is 400 on every kind of route', async (host) => {
    for (const line of [
      'GET /health',
      'GET /v1/calls?q=a-secret',
      'GET /metrics',
      'GET /console',
      'GET /x',
    ]) {
      const answer = await rawRequest(service.url, head(`${line} HTTP/1.1`, { Host: host }))
      expect([line, answer.status]).toEqual([line, 400])
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'invalid_request', errors: [{ field: 'Host' }] })
    }
    for (const path of ['/mcp', '/console/api/session', '/console/api/projects/x/invitations']) {
      const headers = {
        Host: host,
        Authorization: `Bearer ${project.key}`,
        Origin: service.url,
        'Content-Type': 'application/json',
        'Content-Length': '2',
      }
      const text = `${head(`POST ${path}?q=a-secret HTTP/1.1`, headers)}{}`
      expect([path, (await rawRequest(service.url, text)).status]).toEqual([path, 400])
    }
    expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
    expect(JSON.stringify(service.logs)).not.toContain('a-secret')
  })

  test('two are 400, also when they are the same', async () => {
    for (const second of ['localhost', 'elsewhere.example', '']) {
      const text = `GET /health HTTP/1.1\r\nHost: localhost\r\nhost: ${second}\r\n\r\n`
      const { status, body } = await rawRequest(service.url, text)
      expect([second, status]).toEqual([second, 400])
      expect(JSON.parse(body)).toMatchObject({ errors: [{ field: 'Host' }] })
    }
  })

  test('whatever passes makes a URL that can be read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (host) => {
        if (isHost(host)) expect(new URL(`http://${host}/path?query`).pathname).toBe('/path')
      }),
    )
  })
})

test('a request of HTTP/1.0 without a Host is from the address of its connection', async () => {
  const { projectId } = project
  const make = (allowedIps: string[]) =>
    service.services.keys.create(projectId, { name: 'listed', kind: 'live', allowedIps, expiresAt: null })
  const [here, elsewhere] = [await make(['127.0.0.1']), await make(['192.0.2.1'])]
  const statusOf = async ({ key }: { key: string }) =>
    (await rawRequest(service.url, `GET /v1/calls HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`)).status
  expect([await statusOf(here), await statusOf(elsewhere)]).toEqual([200, 403])
})
