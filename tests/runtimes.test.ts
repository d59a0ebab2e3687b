import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import packageJson from '../package.json' with { type: 'json' }
import { rate, spokenCalls, toWav } from '../scripts/bench/spoken-calls.ts'
import { buildConsole } from '../scripts/build-console.ts'
import type { Speech } from '../src/calls/sound/figures.ts'
import { DecodedSound } from '../src/recordings/audio/decoded-sound.ts'
import { speechOf } from '../src/recordings/audio/speech.ts'
import { freshFolder } from './support/at-end.ts'
import { formOf, makeDocx, makePdf, paragraph } from './support/files.ts'
import { expectProblem } from './support/problem.ts'
import { repository } from './support/process.ts'
import { head, rawRequest } from './support/raw-http.ts'
import { madeWav } from './support/recordings.ts'
import { everyRuntime } from './support/runtimes.ts'
import { skipped } from './support/skipped.ts'
import { printed, type SpawnedService, spawnService } from './support/spawned.ts'
import { until } from './support/until.ts'

// One contract, on every runtime: what each does by itself with HTTP must not show.

const bodyBytesMax = 200_000
const run = promisify(execFile)

await buildConsole()

describe.each(everyRuntime())('$name', ({ name, missing, command, prepare, remove }) => {
  if (missing !== null) {
    skipped(`${name}: ${missing}`)
    test.skip(`is not tried: ${missing}`, () => undefined)
    return
  }

  const folder = freshFolder()
  let service: SpawnedService
  let key: string
  let ingestKey: string
  let hereKey: string
  let elsewhereKey: string

  beforeAll(async () => {
    await prepare()
    service = await start()
    key = service.key
    ;[ingestKey, hereKey, elsewhereKey] = await Promise.all([
      makeKey('--kind', 'ingest'),
      makeKey('--allow-ip', '127.0.0.1'),
      makeKey('--allow-ip', '192.0.2.0/24'),
    ])
  })
  afterAll(async () => {
    await service?.stop('SIGKILL')
    remove()
  })

  async function start(): Promise<SpawnedService> {
    const env = { DATA_DIR: folder, LOG_FORMAT: 'json', BODY_MAX_BYTES: String(bodyBytesMax) }
    const started = await spawnService(env, command)
    await printed(started.stderr, /"msg":"ready"/)
    return started
  }

  async function callbook(...args: string[]): Promise<string> {
    const env = { PATH: process.env.PATH, DATA_DIR: folder }
    const all = ['scripts/callbook.ts', ...args, '--project', 'default']
    return (await run(process.execPath, all, { cwd: repository, env })).stdout
  }

  async function makeKey(...args: string[]): Promise<string> {
    return JSON.parse(await callbook('key', 'create', '--name', 'n', '--json', ...args)).key
  }

  function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const authorization = `Bearer ${path.startsWith('/ingest') ? ingestKey : key}`
    return fetch(service.url + path, {
      method,
      redirect: 'manual',
      headers: {
        authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isBytes(body) ? body : JSON.stringify(body) }),
    })
  }

  function isBytes(body: unknown): body is string | Uint8Array<ArrayBuffer> {
    return typeof body === 'string' || body instanceof Uint8Array
  }

  /** As bytes on a socket, for what no client would send. */
  function raw(line: string, headers: Record<string, string> = {}, body = '') {
    return rawRequest(service.url, head(line, { Authorization: `Bearer ${key}`, ...headers }) + body)
  }

  /** A socket that has sent this, and what comes back. */
  async function opened(text: string) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
    })
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(text)
    return { socket, received: () => received }
  }

  test('starts, and prints its address and a working key', async () => {
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await send('GET', '/v1/calls')).status).toBe(200)
  })

  test('reads files of every kind on a thread', async () => {
    const files: [string, string | Uint8Array, string][] = [
      ['a.pdf', makePdf([[{ y: 700, text: 'We open at nine.' }]]), 'We open at nine.'],
      ['a.docx', makeDocx(paragraph('We open at nine.')), 'We open at nine.'],
      ['a.html', '<main><h1>Hours</h1><p>We open at <b>nine</b>.</main>', '# Hours\n\nWe open at **nine**.'],
      ['a.csv', 'Day,Hour\nMonday,9', '- Day: Monday; Hour: 9'],
      ['a.md', repeated('We open at nine.\n', 9_000), repeated('We open at nine.\n', 9_000)],
    ]
    for (const [name, content, text] of files) {
      const answer = await fetch(`${service.url}/v1/knowledge/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: formOf(name, content),
      })
      expect([name, answer.status, await answer.json()]).toMatchObject([name, 201, { text }])
    }
    const body = formOf('a.docx', makeDocx('<w:tbl><w:tr><w:tc>'.repeat(20_000)))
    const headers = { authorization: `Bearer ${key}` }
    const refused = await fetch(`${service.url}/v1/knowledge/files`, { method: 'POST', headers, body })
    await expectProblem(refused, 'file_cannot_be_read', 'File cannot be read')
  })

  function repeated(text: string, chars: number): string {
    return text.repeat(chars / text.length)
  }

  test('does not start with an unknown option', async () => {
    const refused = await spawnService({}, [...command, '--worker', '2'])
    expect([await refused.ended, refused.url]).toEqual([1, ''])
    expect(refused.stderr()).toContain('--worker')
  })

  test.each([
    ['--help', 'Usage: '],
    ['--version', packageJson.version],
  ])('%s does not start the service', async (option, expected) => {
    const asked = await spawnService({}, [...command, option])
    expect([await asked.ended, asked.stderr()]).toEqual([0, ''])
    expect(asked.stdout()).toStartWith(expected)
  })

  test('/health, /ready and /metrics answer', async () => {
    const health = await send('GET', '/health')
    expect(await health.json()).toEqual({ status: 'ok' })
    expect(health.headers.get('content-type')).toBe('application/json')
    expect(await (await send('GET', '/ready')).json()).toEqual({
      status: 'ready',
      version: packageJson.version,
      problem: null,
      replication: null,
    })
    const metrics = await send('GET', '/metrics')
    expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await metrics.text()).toContain('# TYPE ')
    // Only this machine may, and nobody for whom it was forwarded.
    await expectProblem(
      await send('GET', '/metrics', undefined, { 'x-forwarded-for': '127.0.0.1' }),
      'forbidden',
    )
  })

  describe('refused keys, in the order of the checks', () => {
    const missingKey = ['missing_authorization', 'Missing or invalid Authorization header', 'Bearer'] as const
    const badFormat = [
      'invalid_api_key_format',
      'Invalid API key format',
      'Bearer error="invalid_token"',
    ] as const
    const unknown = ['invalid_api_key', 'Invalid API key', 'Bearer error="invalid_token"'] as const
    test.each([
      ['', missingKey],
      ['Basic eDp5', missingKey],
      ['Bearer sk_live_00', badFormat],
      [`Bearer ck_live_${'0'.repeat(60)}`, unknown],
    ] as const)('%p', async (authorization, [code, title, challenge]) => {
      for (const [method, path, body] of [
        ['GET', '/v1/calls', undefined],
        ['GET', '/v1/nowhere', undefined],
        ['POST', '/v1/knowledge', '{"malformed'],
      ] as const) {
        const answer = await send(method, path, body, { authorization })
        expect(answer.headers.get('www-authenticate')).toBe(challenge)
        await expectProblem(answer, code, title)
      }
    })

    test('403 by the address of the connection, whatever X-Forwarded-For says', async () => {
      for (const forwarded of [{}, { 'x-forwarded-for': '192.0.2.1' }] as Record<string, string>[]) {
        const answer = await send('GET', '/v1/calls', undefined, {
          authorization: `Bearer ${elsewhereKey}`,
          ...forwarded,
        })
        await expectProblem(answer, 'ip_address_not_allowed', 'IP address not allowed')
      }
    })

    test('a key for this machine is accepted by the address of the connection', async () => {
      const authorization = `Bearer ${hereKey}`
      expect((await send('GET', '/v1/calls', undefined, { authorization })).status).toBe(200)
    })
  })

  describe('refused requests', () => {
    test('404 is the same bytes for every missing record', async () => {
      const bodies = new Set<string>()
      for (const id of ['nobody', 'a%2Fb', '%00', '%zz', '%FF']) {
        const answer = await raw(`GET /v1/calls/${id} HTTP/1.1`, { 'X-Request-Id': 'same' })
        expect([id, answer.status]).toEqual([id, 404])
        bodies.add(answer.body)
      }
      expect(bodies.size).toBe(1)
    })

    test('405 names the methods of the path', async () => {
      for (const method of ['PATCH', 'PUT', 'OPTIONS']) {
        const answer = await send(method, '/v1/knowledge')
        expect(answer.headers.get('allow')).toBe('GET, HEAD, POST')
        await expectProblem(answer, 'method_not_allowed')
      }
    })

    test.each([
      ['malformed JSON', '{"name":'],
      ['invalid UTF-8', new Uint8Array(Buffer.from('7b226e616d65223a22ff227d', 'hex'))],
      ['U+0000', '{"name":"a\\u0000b","text":"t"}'],
      ['nothing', ''],
    ])('400 for %s', async (_, body) => {
      const answer = await send('POST', '/v1/knowledge', body)
      await expectProblem(answer, 'invalid_request')
    })

    test('415 without JSON', async () => {
      const answer = await send('POST', '/v1/knowledge', 'name=n', { 'content-type': 'text/plain' })
      await expectProblem(answer, 'unsupported_media_type')
    })

    test('413 without waiting for the body, and the connection or the next one goes on', async () => {
      const said = await raw('POST /v1/knowledge HTTP/1.1', {
        'Content-Type': 'application/json',
        'Content-Length': String(bodyBytesMax + 1),
      })
      expect([said.status, JSON.parse(said.body).code]).toEqual([413, 'payload_too_large'])
      const sent = await send('POST', '/v1/knowledge', { name: 'n', text: 'x'.repeat(bodyBytesMax) })
      await expectProblem(sent, 'payload_too_large')
      expect((await send('GET', '/health')).status).toBe(200)
    })

    test('413 in the middle of a body of undeclared length', async () => {
      const { socket, received } = await opened(
        head('POST /v1/knowledge HTTP/1.1', {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'Transfer-Encoding': 'chunked',
        }),
      )
      socket.write(`${(bodyBytesMax + 1).toString(16)}\r\n${'x'.repeat(bodyBytesMax + 1)}\r\n`)
      await printed(received, /payload_too_large/)
      expect(received()).toStartWith('HTTP/1.1 413 ')
      socket.destroy()
    })

    test('strange request heads never get a 500', async () => {
      for (const text of [
        head('GET /health HTTP/1.1', { Host: 'a b/c' }),
        head('GET /health\\..\\x HTTP/1.1'),
        head('GET http://elsewhere.example/health HTTP/1.1'),
        head('GET //health HTTP/1.1'),
        head('OPTIONS * HTTP/1.1'),
        head('BREW /health HTTP/1.1'),
      ]) {
        const { status } = await rawRequest(service.url, text)
        expect([text, (status ?? 400) < 500]).toEqual([text, true])
      }
      expect((await send('GET', '/health')).status).toBe(200)
    })

    test('a Host that does not parse is 400', async () => {
      for (const host of ['@', '[', 'x:99999', '%', 'a b', 'a/b']) {
        for (const line of ['GET /v1/calls?q=1 HTTP/1.1', 'POST /mcp?q=1 HTTP/1.1'])
          expect([host, line, (await raw(line, { Host: host, Connection: 'close' })).status]).toEqual([
            host,
            line,
            400,
          ])
      }
    })

    test('two Hosts are 400, also when they are the same', async () => {
      for (const second of ['localhost', 'elsewhere.example', '']) {
        const text = `GET /v1/calls HTTP/1.1\r\nHost: localhost\r\nhost: ${second}\r\nAuthorization: Bearer ${key}\r\n\r\n`
        expect([second, (await rawRequest(service.url, text)).status]).toEqual([second, 400])
      }
    })

    if (name === 'Deno') skipped('a server of Deno keeps idle connections open for good')
    test.skipIf(name === 'Deno')('how long an idle connection stays open is told', async () => {
      for (const path of ['/health', '/v1/calls', '/nowhere']) {
        const { headers } = await raw(`GET ${path} HTTP/1.1`)
        expect([path, headers.get('keep-alive')]).toEqual([path, 'timeout=75'])
      }
    })

    test('a request without a Host is answered, and needs its key', async () => {
      expect((await rawRequest(service.url, 'GET /health HTTP/1.0\r\n\r\n')).status).toBe(200)
      expect((await rawRequest(service.url, 'GET /v1/calls HTTP/1.0\r\n\r\n')).status).toBe(401)
      // HTTP/1.1 asks for one, and some runtimes do too.
      expect([400, 401]).toContain(
        (await rawRequest(service.url, 'GET /v1/calls HTTP/1.1\r\n\r\n')).status ?? 0,
      )
    })

    test('a target in absolute form is judged by its path', async () => {
      const url = 'http://elsewhere.example/v1/calls'
      expect((await raw(`GET ${url} HTTP/1.1`)).status).toBe(200)
      expect((await raw(`GET ${url} HTTP/1.1`, { Authorization: '' })).status).toBe(401)
    })

    test('a short Host is not taken as part of the path', async () => {
      expect((await raw('GET /v1/calls HTTP/1.1', { Host: 'api' })).status).toBe(200)
      expect((await raw('GET /v1/calls HTTP/1.1', { Host: 'api', Authorization: '' })).status).toBe(401)
    })

    test('two Authorization headers give no access', async () => {
      const { status } = await raw('GET /v1/calls HTTP/1.1', { authorization: 'Bearer x' })
      expect(status ?? 0).toBeWithin(400, 402)
    })
  })

  test('HEAD answers as GET does, with its length and without a body', async () => {
    await send('PUT', '/ingest/calls/head', { summary: 'ünïcödé 📞' })
    for (const path of [
      '/health',
      '/v1/calls',
      '/v1/calls/head',
      '/v1/calls/nobody',
      '/console',
      '/docs/json',
    ]) {
      const get = await send('GET', path, undefined, { 'accept-encoding': 'identity' })
      const length = (await get.arrayBuffer()).byteLength
      const { socket, received } = await opened(
        head(`HEAD ${path} HTTP/1.1`, { Authorization: `Bearer ${key}`, Connection: 'close' }),
      )
      await once(socket, 'close')
      const [top = '', ...rest] = received().split('\r\n\r\n')
      expect([path, Number(/^HTTP\/1\.1 (\d+)/.exec(top)?.[1])]).toEqual([path, get.status])
      expect([path, rest.join('')]).toEqual([path, ''])
      expect([path, /^content-length: (\d+)/im.exec(top)?.[1]]).toEqual([path, String(length)])
    }
  })

  test('an answer has each header once', async () => {
    for (const path of ['/health', '/v1/calls', '/v1/nowhere', '/console']) {
      const { socket, received } = await opened(
        head(`GET ${path} HTTP/1.1`, { Authorization: `Bearer ${key}`, Connection: 'close' }),
      )
      await once(socket, 'close')
      const lines = received().split('\r\n\r\n')[0]?.split('\r\n').slice(1) ?? []
      const names = lines.map((line) => line.split(':')[0]?.toLowerCase())
      expect([path, names.toSorted()]).toEqual([path, [...new Set(names)].toSorted()])
      expect(names).toContain('x-request-id')
      for (const never of ['server', 'x-powered-by']) expect(names).not.toContain(never)
    }
  })

  describe('calls', () => {
    test('are created, merged, appended to, read and deleted', async () => {
      const put = (body: unknown) => send('PUT', '/ingest/calls/call-1', body)
      expect(
        (await put({ status: 'live', transcript: [{ role: 'user', content: 'ünïcödé 📞' }] })).status,
      ).toBe(201)
      const turns = [{ role: 'assistant', content: 'Yes.' }]
      expect((await put({ appendTranscript: { at: 1, turns } })).status).toBe(200)
      expect((await put({ status: 'completed', duration: 91.2 })).status).toBe(200)
      const call = await (await send('GET', '/v1/calls/call-1')).json()
      expect(call).toMatchObject({ id: 'call-1', status: 'completed', duration: 91.2 })
      expect(call.transcript).toHaveLength(2)
      expect(call.transcript[0].content).toBe('ünïcödé 📞')
      const deleted = await send('DELETE', '/v1/calls/call-1')
      expect(await deleted.json()).toEqual({ id: 'call-1', deleted: true })
      expect((await send('GET', '/v1/calls/call-1')).status).toBe(404)
      expect((await put({ summary: 'late' })).status).toBe(410)
      expect((await send('GET', '/v1/erasures/call-1')).status).toBe(200)
    })

    test('a page of 1,000 is streamed whole, in order, with its total', async () => {
      const summary = 'x'.repeat(9_000)
      const lines = Array.from({ length: 1_000 }, (_, i) => JSON.stringify({ id: `page-${i}`, summary }))
      const file = join(folder, 'calls.jsonl')
      writeFileSync(file, lines.join('\n'))
      await callbook('calls', 'import', file)
      const { data, pagination } = await (await send('GET', '/v1/calls?limit=1000')).json()
      expect(data).toHaveLength(1_000)
      expect(data.every((call: { summary: string }) => call.summary.length < 9_001)).toBe(true)
      expect(pagination).toEqual({ total: 1_001, limit: 1_000, offset: 0, next: expect.any(String) })
      const rest = await (await send('GET', '/v1/calls?limit=1000&offset=1000')).json()
      expect(rest.data).toHaveLength(1)
      expect(rest.data[0].id).toBe('head')

      // Who goes away in the middle of a page does no harm.
      const { socket, received } = await opened(
        head('GET /v1/calls?limit=1000 HTTP/1.1', { Authorization: `Bearer ${key}` }),
      )
      await printed(received, /^HTTP\/1\.1 200 /)
      socket.destroy()
      expect((await send('GET', '/v1/calls?limit=1')).status).toBe(200)
    })

    test('a parameter that is not a number is 400', async () => {
      await expectProblem(await send('GET', '/v1/calls?limit=x'), 'invalid_request')
    })
  })

  test('changes reach who waits and who streams, and those that leave are forgotten', async () => {
    let [next, hasMore] = [0, true]
    while (hasMore)
      ({ next, hasMore } = await (
        await send('GET', `/v1/changes?after=${next}&limit=1000&include=none`)
      ).json())
    const waiting = async () =>
      Number(/^callbook_waiting_readers (\d+)$/m.exec(await (await send('GET', '/metrics')).text())?.[1])
    const open = (headers: Record<string, string>) =>
      opened(
        head(`GET /v1/changes?after=${next}&wait=30 HTTP/1.1`, {
          Authorization: `Bearer ${key}`,
          ...headers,
        }),
      )
    const readers = await Promise.all([{}, {}, {}, {}].map(() => open({})))
    const streams = await Promise.all([{}, {}, {}, {}].map(() => open({ Accept: 'text/event-stream' })))
    await until(async () => (await waiting()) === 8)
    for (const { socket } of [...readers.slice(1), ...streams.slice(1)]) socket.destroy()
    // Deno does not tell who has left before the answer.
    const left = name === 'Deno' ? 5 : 2
    await until(async () => (await waiting()) === left, 'Forgetting those that left')
    expect((await send('PUT', '/ingest/calls/changed', {})).status).toBe(201)
    for (const { socket, received } of [...readers.slice(0, 1), ...streams.slice(0, 1)]) {
      await printed(received, /"id":"changed"/)
      expect(received()).toContain('"id":"changed"')
      socket.destroy()
    }
    await until(async () => (await waiting()) === 0)
    expect((await send('DELETE', '/v1/calls/changed')).status).toBe(200)
  })

  test('knowledge is created, listed, read, found, previewed and deleted', async () => {
    const created = await send('POST', '/v1/knowledge', {
      name: 'Refunds',
      text: '## Refunds\n\nWithin thirty days.',
    })
    expect(created.status).toBe(201)
    expect(created.headers.get('callbook-index')).toBe('ready')
    const { id } = await created.json()
    expect(created.headers.get('location')).toBe(`/v1/knowledge/${id}`)
    expect(await (await send('GET', '/v1/knowledge')).text()).toContain(id)
    expect((await (await send('GET', `/v1/knowledge/${id}`)).json()).name).toBe('Refunds')
    const found = await send('POST', '/v1/knowledge/search', { query: 'thirty days refunds', limit: 3 })
    expect(await found.text()).toContain('Within thirty days.')
    const preview = await send('POST', '/v1/knowledge/preview', { text: '## A\n\nOne.\n\n## B\n\nTwo.' })
    expect([preview.status, await preview.text()]).toEqual([200, expect.stringContaining('Two.')])
    expect(await (await send('DELETE', `/v1/knowledge/${id}`)).json()).toEqual({ id, deleted: true })
    expect((await send('GET', `/v1/knowledge/${id}`)).status).toBe(404)
  })

  test('MCP is initialized', async () => {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    }
    const answer = await send(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'initialize', params },
      { accept: 'application/json, text/event-stream' },
    )
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      jsonrpc: '2.0',
      id: 1,
      result: { serverInfo: { version: packageJson.version } },
    })
  })

  test('the guide is served, rendered and searchable', async () => {
    expect(await (await send('GET', '/docs/guide/operating')).text()).toContain(
      '<h2 id="back-up-and-restore">',
    )
    expect(await (await send('GET', '/docs/guide?q=restoring')).text()).toContain('<mark>Restore</mark>')
  })

  test('/docs and /console are pages with policies of their own', async () => {
    expect(await (await send('GET', '/docs')).text()).toContain('/docs/scalar.js')
    expect((await send('GET', '/docs/scalar.js')).headers.get('cache-control')).toBe('public, max-age=86400')
    expect((await (await send('GET', '/docs/json')).json()).openapi).toStartWith('3.')
    const page = await send('GET', '/console')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/script-src 'self'; style-src 'self' 'nonce-[^']+'/)
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1]
    expect(await page.text()).toContain(`nonce="${nonce}"`)
  })

  test('files of the console are sent compressed, once', async () => {
    const script =
      /\/console\/assets\/[^"]+\.js/.exec(await (await send('GET', '/console')).text())?.[0] ?? 'none'
    const bytesOf = async (encoding: string) => {
      const headers = { 'accept-encoding': encoding }
      const answer = await fetch(service.url + script, { headers, decompress: false })
      expect([encoding, answer.headers.get('content-encoding') ?? 'identity']).toEqual([encoding, encoding])
      expect(answer.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
      return Buffer.from(await answer.arrayBuffer())
    }
    const plain = await bytesOf('identity')
    expect(plain.byteLength).toBeGreaterThan(100)
    expect(gunzipSync(await bytesOf('gzip')).equals(plain)).toBe(true)
    expect(brotliDecompressSync(await bytesOf('br')).equals(plain)).toBe(true)
  })

  test('an interrupted upload leaves no record and no logged failure', async () => {
    const body = '{"name":"broken off","text":"never said"}'
    const { socket } = await opened(
      head('POST /v1/knowledge HTTP/1.1', {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
      }) + body.slice(0, -5),
    )
    await Bun.sleep(50)
    socket.destroy()
    expect(await (await send('GET', '/v1/knowledge')).text()).not.toContain('broken off')
  })

  test('a connection is kept for the next request, also after a refusal and after a body', async () => {
    const first = head('GET /v1/calls/nobody HTTP/1.1', { Authorization: `Bearer ${key}` })
    const { socket, received } = await opened(first)
    await printed(received, /"requestId":"[^"]+"\}/)
    const body = '{"query":"x"}'
    socket.write(
      head('POST /v1/knowledge/search HTTP/1.1', {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
        Expect: '100-continue',
      }),
    )
    await printed(received, /HTTP\/1\.1 100 /, 1_000)
    socket.write(body)
    await printed(received, /HTTP\/1\.1 200 /)
    socket.write(head('GET /health HTTP/1.1'))
    await printed(received, /"status":"ok"/)
    const statuses = [...received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    expect(statuses.filter((status) => status !== '100')).toEqual(['404', '200', '200'])
    socket.destroy()
  })

  test.skipIf(name === 'Deno')('an idle connection is closed after KEEP_ALIVE_SECONDS', async () => {
    const dataDir = freshFolder()
    const other = await spawnService({ DATA_DIR: dataDir, KEEP_ALIVE_SECONDS: '1' }, command)
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1')
    const closed = once(socket, 'close')
    socket.write(head('GET /health HTTP/1.1'))
    socket.resume()
    expect(await Promise.race([closed.then(() => 'closed'), Bun.sleep(20_000)])).toBe('closed')
    await other.stop()
    rmSync(dataDir, { recursive: true })
  })

  test('keeps a recording, plays it with ranges and lengths, reads its length and draws it, and deletes it', async () => {
    const wav = madeWav(3_000_000)
    const headers = { authorization: `Bearer ${ingestKey}` }
    const kept = await fetch(`${service.url}/ingest/calls/sound/recording`, {
      method: 'PUT',
      headers,
      body: wav,
    })
    expect([kept.status, await kept.json()]).toMatchObject([201, { bytes: wav.length, channels: 2 }])
    const whole = await send('GET', '/v1/calls/sound/recording')
    expect(whole.headers.get('content-length')).toBe(/Node|Deno/.test(name) ? '3000000' : null)
    expect(Buffer.from(await whole.arrayBuffer()).equals(wav)).toBe(true)
    const told = await send('HEAD', '/v1/calls/sound/recording')
    expect([told.status, told.headers.get('content-length')]).toEqual([200, '3000000'])
    const part = await send('GET', '/v1/calls/sound/recording', undefined, { range: 'bytes=2000000-2000009' })
    expect([part.status, part.headers.get('content-length')]).toEqual([206, '10'])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(wav.subarray(2_000_000, 2_000_010))
    const { url } = await (await send('POST', '/v1/calls/sound/recording/links', {})).json()
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(wav.length)
    expect((await send('DELETE', '/v1/calls/sound/recording')).status).toBe(200)
    expect((await send('GET', '/v1/calls/sound/recording')).status).toBe(404)
    expect((await send('DELETE', '/v1/calls/sound')).status).toBe(200)
  })

  test('hears the same in a recording as this process does', async () => {
    const [call] = spokenCalls(4, 1, 2)
    if (!call) throw new Error('There is no call')
    const body = new Uint8Array(toWav(call.channels))
    const headers = { authorization: `Bearer ${ingestKey}` }
    await send('PUT', '/ingest/calls/heard', { status: 'completed' })
    await fetch(`${service.url}/ingest/calls/heard/recording`, { method: 'PUT', headers, body })
    const heard = async () => await (await send('GET', '/v1/calls/heard/sound')).json()
    await until(async () => (await heard()).state === 'measured')
    const { caller, agent } = await heard()
    const sound = new DecodedSound(2, rate)
    sound.add(call.channels.map((samples) => samples.map((sample) => Math.round(sample * 32_767) / 32_768)))
    expect<Speech>([caller, agent]).toEqual(speechOf(sound, 2))
    expect((await send('DELETE', '/v1/calls/heard')).status).toBe(200)
  })

  test('a deletion gets its receipt, and the record of what was swept keeps its size', async () => {
    expect((await send('PUT', '/ingest/calls/erased', { summary: 'said in confidence' })).status).toBe(201)
    for (const id of ['erased-2', 'erased-3']) {
      await send('PUT', `/ingest/calls/${id}`, {})
      await send('DELETE', `/v1/calls/${id}`)
    }
    expect((await send('DELETE', '/v1/calls/erased')).status).toBe(200)
    const receipt = async () => (await send('GET', '/v1/erasures/erased')).json()
    await until(async () => (await receipt()).status === 'done', 'The receipt')
    expect(statSync(join(folder, 'callbook.db-swept')).size).toBe(256)
  })

  test('signals end it with 0 after it answers what is in flight, and the next start has everything', async () => {
    const body = '{"name":"in flight","text":"said before the end"}'
    const { socket, received } = await opened(
      head('POST /v1/knowledge HTTP/1.1', {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
      }) + body.slice(0, -1),
    )
    await Bun.sleep(100)
    service.child.kill('SIGTERM')
    await printed(service.stderr, /"msg":"closing"/)
    // Whoever wraps it may send its own.
    service.child.kill('SIGTERM')
    await Bun.sleep(100)
    socket.write(body.slice(-1))
    await printed(received, /\r\n\r\n.*\{.*\}/s)
    expect(received()).toStartWith('HTTP/1.1 201 ')
    expect(await service.ended).toBe(0)
    expect(service.stderr()).toContain('"msg":"closed"')
    // Nothing in all of this was a failure of ours, and only the log and the banner were written.
    const lines = service.stderr().split('\n')
    expect(lines.filter((line) => /^[^{]|"level":"(error|fatal)"/.test(line))).toEqual([])
    expect(service.stdout()).toEndWith('Store it now.\n\n')

    service = await start()
    expect(service.key).toBe('')
    expect((await (await send('GET', '/v1/calls?limit=1')).json()).pagination.total).toBe(1_001)
    const search = await send('POST', '/v1/knowledge/search', { query: 'said before the end' })
    expect(await search.text()).toContain('said before the end')
    expect(await service.stop()).toBe(0)
  })
})
