import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { eq, sql } from 'drizzle-orm'
import { chunks, knowledgeItems } from '../../../src/db/schema.ts'
import type { StoreOf } from '../../../src/db/store.ts'
import { ProjectStores } from '../../../src/db/store.ts'
import { embeddedText } from '../../../src/knowledge/chunking/chunk.ts'
import { toChunkRows } from '../../../src/knowledge/chunking/chunk-rows.ts'
import { createBuiltinEmbedder } from '../../../src/knowledge/embedding/builtin.ts'
import { type Embedder, EmbeddingError } from '../../../src/knowledge/embedding/embedder.ts'
import { RemoteEmbedder } from '../../../src/knowledge/embedding/remote.ts'
import { Indexer } from '../../../src/knowledge/indexing/indexer.ts'
import { Knowledge } from '../../../src/knowledge/knowledge.ts'
import { stemOf } from '../../../src/text/words.ts'
import { freshFolder } from '../../support/at-end.ts'
import { chunksWith } from '../../support/chunk-words.ts'
import { coreLike, coreOver } from '../../support/core.ts'
import { openFreshDatabase } from '../../support/database.ts'
import {
  type FakeEmbeddings,
  fakeVector,
  type Misbehaviour,
  startFakeEmbeddings,
} from '../../support/fake-embeddings.ts'
import { logTo, noFailures } from '../../support/part-log.ts'
import { projectsOf } from '../../support/projects.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { findTraces, tracesOfVector } from '../../support/traces.ts'
import { until } from '../../support/until.ts'

const text = paragraphs(3)
const { database } = await openFreshDatabase()
const core = await coreOver(database, () => undefined)
let fake: FakeEmbeddings

beforeEach(async () => {
  fake = await startFakeEmbeddings()
})

afterEach(() => fake.stop())

