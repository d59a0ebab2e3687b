import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import packageJson from '../../package.json' with { type: 'json' }
import { backUp } from '../../src/db/backup.ts'
import { createServer } from '../../src/server.ts'
import { freshFolder } from '../support/at-end.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'
import { testMode } from '../support/test-mode.ts'

const service = await startService()
const guarded = await startService({ env: { METRICS_TOKEN: 'a-metrics-token' } })

const ofFolder = { callbook_database_bytes: 'gauge', callbook_last_backup_timestamp_seconds: 'gauge' }
const ofReplicas = {
  callbook_replication_lag_seconds: 'gauge',
  callbook_replication_last_sync_timestamp_seconds: 'gauge',
  callbook_replication_sync_failures_total: 'counter',
}
const sample =
  /^([a-z_]+)(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? (-?[0-9.e+-]+|[+-]Inf|NaN)$/i

/** Samples by name and labels; throws on a line that is not of the text format. */
function parseMetrics(text: string) {
  expect(text).toEndWith('\n')
  const types = new Map<string, string>()
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, name = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? []
    if (name) types.set(name, type)
    if (line === '' || line.startsWith('#')) continue
    const [, metric = '', labels = '', value] = sample.exec(line) ?? []
    if (metric === '') throw new Error(`Not a sample: ${line}`)
    values.set(metric + labels, Number(value))
  }
  return { types: Object.fromEntries(types), values }
}

async function readMetrics() {
  return parseMetrics(await (await fetch(`${service.url}/metrics`)).text())
}

