import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { loadConfig } from '../src/config.ts'
import { openServices } from '../src/services/services.ts'
import { freshFolder } from './support/at-end.ts'
import { openCommand } from './support/command.ts'
import { startFakeEmbeddings } from './support/fake-embeddings.ts'
import { spawnService } from './support/process.ts'
import { runScript } from './support/script.ts'
import { startService, type TestProject, type TestService } from './support/service.ts'
import { ofFilesOnly } from './support/test-mode.ts'
import { until } from './support/until.ts'

let dataDir: string

beforeEach(() => {
  dataDir = freshFolder()
})

afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

describe('closing', () => {
  test('leaves nothing that keeps the process alive, and logs no error', async () => {
    const script = runScript(
      `import pino from 'pino'
       import { loadConfig } from './src/config.ts'
       import { openServices } from './src/services/services.ts'
       const config = loadConfig({ DATA_DIR: process.argv.at(-1) }, false)
       const log = pino({ level: 'warn' }, { write: (line) => console.log(line) })
       const services = await openServices({ config, log, role: 'service' })
       await services.start()
       const { projectId } = await services.projects.create('closing')
       const { item } = await services.knowledge.add(projectId, { name: 'x', text: 'Some text.' })
       await services.search.search(projectId, { query: 'text', timeoutMs: 5_000 })
       await services.knowledge.delete(projectId, item.id)
       await services.knowledge.store(projectId, { name: 'y', text: 'Other text.' })
       services.indexer.wake(projectId)
       await services.close()
       console.log('closed')`,
      dataDir,
    )
    expect(await script.ended).toBe('closed\n')
  })

  test('saves the indexes and releases the folder', async () => {
    const service = await startService({ dataDir })
    expect(service.services.ownsFolder).toBe(true)
    const project = await service.mintProject()
    await create(project, 'Saved', 'In the file.')
    await service.services.index.reconcile(project.projectId)
    await service.stop()
    expect(existsSync(join(dataDir, 'indexes', `${project.projectId}.hnsw`))).toBe(true)
    const again = await startService({ dataDir })
    expect(again.services.ownsFolder).toBe(true)
    await again.stop()
    expect(problemsIn(service, again)).toEqual([])
  })

  test('ends requests that wait for a provider that does not answer', async () => {
    const fake = await startFakeEmbeddings()
    fake.always({ delayMs: 60_000 })
    const service = await startService({ dataDir, env: { EMBEDDING_ENDPOINT: fake.url } })
    const { projectId } = await service.mintProject()
    const adding = service.services.knowledge.add(projectId, { name: 'x', text: 'Never embedded.' })
    while (fake.requests.length === 0) await Bun.sleep(10)
    await service.stop()
    expect((await adding).isIndexed).toBe(false)
    await fake.stop()
  })
})

describe('a restart', () => {
  test('keeps keys, calls, knowledge and indexes', async () => {
    let service = await startService({ dataDir })
    const project = await service.mintProject()
    await project.send('PUT', '/ingest/calls/call-1', {
      summary: 'Kept',
      createdAt: '2026-01-31T09:30:00.000Z',
    })
    await create(project, 'Kept', 'This outlives a restart.')
    const read = (running: TestService) =>
      Promise.all(
        ['/v1/calls', '/v1/knowledge'].map((path) =>
          fetch(running.url + path, { headers: { authorization: `Bearer ${project.key}` } }).then((answer) =>
            answer.text(),
          ),
        ),
      )
    const before = await read(service)
    await service.stop()
    service = await startService({ dataDir })
    expect(await read(service)).toEqual(before)
    expect(await isFoundByVector(reach(service, project), 'This outlives a restart', 'Kept')).toBe(true)
    expect(problemsIn(service)).toEqual([])
    await service.stop()
  })

  for (const [name, damage] of Object.entries({
    'cut short': (path: string) => truncateSync(path, 1_000),
    'of one wrong byte': (path: string) => flipByte(path, 700),
    'of other bytes altogether': (path: string) => writeFileSync(path, 'x'.repeat(5_000)),
    empty: (path: string) => truncateSync(path, 0),
    missing: (path: string) => rmSync(path),
  }))
    test(`with an index file that is ${name} rebuilds it`, async () => {
      let service = await startService({ dataDir })
      const project = await service.mintProject()
      await create(project, 'Kept', 'Rows are the truth.')
      await create(project, 'Other', 'An index is a view of them.')
      await service.services.index.eraseDeleted(project.projectId)
      await service.stop()
      const path = join(dataDir, 'indexes', `${project.projectId}.hnsw`)
      damage(path)
      service = await startService({ dataDir })
      const after = reach(service, project)
      expect(await isFoundByVector(after, 'Rows are the truth', 'Kept')).toBe(true)
      expect(await isFoundByVector(after, 'An index is a view of them', 'Other')).toBe(true)
      await service.services.index.eraseDeleted(project.projectId)
      expect((await service.services.index.verify(project.projectId)).problem).toBeNull()
      await service.stop()
    })
})

