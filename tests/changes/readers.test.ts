import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { freshFolder } from '../support/at-end.ts'
import { mintBeside } from '../support/beside.ts'
import { at } from '../support/node.ts'
import { spawnService } from '../support/process.ts'
import { head, opened } from '../support/raw-http.ts'
import { skipped } from '../support/skipped.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

/** Half of them wait, which are more than the requests that are answered at once; the others stream. */
const readers = 2_200
const moreMbMax = 100
const unread = 150
/** Together more than sockets take. */
const callsUnread = 200
const summaryChars = 40_000
/** Whole backlogs would be 1,200 MB. What reading the slices leaves behind is collected within a second. */
const unreadMbMax = { atFirst: 250, held: 75 }
/** All of them together would hold more than a gigabyte. */
const largeChars = 8_300_000
const largeMbMax = 300

const folder = freshFolder()

const service = await spawnService({ DATA_DIR: folder, KEEP_ALIVE_SECONDS: '4' })
const key = await mintBeside(folder)
const project = at(service, key)

interface Reader {
  socket: Socket
  received: () => string
}

function wait(after: number): Promise<Reader> {
  return opened(service.url, head(`GET /v1/changes?after=${after}&wait=30 HTTP/1.1`, bearer()))
}

function stream(after: number): Promise<Reader> {
  const headers = { ...bearer(), Accept: 'text/event-stream' }
  return opened(service.url, head(`GET /v1/changes?after=${after} HTTP/1.1`, headers))
}

function bearer(): Record<string, string> {
  return { Authorization: `Bearer ${key.key}` }
}

/** The position of a reader that has read everything. */
async function end(): Promise<number> {
  for (let after = 0; ; ) {
    const page = await (await project.fetch(`/v1/changes?after=${after}&include=none&limit=1000`)).json()
    if (!page.hasMore) return page.next
    after = page.next
  }
}

/** On a connection of its own: one that was used before may be closed for its idleness at any moment. */
async function put(id: string, change: object = {}): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'PUT', body: JSON.stringify(change), headers, keepalive: false }
  const answer = await project.fetch(`/ingest/calls/${id}`, init)
  expect([id, answer.ok]).toEqual([id, true])
}

if (process.platform !== 'linux') skipped('only Linux says how long processes have run')
describe.skipIf(ofFilesOnly || process.platform !== 'linux')('readers that wait', () => {
  test('are no load, use little memory, and all hear of a change', async () => {
    await put('before')
    const after = await end()
    await Promise.all(Array.from({ length: 100 }, () => project.fetch('/v1/calls/before')))
    const before = residentMb()
    const all: Reader[] = []
    while (all.length < readers) {
      const some = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? wait(after) : stream(after)))
      all.push(...(await Promise.all(some)))
    }
    await until(async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      return metrics.includes(`callbook_waiting_readers ${readers}\n`)
    })
    expect(all.filter(({ received }) => received().includes('retry:'))).toHaveLength(readers / 2)
    expect((await project.fetch('/v1/calls/before')).status).toBe(200)
    expect(residentMb() - before).toBeLessThan((moreMbMax * readers) / 1_000)
    await put('heard-by-all')
    await until(() => all.every(({ received }) => received().includes('"id":"heard-by-all"')), 'Hearing')
    for (const { socket } of all) socket.destroy()
  })

  test('keep their connection although it is silent for longer than KEEP_ALIVE_SECONDS', async () => {
    const after = await end()
    const silent = [await wait(after), await stream(after)]
    await Bun.sleep(12_000)
    await put('after-silence')
    await until(() => silent.every(({ received }) => received().includes('"id":"after-silence"')), 'Hearing')
    for (const { socket } of silent) socket.destroy()
  })

  test('hold one slice of changes each while they do not read', async () => {
    const after = await end()
    for (let n = 0; n < callsUnread; n++) await put(`unread-${n}`, { summary: 'x'.repeat(summaryChars) })
    const before = residentMb()
    const all = await Promise.all(Array.from({ length: unread }, () => stream(after)))
    for (const { socket } of all) socket.pause()
    for (let n = 0; n < 20; n++) {
      expect((await project.fetch('/v1/calls/before')).status).toBe(200)
      expect(residentMb() - before).toBeLessThan(unreadMbMax.atFirst)
      await Bun.sleep(50)
    }
    await until(() => residentMb() - before < unreadMbMax.held, 'Holding one slice each')
    const [one] = all
    one?.socket.resume()
    await until(() => one?.received().includes(`"id":"unread-${callsUnread - 1}"`) ?? false, 'Reading on')
    for (const { socket } of all) socket.destroy()
  })

  test('share one limit if the calls are large, and go on once they read', async () => {
    const after = await end()
    for (let n = 0; n < 3; n++) await put(`large-${n}`, { callAnalysis: { text: 'y'.repeat(largeChars) } })
    const before = residentMb()
    const all = await Promise.all(Array.from({ length: unread }, () => stream(after)))
    for (const { socket } of all) socket.pause()
    for (let n = 0; n < 20; n++) {
      expect((await project.fetch('/v1/calls/before')).status).toBe(200)
      expect(residentMb() - before).toBeLessThan(largeMbMax)
      await Bun.sleep(50)
    }
    for (const { socket } of all) socket.destroy()
    const fresh = await stream(after)
    await until(() => fresh.received().length > 3 * largeChars, 'Reading on')
    fresh.socket.destroy()
  })

  test('are answered when the service ends, which they do not delay', async () => {
    const after = await end()
    const [waiting, streaming] = [await wait(after), await stream(after)]
    await until(() => streaming.received().includes('retry:'))
    await Bun.sleep(200)
    service.kill('SIGTERM')
    const seconds = await Promise.race([service.exited, Bun.sleep(5_000).then(() => 'too long')])
    expect(seconds).toBe(0)
    expect(waiting.received()).toContain(`{"data":[],"next":${after},"hasMore":false}`)
    // The chunk of length 0 ends an answer as it should.
    expect(streaming.received()).toEndWith('0\r\n\r\n')
  })
})

function residentMb(): number {
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024
}
