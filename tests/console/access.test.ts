import { describe, expect, test } from 'bun:test'
import type { Right } from '../../src/identity.ts'
import { createServer } from '../../src/server.ts'
import { startConsole, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'

type Level = 'everyone' | 'signedIn' | 'consoleOwner' | Right

/** Whom each route is for. A route that is missing here fails the first test. */
const levels: Record<string, Level> = {
  'GET /session': 'everyone',
  'POST /session': 'everyone',
  'POST /session/code': 'everyone',
  'POST /session/oidc': 'everyone',
  'POST /session/oidc/return': 'everyone',
  'DELETE /session': 'signedIn',
  'GET /sessions': 'signedIn',
  'DELETE /sessions': 'signedIn',
  'DELETE /sessions/:id': 'signedIn',
  'PATCH /person': 'signedIn',
  'POST /password': 'signedIn',
  'GET /two-factor': 'signedIn',
  'POST /two-factor': 'signedIn',
  'POST /two-factor/turn-on': 'signedIn',
  'POST /two-factor/turn-off': 'signedIn',
  'POST /two-factor/backup-codes': 'signedIn',
  'POST /links/check': 'everyone',
  'POST /links/setup': 'everyone',
  'POST /links/invitation': 'everyone',
  'POST /links/password': 'everyone',
  'POST /projects': 'signedIn',
  'POST /demo': 'signedIn',
  'GET /operator': 'consoleOwner',
  'GET /operator/two-factor': 'consoleOwner',
  'PUT /operator/two-factor': 'consoleOwner',
  'GET /people': 'consoleOwner',
  'DELETE /people/:id': 'consoleOwner',
  'PATCH /projects/:project': 'manage',
  'DELETE /projects/:project': 'manage',
  'GET /projects/:project/settings': 'manage',
  'PUT /projects/:project/settings': 'manage',
  'GET /projects/:project/settings/recordings': 'manage',
  'GET /projects/:project/keys': 'manage',
  'POST /projects/:project/keys': 'manage',
  'POST /projects/:project/keys/check-address': 'manage',
  'PATCH /projects/:project/keys/:id': 'manage',
  'POST /projects/:project/keys/:id/rotate': 'manage',
  'DELETE /projects/:project/keys/:id': 'manage',
  'GET /projects/:project/sources': 'manage',
  'POST /projects/:project/sources': 'manage',
  'GET /projects/:project/sources/:id': 'manage',
  'PATCH /projects/:project/sources/:id': 'manage',
  'DELETE /projects/:project/sources/:id': 'manage',
  'POST /projects/:project/sources/:id/rotate': 'manage',
  'GET /projects/:project/sources/:id/failures': 'manage',
  'POST /projects/:project/sources/:id/read-again': 'manage',
  'GET /projects/:project/sources/:id/import': 'manage',
  'POST /projects/:project/sources/:id/import': 'manage',
  'DELETE /projects/:project/sources/:id/import': 'manage',
  'GET /projects/:project/webhooks': 'manage',
  'POST /projects/:project/webhooks': 'manage',
  'GET /projects/:project/webhooks/:id/attempts': 'manage',
  'GET /projects/:project/webhooks/:id/messages/:message': 'manage',
  'POST /projects/:project/webhooks/:id/messages/:message/resend': 'manage',
  'POST /projects/:project/webhooks/:id/test': 'manage',
  'POST /projects/:project/webhooks/:id/rotate': 'manage',
  'POST /projects/:project/webhooks/:id/enable': 'manage',
  'POST /projects/:project/webhooks/:id/replay': 'manage',
  'DELETE /projects/:project/webhooks/:id': 'manage',
  'GET /projects/:project/people': 'manage',
  'PATCH /projects/:project/people/:id': 'manage',
  'DELETE /projects/:project/people/:id': 'manage',
  'POST /projects/:project/people/:id/sign-in-link': 'manage',
  'POST /projects/:project/invitations': 'manage',
  'DELETE /projects/:project/invitations/:id': 'manage',
  'GET /projects/:project/audit': 'manage',
  'GET /projects/:project/calls': 'see',
  'POST /projects/:project/callers': 'see',
  'GET /projects/:project/callers/:caller': 'see',
  'GET /projects/:project/callers/:caller/holds': 'change',
  'GET /projects/:project/call-facets': 'see',
  'GET /projects/:project/call-facets/:name': 'see',
  'GET /projects/:project/calls/:id/neighbours': 'see',
  'GET /projects/:project/changes': 'see',
  'GET /projects/:project/exports/calls.csv': 'see',
  'GET /projects/:project/exports/calls.jsonl': 'see',
  'PATCH /projects/:project/calls/:id/review': 'change',
  'POST /projects/:project/calls/review': 'change',
  'POST /projects/:project/calls/review/undo': 'change',
  'GET /projects/:project/call-sets': 'see',
  'POST /projects/:project/call-sets': 'see',
  'GET /projects/:project/call-sets/reviewers': 'see',
  'DELETE /projects/:project/call-sets/:id': 'see',
  'DELETE /projects/:project/call-sets': 'delete',
  'DELETE /projects/:project/calls': 'delete',
  'GET /projects/:project/calls/:id': 'see',
  'GET /projects/:project/calls/:id/details': 'see',
  'GET /projects/:project/calls/:id/sound': 'see',
  'DELETE /projects/:project/calls/:id': 'delete',
  'GET /projects/:project/calls/:id/recording': 'see',
  'GET /projects/:project/calls/:id/recording/peaks': 'see',
  'POST /projects/:project/calls/:id/recording/fetch': 'change',
  'DELETE /projects/:project/calls/:id/recording': 'delete',
  'GET /projects/:project/calls/:id/analysis': 'see',
  'GET /projects/:project/analysis': 'see',
  'GET /projects/:project/analysis/rubric': 'see',
  'PUT /projects/:project/analysis/rubric': 'manage',
  'POST /projects/:project/analysis/trial': 'manage',
  'GET /projects/:project/analysis/runs': 'see',
  'POST /projects/:project/analysis/runs': 'manage',
  'DELETE /projects/:project/analysis/runs/:id': 'manage',
  'GET /projects/:project/analysis/agreement': 'see',
  'GET /projects/:project/analysis/next': 'see',
  'GET /projects/:project/cases': 'see',
  'GET /projects/:project/cases/formats': 'see',
  'POST /projects/:project/cases': 'change',
  'DELETE /projects/:project/cases/:id': 'change',
  'GET /projects/:project/exports/cases': 'see',
  'GET /projects/:project/alerts': 'see',
  'POST /projects/:project/alerts': 'change',
  'POST /projects/:project/alerts/preview': 'see',
  'GET /projects/:project/alerts/changes': 'see',
  'GET /projects/:project/alerts/destinations': 'see',
  'GET /projects/:project/alerts/:id': 'see',
  'PUT /projects/:project/alerts/:id': 'change',
  'DELETE /projects/:project/alerts/:id': 'change',
  'POST /projects/:project/alerts/:id/pause': 'change',
  'POST /projects/:project/alerts/:id/test': 'change',
  'GET /projects/:project/metrics': 'see',
  'GET /projects/:project/compare': 'see',
  'GET /projects/:project/overview/knowledge': 'see',
  'GET /projects/:project/knowledge': 'see',
  'POST /projects/:project/knowledge': 'change',
  'PATCH /projects/:project/knowledge': 'change',
  'DELETE /projects/:project/knowledge': 'delete',
  'POST /projects/:project/knowledge/preview': 'change',
  'POST /projects/:project/knowledge/read': 'change',
  'POST /projects/:project/knowledge/search': 'see',
  'GET /projects/:project/knowledge/:id': 'see',
  'PUT /projects/:project/knowledge/:id': 'change',
  'POST /projects/:project/knowledge/:id/preview': 'change',
  'GET /projects/:project/knowledge/:id/chunks': 'see',
  'DELETE /projects/:project/knowledge/:id': 'delete',
  'GET /projects/:project/settings/due': 'manage',
  'GET /projects/:project/audit/csv': 'manage',
  'GET /projects/:project/erasures': 'manage',
  'POST /projects/:project/erasures': 'manage',
  'GET /projects/:project/erasures/:id': 'manage',
  'GET /projects/:project/holds': 'manage',
  'POST /projects/:project/holds': 'manage',
  'DELETE /projects/:project/holds/:id': 'manage',
  'GET /projects/:project/calls/:id/holds': 'change',
  'GET /projects/:project/views': 'see',
  'POST /projects/:project/views': 'see',
  'PUT /projects/:project/views/order': 'see',
  'PATCH /projects/:project/views/:id': 'see',
  'DELETE /projects/:project/views/:id': 'see',
  'GET /projects/:project/questions': 'see',
  'GET /projects/:project/questions/asked': 'see',
  'GET /projects/:project/questions/asked/:id': 'see',
  'PATCH /projects/:project/questions/asked/:id': 'change',
  'POST /projects/:project/questions/asked/:id/check': 'change',
  'GET /projects/:project/questions/calls/:call': 'see',
  'GET /projects/:project/questions/people': 'see',
  'GET /projects/:project/questions/times-found': 'see',
  'GET /projects/:project/questions/golden': 'see',
  'POST /projects/:project/questions/golden': 'change',
  'POST /projects/:project/questions/golden/run': 'change',
  'DELETE /projects/:project/questions/golden/:id': 'change',
}

const routes = Object.entries(levels).map(([route, level]) => {
  const [method = '', path = ''] = route.split(' ')
  return { route, method, path, level }
})
const inProjects = routes.filter(({ path }) => path.startsWith('/projects/:project'))
const changing = routes.filter(({ method }) => method !== 'GET')

const service = await startService()
const set = await startConsole(service)
const project = await set.mintProject()
const elsewhere = await set.mintProject()
const member = await set.join(project, 'member')
const viewer = await set.join(project, 'viewer')
/** Whose members may not delete. */
const strict = await set.mintProject()
const strictMember = await set.join(strict, 'member')
await service.services.settings.change(strict.projectId, { membersMayDelete: false })
/** Owns a project, but not this one. */
const stranger = await set.join(elsewhere, 'owner')

const placed = (path: string, id = project.id) => path.replace(':project', id).replace(':id', 'nothing')

/** Sends the emptiest request that the route can get: who may send it is judged before what it says. */
function send(
  from: Pick<TestPerson, 'fetch'>,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = method === 'POST' || method === 'PATCH' ? { body: '{}' } : {}
  return from.fetch(path, { method, ...body, headers: { 'content-type': 'application/json', ...headers } })
}

describe('the routes of the console', () => {
  test('are those whose access is tested here', () => {
    const served = createServer(service.services, () => null)
      .routes.filter(({ path }) => path.startsWith('/console/api'))
      .map(({ method, path }) => `${method} ${path.replace('/console/api', '')}`)
    expect(served.sort()).toEqual(Object.keys(levels).sort())
  })

  test.each(routes.filter(({ level }) => level !== 'everyone'))(
    '$route is 401 without a session, and for a key',
    async ({ method, path }) => {
      const nothing: Record<string, string>[] = [
        {},
        { authorization: `Bearer ${project.key}` },
        { authorization: `Bearer ${project.ingestKey}` },
        { cookie: 'callbook.session_token=made-up.signature' },
      ]
      for (const headers of nothing) {
        const answer = await send(set.nobody, method, placed(path), headers)
        await expectProblem(answer, 'not_signed_in')
        expect(answer.headers.get('www-authenticate')).toStartWith('Cookie ')
        expect(answer.headers.get('cache-control')).toBe('no-store')
      }
    },
  )

  test.each(inProjects)(
    '$route, which needs the right to $level, is open to the roles that have it alone',
    async (route) => {
      const has: Record<string, Level[]> = {
        owner: ['see', 'change', 'delete', 'manage'],
        member: ['see', 'change', 'delete'],
        strictMember: ['see', 'change'],
        viewer: ['see'],
      }
      const people = { owner: set.owner, member, strictMember, viewer }
      for (const [role, person] of Object.entries(people)) {
        const path = placed(route.path, person === strictMember ? strict.id : project.id)
        const answer = await send(person, route.method, path)
        if (has[role]?.includes(route.level))
          expect([role, [401, 403].includes(answer.status)]).toEqual([role, false])
        else await expectProblem(answer, 'forbidden')
      }
    },
  )

  test.each(routes.filter(({ level }) => level === 'consoleOwner'))(
    '$route is 403 for an owner of projects alone, and not for the owner of the console',
    async ({ method, path }) => {
      await expectProblem(await send(stranger, method, placed(path)), 'forbidden')
      expect([401, 403]).not.toContain((await send(set.owner, method, placed(path))).status)
    },
  )

  test('no spelling of a path gets past the guard', async () => {
    const { id } = project
    const spellings = [
      `/console/api/projects/${id}/%6beys`,
      `/console/api/proj%65cts/${id}/keys`,
      `/console%2Fapi/projects/${id}/keys`,
      `/%63onsole/api/projects/${id}/keys`,
      `//console/api/projects/${id}/keys`,
      `/console//api/projects/${id}/keys`,
      `/console/api//projects/${id}/keys`,
      `/console/api/projects//${id}/keys`,
      `/console/api/projects/${id}//keys`,
      `/console/api/projects/${id}/keys/`,
      `/console/api/projects/${id}/calls/../keys`,
      `/console/api/projects/${id}/calls/..%2fkeys`,
      `/console/api/projects/${id}/calls/%2e%2e/keys`,
      `/console/api/projects/${id}/Keys`,
      `/console/api/projects/${id}/keys?project=${elsewhere.id}`,
      `/console/api/projects/${elsewhere.id}%2F..%2F${id}/keys`,
      `/console/api/./projects/${id}/keys`,
      `/console/api/projects/${id}\\keys`,
      `/console/api/projects/${id}/keys#/calls`,
      `/console/api/projects/${id}/calls/../../../../console/api/projects/${id}/keys`,
    ]
    for (const spelling of spellings) {
      for (const cookie of [member.cookie, stranger.cookie, '']) {
        const request = head(`GET ${spelling} HTTP/1.1`, { Cookie: cookie, Connection: 'close' })
        const { status, body } = await rawRequest(service.url, request)
        expect([spelling, (status ?? 400) >= 400]).toEqual([spelling, true])
        expect(body).not.toContain('ck_live_')
      }
    }
    // The same question as it should be asked, to show that these would have been answered.
    expect(await (await set.owner.fetch(`/projects/${id}/keys`)).text()).toContain('ck_live_')
  })

  test('a viewer learns nothing of a legal hold, on no route and in no spelling; a member reads it', async () => {
    const reason = 'Court order 7'
    await project.send('PUT', '/ingest/calls/held', { callerNumber: '+15550001111', status: 'completed' })
    for (const on of [{ callId: 'held' }, { number: '+1 555 000 1111' }])
      await service.services.holds.set(project.projectId, { ...on, reason })
    const at = `/projects/${project.id}/calls/held`
    expect(await (await member.fetch(`${at}/holds`)).text()).toContain(reason)
    const reads = inProjects
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path.replace(':project', project.id).replace(':id', 'held'))
    const spellings = [
      'holds/',
      'hold%73',
      '/holds',
      './holds',
      'x/../holds',
      'holds?a=1',
      'Holds',
      'holds%2F',
    ].map((spelling) => `${at}/${spelling}`)
    for (const path of [...reads, ...spellings]) {
      const request = head(`GET /console/api${path} HTTP/1.1`, { Cookie: viewer.cookie, Connection: 'close' })
      const { body } = await rawRequest(service.url, request)
      expect([path, body.includes(reason)]).toEqual([path, false])
    }
  })

  test('only the project in the path decides about access', async () => {
    const answer = await set.owner.send('PATCH', `/projects/${project.id}/people/${stranger.personId}`, {
      role: 'member',
      project: elsewhere.id,
      projectId: elsewhere.projectId,
    })
    await expectProblem(answer, 'not_found')
  })
})

