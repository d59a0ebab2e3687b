import { afterEach, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { freshFolder } from '../support/at-end.ts'
import { expectProblem } from '../support/problem.ts'
import { madeWav } from '../support/recordings.ts'
import { startService } from '../support/service.ts'
import { type SpawnedService, spawnService } from '../support/spawned.ts'
import { until } from '../support/until.ts'

const wav = madeWav()
const canMount = process.platform === 'linux' && process.getuid?.() === 0
const endings: (() => unknown)[] = []

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** A service in a process of its own, and a project of it. */
async function startedOn(dataDir: string) {
  const filling = await startService({ dataDir })
  const { key, ingestKey } = await filling.mintProject()
  await filling.stop()
  const service: SpawnedService = await spawnService({ DATA_DIR: dataDir })
  const send = (method: string, path: string, body?: BodyInit) =>
    fetch(service.url + path, {
      method,
      headers: {
        authorization: `Bearer ${path.startsWith('/ingest') ? ingestKey : key}`,
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    })
  return {
    service,
    put: (call: string) => send('PUT', `/ingest/calls/${call}`, JSON.stringify({ summary: call })),
    upload: (call: string) => send('PUT', `/ingest/calls/${call}/recording`, wav),
    read: async (path: string) => (await send('GET', path)).status,
    ready: () => fetch(`${service.url}/ready`),
    isReady: async () => (await fetch(`${service.url}/ready`)).status === 200,
  }
}

function freshPlaces() {
  const folder = freshFolder()
  const data = join(folder, 'data')
  mkdirSync(data)
  return { data, away: join(folder, 'away'), other: join(folder, 'other') }
}

type Started = Awaited<ReturnType<typeof startedOn>>

/** Neither a call nor a recording is acknowledged, and readiness says why. */
async function expectRefusal({ put, upload, ready, service }: Started): Promise<void> {
  for (const answer of [await upload('late'), await put('late'), await upload('c')]) {
    expect(answer.headers.get('retry-after')).not.toBeNull()
    await expectProblem(answer, 'unavailable')
  }
  const answer = await ready()
  expect([answer.status, (await answer.json()).detail]).toEqual([
    503,
    expect.stringContaining('has left its path'),
  ])
  const departures = () =>
    service.stderr().split('"msg":"The volume of DATA_DIR has left its path').length - 1
  await until(() => departures() > 0)
  expect(departures()).toBe(1)
}

async function expectService({ put, upload, read, isReady }: Started, call: string): Promise<void> {
  await until(isReady, 'Readiness')
  expect([(await put(call)).status, (await upload(call)).status]).toEqual([201, 201])
  expect(await read(`/v1/calls/${call}`)).toBe(200)
  expect(await read(`/v1/calls/${call}/recording`)).toBe(200)
}

test('a folder that was moved away is not made again, and service goes on once it is back', async () => {
  const { data, away } = freshPlaces()
  const started = await startedOn(data)
  await expectService(started, 'c')
  renameSync(data, away)
  await expectRefusal(started)
  // Reads go on from what is open.
  expect(await started.read('/v1/calls/c')).toBe(200)
  expect(existsSync(data)).toBe(false)
  renameSync(away, data)
  await expectService(started, 'd')
  expect(await started.read('/v1/calls/late')).toBe(404)
})

test.skipIf(!canMount)('nothing is written below the path that a volume has left', async () => {
  const { data, away } = freshPlaces()
  mkdirSync(away)
  // What an earlier start without the volume has left there.
  mkdirSync(join(data, 'recordings', 'incoming'), { recursive: true })
  const mount = () => Bun.spawnSync(['mount', '--bind', away, data])
  const unmount = () => Bun.spawnSync(['umount', '--lazy', data])
  mount()
  endings.push(unmount)
  const started = await startedOn(data)
  await expectService(started, 'c')
  unmount()
  await expectRefusal(started)
  expect(readdirSync(data, { recursive: true }).sort()).toEqual(['recordings', 'recordings/incoming'])
  mount()
  await expectService(started, 'd')
})

test('a volume of another number is opened anew if it has the same database, and not if it has another', async () => {
  const { data, away, other } = freshPlaces()
  const started = await startedOn(data)
  await expectService(started, 'c')
  const stranger = await startService({ dataDir: other })
  await stranger.stop()
  renameSync(data, away)
  renameSync(other, data)
  await expectRefusal(started)
  await Bun.sleep(1_500)
  await expectRefusal(started)
  cpSync(away, `${away}-copy`, { recursive: true })
  renameSync(data, other)
  renameSync(`${away}-copy`, data)
  await expectService(started, 'd')
  // Into the copy, which is what the path names now.
  await started.service.stop()
  const database = new Database(join(data, 'callbook.db'))
  expect(database.prepare("select id from calls where id = 'd'").pluck().all()).toEqual(['d'])
  database.close()
})

test('the folder of recordings may be a volume of its own', async () => {
  const { data, away } = freshPlaces()
  const started = await startedOn(data)
  await expectService(started, 'c')
  const recordings = join(data, 'recordings')
  renameSync(recordings, away)
  mkdirSync(join(recordings, 'incoming'), { recursive: true })
  await expectRefusal(started)
  await Bun.sleep(1_500)
  await expectRefusal(started)
  expect(readdirSync(join(recordings, 'incoming'))).toEqual([])
  renameSync(recordings, `${away}-bare`)
  renameSync(away, recordings)
  await expectService(started, 'd')
})

test('data that leaves again while it is opened anew is waited for, and no other is made', async () => {
  const { data, away } = freshPlaces()
  const started = await startedOn(data)
  await expectService(started, 'c')
  renameSync(data, away)
  await expectRefusal(started)
  renameSync(away, data)
  await until(() => started.service.stderr().includes('The volume of DATA_DIR is back'))
  renameSync(data, away)
  // Longer than it takes to open it.
  await Bun.sleep(3_000)
  // Whether it was open or not when the data left.
  expect((await fetch(`${started.service.url}/ready`)).status).toBe(503)
  expect(existsSync(join(data, 'callbook.db'))).toBe(false)
  renameSync(away, data)
  await expectService(started, 'd')
})
