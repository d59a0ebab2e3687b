import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { expectProblem } from '../support/problem.ts'
import { head, opened } from '../support/raw-http.ts'
import { runScript } from '../support/script.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const slowMax = 1_200
/** More than the service takes on at once. */
const waitingMax = 1_100
const bodyBytesMax = 1_000_000
const service = await startService({ env: { BODY_MAX_BYTES: String(bodyBytesMax) } })
const project = await service.mintProject()
await project.send('PUT', '/ingest/calls/one', { summary: 'one' })

function putHead(id: string, bytes: number, { ingestKey } = project): string {
  return head(`PUT /ingest/calls/${id} HTTP/1.1`, {
    Authorization: `Bearer ${ingestKey}`,
    'Content-Type': 'application/json',
    'Content-Length': String(bytes),
  })
}

async function isAnswering(): Promise<void> {
  expect((await project.fetch('/v1/calls/one')).status).toBe(200)
  expect((await project.send('PUT', '/ingest/calls/one', { summary: 'one' })).status).toBe(200)
  expect((await fetch(`${service.url}/ready`)).status).toBe(200)
}

describe('slow clients do not keep others out', () => {
  const slow: [string, (n: number) => string][] = [
    ['that connect and send nothing', () => ''],
    ['that never end their headers', (n) => `GET /v1/calls HTTP/1.1\r\nHost: localhost\r\nX-Slow-${n}: `],
    ['that announce a large body and send one byte of it', (n) => `${putHead(`slow-${n}`, 900_000)}{`],
  ]
  test.each(slow)('%s', async (_, text) => {
    const held = await Promise.all(Array.from({ length: slowMax }, (_, n) => opened(service.url, text(n))))
    for (let round = 0; round < 5; round++) {
      for (const { socket } of held) socket.write(text(0) ? ' ' : '')
      await isAnswering()
    }
    for (const { socket } of held) socket.destroy()
    await isAnswering()
  })

  test('a body that arrives in small parts is accepted while other requests are answered', async () => {
    const body = JSON.stringify({ callAnalysis: { text: 'x'.repeat(600_000) } })
    const { socket, received } = await opened(service.url, putHead('drops', body.length))
    const step = Math.ceil(body.length / 40)
    for (let at = 0; at < body.length; at += step) {
      socket.write(body.slice(at, at + step))
      await isAnswering()
    }
    while (!received().includes('\r\n\r\n')) await Bun.sleep(5)
    expect(received()).toStartWith('HTTP/1.1 201 ')
    socket.destroy()
  })
})

