import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Writer } from '../../src/db/writer.ts'
import { freshFolder } from '../support/at-end.ts'
import { expectProblem } from '../support/problem.ts'
import { runScript } from '../support/script.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** `restartDelayMsMin` of src/threads/thread.ts. */
const restartDelayMs = 100
let service: TestService
let project: TestProject
beforeEach(async () => {
  service = await startService({ env: { ERASE_WITHIN_MS: '1000' } })
  project = await service.mintProject()
})
afterEach(() => service.stop())

/** The thread that a write goes to. */
async function writerOf(write: () => Promise<unknown>): Promise<Worker> {
  let worker: Worker | undefined
  const post = Worker.prototype.postMessage
  const spy = spyOn(Worker.prototype, 'postMessage').mockImplementation(function (
    this: Worker,
    message,
    ...rest
  ) {
    if (message?.method === 'run' && message.args[0].method === 'batch') worker = this
    return post.call(this, message, ...rest)
  })
  await write()
  spy.mockRestore()
  if (!worker) throw new Error('No write was seen')
  return worker
}

/**
 * Ends the thread as a fault of its code does: by an uncaught error between two messages. `terminate` would end it within
 * a transaction, which no fault does, and leave its connection with the lock.
 */
async function crash(writer: Worker): Promise<void> {
  const ended = new Promise((resolve) => writer.once('exit', resolve))
  writer.postMessage(null)
  await ended
}

/** Timers of this delay wait until they are released, so that a slow machine cannot miss what happens meanwhile. */
function holdTimersOf(delayMs: number) {
  const start = setTimeout
  const held: (() => void)[] = []
  const spy = spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms?: number) => {
    if (ms !== delayMs) return start(run, ms)
    held.push(run)
    return start(() => undefined, ms)
  }) as typeof setTimeout)
  const release = () => {
    spy.mockRestore()
    expect(held.length).toBeGreaterThan(0)
    for (const run of held) run()
  }
  return { release }
}

function put(id: string) {
  return project.send('PUT', `/ingest/calls/${id}`, { summary: id })
}

describe('a writer whose thread ends', () => {
  test('answers current writes with 503, logs it, and restarts by itself', async () => {
    const writer = await writerOf(() => put('before'))
    const underWay = Array.from({ length: 20 }, (_, n) => put(`under-way-${n}`))
    await crash(writer)
    const answers = await Promise.all(underWay)
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([])
    expect(statuses).toContain(503)
    expect(service.logs.map(({ msg }) => msg)).toContain('The writer failed and is being restarted')
    expect(service.logs.map(({ msg }) => msg)).not.toContain('internal')

    await until(async () => (await put('after')).ok)
    await until(async () => (await fetch(`${service.url}/ready`)).ok)
    for (const [n, { status }] of answers.entries()) {
      const read = await project.fetch(`/v1/calls/under-way-${n}`)
      if (status === 201) expect(read.status).toBe(200)
    }
    // What deletes uses the same thread.
    expect((await project.fetch('/v1/calls/before', { method: 'DELETE' })).status).toBe(200)
    expect((await project.fetch('/v1/calls/before')).status).toBe(404)
  })

  test('is not ready meanwhile, and refuses writes at once', async () => {
    const writer = await writerOf(() => put('before'))
    const restarts = holdTimersOf(restartDelayMs)
    await crash(writer)
    const answer = await put('meanwhile')
    const ready = await fetch(`${service.url}/ready`)
    restarts.release()
    expect(answer.headers.get('retry-after')).toBe('1')
    await expectProblem(answer, 'unavailable')
    await expectProblem(ready, 'unavailable')
    expect((await project.fetch('/v1/calls/before')).status).toBe(200)
    await until(async () => (await put('after')).ok)
  })
})

test('a database that cannot be opened at all fails the start at once', async () => {
  const folder = freshFolder()
  mkdirSync(join(folder, 'callbook.db'))
  const writer = new Writer({ kind: 'file', url: `file:${join(folder, 'callbook.db')}` })
  const error = await writer.client.execute('select 1').catch((reason) => reason)
  expect(error).toBeInstanceOf(Error)
  await writer.close()
})

test('a database that another process has locked answers 503 and goes on once it is unlocked', async () => {
  const lock = runScript(
    `import Database from 'libsql'
     const db = new Database(process.argv.at(-1), { timeout: 10_000 })
     db.exec('begin immediate')
     console.log('holding')
     process.on('SIGTERM', () => { db.exec('rollback'); db.close(); process.exit(0) })
     await Bun.sleep(60000)`,
    join(service.dataDir, 'callbook.db'),
  )
  await lock.said('holding')
  const crowd = Promise.all(Array.from({ length: 50 }, (_, n) => put(`locked-${n}`)))
  const [written, read] = [put('locked'), project.fetch('/v1/calls')]
  expect((await read).status).toBe(200)
  const answer = await written
  // One after the other they would take minutes.
  expect(new Set((await crowd).map(({ status }) => status))).toEqual(new Set([503]))
  expect(answer.headers.get('retry-after')).toBe('1')
  await expectProblem(answer, 'unavailable')
  await lock.kill()
  await until(async () => (await put('locked')).ok)
})
