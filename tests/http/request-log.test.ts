import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import Database from 'libsql'
import { freshFolder } from '../support/at-end.ts'
import { repository } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'
import { printed, type SpawnedService, spawnService } from '../support/spawned.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const service = await startService({ env: { BODY_MAX_BYTES: '4000' } })
const project = await service.mintProject()

/** What one request has written to the log. */
async function linesOf(request: (headers: Record<string, string>) => Promise<Response>) {
  const requestId = `test-${crypto.randomUUID()}`
  await (await request({ 'x-request-id': requestId })).text()
  return service.logs.filter((line) => line.requestId === requestId)
}

describe('the log', () => {
  test('has exactly one line a request, whatever becomes of it', async () => {
    const malformed = { method: 'POST', body: '{' }
    const cases: [path: string, init: RequestInit, route: string, status: number][] = [
      ['/v1/calls?limit=5', {}, '/v1/calls', 200],
      ['/v1/calls/nobody', {}, '/v1/calls/:id', 404],
      ['/v1/calls/nobody/', { method: 'DELETE' }, '/v1/calls/:id', 404],
      ['/v1/calls?limit=x', {}, '/v1/calls', 400],
      ['/v1/calls', { method: 'HEAD' }, '/v1/calls', 200],
      ['/v1/calls', { method: 'PUT' }, '/v1/calls', 405],
      ['/v1/knowledge', malformed, '/v1/knowledge', 415],
      ['/v1/knowledge/search', { method: 'POST', body: 'x'.repeat(5_000) }, '/v1/knowledge/search', 415],
      ['/v1/nowhere', {}, 'none', 404],
      ['/v1/calls/a/b/c', {}, 'none', 404],
      ['/v1/calls', { headers: { authorization: 'Bearer ck_live_unknown' } }, '/v1/calls', 401],
      ['/health', {}, '/health', 200],
      ['/metrics', { headers: { 'x-forwarded-for': '1.2.3.4' } }, '/metrics', 403],
      ['/docs', {}, '/docs', 200],
    ]
    for (const [path, init, route, status] of cases) {
      const lines = await linesOf((headers) =>
        project.fetch(path, { ...init, headers: { ...init.headers, ...headers } }),
      )
      const isKeyed = path.startsWith('/v1') && status !== 401
      expect(lines).toEqual([
        {
          level: 30,
          time: expect.any(Number),
          pid: expect.any(Number),
          hostname: expect.any(String),
          msg: 'request',
          requestId: expect.any(String),
          method: init.method ?? 'GET',
          route,
          status,
          durationMs: expect.any(Number),
          bytes: typeof init.body === 'string' ? init.body.length : 0,
          ...(isKeyed ? { keyId: project.keyId, project: project.id } : {}),
        },
      ])
    }
  })

  test("has the sender's trace, and nothing else that a client writes", async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const traced = (sent: string) =>
      linesOf((headers) => project.fetch('/v1/calls', { headers: { ...headers, traceparent: sent } }))
    expect((await traced(traceparent))[0]?.traceparent).toBe(traceparent)
    for (const sent of ['x', `${traceparent}"`, traceparent.toUpperCase(), ''])
      expect((await traced(sent))[0]).not.toHaveProperty('traceparent')
  })

  test('warns of a slow request in its one line, but not of one that waits as it was asked to', async () => {
    const slow = await startService({ env: { SLOW_REQUEST_MS: '20' } })
    const never = await startService({ env: { SLOW_REQUEST_MS: '0' } })
    const late = async (at: TestService) => {
      const { ingestKey } = await at.mintProject()
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue('{')
          await Bun.sleep(60)
          controller.enqueue('}')
          controller.close()
        },
      })
      const headers = { authorization: `Bearer ${ingestKey}`, 'content-type': 'application/json' }
      await fetch(`${at.url}/ingest/calls/late`, { method: 'PUT', headers, body })
      return at.logs.filter(({ route }) => route === '/ingest/calls/:id')
    }
    expect(await late(slow)).toMatchObject([{ level: 40, msg: 'slow request', status: 201 }])
    expect(await late(never)).toMatchObject([{ level: 30, msg: 'request' }])
    await (await slow.mintProject()).fetch('/v1/changes?wait=1')
    const waited = slow.logs.filter(({ route }) => route === '/v1/changes')
    expect(waited).toMatchObject([{ level: 30, msg: 'request', status: 200 }])
    await Promise.all([slow.stop(), never.stop()])
  })

  test('names the key of each of many concurrent requests rightly', async () => {
    const projects = await Promise.all(Array.from({ length: 4 }, () => service.mintProject()))
    await Promise.all(
      Array.from({ length: 80 }, async (_, n) => {
        const one = projects[n % projects.length] ?? project
        const [line] = await linesOf((headers) => one.fetch('/v1/calls', { headers }))
        expect(line?.keyId).toBe(one.keyId)
      }),
    )
  })
})