describe('beyond the limits', () => {
  test('large bodies are 503 at once, and accepted again once the others are done', async () => {
    const bytes = 990_000
    const open = (_: unknown, n: number) =>
      opened(service.url, `${putHead(`held-${n}`, bytes)}${' '.repeat(bytes - 20)}`)
    const held = await Promise.all(Array.from({ length: 3 }, open))
    const body = JSON.stringify({ callAnalysis: { text: 'y'.repeat(800_000) } })
    const send = () => {
      const headers = { 'content-type': 'application/json' }
      return project.fetch('/ingest/calls/large', { method: 'PUT', headers, body })
    }
    // What was sent above arrives in its own time. On a slow machine the service gives up on a body before the last
    // has arrived, so that one is sent again.
    let refused = await send()
    while (refused.ok) {
      for (const [n, { socket }] of held.entries()) if (socket.destroyed) held[n] = await open(null, n)
      await Bun.sleep(10)
      refused = await send()
    }
    expect(refused.headers.get('retry-after')).toBe('1')
    await expectProblem(refused, 'unavailable')
    const text = 'y'.repeat(200_000)
    const query = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { text } } })
    const headers = { 'content-type': 'application/json' }
    const byProtocol = await project.fetch('/mcp', { method: 'POST', headers, body: query })
    expect([byProtocol.status, byProtocol.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await byProtocol.json()).error.code).toBe(-32_000)
    await isAnswering()
    for (const { socket } of held) socket.destroy()
    while (!(await send()).ok) await Bun.sleep(10)
  })

  describe('of one project', () => {
    let held: Awaited<ReturnType<typeof opened>>[] = []
    afterEach(() => {
      for (const { socket } of held.splice(0)) socket.destroy()
    })

    /** Bodies of which all but the end has been sent. */
    async function hold(by: TestProject, count: number): Promise<void> {
      for (const { socket } of held) socket.destroy()
      const text = `${putHead('held', 990_000, by)}${' '.repeat(989_980)}`
      held = await Promise.all(Array.from({ length: count }, () => opened(service.url, text)))
    }

    /** Whether the service takes a body of this size. */
    async function isTaken(by: TestProject, bytes: number): Promise<boolean> {
      const body = JSON.stringify({ summary: 'z' }).padEnd(bytes)
      const headers = { 'content-type': 'application/json' }
      const { status } = await by.fetch('/ingest/calls/whole', { method: 'PUT', headers, body })
      expect([200, 201, 503]).toContain(status)
      return status !== 503
    }

    test('large bodies leave room for those of another, and have half while it has some', async () => {
      const [busy, other] = [await service.mintProject(), await service.mintProject()]
      // The service gives up on a body that does not arrive, so on a slow machine they are sent again.
      await until(async () => {
        await hold(busy, 3)
        for (let tries = 0; tries < 20; tries++) if (!(await isTaken(busy, 500_000))) return true
        return false
      }, 'Filling the part of one project')
      await until(() => isTaken(other, 900_000), 'Room for another')
      await until(async () => {
        await hold(busy, 1)
        return await isTaken(busy, 900_000)
      }, 'Room in the half')
    })

    test('two bodies of the largest size are taken at once, also while another holds some', async () => {
      const [busy, other] = [await service.mintProject(), await service.mintProject()]
      await hold(busy, 1)
      const imports = await Promise.all([1, 2].map(() => isTaken(other, bodyBytesMax)))
      expect(imports).toEqual([true, true])
    })
  })

  test('requests are 503 with Retry-After, except health checks', async () => {
    const lock = runScript(
      `import Database from 'libsql'
       const db = new Database(process.argv.at(-1), { timeout: 10_000 })
       db.exec('begin immediate')
       console.log('holding')
       await Bun.sleep(60000)`,
      join(service.dataDir, 'callbook.db'),
    )
    await lock.said('holding')
    const held: Awaited<ReturnType<typeof opened>>[] = []
    // On a slow machine the first requests give up waiting for the lock before the last ones have arrived.
    const fill = async () => {
      const waiting = held.filter(({ received }) => received() === '').length
      const missing = Array.from({ length: waitingMax - waiting }, (_, n) =>
        opened(service.url, `${putHead(`locked-${held.length + n}`, 2)}{}`),
      )
      held.push(...(await Promise.all(missing)))
    }
    let refused: Response
    do {
      await fill()
      refused = await project.fetch('/v1/calls/one')
    } while (refused.ok)
    expect(refused.headers.get('retry-after')).toBe('1')
    await expectProblem(refused, 'unavailable')
    expect((await fetch(`${service.url}/health`)).status).toBe(200)
    await lock.kill()
    while (held.some(({ received }) => received() === '')) await Bun.sleep(10)
    const statuses = new Set(held.map(({ received }) => received().slice(9, 12)))
    expect([...statuses].filter((status) => status !== '201' && status !== '503')).toEqual([])
    for (const { socket } of held) socket.destroy()
    while (!(await project.fetch('/v1/calls/one')).ok) await Bun.sleep(10)
    await isAnswering()
  })

  test('searches and long texts are answered or 503, and none is lost', async () => {
    const text = 'Words that are cut up on a thread of their own. '.repeat(400)
    await project.send('POST', '/v1/knowledge', { name: 'Long', text })
    const searches = Array.from({ length: 600 }, (_, n) =>
      project.send('POST', '/v1/knowledge/search', { query: `cut up thread ${n}`, timeoutMs: 200 }),
    )
    const previews = Array.from({ length: 300 }, () =>
      project.send('POST', '/v1/knowledge/preview', { text }),
    )
    const statuses = (await Promise.all([...searches, ...previews])).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(statuses).toContain(200)
    expect(statuses).toContain(503)
    await isAnswering()
    expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
  })

  test('long texts are refused before they are read, and short ones are accepted', async () => {
    const { textThreads } = service.services
    Object.defineProperty(textThreads, 'isFull', { value: true, configurable: true })
    const refused = await project.fetch('/v1/knowledge', { method: 'POST', body: '{'.repeat(100_000) })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-request-id')).toBeTruthy()
    await expectProblem(refused, 'unavailable')
    expect((await project.send('POST', '/v1/knowledge', { name: 'Short', text: 'Short.' })).status).toBe(201)
    Reflect.deleteProperty(textThreads, 'isFull')
    const long = await project.send('POST', '/v1/knowledge', { name: 'Long', text: 'Long. '.repeat(4_000) })
    expect(long.status).toBe(201)
  })
})
