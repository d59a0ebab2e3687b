import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freshFolder } from '../support/at-end.ts'
import { at, foundByVector, type Reached } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import { childrenOf, repository, spawnService } from '../support/process.ts'
import { until } from '../support/until.ts'

const workers = 3
/** Requests that are spread over all workers, as good as certainly. */
const spread = 24

for (const mode of ['a file', 'a replica'] as const)
  describe(`several workers on ${mode}`, () => {
    test('serve one port, write, read their writes, and go on when the one that owns the folder is killed', async () => {
      const primary = mode === 'a replica' ? await startPrimary() : null
      const folder = freshFolder()
      const env: Record<string, string> = primary
        ? { DATABASE_SYNC_URL: primary.url, DATABASE_SYNC_INTERVAL_MS: '200' }
        : {}
      const service = await spawnService({ DATA_DIR: folder, ...env }, ['--workers', String(workers)])
      const key = /ck_live_[0-9a-f]{60}/.exec(service.banner)?.[0] ?? ''
      const project = onNewConnections(at(service, { key, ingestKey: '' }))
      await until(() => childrenOf(service).length === workers)
      await until(async () =>
        (await Promise.all(times(spread, () => project.fetch('/v1/calls')))).every((a) => a.ok),
      )

      await create(project, 'Parking')
      await untilAllFind(project, 'Parking')
      const [owner = 0] = childrenOf(service)
      process.kill(owner, 'SIGKILL')
      await until(async () => (await create(project, 'Breakfast').catch(() => 0)) === 201)
      await untilAllFind(project, 'Breakfast')
      await until(() => childrenOf(service).length === workers)
      expect(childrenOf(service)).not.toContain(owner)

      const children = childrenOf(service)
      // As systemd does, to the supervisor and its workers; and again while they close.
      for (let sent = 0; sent < 3; sent++) {
        for (const pid of [service.pid, ...children]) if (isAlive(pid)) process.kill(pid, 'SIGTERM')
        await Bun.sleep(20)
      }
      expect(await service.exited).toBe(0)
      for (const pid of children) expect(isAlive(pid)).toBe(false)
      await primary?.stop()
    })
  })

test('workers that are stopped while the first is still starting end as they should, and none is left', async () => {
  const folder = freshFolder()
  const env = { ...process.env, PORT: '0', LOG_FORMAT: 'json', DATA_DIR: folder }
  const service = Bun.spawn(['bun', 'src/main.ts', '--workers', String(workers)], {
    cwd: repository,
    env,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await until(() => childrenOf(service).length > 0)
  const children = childrenOf(service)
  service.kill('SIGTERM')
  expect(await service.exited).toBe(0)
  for (const pid of children) expect(isAlive(pid)).toBe(false)
})

test('a third SIGINT ends the supervisor and its workers at once', async () => {
  const folder = freshFolder()
  const service = await spawnService({ DATA_DIR: folder }, ['--workers', String(workers)])
  await until(() => childrenOf(service).length === workers)
  const children = childrenOf(service)
  // A request that never ends keeps a worker from closing by itself.
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const isUnderWay = once(socket, 'data')
  const key = /ck_live_[0-9a-f]{60}/.exec(service.banner)?.[0] ?? ''
  socket.write(
    'POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      `Authorization: Bearer ${key}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{`,
  )
  // A worker on a busy machine would close a connection of which it has read nothing.
  expect(String(await isUnderWay)).toStartWith('HTTP/1.1 100 ')
  // Signals that come close together may be taken for one.
  const ended = service.exited.then(() => true)
  while (!(await Promise.race([ended, Bun.sleep(100).then(() => false)]))) service.kill('SIGINT')
  expect(await service.exited).toBe(130)
  await until(() => !children.some(isAlive))
  socket.destroy()
})

/** A connection stays with the worker that took it. */
function onNewConnections({ fetch, send }: Reached): Reached {
  return { fetch: (path) => fetch(path, { headers: { connection: 'close' } }), send }
}

async function create(project: Reached, name: string): Promise<number> {
  const answer = await project.send('POST', '/v1/knowledge', { name, text: `All about ${name}.` })
  const { id }: { id: string } = await answer.json()
  if (answer.status === 201) {
    const reads = await Promise.all(times(spread, () => project.fetch(`/v1/knowledge/${id}`)))
    expect(reads.map(({ status }) => status)).toEqual(times(spread, () => 200))
  }
  return answer.status
}

async function untilAllFind(project: Reached, name: string): Promise<void> {
  await until(async () => {
    const found = await Promise.all(
      times(spread, () => foundByVector(project, `all about ${name}`).catch(() => null)),
    )
    return found.every((names) => names?.[0] === name)
  }, `Finding ${name}`)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function times<Value>(count: number, make: () => Value): Value[] {
  return Array.from({ length: count }, make)
}
