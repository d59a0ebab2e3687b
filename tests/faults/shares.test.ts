import { afterAll, expect, spyOn, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { SharedLimit } from '../../src/shared-limit.ts'
import { addSource } from '../sources/deliver.ts'
import { startConsole } from '../support/console.ts'
import { head, opened } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const mib = 1_048_576
const added = spyOn(SharedLimit.prototype, 'add')
const service = await startService()
const project = await service.mintProject()
for (let n = 0; n < 8; n++) {
  const made = await project.send('PUT', `/ingest/calls/large-${n}`, {
    callAnalysis: { text: 'x'.repeat(2 * mib) },
  })
  expect(made.status).toBe(201)
}
afterAll(async () => {
  added.mockRestore()
})

/** What each limit that has ever counted anything counts now. */
function totals(): number[] {
  const limits = new Set(added.mock.contexts as SharedLimit[])
  return Array.from(limits, ({ total }) => total)
}

/** Sends bytes, waits for some of an answer if one is due, and leaves. */
async function sendAndLeave(text: string, answered: boolean): Promise<void> {
  const { socket, received } = await opened(service.url, text)
  if (answered) await until(() => received().length > 0 || socket.destroyed, 'An answer')
  socket.destroy()
}

test('after requests that end in every way, nobody holds any part of a limit', async () => {
  const console = await startConsole(service)
  const owned = await console.mintProject()
  const source = await addSource(service, project, 'elevenlabs')
  const bearer = { Authorization: `Bearer ${project.key}` }
  const ingest = { Authorization: `Bearer ${project.ingestKey}` }
  const json = { 'Content-Type': 'application/json' }
  const lines = { 'Content-Type': 'application/x-ndjson' }
  const chunked = { 'Transfer-Encoding': 'chunked' }
  const length = (bytes: number) => ({ 'Content-Length': String(bytes) })
  const half = ' '.repeat(200_000)
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  const put = (headers: Record<string, string>) =>
    head('PUT /ingest/calls/a HTTP/1.1', { ...ingest, ...headers })
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    head(`${method} ${path} HTTP/1.1`, { ...bearer, ...headers })
  const events = { Accept: 'text/event-stream' }
  const gzip = { 'Accept-Encoding': 'gzip' }

  const left: [string, boolean][] = [
    [`${put({ ...json, ...length(mib) })}${half}`, false],
    [`${put({ ...json, ...chunked })}${chunk(half)}`, false],
    [`${put({ ...json, ...length(2 ** 26) })}${half}`, true],
    [`${put({ ...json, ...length(200_000) })}${half}`, true],
    [`${put({ 'Content-Type': 'text/plain', ...length(mib) })}${half}`, true],
    [
      `${head('POST /ingest/calls HTTP/1.1', { ...ingest, ...lines, ...chunked })}${chunk(`{"id":"a"}\n${half}`)}`,
      false,
    ],
    [
      `${head('POST /ingest/calls HTTP/1.1', { ...ingest, ...lines, ...length(mib) })}{"id":"b"}\n${half}`,
      true,
    ],
    [`${head(`POST ${source.path} HTTP/1.1`, { ...json, ...length(mib) })}${half}`, false],
    [`${head(`POST ${source.path} HTTP/1.1`, { ...json, ...length(200_000) })}${half}`, true],
    [`${head('POST /ingest/otlp/v1/traces HTTP/1.1', { ...ingest, ...json, ...length(mib) })}${half}`, false],
    [`${head('POST /mcp HTTP/1.1', { ...bearer, ...json, ...length(250_000) })}${half}`, false],
    [
      `${head('POST /console/api/session HTTP/1.1', { Origin: 'http://localhost', ...json, ...length(16_000) })}{`,
      false,
    ],
    [
      `${get('/v1/knowledge/files', { 'Content-Type': 'multipart/form-data; boundary=x', ...length(mib) }, 'POST')}${half}`,
      false,
    ],
    [get('/v1/calls'), true],
    [get('/v1/calls', gzip), true],
    [get('/v1/calls', {}, 'HEAD'), true],
    [get('/v1/calls', { Accept: 'text/csv' }), true],
    [get('/v1/calls/large-1'), true],
    [get('/v1/calls/large-1', gzip), true],
    [get('/v1/calls/large-1', {}, 'HEAD'), true],
    [get('/v1/changes'), true],
    [get('/v1/changes', events), true],
    [get('/v1/changes', { ...events, ...gzip }), true],
    [get('/v1/changes', events, 'HEAD'), true],
    [get('/v1/changes?after=999999999&wait=30'), false],
    [get('/v1/changes?after=999999999', events), false],
  ]
  await Promise.all([...left, ...left, ...left].map(([text, answered]) => sendAndLeave(text, answered)))
  const whole = await Promise.all([
    project.send('PUT', '/ingest/calls/whole', { callAnalysis: { text: 'y'.repeat(mib) } }),
    project.send('PUT', '/ingest/calls/whole', { unknown: Array(250_001).fill(1) }),
    source.send({ padding: half }),
    project.fetch('/ingest/otlp/v1/traces', {
      method: 'POST',
      body: gzipSync(Buffer.alloc(2 ** 25 + 1, ' ')),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    }),
    owned.fetch('/v1/calls'),
  ])
  expect(whole.map(({ status }) => status)).toEqual([201, 413, 200, 413, 200])
  for (const answer of whole) await answer.arrayBuffer()
  expect(totals().length).toBeGreaterThanOrEqual(4)
  await until(() => totals().every((total) => total === 0), 'Giving everything back')
})
