import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { setMeta } from '../../../src/db/meta.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { erasures } from '../../../src/db/schema.ts'
import { Follower, rebuildRequestName } from '../../../src/knowledge/indexing/follower.ts'
import { freshFolder } from '../../support/at-end.ts'
import { coreOver } from '../../support/core.ts'
import { projectsOf } from '../../support/projects.ts'
import { runScript } from '../../support/script.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Projects whose index was built anew since the service started. */
const rebuilt: number[] = []

const service = await startService({ env: { ERASE_WITHIN_MS: '1000' } })
const { index } = service.services
const { follow, rebuild } = index
/** Projects whose index was compared with their rows. */
const followed: number[] = []
index.follow = (projectId, version) => {
  followed.push(projectId)
  return follow.call(index, projectId, version)
}
index.rebuild = (projectId) => {
  rebuilt.push(projectId)
  return rebuild.call(index, projectId)
}

describe('what another process writes', () => {
  test('and leaves pending is embedded here and found by vector', async () => {
    const project = await service.mintProject()
    await byCommand(
      `await knowledge.store(projectId, { name: 'Import', text: 'Rows of another process.' })`,
      project,
    )
    await until(() => isFoundByVector(project, 'Rows of another process', 'Import'))
  })

  test('and has embedded itself is found by vector', async () => {
    const project = await service.mintProject()
    await create(project, 'Own', 'An item of this process.')
    await byCommand(
      `await knowledge.add(projectId, { name: 'Added', text: 'Embedded over there.' })`,
      project,
    )
    await until(() => isFoundByVector(project, 'Embedded over there', 'Added'))
    expect(await isFoundByVector(project, 'An item of this process', 'Own')).toBe(true)
  })

  test('and deletes is no longer found, and is erased here', async () => {
    const project = await service.mintProject()
    const id = await create(project, 'Gone', 'It goes in another process.')
    await create(project, 'Kept', 'It stays in this process.')
    await byCommand(`await knowledge.delete(projectId, '${id}')`, project)
    expect(await isFoundByVector(project, 'It stays in this process', 'Kept')).toBe(true)
    await until(async () => (await vectors(project)) === 1)
    await until(async () => {
      const open = await service.services.database.read
        .select()
        .from(erasures)
        .where(and(eq(erasures.projectId, project.projectId), isNull(erasures.doneAt)))
      return open.length === 0
    })
  })

  test('in a project that it has just made is found as well', async () => {
    const script = byCommand(
      `const made = await projects.create('made elsewhere')
       await knowledge.add(made.projectId, { name: 'New', text: 'Of a new project.' })
       const key = await keys.create(made.projectId, { name: 'k', kind: 'live', allowedIps: [], expiresAt: null })
       console.log('made ' + made.projectId + ' ' + key.key)`,
      { projectId: 0 },
    )
    const [, key = ''] = /made \d+ (\S+)/.exec(await script) ?? []
    const project = await service.mintProject()
    const made = { ...project, fetch: withKey(project, key) }
    await until(async () => (await isFoundByVector(made, 'Of a new project', 'New')) === true)
  })
})

test('a new project has no index to follow until it has knowledge', async () => {
  const [bare, other] = [await service.mintProject(), await service.mintProject()]
  await create(other, 'First', 'What is followed after both projects are known.')
  await until(() => followed.includes(other.projectId))
  expect(followed).not.toContain(bare.projectId)
})

describe('a request for a rebuild', () => {
  test('is carried out once by the process that owns the folder, and its row is deleted', async () => {
    const project = await service.mintProject()
    await create(project, 'Rebuilt', 'The index is built anew.')
    const { read, write } = service.services.database
    rebuilt.length = 0
    const name = rebuildRequestName(service.dataDir, project.projectId)
    await setMeta(write, name, 'now')
    await until(async () => {
      const rows = await read.all(sql`select 1 from meta where name = ${name}`)
      return rows.length === 0
    })
    expect(rebuilt).toEqual([project.projectId])
    expect(await isFoundByVector(project, 'The index is built anew', 'Rebuilt')).toBe(true)
  })
})

describe('a step that fails', () => {
  test('delays no other step, and is repeated with growing delays even without changes', async () => {
    const folder = freshFolder()
    const database = await openDatabase(join(folder, 'callbook.db'))
    const projects = projectsOf(database)
    const [bad, good] = [await projects.create('bad'), await projects.create('good')]
    const done: string[] = []
    let isBroken = true
    let failures = 0
    let erasuresAskedFor = 0
    const orFail = async (projectId: number, step: string) => {
      if (projectId === bad.projectId && isBroken) throw new Error(step)
      done.push(`${step} ${projectId}`)
    }
    const core = await coreOver(database, () => failures++)
    const follower = new Follower(core, {
      indexer: { wake: () => undefined },
      index: {
        follow: (projectId) => orFail(projectId, 'followed'),
        rebuild: (projectId) => orFail(projectId, 'rebuilt'),
        drop: async () => undefined,
      },
      erasure: { schedule: () => erasuresAskedFor++ },
      projectErasure: { schedule: () => undefined },
      erasureRequests: { schedule: () => undefined },
      questionChecks: { schedule: () => undefined },
      delayMs: 10,
    })
    await follower.start()
    for (const { projectId } of [bad, good]) {
      await setMeta(database.write, rebuildRequestName(core.config.dataDir, projectId), 'now')
      await database.write.run(
        sql`update projects set knowledge_version = knowledge_version + 1 where id = ${projectId}`,
      )
    }
    const isDone = (step: string, { projectId }: { projectId: number }) =>
      done.includes(`${step} ${projectId}`)
    await until(async () => isDone('followed', good) && isDone('rebuilt', good))
    await until(async () => failures >= 4)
    const asked = erasuresAskedFor
    await setMeta(database.write, 'news', '1')
    await until(async () => erasuresAskedFor > asked)

    failures = 0
    await Bun.sleep(500)
    // Each poll would make two.
    expect(failures).toBeLessThan(24)
    isBroken = false
    await until(async () => isDone('followed', bad) && isDone('rebuilt', bad))
    const requests = sql`select 1 from meta where name like ${`${rebuildRequestName(core.config.dataDir)}%`}`
    await until(async () => (await database.read.all(requests)).length === 0)
    expect(done).toHaveLength(4)
    await core.jobs.close()
    await database.close()
  })
})