describe('kill -9', () => {
  test('loses nothing that was acknowledged, and pending chunks are indexed after the restart', async () => {
    let running = await spawnService({ DATA_DIR: dataDir })
    const key = /ck_live_[0-9a-f]{60}/.exec(running.banner)?.[0] ?? ''
    const acknowledged: string[] = []
    const client = async (client: number) => {
      for (let n = 0; ; n++) {
        const name = `Item ${client} ${n}`
        const answer = await withKey(running.url, key).send('POST', '/v1/knowledge', {
          name,
          text: `Passage ${word(client, n)} of ${word(client, n)}.\n\n${'filler '.repeat(400)}`,
        })
        if (answer.status === 201) acknowledged.push(name)
      }
    }
    const clients = [1, 2, 3, 4].map((n) => client(n).catch(() => undefined))
    while (acknowledged.length < 60) await Bun.sleep(5)
    running.kill('SIGKILL')
    await running.exited
    await Promise.all(clients)
    running = await spawnService({ DATA_DIR: dataDir })
    const project = withKey(running.url, key)
    const list: { name: string }[] = await project.fetch('/v1/knowledge').then((answer) => answer.json())
    const names = new Set(list.map(({ name }) => name))
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([])
    await until(async () => (await fetch(`${running.url}/ready`)).ok)
    await until(() => isFoundByVector(project, `Passage ${word(2, 3)} of ${word(2, 3)}`, 'Item 2 3'))
    running.kill('SIGTERM')
    expect(await running.exited).toBe(0)
  })
})

