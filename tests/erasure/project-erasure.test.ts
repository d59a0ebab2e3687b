import { describe, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { WordBacklog } from '../../src/calls/finding/word-backlog.ts'
import type { CallChange } from '../../src/calls/schemas.ts'
import { Ingest } from '../../src/calls/writing/ingest.ts'
import { findDamage } from '../../src/db/damage.ts'
import { type OpenDatabase, openDatabase } from '../../src/db/open.ts'
import { chunks, members, people } from '../../src/db/schema.ts'
import type { Store } from '../../src/db/store.ts'
import type { WriteDatabase } from '../../src/db/write-database.ts'
import { ProjectErasure } from '../../src/erasure/project-erasure.ts'
import type { Project } from '../../src/projects/projects.ts'
import { freshFolder } from '../support/at-end.ts'
import { asCommand } from '../support/command.ts'
import { coreOver } from '../support/core.ts'
import { failureOf } from '../support/failure.ts'
import { expectProblem } from '../support/problem.ts'
import { spawnService } from '../support/process.ts'
import { projectsOf } from '../support/projects.ts'
import { startService, type TestProject } from '../support/service.ts'
import {
  findTraces,
  newWord,
  type Trace,
  tracesOfVector,
  tracesOfWord,
  untilInFiles,
} from '../support/traces.ts'
import { until } from '../support/until.ts'

const service = await startService()

describe('a deleted project', () => {
  test('is unreachable as soon as that is answered', async () => {
    const project = await service.mintProject()
    await fill(project)
    const { projects } = service.services
    expect(await projects.delete(project.projectId)).toEqual({ id: project.id, deleted: true })
    await expectProblem(await project.fetch('/v1/calls'), 'invalid_api_key', 'Invalid API key')
    await expectProblem(
      await project.send('PUT', '/ingest/calls/late', { summary: 'late' }),
      'invalid_api_key',
      'Invalid API key',
    )
    expect((await projects.list()).some(({ id }) => id === project.id)).toBe(false)
    for (const name of [project.id, project.name])
      expect(await failureOf(projects.find(name))).toMatchObject({ code: 'not_found', title: 'Not found' })
    const { projectId } = project
    for (const attempt of [() => projects.rename(projectId, 'again'), () => projects.delete(projectId)])
      expect(await failureOf(attempt())).toMatchObject({ code: 'not_found', title: 'Not found' })
  })

  test('frees its name at once', async () => {
    const { projects } = service.services
    const project = await service.mintProject()
    await projects.delete(project.projectId)
    const next = await projects.create(project.name)
    expect(next.projectId).toBeGreaterThan(project.projectId)
    expect((await projects.find(project.name)).id).toBe(next.id)
  })

  test('leaves no row, no table and no file', async () => {
    const project = await service.mintProject()
    await fill(project)
    await service.services.index.eraseDeleted(project.projectId)
    const file = join(service.dataDir, 'indexes', `${project.projectId}.hnsw`)
    expect(existsSync(file)).toBe(true)
    expect(await rowsOf(project.projectId)).not.toEqual([])
    await service.services.projects.delete(project.projectId)
    await removed(project.projectId)
    expect(await rowsOf(project.projectId)).toEqual([])
    expect(existsSync(file)).toBe(false)
    const states = await service.services.index.states()
    expect(states.some(({ projectId }) => projectId === project.projectId)).toBe(false)
  })

  test('leaves no byte in any file, and other projects keep everything', async () => {
    const [gone, kept] = [await service.mintProject(), await service.mintProject()]
    const traces = await fill(gone)
    const keptTraces = await fill(kept)
    await service.services.index.eraseDeleted(gone.projectId)
    await service.services.index.eraseDeleted(kept.projectId)
    await untilInFiles(service.dataDir, traces)
    // One of its items is being erased when the project goes.
    const [first] = await (await gone.fetch('/v1/knowledge')).json()
    await gone.fetch(`/v1/knowledge/${first.id}`, { method: 'DELETE' })

    await service.services.projects.delete(gone.projectId)
    await removed(gone.projectId)
    expect(await findTraces(service.dataDir, traces)).toEqual([])
    await untilInFiles(service.dataDir, keptTraces)
    expect((await (await kept.fetch('/v1/calls')).json()).pagination.total).toBe(8)
    const found = await kept.send('POST', '/v1/knowledge/search', { query: 'filler', mode: 'vector' })
    expect((await found.json()).data.length).toBeGreaterThan(0)
    expect(service.logs.filter(({ msg }) => /failed/i.test(String(msg)))).toEqual([])
  })

  test('leaves a receipt that says nothing of it', async () => {
    const project = await service.mintProject()
    await service.services.projects.delete(project.projectId)
    await removed(project.projectId)
    const [row] = await service.services.database.read.all(
      sql`select * from project_erasures where project_id = ${project.projectId}`,
    )
    expect(row).toEqual({
      project_id: project.projectId,
      id_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      requested_at: expect.any(Number),
      done_at: expect.any(Number),
    })
  })

  test('leaves an audit event with its keyed hash and who deleted it, and nothing else', async () => {
    const project = await service.mintProject()
    const { read, write } = service.services.database
    const createdAt = new Date(0)
    await write
      .insert(people)
      .values({ id: 'p1', name: 'Ada', email: 'a@b.c', createdAt, updatedAt: createdAt })
    await write
      .insert(members)
      .values({ projectId: project.projectId, personId: 'p1', role: 'owner', createdAt: 0 })
    const by = { actor: { id: 'p1', name: 'Ada' }, address: '10.0.0.1' }
    await service.services.projects.rename(project.projectId, `renamed ${project.name}`, by)
    await service.services.projects.delete(project.projectId, { by })
    await removed(project.projectId)
    const rows = await read.all(sql`
      select audit_events.project_id, action, actor_id, ip_address, target = id_hash as is_hash
      from audit_events join project_erasures on project_erasures.project_id = ${project.projectId}
      where audit_events.project_id = ${project.projectId} or actor_name = 'Ada'`)
    expect(rows).toEqual([
      { project_id: null, action: 'project_deleted', actor_id: 'p1', ip_address: '10.0.0.1', is_hash: 1 },
    ])
  })

  test('includes what is written to it during its deletion, while other projects can still write', async () => {
    const [gone, other] = [await service.mintProject(), await service.mintProject()]
    await fill(gone)
    let isDone = false
    const statuses = new Map<string, Set<number>>()
    const repeat = async (name: string, send: (n: number) => Promise<Response>) => {
      for (let n = 0; !isDone; n++) {
        const answer = await send(n)
        await answer.arrayBuffer()
        statuses.set(name, (statuses.get(name) ?? new Set()).add(answer.status))
        await Bun.sleep(5)
      }
    }
    const item = (n: number) => ({ name: `Item ${n}`, text: `Text ${n}. `.repeat(400) })
    const load = [
      ...[1, 2, 3].map((at) =>
        repeat('gone', (n) => gone.send('PUT', `/ingest/calls/late-${at}-${n}`, { summary: 'late' })),
      ),
      repeat('gone', (n) => gone.send('POST', '/v1/knowledge', item(n))),
      repeat('gone', (n) => gone.send('POST', '/v1/knowledge/search', { query: `filler ${n}` })),
      repeat('other', (n) => other.send('PUT', `/ingest/calls/call-${n}`, { summary: 'fine' })),
      repeat('other', (n) => other.send('POST', '/v1/knowledge', item(n))),
      repeat('other', (n) => other.send('POST', '/v1/knowledge/search', { query: `filler ${n}` })),
    ]
    await Bun.sleep(300)
    await service.services.projects.delete(gone.projectId)
    await removed(gone.projectId)
    isDone = true
    await Promise.all(load)
    expect(await rowsOf(gone.projectId)).toEqual([])
    for (const status of statuses.get('gone') ?? []) expect([200, 201, 401, 503]).toContain(status)
    expect(statuses.get('gone')).toContain(401)
    for (const status of statuses.get('other') ?? []) expect([200, 201]).toContain(status)
    expect(service.logs.filter(({ msg }) => /failed/i.test(String(msg)))).toEqual([])
  })

  test('is not touched by any background job', async () => {
    const project = await service.mintProject()
    const { write } = service.services.database
    await fill(project)
    await write.run(sql`
      update chunks set embedding = null, embedding_space = null, attempts = 1, last_error = 'x', next_attempt_at = 0
      where project_id = ${project.projectId}`)
    await service.services.projects.delete(project.projectId)
    service.services.indexer.wake(project.projectId)
    await removed(project.projectId)
    await Bun.sleep(1_200)
    expect(await rowsOf(project.projectId)).toEqual([])
    expect(service.logs.filter(({ msg }) => /failed/i.test(String(msg)))).toEqual([])
  })

  test('deleted by a command is erased by the service that owns the folder', async () => {
    const project = await service.mintProject()
    const traces = await fill(project)
    await asCommand(service.dataDir, ({ projects }) => projects.delete(project.projectId))
    await expectProblem(await project.fetch('/v1/calls'), 'invalid_api_key', 'Invalid API key')
    await removed(project.projectId)
    expect(await rowsOf(project.projectId)).toEqual([])
    expect(await findTraces(service.dataDir, traces)).toEqual([])
  })
})

describe('kill -9', () => {
  test('during the erasure: the project stays gone, and nothing is left after the next start', async () => {
    let running = await spawnService()
    const { dataDir } = running
    const read = (key: string) =>
      fetch(`${running.url}/v1/calls`, { headers: { authorization: `Bearer ${key}` } })
    try {
      const kept = await fillByCommand(dataDir, 'kept')
      for (const waitMs of [0, 1_100]) {
        const gone = await fillByCommand(dataDir, `gone ${waitMs}`)
        expect((await read(gone.key)).status).toBe(200)
        await asCommand(dataDir, ({ projects }) => projects.delete(gone.projectId))
        await Bun.sleep(waitMs)
        running.kill('SIGKILL')
        await running.exited
        running = await spawnService({ DATA_DIR: dataDir })
        expect((await read(gone.key)).status).toBe(401)
        await asCommand(dataDir, ({ database }) =>
          until(async () => {
            const open = await database.read.all(sql`select 1 from project_erasures where done_at is null`)
            return open.length === 0
          }),
        )
        expect(await findTraces(dataDir, gone.traces)).toEqual([])
        expect((await (await read(kept.key)).json()).pagination.total).toBe(60)
      }
    } finally {
      running.kill('SIGKILL')
      await running.exited
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

describe('erasing a deleted project', () => {
  test('that ends before any of its writes is finished by the next run, also on a new connection', async () => {
    let interruptions = 0
    for (let writesMax = 0; ; writesMax++) {
      const folder = freshFolder()
      const file = join(folder, 'callbook.db')
      let database = await openDatabase(file)
      const { projectId } = await fillDatabase(database)
      await projectsOf(database).delete(projectId)
      const cut = { ...database, writeWhenFull: withPowerCut(database.writeWhenFull, writesMax) }
      const failure = await (await await erasureOf(cut)).finish().catch((error) => error)
      await database.close()
      // A service does not start on a damaged file.
      expect(findDamage(file)).toBeNull()
      database = await openDatabase(file)
      await (await erasureOf(database)).finish()
      expect(await rowsOf(projectId, database)).toEqual([])
      expect(await database.read.all(sql`select 1 from project_erasures where done_at is null`)).toEqual([])
      await database.close()
      if (!(failure instanceof Error)) break
      expect(failure.message).toBe('power cut')
      interruptions++
    }
    expect(interruptions).toBeGreaterThanOrEqual(6)
  })

  test('that is closed during a read stays open without a failure, and the next run finishes it', async () => {
    const folder = freshFolder()
    const database = await openDatabase(join(folder, 'callbook.db'))
    const { projectId } = await fillDatabase(database)
    await projectsOf(database).delete(projectId)
    let tries = 0
    const emptyLog = async () => {
      tries++
      return false
    }
    const closed = await erasureOf({ ...database, emptyLog })
    closed.schedule()
    await until(async () => tries > 0)
    await closed.close()
    const selectOpen = sql`select project_id as projectId from project_erasures where done_at is null`
    expect(await database.read.all<unknown>(selectOpen)).toEqual([{ projectId }])
    await (await erasureOf(database)).finish()
    expect(await database.read.all(selectOpen)).toEqual([])
    await database.close()
  })

  test('deletes rows in small slices, however many there are', async () => {
    const folder = freshFolder()
    const database = await openDatabase(join(folder, 'callbook.db'))
    const { projectId } = await fillDatabase(database, 900)
    await projectsOf(database).delete(projectId)
    let done = false
    const erasing = (await erasureOf(database)).finish().finally(() => {
      done = true
    })
    const counts = new Set<number>()
    while (!done) {
      const [row] = await database.read.all<{ n: number }>(
        sql`select count(*) as n from calls where project_id = ${projectId}`,
      )
      counts.add(row?.n ?? 0)
      await Bun.sleep(1)
    }
    await erasing
    expect(await rowsOf(projectId, database)).toEqual([])
    expect(counts.size).toBeGreaterThan(3)
    await database.close()
  })
})

/** Fails before the write that would be one too many. */
function withPowerCut(write: WriteDatabase, writesMax: number): WriteDatabase {
  let writes = 0
  return new Proxy(write, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'run' && name !== 'batch' && name !== 'all') return value
      return (...args: unknown[]) => {
        if (++writes > writesMax) throw new Error('power cut')
        return Reflect.apply(value, target, args)
      }
    },
  })
}

async function erasureOf(database: OpenDatabase) {
  // What fails rejects the run that the test waits for.
  const core = await coreOver(database, () => undefined)
  const erasure = new ProjectErasure(core, {
    erasure: { idle: async () => undefined },
    index: { drop: async () => undefined },
    removedFiles: { erase: async () => undefined },
  })
  return Object.assign(erasure, { close: () => core.jobs.close() })
}

/** A project with calls and their words, beside another. */
async function fillDatabase(database: OpenDatabase, count = 20): Promise<Project> {
  const projects = projectsOf(database)
  const [project, other] = [await projects.create('gone'), await projects.create('kept')]
  const core = await coreOver(database, (error) => {
    throw error
  })
  const wordBacklog = new WordBacklog(core)
  const ingest = new Ingest(core, { wordBacklog, analysisDelayMs: null, prices: null })
  for (const { projectId } of [project, other]) {
    const inputs = Array.from({ length: count }, (_, n) => ({ id: `c${n}`, change: { summary: `word${n}` } }))
    await ingest.putAll(projectId, inputs)
  }
  await wordBacklog.finish()
  return project
}

/** A project with 60 calls and 10 items of words that are nowhere else, and a key that reads it. */
async function fillByCommand(dataDir: string, name: string) {
  const word = newWord()
  const made = await asCommand(dataDir, async ({ projects, keys, ingest, knowledge }) => {
    const { projectId } = await projects.create(name)
    const { key } = await keys.create(projectId, { name: 'k', kind: 'live', allowedIps: [], expiresAt: null })
    const change: CallChange = {
      summary: word,
      transcript: [{ role: 'user', content: `${word} `.repeat(500) }],
    }
    await ingest.putAll(
      projectId,
      Array.from({ length: 60 }, (_, n) => ({ id: `${word}-${n}`, change })),
    )
    for (let n = 0; n < 10; n++)
      await knowledge.store(projectId, { name: word, text: `On ${word}. `.repeat(300) })
    return { projectId, key }
  })
  return { ...made, traces: tracesOfWord(word) }
}

/** Calls and items whose words are nowhere else. */
async function fill(project: TestProject): Promise<Trace[]> {
  const words = Array.from({ length: 4 }, newWord)
  for (let n = 0; n < 8; n++) {
    const answer = await project.send('PUT', `/ingest/calls/${words[0]}-${n}`, {
      status: 'completed',
      summary: `The ${words[1]} was booked`,
      callerNumber: `+${n}555729405${n}`,
      metadata: { note: words[2] },
      transcript: [{ role: 'user', content: `${words[3]} `.repeat(300) }],
    })
    expect(answer.status).toBe(201)
  }
  const { database, wordBacklog } = service.services
  await wordBacklog.finish()
  const traces = await addItems(project)
  const rows = await database.read
    .select({ label: chunks.label, embedding: chunks.embedding })
    .from(chunks)
    .where(sql`project_id = ${project.projectId}`)
  const vectors = rows.flatMap(({ label, embedding }) =>
    tracesOfVector(`vector ${label}`, new Uint8Array(embedding ?? [])),
  )
  expect(vectors.length).toBeGreaterThan(0)
  return [
    ...words.flatMap(tracesOfWord),
    ...traces,
    ...vectors,
    { name: 'id of the project', bytes: Buffer.from(project.id) },
    { name: 'name of the project', bytes: Buffer.from(project.name) },
    { name: 'id of the key', bytes: Buffer.from(project.keyId) },
  ]
}

async function addItems(project: Pick<TestProject, 'send'>, count = 3): Promise<Trace[]> {
  const traces: Trace[] = []
  for (let n = 0; n < count; n++) {
    const [name, word] = [newWord(), newWord()]
    const text = `## On ${word}\n\n${'filler words of an item '.repeat(80)}\n\n## More\n\n${word} again.`
    const answer = await project.send('POST', '/v1/knowledge', { name, text })
    expect(answer.status).toBe(201)
    const { id } = await answer.json()
    traces.push(...tracesOfWord(name), ...tracesOfWord(word), { name: `id ${id}`, bytes: Buffer.from(id) })
  }
  return traces
}

/** Every row and table that is still the project's, as `table: rows`. */
async function rowsOf(projectId: number, { read }: Store = service.services.database): Promise<string[]> {
  const tables = await read.all<{ name: string }>(sql`
    select m.name as name from sqlite_master m join pragma_table_info(m.name) c on c.name = 'project_id'
    where m.type = 'table' and m.name <> 'project_erasures'`)
  expect(tables.length).toBeGreaterThanOrEqual(7)
  const left: string[] = []
  for (const { name } of tables) {
    const rows = await read.all(sql`select 1 from ${sql.raw(name)} where project_id = ${projectId}`)
    if (rows.length > 0) left.push(`${name}: ${rows.length}`)
  }
  const project = await read.all(sql`select 1 from projects where id = ${projectId}`)
  const orphans = await read.all(sql`
    select 1 from call_documents where seq not in (select seq from calls) union all
    select 1 from call_details where seq not in (select seq from calls)`)
  const words = await read.all(sql`select 1 from sqlite_master where name like ${`%_words_${projectId}%`}`)
  if (project.length + orphans.length + words.length > 0) left.push('projects, documents or word tables')
  return left
}

async function removed(projectId: number): Promise<void> {
  const { read } = service.services.database
  await until(async () => {
    const rows = await read.all(
      sql`select 1 from project_erasures where project_id = ${projectId} and done_at is not null`,
    )
    return rows.length === 1
  })
}