describe('cookies and keys', () => {
  test.each(['/v1/calls', '/v1/knowledge', '/mcp', '/integrations/vapi/knowledge', '/ingest/calls/c-1'])(
    'a cookie gives no access to %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const answer = await fetch(service.url + path, {
          method,
          ...(method === 'GET' ? {} : { body: '{}' }),
          headers: { cookie: set.owner.cookie, origin: service.url, 'content-type': 'application/json' },
        })
        expect(answer.status).toBe(401)
      }
    },
  )

  test("a key beside a person's cookie changes nothing", async () => {
    const headers = { authorization: `Bearer ${project.key}` }
    expect((await member.fetch(`/projects/${project.id}/keys`, { headers })).status).toBe(403)
    expect((await set.owner.fetch(`/projects/${project.id}/keys`, { headers })).status).toBe(200)
  })
})

describe('the body of a request without a session', () => {
  test.each(changing.filter(({ level }) => level === 'everyone'))(
    '$route must be small, or is 413',
    async (route) => {
      const send = (token: string) => set.nobody.send(route.method, route.path, { token })
      expect([400, 404]).toContain((await send('x'.repeat(200))).status)
      await expectProblem(await send('x'.repeat(16_384)), 'payload_too_large')
    },
  )
})

describe('requests of foreign pages', () => {
  const foreign: [string, Record<string, string>][] = [
    ['without an origin', { origin: '' }],
    ['from another site', { origin: 'https://evil.example' }],
    ['from an opaque origin', { origin: 'null' }],
    ['from another port', { origin: 'http://127.0.0.1:1' }],
    ['from a name that only begins like ours', { origin: 'http://127.0.0.1.evil.example' }],
    ['from an origin that is none', { origin: 'file://127.0.0.1' }],
    ['from the same site only', { origin: 'https://evil.example', 'sec-fetch-site': 'same-site' }],
    ['from across', { origin: '', 'sec-fetch-site': 'cross-site' }],
    ['from an address bar', { origin: '', 'sec-fetch-site': 'none' }],
  ]

  test.each(changing)('$route is 403 from a foreign page, signed in or not', async ({ method, path }) => {
    for (const [, headers] of foreign) {
      for (const person of [set.owner, set.nobody]) {
        const answer = await send(person, method, placed(path), headers)
        const { detail } = await expectProblem(answer, 'forbidden')
        expect(detail).toContain('Origin')
      }
    }
    expect((await set.owner.fetch('/session')).status).toBe(200)
  })

  test.each([
    ['the origin of the host', () => ({ origin: service.url })],
    [
      'a browser that says same-origin',
      () => ({ origin: 'https://proxied.example', 'sec-fetch-site': 'same-origin' }),
    ],
  ])('%s passes', async (_, headers) => {
    const answer = await send(set.owner, 'POST', `/projects/${project.id}/invitations`, headers())
    await expectProblem(answer, 'invalid_request')
  })

  test('the origin of PUBLIC_URL passes behind a proxy that renames the host', async () => {
    const proxied = await startService({ env: { PUBLIC_URL: 'https://callbook.example/base' } })
    const check = (origin: string) =>
      fetch(`${proxied.url}/console/api/links/check`, {
        method: 'POST',
        body: '{"token":"x"}',
        headers: { origin, 'content-type': 'application/json' },
      })
    expect((await check('https://callbook.example')).status).toBe(404)
    expect((await check('http://callbook.example')).status).toBe(403)
    expect((await check('https://callbook.example.evil.example')).status).toBe(403)
    await proxied.stop()
  })

  test('behind https, a page loaded over http is foreign, whatever its host', async () => {
    const proxied = await startService({ env: { PUBLIC_URL: 'https://callbook.example' } })
    const check = (scheme: string, host: string) =>
      fetch(`${proxied.url}/console/api/links/check`, {
        method: 'POST',
        body: '{"token":"x"}',
        headers: { host, origin: `${scheme}://${host}`, 'content-type': 'application/json' },
      })
    for (const host of ['callbook.example', 'other.example', new URL(proxied.url).host]) {
      expect([host, (await check('https', host)).status]).toEqual([host, 404])
      await expectProblem(await check('http', host), 'forbidden')
    }
    await proxied.stop()
  })

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain', ''])(
    'what a form can send (%p) is 415',
    async (type) => {
      const answer = await set.owner.fetch(`/projects/${project.id}/invitations`, {
        method: 'POST',
        body: '{"role":"owner"}',
        headers: { 'content-type': type },
      })
      await expectProblem(answer, 'unsupported_media_type')
    },
  )

  test('no answer has headers that let foreign pages read it', async () => {
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const answer = await set.owner.fetch('/session', {
        method,
        headers: { origin: 'https://evil.example' },
      })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
    }
  })
})