test('a change whose read fails is followed by the next read, although nothing else changes', async () => {
  const folder = freshFolder()
  const database = await openDatabase(join(folder, 'callbook.db'))
  const { projectId } = await projectsOf(database).create('read again')
  const followed: number[] = []
  const failures: unknown[] = []
  let isBroken = false
  const read = new Proxy(database.read, {
    get(target, name) {
      if (isBroken && name === 'all') {
        isBroken = false
        throw new Error('broken on purpose')
      }
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const core = await coreOver({ ...database, read }, (error) => failures.push(error))
  const follower = new Follower(core, {
    indexer: { wake: () => undefined },
    index: {
      follow: async (id) => void followed.push(id),
      rebuild: async () => undefined,
      drop: async () => undefined,
    },
    erasure: { schedule: () => undefined },
    projectErasure: { schedule: () => undefined },
    erasureRequests: { schedule: () => undefined },
    questionChecks: { schedule: () => undefined },
    delayMs: 10,
  })
  await follower.start()
  isBroken = true
  await database.write.run(
    sql`update projects set knowledge_version = knowledge_version + 1 where id = ${projectId}`,
  )
  await until(() => followed.length > 0)
  expect(failures).toEqual([new Error('broken on purpose')])
  await core.close()
})

test('closing ends with the work that the index has started', async () => {
  const folder = freshFolder()
  const database = await openDatabase(join(folder, 'callbook.db'))
  const { projectId } = await projectsOf(database).create('filling')
  let isFollowing = false
  const failures: unknown[] = []
  // Filling an index takes minutes, and is ended by closing it.
  let closeIndex = (): void => undefined
  const follow = () => {
    isFollowing = true
    return new Promise<never>((_, reject) => {
      closeIndex = () => reject(new Error('The index is closed'))
    })
  }
  const core = await coreOver(database, (error) => failures.push(error))
  const follower = new Follower(core, {
    indexer: { wake: () => undefined },
    index: { follow, rebuild: follow, drop: async () => undefined },
    erasure: { schedule: () => undefined },
    projectErasure: { schedule: () => undefined },
    erasureRequests: { schedule: () => undefined },
    questionChecks: { schedule: () => undefined },
    delayMs: 10,
  })
  await follower.start()
  await database.write.run(
    sql`update projects set knowledge_version = knowledge_version + 1 where id = ${projectId}`,
  )
  await until(() => isFollowing)
  core.onClose(() => closeIndex())
  await core.close()
  expect(failures).toEqual([])
})

/** Runs a command's code in a process of its own, with the services of a command at hand. */
async function byCommand(code: string, { projectId }: { projectId: number }): Promise<string> {
  const script = runScript(
    `import pino from 'pino'
     import { loadConfig } from './src/config.ts'
     import { openServices } from './src/services/services.ts'
     const config = loadConfig({ DATA_DIR: process.argv.at(-2), INDEX_WAIT_MS: '10000' }, false)
     const projectId = Number(process.argv.at(-1))
     const services = await openServices({ config, log: pino({ level: 'silent' }), role: 'command' })
     const { knowledge, projects, keys } = services
     ${code}
     await services.close()`,
    service.dataDir,
    String(projectId),
  )
  return await script.ended
}

function withKey({ fetch }: TestProject, key: string): TestProject['fetch'] {
  return (path, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${key}`)
    return fetch(path, { ...init, headers })
  }
}

type Fetcher = Pick<TestProject, 'fetch'>

function postJson(project: Fetcher, path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return project.fetch(path, { method: 'POST', body: JSON.stringify(body), headers })
}

async function create(project: Fetcher, name: string, text: string): Promise<string> {
  const answer = await postJson(project, '/v1/knowledge', { name, text })
  expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'ready'])
  const { id }: { id: string } = await answer.json()
  return id
}

async function isFoundByVector(project: Fetcher, query: string, name: string): Promise<boolean> {
  const request = { query, mode: 'vector', timeoutMs: 5_000 }
  const answer = await postJson(project, '/v1/knowledge/search', request)
  const { mode, data }: { mode: string; data: { name: string }[] } = await answer.json()
  return mode === 'vector' && data[0]?.name === name
}

async function vectors({ projectId }: TestProject): Promise<number> {
  return (await service.services.index.reconcile(projectId)).vectors
}