describe('a provider that answers with', () => {
  const misbehaviours: Record<string, Misbehaviour> = {
    '429 and Retry-After': { status: 429, headers: { 'retry-after': '0.1' } },
    '503 while it loads the model': { status: 503, body: { error: 'Model is loading', estimated_time: 0.1 } },
    '500': { status: 500 },
    '401': { status: 401 },
    '404': { status: 404 },
    '413 for whatever it is sent': { status: 413 },
    'nothing, for too long': { delayMs: 1_000 },
    'a closed connection': { cut: 'before' },
    'half an answer': { cut: 'middle' },
    'half an answer, and then nothing': { cut: 'stall' },
    'vectors of another dimension': { dimensions: 100 },
    'a vector too many': { extra: 1 },
    'a vector too few': { extra: -1 },
    'an entry that is not a number': { entry: 'NaN' },
    'an entry that is null': { entry: 'null' },
    'an entry beyond every number': { entry: '1e999' },
    'an entry that is a text': { entry: '"0.5"' },
    'a vector of zeros': { zero: true },
    'a web page': { html: true },
    'a list of nothing': { body: [] },
    'a redirect': { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
  }
  for (const [name, misbehaviour] of Object.entries(misbehaviours))
    test(`${name} leaves the item stored and pending, and indexes it correctly once the provider recovers`, async () => {
      const { add, indexer, projectId, wait, failures } = await build({ embedder: huggingFace() })
      fake.always(misbehaviour)
      const { item, isIndexed } = await add(text)
      expect(isIndexed).toBe(false)
      expect(item.text).toBe(text)
      expect(failures.length).toBeGreaterThan(0)
      for (const row of await rowsOf(projectId)) {
        expect(row.embedding).toBeNull()
        expect(row.embeddingSpace).toBeNull()
        expect(row.attempts).toBe(1)
        expect(row.lastError).toMatch(/^The embedding provider /)
        expect(row.lastError).not.toContain('sentence')
      }
      expect(await keywordCount(projectId, 'sentence')).toBeGreaterThan(0)

      fake.always(null)
      await Bun.sleep(120)
      // A try may come too late on a busy machine, and is then made again.
      await until(async () => {
        await wait(400_000)
        await indexer.idle()
        return (await rowsOf(projectId)).every(({ embedding }) => embedding !== null)
      })
      await expectRightVectors(projectId)
    })
})

describe('pending chunks', () => {
  test('are tried again after a wait that doubles, up to five minutes', async () => {
    const { add, indexer, projectId, clock, failures } = await build({ embedder: failing() })
    await add('one passage')
    const waits = []
    for (let attempt = 1; attempt <= 11; attempt++) {
      const [row] = await rowsOf(projectId)
      expect(row?.attempts).toBe(attempt)
      waits.push(((row?.nextAttemptAt ?? 0) - clock.now) / 1_000)
      clock.now = row?.nextAttemptAt ?? 0
      indexer.wake(projectId)
      await indexer.idle()
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    expect(failures.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
  })

  test('wait as long as the provider asks for', async () => {
    const { add, projectId, clock } = await build({ embedder: failing(90_000) })
    await add('one passage')
    const [row] = await rowsOf(projectId)
    expect(row?.nextAttemptAt).toBe(clock.now + 90_000)
  })

  test('are not tried before their time', async () => {
    const { add, indexer, projectId, clock, failures } = await build({ embedder: failing(90_000) })
    await add('one passage')
    clock.now += 89_999
    indexer.wake(projectId)
    await indexer.idle()
    expect(failures.length).toBe(1)
  })

  test('are embedded by a timer of their own when their time comes', async () => {
    let isDown = true
    const embedder = wrap((texts) => {
      if (isDown) throw new EmbeddingError('The provider is down')
      return texts
    })
    const { add, projectId, indexer } = await build({ embedder, now: Date.now, random: () => 0 })
    expect((await add('one passage')).isIndexed).toBe(false)
    isDown = false
    await until(async () => (await rowsOf(projectId)).every((row) => row.embedding !== null))
    await indexer.close()
  })

  test('are found and embedded by another process, or after a restart', async () => {
    const first = await build({ embedder: failing() })
    await first.add(text)
    await first.indexer.close()
    const second = await build({ embedder: wrap(), projectId: first.projectId })
    await second.wait(10_000)
    await second.indexer.idle()
    expect((await rowsOf(first.projectId)).every((row) => row.embedding !== null && row.attempts === 0)).toBe(
      true,
    )
  })

  test('of other texts are embedded although one bad text keeps failing', async () => {
    const embedder = wrap((texts) => {
      if (texts.some((text) => text.includes('poison')))
        throw new EmbeddingError('One text is refused', { mayBeText: true })
      return texts
    })
    const { add, indexer, projectId, wait } = await build({ embedder })
    await add(`${paragraphs(40)}\n\nThis one is poison.\n\n${paragraphs(40)}`)
    const total = (await rowsOf(projectId)).length
    expect(total).toBeGreaterThan(20)
    for (let round = 0; round < 7; round++) {
      await wait(300_000)
      await indexer.idle()
    }
    const left = (await rowsOf(projectId)).filter((row) => row.embedding === null)
    // An overlap may repeat the bad sentence in the chunk after it.
    expect(left.length).toBeLessThanOrEqual(2)
    for (const row of left) expect(row.text).toContain('poison')
  })

  test('go in whole batches after an outage, however long, and alone after many refusals', async () => {
    const sizes: number[] = []
    let isDown = true
    const embedder = wrap((texts) => {
      sizes.push(texts.length)
      if (isDown) throw new EmbeddingError('The provider is down')
      return texts
    })
    const { add, indexer, projectId, wait } = await build({ embedder })
    await add(paragraphs(80))
    const total = (await rowsOf(projectId)).length
    expect(total).toBeGreaterThan(20)
    const embedAll = async () => {
      sizes.length = 0
      await wait(400_000)
      await indexer.idle()
      return sizes.toSorted((a, b) => b - a)
    }
    const whole = [...Array.from({ length: Math.floor(total / 32) }, () => 32), total % 32].filter(Boolean)
    for (let round = 0; round < 7; round++) expect(await embedAll()).toEqual(whole)
    await database.write.run(sql`update chunks set refusals = 32 where project_id = ${projectId}`)
    isDown = false
    expect(await embedAll()).toEqual(Array.from({ length: total }, () => 1))
    expect((await rowsOf(projectId)).map(({ attempts, refusals }) => attempts + refusals)).toEqual(
      Array.from({ length: total }, () => 0),
    )
  })

  test('are all embedded, however many, in batches of what the embedder takes', async () => {
    const sizes: number[] = []
    const embedder = wrap((texts) => {
      sizes.push(texts.length)
      return texts
    })
    const { add, projectId, added } = await build({ embedder })
    const items = await Promise.all(Array.from({ length: 30 }, (_, n) => add(paragraphs(20 + n))))
    expect(items.every(({ isIndexed }) => isIndexed)).toBe(true)
    const rows = await rowsOf(projectId)
    expect(rows.length).toBeGreaterThan(150)
    expect(rows.every((row) => row.embedding !== null)).toBe(true)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(32)
    expect(added.flat().toSorted((a, b) => a - b)).toEqual(rows.map((row) => row.label))
  })

  test('whose vectors cannot be written do not make the indexer call the provider in a loop', async () => {
    let calls = 0
    const embedder = wrap((texts) => {
      calls++
      return texts
    })
    const { add, indexer } = await build({ embedder, now: Date.now })
    await database.write.run(
      sql.raw(`create trigger no_vectors before update on chunks begin
      select raise(abort, 'no room'); end`),
    )
    const adding = add(text)
    await until(async () => calls > 0)
    calls = 0
    await Bun.sleep(600)
    await database.write.run(sql`drop trigger no_vectors`)
    expect(calls).toBeLessThanOrEqual(2)
    await indexer.close()
    await adding
  })
})

describe('a chunk that is deleted while it is being embedded', () => {
  test('stays deleted, and its neighbours are embedded', async () => {
    const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const embedder = wrap(async (texts) => {
      entered.resolve()
      await gate.promise
      return texts
    })
    const { add, knowledge, projectId, added } = await build({ embedder })
    const adding = [add('This one goes')]
    await entered.promise
    adding.push(add('This one stays'))
    await until(async () => (await rowsOf(projectId)).length === 2)
    const [gone] = await database.read
      .select({ id: knowledgeItems.id })
      .from(knowledgeItems)
      .where(sql`project_id = ${projectId} and text like '%goes'`)
    await knowledge.delete(projectId, gone?.id ?? '')
    gate.resolve()
    await Promise.all(adding)
    const rows = await rowsOf(projectId)
    expect(rows.map((row) => row.text)).toEqual(['This one stays'])
    expect(rows[0]?.embedding).not.toBeNull()
    expect(added.flat()).toEqual(rows.map((row) => row.label))
  })
})

describe('a request that waits for chunks', () => {
  for (const [name, expected] of [
    ['that another process embeds meanwhile', 2],
    ['that are deleted meanwhile', 1],
  ] as const)
    test(`${name} is answered at once`, async () => {
      const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const embedder = wrap(async (texts) => {
        entered.resolve()
        await gate.promise
        return texts
      })
      const first = await build({ embedder })
      const busy = first.add('At the embedder for long')
      await entered.promise
      const waiting = first.add('Waits for its turn')
      await until(async () => (await rowsOf(first.projectId)).length === 2)
      if (expected === 1) {
        await database.write.run(sql`delete from knowledge_items where text = 'Waits for its turn'`)
      } else {
        const second = await build({ embedder: wrap(), projectId: first.projectId })
        await second.wait(0)
        await second.indexer.idle()
      }
      gate.resolve()
      expect([(await busy).isIndexed, (await waiting).isIndexed]).toEqual([true, true])
      const labels = (await rowsOf(first.projectId)).map((row) => row.label)
      expect(labels.length).toBe(expected)
      expect(first.added.flat()).toEqual(labels)
    })
})

describe('closing', () => {
  test('cancels calls to the provider, and their chunks stay pending without a failure', async () => {
    const { add, indexer, projectId } = await build({ embedder: huggingFace({ timeoutMs: 60_000 }) })
    fake.always({ delayMs: 30_000 })
    const adding = add(text)
    await until(async () => fake.requests.length > 0)
    await indexer.close()
    expect((await adding).isIndexed).toBe(false)
    for (const row of await rowsOf(projectId))
      expect(row).toMatchObject({ embedding: null, attempts: 0, lastError: null })
  })
})

describe('the service', () => {
  test('answers pending after INDEX_WAIT_MS and indexes in the background', async () => {
    fake.always({ delayMs: 700 })
    await withService({ INDEX_WAIT_MS: '100' }, async (service) => {
      const project = await service.mintProject()
      const answer = await post(project, 'Slow')
      expect(answer.status).toBe(201)
      expect(answer.headers.get('callbook-index')).toBe('pending')
      expect(fake.atOnce.now).toBe(1)
      fake.always(null)
      await until(() => isFoundByVector(project, 'Slow'))
    })
  })

  test('stores and finds by keyword while the provider is down, and by vector after a restart', async () => {
    fake.always({ status: 500 })
    const dataDir = freshFolder()
    const env = { EMBEDDING_ENDPOINT: fake.url, INDEX_WAIT_MS: '3000' }
    let service = await startService({ env, dataDir })
    const project = await service.mintProject()
    const answer = await post(project, 'Stored')
    expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'pending'])
    expect(await search(project, 'Stored')).toMatchObject({ mode: 'keyword', data: [{ name: 'Stored' }] })
    await service.stop()
    fake.always(null)
    service = await startService({ env, dataDir, now: () => Date.now() + 60_000 })
    const after = { ...project, send: senderTo(service, project) }
    await until(() => isFoundByVector(after, 'Stored'))
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test.skipIf(ofFilesOnly)(
    'drops the vectors of another embedding space, finds by keyword meanwhile, and embeds anew',
    async () => {
      const dataDir = freshFolder()
      let service = await startService({ dataDir, env: { INDEX_WAIT_MS: '40000' } })
      const project = await service.mintProject()
      expect((await post(project, 'Moved')).headers.get('callbook-index')).toBe('ready')
      const old = await vectorsOf(service, project)
      expect(old.length).toBeGreaterThan(0)
      await service.stop()

      fake.always({ status: 401 })
      service = await startService({ dataDir, env: { EMBEDDING_ENDPOINT: fake.url } })
      const after = { ...project, send: senderTo(service, project) }
      expect(await search(after, 'Moved')).toMatchObject({ mode: 'keyword', data: [{ name: 'Moved' }] })
      await until(async () => (await vectorsOf(service, project)).length === 0)
      await service.services.database.write.run(sql`pragma wal_checkpoint(truncate)`)
      const traces = old.flatMap((vector, n) => tracesOfVector(`vector ${n}`, vector))
      expect(await findTraces(dataDir, traces)).toEqual([])

      fake.always(null)
      await until(() => isFoundByVector(after, 'Moved'))
      expect((await vectorsOf(service, project)).length).toBe(old.length)
      await service.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  )

  test('learns the dimension of the vectors from its rows after a restart', async () => {
    const dataDir = freshFolder()
    const env = { EMBEDDING_ENDPOINT: fake.url, EMBEDDING_MODEL: 'acme/unheard-of', INDEX_WAIT_MS: '40000' }
    fake.always({ dimensions: 48 })
    let service = await startService({ env, dataDir })
    const project = await service.mintProject()
    expect(service.services.embedder.dimensions).toBeNull()
    expect((await post(project, 'First')).headers.get('callbook-index')).toBe('ready')
    expect(service.services.embedder.dimensions).toBe(48)
    await service.stop()

    fake.always({ dimensions: 64 })
    service = await startService({ env, dataDir })
    expect(service.services.embedder.dimensions).toBe(48)
    const after = { ...project, send: senderTo(service, project) }
    expect((await post(after, 'Second')).headers.get('callbook-index')).toBe('pending')
    fake.always({ dimensions: 48 })
    await until(() => isFoundByVector(after, 'Second'))
    expect((await vectorsOf(service, project)).map((vector) => vector.length)).toEqual([192, 192])
    await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
})

describe('chunks that a process has stored', () => {
  test('are reserved for it for a while; if it does not embed them, exactly one other process does', async () => {
    const clock = { now: Date.now() }
    const shared = { embedder: huggingFace(), now: () => clock.now }
    const died = await build({ ...shared, settles: false })
    const others = await Promise.all([
      build({ ...shared, projectId: died.projectId }),
      build({ ...shared, projectId: died.projectId }),
    ])
    await died.add('Stored, and then nothing.')
    const embed = () => Promise.all(others.map((other) => other.wait(0).then(() => other.indexer.idle())))
    await embed()
    expect(fake.requests).toHaveLength(0)
    clock.now += 15_001
    await embed()
    expect(fake.requests).toHaveLength(1)
    expect(others.flatMap(({ added }) => added.flat())).toHaveLength(1)
    for (const other of others) await other.indexer.close()
  })

  test('stay reserved for it while it embeds them, however slow the provider is', async () => {
    const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const clock = { now: Date.now() }
    const slow = wrap(async (texts) => {
      entered.resolve()
      await gate.promise
      return texts
    })
    const first = await build({ embedder: slow, now: () => clock.now, leaseMs: 150 })
    const adding = first.add('At the embedder for long')
    await entered.promise
    const { projectId } = first
    const other = await build({ embedder: wrap(), projectId, now: () => clock.now, leaseMs: 150 })
    for (let step = 0; step < 5; step++) {
      clock.now += 100
      await until(async () => (await rowsOf(projectId)).every((row) => row.leasedUntil === clock.now + 150))
      await other.wait(0)
      await other.indexer.idle()
    }
    expect(other.added).toEqual([])
    gate.resolve()
    expect((await adding).isIndexed).toBe(true)
    await other.indexer.close()
  })
})

test('deleting a project while its chunks are being embedded causes no failure', async () => {
  const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isGone = false
  let refused = 0
  const slow = wrap(async (texts) => {
    entered.resolve()
    await gate.promise
    return texts
  })
  const store = (projectId: number) => {
    if (!isGone) return database.store(projectId)
    refused++
    throw new Error('The project has just been deleted')
  }
  const { add, indexer, failures } = await build({ embedder: slow, leaseMs: 30, store, isGone: () => isGone })
  const adding = add('At the embedder for long')
  await entered.promise
  isGone = true
  await until(async () => refused > 1)
  gate.resolve()
  await indexer.idle()
  await indexer.close()
  await adding.catch(() => undefined)
  expect(failures).toEqual([])
})

test('a batch whose failure cannot be written while the next one is chosen is logged, and embedded later', async () => {
  let isFull = true
  const [second, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let embeddings = 0
  const embedder = wrap(async (texts) => {
    if (!isFull) return texts
    const number = ++embeddings
    if (number === 1) await second.promise
    if (number !== 2) return texts
    second.resolve()
    await failing.promise
    throw new EmbeddingError('The provider is down')
  })
  const through = <Database extends object>(
    own: Database,
    name: string,
    call: (real: () => unknown) => unknown,
  ) =>
    new Proxy(own, {
      get(target, asked) {
        const value: unknown = Reflect.get(target, asked)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          const real = () => value.apply(target, args)
          return asked === name ? call(real) : real()
        }
      },
    })
  const store: StoreOf = (projectId) => {
    const own = database.store(projectId)
    const write = through(own.write, 'run', (real) =>
      isFull ? Promise.reject(new Error('The disk is full')) : real(),
    )
    const read = through(own.read, 'all', async (real) => {
      if (embeddings < 2) return await real()
      failing.resolve()
      await Bun.sleep(50)
      return await real()
    })
    return { ...own, read, write }
  }
  const { add, indexer, failures, wait, projectId } = await build({
    embedder: { ...embedder, batchTextsMax: 1, batchesAtOnce: 2 },
    store,
    settles: false,
  })
  await add(paragraphs(8))
  await wait(60_000)
  await until(async () => failures.some(({ error }) => error.message === 'The disk is full'))
  isFull = false
  await wait(60_000)
  await until(async () => (await rowsOf(projectId)).every(({ embedding }) => embedding !== null))
  await indexer.close()
})

interface BuildOptions {
  store?: StoreOf
  isGone?: () => boolean
  leaseMs?: number
  /** Whether stored chunks are embedded by whoever stores them. */
  settles?: boolean
  embedder: Embedder
  projectId?: number
  now?: () => number
  random?: () => number
}

/** Knowledge and its indexer on the shared database, in a project of their own, with a clock that is set by hand. */
async function build({
  embedder,
  projectId,
  now,
  random = () => 1,
  leaseMs,
  settles = true,
  store = database.store,
  isGone = () => false,
}: BuildOptions) {
  const clock = { now: Date.now() }
  const readClock = now ?? (() => clock.now)
  const project = projectId ?? (await newProject())
  const failures: { attempt: number; error: Error }[] = []
  const added: number[][] = []
  const stores = Object.assign(new ProjectStores(database.store), { of: store, isClosed: isGone })
  const log = logTo((_error, fields) => failures.push(fields as (typeof failures)[number]))
  const own = coreLike(core, { store, stores, now: readClock, log: { ...core.log, ...log } })
  const indexer = new Indexer(own, {
    embedder,
    index: {
      add: async (_project, labels) => void added.push([...labels]),
      eraseDeleted: async () => undefined,
    },
    ...(leaseMs ? { leaseMs } : {}),
    random,
  })
  const knowledge = new Knowledge(
    { ...own, log: { ...core.log, ...noFailures } },
    {
      textThreads: { toChunkRows: async (text, name) => toChunkRows(text, name) },
      indexer: { settle: async (...args) => settles && (await indexer.settle(...args)) },
      index: { remove: async () => undefined },
      erasure: { schedule: () => undefined },
    },
  )
  return {
    projectId: project,
    indexer,
    knowledge,
    failures,
    added,
    clock,
    add: (text: string) => knowledge.add(project, { name: 'Handbook', text }),
    /** Lets time pass and wakes the indexer. */
    async wait(ms: number) {
      clock.now += ms
      indexer.wake(project)
    },
  }
}

async function newProject(): Promise<number> {
  const projects = projectsOf(database)
  return (await projects.create(crypto.randomUUID())).projectId
}

function huggingFace({ timeoutMs = 300 } = {}): Embedder {
  const model = 'BAAI/bge-small-en-v1.5'
  return new RemoteEmbedder({
    format: 'huggingface',
    model,
    endpoint: fake.url,
    token: null,
    dimensions: 384,
    timeoutMs,
    retryDelayMsMin: 5,
    restMs: 50,
  })
}

function failing(retryAfterMs?: number): Embedder {
  return wrap(() => {
    throw new EmbeddingError('The provider is down', retryAfterMs === undefined ? {} : { retryAfterMs })
  })
}

/** The built-in embedder, through something that may look at the texts, wait or fail first. */
function wrap(
  through: (texts: readonly string[]) => readonly string[] | Promise<readonly string[]> = (texts) => texts,
): Embedder {
  const builtin = createBuiltinEmbedder()
  const { space, dimensions, destination, isLexical } = builtin
  const embed: Embedder['embed'] = async (texts, kind, signal) =>
    builtin.embed(await through(texts), kind, signal)
  return { space, dimensions, destination, isLexical, batchTextsMax: 32, batchesAtOnce: 4, embed }
}

async function rowsOf(projectId: number) {
  return await database.read
    .select()
    .from(chunks)
    .where(eq(chunks.projectId, projectId))
    .orderBy(chunks.label)
}

async function keywordCount(projectId: number, word: string): Promise<number> {
  return (await chunksWith(database.read, projectId, stemOf(word))).length
}

async function expectRightVectors(projectId: number): Promise<void> {
  const rows = await rowsOf(projectId)
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) {
    const bytes = new Uint8Array(row.embedding ?? [])
    const wanted = fakeVector(embeddedText('Handbook', row))
    const vector = new Float32Array(bytes.buffer)
    expect(vector.length).toBe(wanted.length)
    const distance = Math.max(...wanted.map((value, index) => Math.abs(value - (vector[index] ?? 0))))
    expect(distance).toBeLessThan(1e-6)
    expect(row).toMatchObject({ attempts: 0, lastError: null, nextAttemptAt: null })
  }
}

async function withService(env: Record<string, string>, use: (service: TestService) => Promise<void>) {
  const service = await startService({ env: { EMBEDDING_ENDPOINT: fake.url, ...env } })
  await use(service)
  await service.stop()
}

type Sender = Pick<TestProject, 'send'>

function senderTo(service: TestService, { key }: TestProject): TestProject['send'] {
  return (method, path, body) =>
    fetch(service.url + path, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    })
}

function post(project: Sender, name: string): Promise<Response> {
  return project.send('POST', '/v1/knowledge', { name, text: `All there is to know about ${name}.` })
}

async function search(project: Sender, query: string, mode = 'hybrid') {
  const answer = await project.send('POST', '/v1/knowledge/search', { query, mode, timeoutMs: 2_000 })
  const found: { mode: string; data: { name: string }[] } = await answer.json()
  return found
}

async function isFoundByVector(project: Sender, name: string): Promise<boolean> {
  const { mode, data } = await search(project, `All there is to know about ${name}.`, 'vector')
  return mode === 'vector' && data[0]?.name === name
}

async function vectorsOf({ services }: TestService, { projectId }: TestProject): Promise<Uint8Array[]> {
  const rows = await services.database.read
    .select({ embedding: chunks.embedding })
    .from(chunks)
    .where(sql`project_id = ${projectId} and embedding is not null`)
  return rows.map(({ embedding }) => new Uint8Array(embedding ?? []))
}

function paragraphs(count: number): string {
  const sentence = (n: number) => `Paragraph ${n} has a sentence on subject ${n * 7} and one on ${n * 13}. `
  return Array.from({ length: count }, (_, n) => sentence(n).repeat(9).trim()).join('\n\n')
}