describe('/metrics', () => {
  test('is Prometheus text with each documented metric', async () => {
    const answer = await fetch(`${service.url}/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(parseMetrics(await answer.text()).types).toEqual({
      callbook_build_info: 'gauge',
      callbook_http_request_duration_seconds: 'histogram',
      callbook_embedding_duration_seconds: 'histogram',
      callbook_embedding_failures_total: 'counter',
      callbook_search_duration_seconds: 'histogram',
      callbook_search_coverage: 'histogram',
      callbook_event_loop_lag_seconds: 'gauge',
      callbook_pending_chunks: 'gauge',
      callbook_recording_bytes: 'gauge',
      callbook_index_vectors: 'gauge',
      callbook_index_tombstones: 'gauge',
      callbook_index_file_bytes: 'gauge',
      callbook_writes_refused_total: 'counter',
      ...(testMode === 'remote' ? {} : { callbook_disk_free_bytes: 'gauge' }),
      callbook_waiting_readers: 'gauge',
      callbook_requests_refused_total: 'counter',
      callbook_webhook_events_waiting: 'gauge',
      callbook_webhooks_failing: 'gauge',
      callbook_webhooks_switched_off: 'gauge',
      callbook_unreadable_events: 'gauge',
      callbook_analyses_paused: 'gauge',
      callbook_job_runs_total: 'counter',
      callbook_job_seconds_total: 'counter',
      callbook_job_failures_total: 'counter',
      callbook_problem: 'gauge',
      callbook_erasures_waiting: 'gauge',
      callbook_erasures_late: 'gauge',
      process_cpu_seconds_total: 'counter',
      process_resident_memory_bytes: 'gauge',
      ...(process.platform === 'linux' ? { process_open_fds: 'gauge' } : {}),
      ...(testMode === 'remote' ? {} : ofFolder),
      ...(testMode === 'replica' ? ofReplicas : {}),
    })
  })

  test('counts each request once, by method, route and status, never by path', async () => {
    const project = await service.mintProject()
    const name = 'callbook_http_request_duration_seconds_count'
    const count = async (labels: string) => (await readMetrics()).values.get(`${name}{${labels}}`) ?? 0
    const missing = 'method="DELETE",route="/v1/calls/:id",status="404"'
    const nowhere = 'method="GET",route="none",status="404"'
    const [before, beforeNowhere] = [await count(missing), await count(nowhere)]
    for (const id of ['one', 'two', 'three']) await project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })
    for (const path of ['/a', '/b/c', '/wp-login.php']) await fetch(service.url + path)
    expect(await count(missing)).toBe(before + 3)
    expect(await count(nowhere)).toBe(beforeNowhere + 3)
    expect(JSON.stringify([...(await readMetrics()).values.keys()])).not.toMatch(/wp-login|three/)
  })

  test('tells what waits, fails or is late', async () => {
    const own = await startService()
    const read = async () => parseMetrics(await (await fetch(`${own.url}/metrics`)).text()).values
    const before = await read()
    for (const name of [
      'webhook_events_waiting',
      'webhooks_failing',
      'webhooks_switched_off',
      'unreadable_events',
    ])
      expect([name, before.get(`callbook_${name}`)]).toEqual([name, 0])
    const { projectId } = await own.mintProject()
    const { write } = own.services.database
    const at = Date.now() - 60_000
    const webhook = (id: string, more: string) =>
      sql.raw(`insert into webhooks (id, project_id, url, events, secret, created_at, failures, disabled_at, disabled_reason)
        values ('${id}', ${projectId}, 'http://127.0.0.1:1', '[]', 's', ${at}, ${more})`)
    await write.run(webhook('wh_failing', '2, null, null'))
    await write.run(webhook('wh_off', `9, ${at}, 'Every attempt has failed.'`))
    await write.run(sql`insert into webhook_queue (webhook_id, kind, event, seq, due_at)
      values ('wh_failing', 'call', 'call.completed', 1, ${Date.now() + 600_000})`)
    await write.run(sql`insert into erasures (project_id, kind, id_hash, change_seq, requested_at)
      values (${projectId}, 'call', 'hash', 1, ${at})`)
    const after = await read()
    const changed = Object.fromEntries([...after].filter(([name]) => name.startsWith('callbook_')))
    expect(changed).toMatchObject({
      callbook_webhook_events_waiting: 1,
      callbook_webhooks_failing: 1,
      callbook_webhooks_switched_off: 1,
      callbook_erasures_waiting: 1,
      callbook_erasures_late: 1,
    })
    await own.stop()
  })

  test.skipIf(testMode === 'remote')(
    'tells how large the database is, and when it was backed up',
    async () => {
      const own = await startService()
      const read = async () => parseMetrics(await (await fetch(`${own.url}/metrics`)).text()).values
      expect((await read()).get('callbook_last_backup_timestamp_seconds')).toBe(0)
      const [folder, at] = [freshFolder(), Date.parse('2026-01-30T09:30:00Z')]
      const given = {
        dataDir: own.dataDir,
        folder: join(folder, 'backup'),
        version: '1',
        now: () => at,
      }
      await backUp({ ...given, source: own.services.database.file, signal: new AbortController().signal })
      const values = await read()
      expect(values.get('callbook_last_backup_timestamp_seconds')).toBe(at / 1000)
      expect(values.get('callbook_database_bytes{part="file"}')).toBeGreaterThan(0)
      expect(values.has('callbook_database_bytes{part="log"}')).toBe(true)
      expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
      expect(values.get('process_cpu_seconds_total')).toBeGreaterThan(0)
      await own.stop()
    },
  )

  test('counts requests beyond a limit', async () => {
    const limited = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1' } })
    const project = await limited.mintProject()
    for (let n = 0; n < 3; n++) await project.fetch('/v1/calls')
    const { values } = parseMetrics(await (await fetch(`${limited.url}/metrics`)).text())
    expect(values.get('callbook_requests_refused_total{status="429"}')).toBe(2)
    expect(values.get('callbook_requests_refused_total{status="503"}')).toBe(0)
    await limited.stop()
  })

  test('tells of the vectors that are indexed', async () => {
    const project = await service.mintProject()
    const before = (await readMetrics()).values.get('callbook_index_vectors') ?? 0
    const answer = await project.send('POST', '/v1/knowledge', { name: 'n', text: 'some words' })
    expect(answer.headers.get('callbook-index')).toBe('ready')
    // A project's first index is counted once it is whole, a moment after search has found the rows.
    let after = before
    for (let tries = 0; after === before && tries < 100; tries++) {
      await Bun.sleep(20)
      after = (await readMetrics()).values.get('callbook_index_vectors') ?? 0
    }
    expect(after).toBe(before + 1)
    expect((await readMetrics()).values.get('callbook_pending_chunks')).toBe(0)
  })
})

describe('who may read /metrics', () => {
  const ask = (url: string, headers: Record<string, string> = {}) => fetch(`${url}/metrics`, { headers })

  test('without a token configured: this machine, unless the request was forwarded', async () => {
    expect((await ask(service.url)).status).toBe(200)
    const forwardings: Record<string, string>[] = [
      { 'x-forwarded-for': '127.0.0.1' },
      { 'x-forwarded-for': '' },
      { forwarded: 'for=127.0.0.1' },
      { 'x-real-ip': '192.0.2.1' },
      { 'X-Forwarded-Proto': 'https' },
      { via: '1.1 proxy' },
      { 'cf-connecting-ip': '192.0.2.1' },
    ]
    for (const headers of forwardings) await expectProblem(await ask(service.url, headers), 'forbidden')
  })

  test.each([
    ['127.0.0.1', 200],
    ['127.9.9.9', 200],
    ['::1', 200],
    ['::ffff:127.0.0.1', 200],
    ['192.0.2.1', 403],
    ['10.0.0.1', 403],
    ['::ffff:10.0.0.1', 403],
    ['1127.0.0.1', 403],
    ['', 403],
    [null, 403],
  ])('a peer at %p is answered with %i', async (address, status) => {
    const app = createServer(service.services, () => address)
    const request = new Request('http://localhost/metrics', { headers: { host: 'localhost' } })
    expect((await app.handle(request)).status).toBe(status)
  })

  test.each([
    ['localhost', 200],
    ['LOCALHOST:3000', 200],
    ['127.0.0.1:3000', 200],
    ['[::1]:3000', 200],
    ['callbook.example', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['192.0.2.1', 403],
  ])('a peer on this machine that asks %p is answered with %i', async (host, status) => {
    const app = createServer(service.services, () => '127.0.0.1')
    const request = new Request('http://localhost/metrics', { headers: { host } })
    expect((await app.handle(request)).status).toBe(status)
  })

  test.each([
    ['PUBLIC_URL', 'http://localhost:3000'],
    ['TRUSTED_PROXIES', '10.0.0.0/8'],
  ])('with %s=%s: nobody without a token', async (name, value) => {
    const env = { [name]: value }
    const published = await startService({ env })
    await expectProblem(await ask(published.url), 'forbidden')
    await published.stop()
    const withToken = await startService({ env: { ...env, METRICS_TOKEN: 'a-metrics-token' } })
    expect((await ask(withToken.url, { authorization: 'Bearer a-metrics-token' })).status).toBe(200)
    await withToken.stop()
  })

  test('with a token configured: its bearer from anywhere, and nobody else', async () => {
    const token = { authorization: 'Bearer a-metrics-token' }
    expect((await ask(guarded.url, token)).status).toBe(200)
    expect((await ask(guarded.url, { ...token, 'x-forwarded-for': '192.0.2.1' })).status).toBe(200)
    expect((await ask(guarded.url, { authorization: 'bearer a-metrics-token' })).status).toBe(200)
    const elsewhere = createServer(guarded.services, () => '192.0.2.1')
    expect((await elsewhere.handle(new Request('http://localhost/metrics', { headers: token }))).status).toBe(
      200,
    )
    for (const authorization of [
      '',
      'Bearer',
      'Bearer a-metrics-toke',
      'Bearer a-metrics-token2',
      'Basic a-metrics-token',
      'a-metrics-token',
    ])
      await expectProblem(await ask(guarded.url, { authorization }), 'forbidden')
    await expectProblem(await ask(guarded.url), 'forbidden')
  })

  test('an API key does not open it, and the token no API route', async () => {
    const project = await guarded.mintProject()
    expect((await project.fetch('/metrics')).status).toBe(403)
    const answer = await fetch(`${guarded.url}/v1/calls`, {
      headers: { authorization: 'Bearer a-metrics-token' },
    })
    await expectProblem(answer, 'invalid_api_key_format', 'Invalid API key format')
  })
})

describe('/health and /ready', () => {
  test('answer without a key', async () => {
    expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${service.url}/ready`)).json()).toEqual({
      version: packageJson.version,
      status: 'ready',
      problem: null,
      replication:
        testMode === 'replica'
          ? { lagMs: expect.any(Number), lastSyncAt: expect.any(Number), failures: 0 }
          : null,
    })
  })

  test('a service whose database does not answer is alive, and not ready', async () => {
    const broken = await startService()
    await broken.services.close()
    expect((await fetch(`${broken.url}/health`)).status).toBe(200)
    const answer = await fetch(`${broken.url}/ready`)
    expect(answer.headers.get('retry-after')).toBe('1')
    await expectProblem(answer, 'unavailable')
  })
})