describe('a chunk deleted while it is being embedded', () => {
  test('is not in the index afterwards', async () => {
    const fake = await startFakeEmbeddings()
    const env = { EMBEDDING_ENDPOINT: fake.url, INDEX_WAIT_MS: '50' }
    const service = await startService({ dataDir, env })
    const project = await service.mintProject()
    fake.always({ delayMs: 300 })
    const answer = await project.send('POST', '/v1/knowledge', { name: 'Gone', text: 'Deleted in time.' })
    const { id }: { id: string } = await answer.json()
    expect(answer.headers.get('callbook-index')).toBe('pending')
    expect((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
    await service.services.indexer.idle()
    fake.always(null)
    expect(await isFoundByVector(project, 'Deleted in time', 'Gone')).toBe(false)
    await service.services.index.eraseDeleted(project.projectId)
    const report = await service.services.index.verify(project.projectId)
    expect(report).toMatchObject({ problem: null, fileVectors: 0, rowVectors: 0, labelsWithoutRow: [] })
    await service.stop()
    await fake.stop()
  })
})

describe('two services on one folder', () => {
  test('serve the same data: one owns the folder, each finds and erases what the other stored', async () => {
    const owner = await startService({ dataDir, env: { ERASE_WITHIN_MS: '1000' } })
    const second = await startService({ dataDir, env: { ERASE_WITHIN_MS: '1000' } })
    expect([owner.services.ownsFolder, second.services.ownsFolder]).toEqual([true, false])
    const project = await owner.mintProject()
    const other = reach(second, project)
    await create(project, 'One', 'Sent to the owner.')
    const id = await create(other, 'Two', 'Sent to the second.')
    for (const reached of [project, other]) {
      await until(() => isFoundByVector(reached, 'Sent to the owner', 'One'))
      await until(() => isFoundByVector(reached, 'Sent to the second', 'Two'))
    }
    expect((await other.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
    for (const reached of [project, other]) {
      expect((await reached.fetch(`/v1/knowledge/${id}`)).status).toBe(404)
      expect(await isFoundByVector(reached, 'Sent to the second', 'Two')).toBe(false)
    }
    await until(async () => {
      const open = await owner.services.database.read.all('select 1 from erasures where done_at is null')
      return open.length === 0
    })
    await second.stop()
    await create(project, 'Three', 'The owner goes on alone.')
    expect(await isFoundByVector(project, 'The owner goes on alone', 'Three')).toBe(true)
    await owner.stop()
    expect(problemsIn(owner, second)).toEqual([])
  })
})

describe.skipIf(ofFilesOnly)('a step that fails is tried again and does not delay the others', () => {
  test('when a service takes the folder over', async () => {
    const owner = await startService({ dataDir, env: { ERASE_WITHIN_MS: '600000' } })
    const second = await startService({ dataDir, env: { ERASE_WITHIN_MS: '1000' } })
    const project = await owner.mintProject()
    await project.send('PUT', '/ingest/calls/c1', { summary: 'Its words are missing.' })
    const id = await create(project, 'Gone', 'Still to be erased.')
    expect((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
    const { services } = second
    const failed = [
      failOnce(services.index, 'takeFiles'),
      failOnce(services.index, 'eraseDeleted'),
      failOnce(services.indexer, 'endLeases'),
    ]
    await owner.stop()
    await services.database.write.run(
      'insert or replace into calls_without_words (seq, project_id) select seq, project_id from calls',
    )
    await until(async () => (await openWork(second)) === 0)
    await until(async () => failed.every((wasTriedAgain) => wasTriedAgain()))
    await second.stop()
  })

  test('when a service starts', async () => {
    const first = await startService({ dataDir, env: { ERASE_WITHIN_MS: '600000' } })
    const project = await first.mintProject()
    const id = await create(project, 'Gone', 'Still to be erased.')
    expect((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
    await first.stop()
    const services = await openServices({
      config: loadConfig({ DATA_DIR: dataDir, ERASE_WITHIN_MS: '1000' }, false),
      log: pino({ level: 'silent' }),
      role: 'service',
    })
    let fails = true
    const failed = [
      failOnce(services.indexer, 'endLeases'),
      failWhile(services.index, 'eraseDeleted', () => fails),
    ]
    await services.start()
    expect(await services.notReadyBecause()).toBe('Deletions from before the start are not erased yet.')
    fails = false
    await until(async () => (await services.notReadyBecause()) === null)
    expect(await openWork({ services })).toBe(0)
    await until(async () => failed.every((wasTriedAgain) => wasTriedAgain()))
    await services.close()
  })
})

describe.skipIf(ofFilesOnly)('a service', () => {
  test('is not ready before its start is finished', async () => {
    const services = await openServices({ config: config(), log: pino({ level: 'silent' }), role: 'service' })
    expect(await services.notReadyBecause()).toBe('Startup is not finished yet.')
    await services.start()
    expect(await services.notReadyBecause()).toBeNull()
    await services.close()
  })

  test('that cannot open its database says so and releases the folder', async () => {
    writeFileSync(join(dataDir, 'callbook.db'), 'This is no database. '.repeat(500))
    const opening = openServices({ config: config(), log: pino({ level: 'silent' }), role: 'service' })
    expect(String(await opening.catch((error) => error.cause ?? error))).toMatch(/not a database/)
    rmSync(join(dataDir, 'callbook.db'))
    const next = await startService({ dataDir })
    expect(next.services.ownsFolder).toBe(true)
    await next.stop()
  })

  test('that shares its folder with a command still owns it', async () => {
    const command = await openCommand(dataDir)
    expect(command.ownsFolder).toBe(false)
    const service = await startService({ dataDir })
    expect(service.services.ownsFolder).toBe(true)
    await command.close()
    await service.stop()
  })

  test('with the builtin embedder creates folders and files that only its user can read', async () => {
    const script = runScript(
      `process.umask(0o077)
       const { openServices } = await import('./src/services/services.ts')
       const { loadConfig } = await import('./src/config.ts')
       const pino = (await import('pino')).default
       const services = await openServices({
         config: loadConfig({ DATA_DIR: process.argv.at(-1) + '/new' }, false), log: pino({ level: 'silent' }), role: 'service' })
       await services.start()
       await services.close()
       const { statSync } = await import('node:fs')
       const modes = ['/new', '/new/indexes', '/new/callbook.db'].map((path) => statSync(process.argv.at(-1) + path).mode & 0o77)
       console.log(JSON.stringify(modes))`,
      dataDir,
    )
    expect(JSON.parse(await script.ended)).toEqual([0, 0, 0])
  })
})

function config() {
  return loadConfig({ DATA_DIR: dataDir }, false)
}

/** The same project, at another service. */
function reach(service: TestService, project: TestProject): Reached {
  return withKey(service.url, project.key)
}

function withKey(url: string, key: string): Reached {
  const call = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${key}`)
    return fetch(url + path, { ...init, headers })
  }
  return {
    fetch: call,
    send: (method, path, body) =>
      call(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }
}

type Reached = Pick<TestProject, 'fetch' | 'send'>

async function create(project: Reached, name: string, text: string): Promise<string> {
  const answer = await project.send('POST', '/v1/knowledge', { name, text })
  expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'ready'])
  const { id }: { id: string } = await answer.json()
  return id
}

async function isFoundByVector(project: Reached, query: string, name: string): Promise<boolean> {
  const request = { query, mode: 'vector', timeoutMs: 5_000 }
  const answer = await project.send('POST', '/v1/knowledge/search', request)
  const { mode, data }: { mode: string; data: { name: string }[] } = await answer.json()
  return mode === 'vector' && data[0]?.name === name
}

/** What a service logged as a warning or worse. */
function problemsIn(...services: TestService[]): unknown[] {
  return services.flatMap(({ logs }) => logs.filter(({ level }) => Number(level) >= 40))
}

/** Lets a method fail when it is called next. @returns whether it was called again since */
function failOnce<Target extends object>(target: Target, method: keyof Target & string): () => boolean {
  return failWhile(target, method, () => false)
}

/** At least the first call of the method fails. Returns whether it was called again and did not. */
function failWhile<Target extends object>(
  target: Target,
  method: keyof Target & string,
  fails: () => boolean,
): () => boolean {
  const original: unknown = Reflect.get(target, method)
  if (typeof original !== 'function') throw new Error(`${method} is no method`)
  let [failed, succeeded] = [0, 0]
  Reflect.set(target, method, async (...args: unknown[]) => {
    if (failed === 0 || fails()) {
      failed++
      throw new Error(`${method} failed`)
    }
    succeeded++
    return await Reflect.apply(original, target, args)
  })
  return () => succeeded > 0
}

/** How many deletions are still to be scrubbed, and how many calls to be indexed. */
async function openWork({ services }: Pick<TestService, 'services'>): Promise<number> {
  const open = await services.database.read.all(`
    select 1 from erasures where done_at is null union all select 1 from calls_without_words`)
  return open.length
}

/** A word of no other passage. */
function word(client: number, n: number): string {
  return createHash('sha256').update(`${client} ${n}`).digest('hex').slice(0, 12)
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  writeFileSync(path, bytes)
}