describe.skipIf(ofFilesOnly)('what a running service writes to stderr', () => {
  const folder = freshFolder()
  let spawned: SpawnedService
  const texts = {
    id: 'call-of-marigold',
    summary: 'summary-of-marigold',
    turn: 'turn-of-marigold',
    name: 'name-of-marigold',
    text: 'text-of-marigold',
    query: 'query-of-marigold',
    metadata: 'metadata-of-marigold',
    parameter: 'parameter-of-marigold',
  }
  const everything = () => spawned.stderr()

  function send(method: string, path: string, key: string, body?: unknown): Promise<Response> {
    return fetch(spawned.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  beforeAll(async () => {
    spawned = await spawnService({
      DATA_DIR: folder,
      LOG_LEVEL: 'trace',
      LOG_FORMAT: 'json',
      // On a busy machine any request may be slow.
      SLOW_REQUEST_MS: '0',
    })
    await printed(spawned.stderr, /"msg":"ready"/)
  })
  afterAll(async () => {
    await spawned.stop('SIGKILL')
  })

  /** A key for /ingest, made in the spawned service's database. */
  async function ingestKey(): Promise<string> {
    const own = await startService({ dataDir: folder })
    const [first] = await own.services.projects.list()
    const made = await own.services.keys.create(first?.projectId ?? 0, {
      name: 'ingest',
      kind: 'ingest',
      allowedIps: [],
      expiresAt: null,
    })
    await own.stop()
    return made.key
  }

  test('is one line a request on a terminal, which begins with what was asked and answered', async () => {
    const program = `
      import { openLog } from './src/observability/log.ts'
      const { recordRequest } = await openLog({ level: 'info', format: 'pretty' })
      const record = { requestId: 'r1', method: 'GET', route: '/v1/calls/:id', status: 200, durationMs: 1.234, bytes: 0 }
      for (const isSlow of [false, true]) recordRequest({ ...record, isSlow, keyId: 'key_1', project: 'prj_1' })`
    const child = Bun.spawn([process.execPath, '-e', program], { cwd: repository, stderr: 'pipe' })
    const lines = (await new Response(child.stderr).text()).trimEnd().split('\n')
    const others = '{"requestId":"r1","bytes":0,"keyId":"key_1","project":"prj_1"}'
    expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual([
      `INFO: GET /v1/calls/:id 200 in 1.2 ms ${others}`,
      `WARN: slow request: GET /v1/calls/:id 200 in 1.2 ms ${others}`,
    ])
  })

  test('is one line of JSON a request, without the key, the path, the query or any text', async () => {
    const ingest = await ingestKey()
    const call = {
      summary: texts.summary,
      transcript: [{ role: 'user', content: texts.turn }],
      metadata: { a: texts.metadata },
    }
    const item = { name: texts.name, text: texts.text }
    const statuses = [
      (await send('PUT', `/ingest/calls/${texts.id}`, ingest, call)).status,
      (await send('PUT', `/ingest/calls/${texts.id}`, ingest, { ...call, duration: texts.text })).status,
      (await send('GET', `/v1/calls/${texts.id}?${texts.parameter}=${texts.parameter}`, spawned.key)).status,
      (await send('GET', `/v1/calls?limit=${texts.parameter}`, spawned.key)).status,
      (await send('POST', '/v1/knowledge', spawned.key, item)).status,
      (await send('POST', '/v1/knowledge', spawned.key, { ...item, name: '' })).status,
      (await send('POST', '/v1/knowledge/search', spawned.key, { query: texts.query })).status,
      (await send('POST', '/v1/knowledge/search', spawned.key, { query: `"${texts.query} AND (` })).status,
      (await send('GET', `/${texts.parameter}`, spawned.key)).status,
      (await send('GET', '/v1/calls', `${spawned.key}0`)).status,
      (await send('DELETE', `/v1/calls/${texts.id}`, spawned.key)).status,
    ]
    expect(statuses).toEqual([201, 400, 200, 400, 201, 400, 200, 200, 404, 401, 200])
    const requests = () => everything().match(/"msg":"request".*\n/g) ?? []
    await until(() => requests().length >= statuses.length, 'The last line')
    const lines = everything()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(requests()).toHaveLength(statuses.length)
    expect(lines.every(({ level, time, msg }) => level && time && msg)).toBe(true)
    expect(everything()).not.toContain('marigold')
    expect(everything()).not.toMatch(/ck_(live|ingest)_/)
    expect(everything()).not.toContain(spawned.key.slice(-60))
    expect(everything()).toMatch(/"keyId":"key_[0-9a-f]{32}"/)
  })

  test('holds no value of a query that failed, and says which query and why', async () => {
    const ingest = await ingestKey()
    const database = new Database(join(folder, 'callbook.db'), { timeout: 5_000 })
    const before = everything().length
    for (const table of ['call_documents', 'knowledge_items', 'chunks', 'keys', 'erasures']) {
      database.exec(`alter table ${table} rename to lost_${table}`)
      for (const [method, path, key, body] of [
        ['GET', `/v1/calls/${texts.id}`, spawned.key, undefined],
        ['GET', `/v1/knowledge/${texts.name}`, spawned.key, undefined],
        ['PUT', `/ingest/calls/${texts.id}2`, ingest, { summary: texts.summary }],
        ['POST', '/v1/knowledge', spawned.key, { name: texts.name, text: texts.text }],
        ['POST', '/v1/knowledge/search', spawned.key, { query: texts.query }],
        ['DELETE', `/v1/calls/${texts.id}2`, spawned.key, undefined],
      ] as const) {
        const answer = await send(method, path, key, body)
        if (answer.status === 500) expect(await answer.text()).not.toMatch(/lost_|no such table|marigold/)
      }
      database.exec(`alter table lost_${table} rename to ${table}`)
    }
    database.close()
    // Lines are written in their order.
    await fetch(`${spawned.url}/nowhere`, { headers: { 'x-request-id': 'the-last-one' } })
    await until(() => /"the-last-one".*\n/.test(everything()), 'The last line')
    const written = everything().slice(before)
    const failures = written
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'internal')
    expect(failures.length).toBeGreaterThan(5)
    for (const { error } of failures)
      expect(JSON.stringify(error)).toMatch(/no such table|has no column|no such column/)
    expect(written).not.toContain('marigold')
    expect(written).not.toMatch(/ck_(live|ingest)_/)
    expect(written).not.toContain(Buffer.from(texts.text).toString('hex'))
  })

  test('tells of a failed write the query, and not its values', async () => {
    const key = await ingestKey()
    const database = new Database(join(folder, 'callbook.db'), { timeout: 5_000 })
    database.exec(`create trigger refuse before update on keys begin select raise(abort, 'refused'); end`)
    const before = everything().length
    expect((await send('PUT', `/ingest/calls/${texts.id}3`, key, {})).status).toBe(201)
    await printed(() => everything().slice(before), /Could not record.*\n/)
    database.exec('drop trigger refuse')
    database.close()
    const line =
      everything()
        .slice(before)
        .split('\n')
        .find((text) => text.includes('Could not record')) ?? '{}'
    const { level, error } = JSON.parse(line)
    expect(level).toBe('warn')
    expect(error.message).toBe('Failed query')
    expect(error.query).toMatch(/^update "keys".{1,70}$/)
    expect(error.cause.message).toContain('refused')
    expect(line).not.toMatch(/params|127\.0\.0\.1/)
  })

  test('a client that goes away in the middle of an answer or a body is no failure of ours', async () => {
    const before = everything().length
    const abort = new AbortController()
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('{"name":'))
        await Bun.sleep(100)
        abort.abort()
      },
    })
    const headers = { authorization: `Bearer ${spawned.key}`, 'content-type': 'application/json' }
    const sent = fetch(`${spawned.url}/v1/knowledge`, { method: 'POST', body, headers, signal: abort.signal })
    expect(
      await sent.then(
        () => 'answered',
        () => 'gone',
      ),
    ).toBe('gone')
    await Bun.sleep(400)
    expect(everything().slice(before)).not.toMatch(/"level":"(error|fatal)"/)
  })
})
