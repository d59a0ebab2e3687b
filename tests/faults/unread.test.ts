import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { freshFolder } from '../support/at-end.ts'
import { mintBeside } from '../support/beside.ts'
import { at } from '../support/node.ts'
import { spawnService } from '../support/process.ts'
import { head } from '../support/raw-http.ts'
import { skipped } from '../support/skipped.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const clients = 150
const callsOnPage = 1_000
/** A page is 8 MB, and so is a large call: more than sockets take. For all these clients that is more than a gigabyte. */
const summaryChars = 7_500
const largeChars = 8_300_000
const moreMbMax = 300
/** Each would hold 4 MB, but for what sockets take. */
const readersOfDocs = 500
const moreMbOfDocsMax = 100
/** Merging one large call takes several times its size. */
const moreMbOfChangesMax = 700

const folder = freshFolder()

const service = await spawnService({ DATA_DIR: folder })
const key = await mintBeside(folder)
const project = at(service, key)
const summary = 'x'.repeat(summaryChars)
for (let n = 0; n < callsOnPage; n += 50) {
  const some = Array.from({ length: 50 }, (_, i) => n + i)
  await Promise.all(some.map((id) => project.send('PUT', `/ingest/calls/call-${id}`, { summary })))
}
const large = { callAnalysis: { text: 'y'.repeat(largeChars) }, createdAt: '2020-01-01T00:00:00Z' }
const made = await project.send('PUT', '/ingest/calls/large', large)
expect([made.status, await made.text()]).toEqual([201, expect.any(String)])
for (let n = 0; n < 3; n++) await (await project.fetch('/v1/calls?limit=1000')).arrayBuffer()

if (process.platform !== 'linux') skipped('only Linux says what a process has open')
describe.skipIf(ofFilesOnly || process.platform !== 'linux')(
  'answers that clients request and do not read',
  () => {
    test('share one copy, and hold no file, if they are the script of /docs', async () => {
      await (await fetch(`${service.url}/docs/scalar.js`)).arrayBuffer()
      const before = residentMb()
      const unread = Array.from({ length: readersOfDocs }, () => askAndNotRead('GET /docs/scalar.js', null))
      for (let n = 0; n < 20; n++) {
        await isAnswering()
        expect(openFiles().filter((path) => path.endsWith('.js'))).toEqual([])
        await Bun.sleep(50)
      }
      expect(residentMb() - before).toBeLessThan(moreMbOfDocsMax)
      for (const socket of unread) socket.destroy()
    })

    test('use bounded memory and delay nobody, if they are pages', async () => {
      const before = residentMb()
      const unread = Array.from({ length: clients }, () => askAndNotRead('GET /v1/calls?limit=1000', null))
      for (let n = 0; n < 20; n++) {
        await isAnswering()
        expect(residentMb() - before).toBeLessThan(moreMbMax)
        await Bun.sleep(50)
      }
      const page = await project.fetch('/v1/calls?limit=1000')
      expect(((await page.json()) as { data: unknown[] }).data).toHaveLength(callsOnPage)
      for (const socket of unread) socket.destroy()
    })

    test.each<[string, string, object | null, number]>([
      ['large calls', 'GET /v1/calls/large', null, moreMbMax],
      ['pages with a large call', 'GET /v1/calls?offset=1000', null, moreMbMax],
      ['changes of a large call', 'PUT /ingest/calls/large', { isEngaged: true }, moreMbOfChangesMax],
    ])(
      'are 503 beyond the limit, if they are %s, until the clients have left',
      async (_, line, body, mbMax) => {
        const before = residentMb()
        const unread = Array.from({ length: clients }, () => askAndNotRead(line, body))
        for (let n = 0; n < 20; n++) {
          await isAnswering()
          expect(residentMb() - before).toBeLessThan(mbMax)
          await Bun.sleep(50)
        }
        const lines = await Promise.all(unread.map(firstLine))
        expect([...new Set(lines)].sort()).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 503 Service Unavailable'])
        await until(async () => {
          const answer = await project.fetch('/v1/calls/large')
          return (
            answer.ok &&
            ((await answer.json()) as { callAnalysis: { text: string } }).callAnalysis.text.length ===
              largeChars
          )
        }, 'Giving a large call')
        await until(async () => {
          const answer = await project.send('PUT', '/ingest/calls/large', { evaluation: line })
          return answer.ok && ((await answer.json()) as { evaluation: string }).evaluation === line
        }, 'Changing a large call')
      },
    )
  },
)

/** The beginning of the answer that waits; what is left of it is not taken. */
function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(bytes.toString('latin1').split('\r\n')[0] ?? '')
    })
    socket.resume()
  })
}

async function isAnswering(): Promise<void> {
  expect((await project.fetch('/v1/calls/call-1')).status).toBe(200)
  expect((await project.send('PUT', '/ingest/calls/call-1', { isEngaged: true })).status).toBe(200)
  expect((await fetch(`${service.url}/ready`)).status).toBe(200)
}

function askAndNotRead(line: string, body: object | null): Socket {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.pause()
  const bearer = line.includes(' /ingest/') ? key.ingestKey : key.key
  const text = body ? JSON.stringify(body) : ''
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(text.length) }
  socket.write(
    `${head(`${line} HTTP/1.1`, { Authorization: `Bearer ${bearer}`, ...(body ? headers : {}) })}${text}`,
  )
  return socket
}

/** What the service has open: paths, and what stands for sockets and pipes. */
function openFiles(): string[] {
  const folder = `/proc/${service.pid}/fd`
  return readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`)]
    } catch {
      // Closed meanwhile.
      return []
    }
  })
}

function residentMb(): number {
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024
}
