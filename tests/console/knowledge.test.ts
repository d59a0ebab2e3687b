import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { chunks } from '../../src/db/schema.ts'
import type { IndexedItems, ItemDetails, KnowledgeRows } from '../../src/knowledge/indexed-items.ts'
import type { ChangePreview } from '../../src/knowledge/schemas.ts'
import type { ExplainedSearch } from '../../src/knowledge/search/explain.ts'
import { startConsole } from '../support/console.ts'
import { startFakeEmbeddings } from '../support/fake-embeddings.ts'
import { badFields, expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

type StoredChunks = Awaited<ReturnType<IndexedItems['chunks']>>

const embeddings = await startFakeEmbeddings()
const service = await startService({
  env: { EMBEDDING_ENDPOINT: embeddings.url, INDEX_WAIT_MS: '3000', KNOWLEDGE_TEXT_MAX_BYTES: '20000' },
})
const console = await startConsole(service)
const owner = console.owner
afterAll(async () => {
  embeddings.always(null)
})

const pathOf = (project: TestProject) => `/projects/${project.id}/knowledge`

async function list(project: TestProject, query = ''): Promise<KnowledgeRows> {
  const answer = await owner.fetch(`${pathOf(project)}${query}`)
  expect(answer.status).toBe(200)
  return await answer.json()
}

/** An item when its chunks have been tried once. */
async function create(project: TestProject, name: string, text = `About ${name}.`): Promise<ItemDetails> {
  const answer = await owner.send('POST', pathOf(project), { name, text })
  expect(answer.status).toBe(201)
  const { id }: ItemDetails = await answer.json()
  service.services.indexer.wake(project.projectId)
  await service.services.indexer.idle()
  return await owner.read(`${pathOf(project)}/${id}`)
}

/** Three sections, so three chunks. */
const threeChunks = ['One', 'Two', 'Three']
  .map((title) => `# ${title}\n\n${`Words of section ${title}. `.repeat(30)}\n\n`)
  .join('')

describe('the list of knowledge items', () => {
  test('is empty at first, then has name, description, size, chunks, status and time, and no text', async () => {
    const project = await console.mintProject()
    expect(await list(project)).toEqual({ data: [], nextCursor: null, total: 0, tags: [] })
    const item = { name: 'Grüezi', text: threeChunks, description: 'Three of them' }
    const { id, createdAt } = await (await project.send('POST', '/v1/knowledge', item)).json()
    expect(await list(project)).toEqual({
      data: [
        {
          id,
          name: 'Grüezi',
          description: 'Three of them',
          textBytes: Buffer.byteLength(threeChunks),
          chunks: 3,
          status: { state: 'ready' },
          createdAt,
          tags: [],
          updatedAt: createdAt,
          updatedBy: { name: expect.any(String), isKey: true },
        },
      ],
      nextCursor: null,
      total: 1,
      tags: [],
    })
  })

  test('is newest first, in pages that have each item once while others are added and deleted', async () => {
    const project = await console.mintProject()
    const names = Array.from({ length: 7 }, (_, n) => `Item ${n}`)
    for (const name of names) await create(project, name)
    const first = await list(project, '?limit=3')
    expect(first.data.map(({ name }) => name)).toEqual(['Item 6', 'Item 5', 'Item 4'])
    expect(first.total).toBe(7)
    await create(project, 'New')
    await owner.fetch(`${pathOf(project)}/${first.data[2]?.id}`, { method: 'DELETE' })
    const second = await list(project, `?limit=3&cursor=${first.nextCursor}`)
    expect(second.data.map(({ name }) => name)).toEqual(['Item 3', 'Item 2', 'Item 1'])
    const third = await list(project, `?limit=3&cursor=${second.nextCursor}`)
    expect(third.data.map(({ name }) => name)).toEqual(['Item 0'])
    expect(third.nextCursor).toBeNull()
    expect(third.total).toBe(7)
  })

  test('holds the items with one of these tags; many get and lose tags together', async () => {
    const project = await console.mintProject()
    const made = [await create(project, 'One'), await create(project, 'Two'), await create(project, 'Three')]
    const ids = made.map(({ id }) => id)
    const tag = (body: object) => owner.send('PATCH', pathOf(project), body)
    expect(await (await tag({ ids: [...ids.slice(0, 2), 'gone'], add: ['b', 'a'] })).json()).toEqual({
      changed: 2,
    })
    expect(await (await tag({ ids, add: ['c'], remove: ['a'] })).json()).toEqual({ changed: 3 })
    const { data, tags, total } = await list(project, '?tags=b+unknown')
    expect(data.map((row) => [row.name, row.tags])).toEqual([
      ['Two', ['b', 'c']],
      ['One', ['b', 'c']],
    ])
    expect([tags, total]).toEqual([['b', 'c'], 2])
    const add = Array.from({ length: 20 }, (_, n) => `t${n}`)
    await expectProblem(await tag({ ids, add }), 'invalid_request')
    await expectProblem(await tag({ ids, add: ['A'] }), 'invalid_request')
    await expectProblem(await owner.fetch(`${pathOf(project)}?tags=A`), 'invalid_request')
  })

  test('holds the items whose names contain these letters, in pages', async () => {
    const project = await console.mintProject()
    for (const name of ['Refunds', 'Holidays', 'No refund', '50 % off', 'A_B']) await create(project, name)
    const names = async (query: string) => (await list(project, query)).data.map(({ name }) => name)
    expect(await names('?name=REFUND')).toEqual(['No refund', 'Refunds'])
    expect(await names('?name=%25')).toEqual(['50 % off'])
    expect(await names('?name=_')).toEqual(['A_B'])
    expect(await names('?name=')).toHaveLength(5)
    const first = await list(project, '?name=refund&limit=1')
    expect([first.data.length, first.total]).toEqual([1, 2])
    expect(await names(`?name=refund&limit=1&cursor=${first.nextCursor}`)).toEqual(['Refunds'])
  })

  test('ignores empty parameters, and refuses bad ones by name', async () => {
    const project = await console.mintProject()
    await create(project, 'One')
    expect((await list(project, '?limit=&cursor=')).data).toHaveLength(1)
    expect((await list(project, '?limit=0')).data).toHaveLength(1)
    for (const [query, field] of [
      ['limit=x', 'limit'],
      ['limit=-1', 'limit'],
      ['cursor=nonsense', 'cursor'],
    ]) {
      const answer = await owner.fetch(`${pathOf(project)}?${query}`)
      expect(await badFields(answer)).toEqual([field ?? ''])
    }
  })

  test('says who wrote each item last: a person, a key, the command line, or somebody who is gone', async () => {
    const project = await console.mintProject()
    const member = await console.join(project, 'member')
    const { knowledge, itemChanges } = service.services
    const writerOf = async () => (await list(project)).data[0]?.updatedBy
    await knowledge.store(project.projectId, { name: 'Hours', text: 'Nine to five.' }, { id: 'hours' })
    expect(await writerOf()).toBeNull()
    await project.send('PATCH', '/v1/knowledge/hours', { text: 'Nine to six.' })
    expect(await writerOf()).toEqual({ name: expect.any(String), isKey: true })
    const { changeSeq }: ItemDetails = await member.read(`${pathOf(project)}/hours`)
    const edited = { name: 'Hours', description: '', text: 'Ten to six.', changeSeq }
    expect((await member.send('PUT', `${pathOf(project)}/hours`, edited)).status).toBe(200)
    expect(await writerOf()).toEqual({ name: member.name, isKey: false })
    await itemChanges.put(project.projectId, 'hours', { name: 'Hours', text: 'Ten to six.' })
    expect(await writerOf()).toEqual({ name: member.name, isKey: false })
    await service.services.console.people.delete(member.personId)
    expect(await writerOf()).toEqual({ name: null, isKey: false })
  })
})

describe('many items', () => {
  test('are deleted at once by their ids; those that are gone or of other projects are not counted', async () => {
    const [project, other] = [await console.mintProject(), await console.mintProject()]
    const made = [await create(project, 'One'), await create(project, 'Two'), await create(project, 'Three')]
    const theirs = await create(other, 'Secret')
    const [one, two] = made.map(({ id }) => id)
    const ids = [one, two, one, theirs.id, 'kn_never']
    const viewer = await console.join(project, 'viewer')
    await expectProblem(await viewer.send('DELETE', pathOf(project), { ids }), 'forbidden')
    const answer = await owner.send('DELETE', pathOf(project), { ids })
    expect(await answer.json()).toEqual({ deleted: 2 })
    expect((await list(project)).data.map(({ name }) => name)).toEqual(['Three'])
    expect((await list(other)).total).toBe(1)
    const tooMany = Array.from({ length: 201 }, (_, at) => `kn_${at}`)
    for (const bad of [[], tooMany])
      expect((await owner.send('DELETE', pathOf(project), { ids: bad })).status).toBe(400)
  })
})

describe('a text that an item has already', () => {
  test('is not stored until somebody says so; of the same project only', async () => {
    const [project, other] = [await console.mintProject(), await console.mintProject()]
    const text = 'Nine to five.'
    await create(other, 'Hours', text)
    const first = await create(project, 'Hours', text)
    const answer = await owner.send('POST', pathOf(project), { name: 'Opening hours', text })
    expect(answer.status).toBe(200)
    const { twin } = await answer.json()
    expect(twin).toEqual({ id: first.id, name: 'Hours', changeSeq: first.changeSeq })
    expect((await list(project)).total).toBe(1)
    const kept = await owner.send('POST', pathOf(project), { name: 'Opening hours', text, keepsBoth: true })
    expect(kept.status).toBe(201)
    expect((await list(project)).data.map(({ name }) => name)).toEqual(['Opening hours', 'Hours'])
  })
})

describe('the status of an item', () => {
  afterEach(() => embeddings.always(null))

  test('is waiting while the provider fails, with the reason and the next attempt, then ready', async () => {
    const project = await console.mintProject()
    const { write } = service.services.database
    const dueAt = async (nextAttemptAt: number) => {
      await write.update(chunks).set({ nextAttemptAt }).where(eq(chunks.projectId, project.projectId))
      return (await list(project)).data[0]?.status
    }
    embeddings.always({ status: 400 })
    const { status } = await create(project, 'Waiting', threeChunks)
    const waiting = {
      state: 'waiting' as const,
      ready: 0,
      reason: expect.stringMatching(/^The embedding provider .*\.$/),
    }
    expect(status).toMatchObject(waiting)
    // Further away than 15 minutes is a clock that was wrong, and due at once.
    const later = Date.now() + 600_000
    const nextTryAt = new Date(later).toISOString()
    // An attempt that is under way sets its own time and reason when it fails.
    await until(async () => {
      await dueAt(later)
      await service.services.indexer.idle()
      const [waitingItem] = (await list(project)).data
      return waitingItem?.status.state === 'waiting' && waitingItem.status.nextTryAt === nextTryAt
    })
    expect((await list(project)).data[0]?.status).toEqual({ ...waiting, nextTryAt })
    const reasons = [
      ['It failed', 'It failed.'],
      ['It failed.', 'It failed.'],
      ['It failed (503)', 'It failed (503).'],
      [null, 'The last attempt failed.'],
    ] as const
    for (const [lastError, reason] of reasons) {
      await write.update(chunks).set({ lastError }).where(eq(chunks.projectId, project.projectId))
      expect((await list(project)).data[0]?.status).toMatchObject({ reason })
    }
    // The service may have tried again before it is asked, which sets the time of the next try.
    await until(async () => {
      const now = await dueAt(0)
      return now?.state === 'waiting' && now.nextTryAt === null
    })
    embeddings.always(null)
    // A try that was under way may still fail, and sets the time of the next one.
    await until(async () => {
      await dueAt(0)
      service.services.indexer.wake(project.projectId)
      await service.services.indexer.idle()
      return (await list(project)).data[0]?.status.state === 'ready'
    })
  })

  test('is indexing while chunks are left that were never tried, and counts the embedded ones', async () => {
    const project = await console.mintProject()
    const { id } = await create(project, 'Half', threeChunks)
    const { write, read } = service.services.database
    const [first] = await read
      .select({ label: chunks.label })
      .from(chunks)
      .where(eq(chunks.projectId, project.projectId))
    await write
      .update(chunks)
      .set({ embedding: null, embeddingSpace: null, nextAttemptAt: Date.now() + 60_000 })
      .where(eq(chunks.label, first?.label ?? 0))
    const answer = await owner.fetch(`${pathOf(project)}/${id}`)
    expect((await answer.json()).status).toEqual({ state: 'indexing', ready: 2 })
    const stored: StoredChunks = await owner.read(`${pathOf(project)}/${id}/chunks`)
    expect(stored.data.map(({ isEmbedded }) => isEmbedded)).toEqual([false, true, true])
    expect(await service.services.knowledge.figures(project.projectId)).toEqual({
      items: 1,
      chunks: 3,
      pendingChunks: 1,
    })
  })

  test('never holds what was sent to the provider or to the database', async () => {
    const project = await console.mintProject()
    embeddings.always({ shape: 'pooled', extra: -1 })
    const item = await create(project, 'Unlucky', 'A text with the word zebra.')
    embeddings.always(null)
    if (item.status.state !== 'waiting') throw new Error('It waits')
    expect(item.status.reason).not.toContain('zebra')
  })
})

describe('an item', () => {
  test('is answered with its text to the byte, its chunks as they are stored, and deleted', async () => {
    const project = await console.mintProject()
    const member = await console.join(project, 'member')
    const text = `${threeChunks}\r\nGrüezi 👋\n`
    const item = await create(project, 'Whole', text)
    const path = `${pathOf(project)}/${item.id}`
    expect(await member.read(path)).toEqual({ ...item, text })
    const { data }: StoredChunks = await member.read(`${path}/chunks`)
    const preview = await owner.send('POST', `${pathOf(project)}/preview`, { text })
    const shown: { data: object[] } = await preview.json()
    expect<object[]>(data).toEqual(shown.data.map((chunk) => ({ ...chunk, isEmbedded: true })))
    expect(data.length).toBe(item.chunks)

    const gone = await member.fetch(path, { method: 'DELETE' })
    expect(await gone.json()).toEqual({ id: item.id, deleted: true })
    for (const [method, at] of [
      ['GET', path],
      ['GET', `${path}/chunks`],
      ['DELETE', path],
    ] as const)
      await expectProblem(await owner.fetch(at, { method }), 'not_found', 'Knowledge item not found')
    await expectProblem(
      await project.fetch(`/v1/knowledge/${item.id}`),
      'not_found',
      'Knowledge item not found',
    )
    const trail = await owner.read(`/projects/${project.id}/audit`)
    expect(trail.data[0]).toMatchObject({
      action: 'item_deleted',
      target: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(trail.data[0].actor).toContain(member.email)
  })

  test('is refused with the field named: 400, and 413 for a text that is too long', async () => {
    const project = await console.mintProject()
    for (const [body, field] of [
      [{ name: '', text: 'x' }, 'name'],
      [{ name: ' ', text: 'x' }, 'name'],
      [{ name: 'x' }, 'text'],
      [{ name: 'x', text: '\n' }, 'text'],
      [{ name: 'x', text: 'x', description: 'd'.repeat(2_001) }, 'description'],
      [{ name: 'a\0', text: 'x' }, 'name'],
    ] as const) {
      expect(await badFields(await owner.send('POST', pathOf(project), body))).toEqual([field])
    }
    const long = { name: 'x', text: 'x'.repeat(20_001) }
    for (const path of [pathOf(project), `${pathOf(project)}/preview`])
      await expectProblem(await owner.send('POST', path, long), 'payload_too_large')
    expect((await list(project)).total).toBe(0)
  })
})

describe('an explained search', () => {
  async function ask(project: TestProject, body: object): Promise<ExplainedSearch> {
    const answer = await owner.send('POST', `${pathOf(project)}/search`, body)
    expect(answer.status).toBe(200)
    return await answer.json()
  }

  async function filled(): Promise<TestProject> {
    const project = await console.mintProject()
    await create(project, 'Refunds', 'We refund any order within thirty days.')
    await create(project, 'Shipping', 'Orders ship within two days.')
    await create(project, 'Hours', 'Our team answers from nine to five.')
    return project
  }

  test('is the answer that agents get, and says where each passage comes from', async () => {
    const project = await filled()
    const body = { query: 'refund my order', limit: 3, timeoutMs: 5_000 }
    const explained = await ask(project, body)
    const plain = await (await project.send('POST', '/v1/knowledge/search', body)).json()
    const hits = explained.data.map(
      ({ keywordRank: _k, vectorRank: _v, terms: _t, forms: _f, ...hit }) => hit,
    )
    expect<object[]>(hits).toEqual(plain.data)
    expect(explained.mode).toBe('hybrid')
    expect(explained.data[0]).toMatchObject({ name: 'Refunds', keywordRank: 1, score: 1, vectorRank: 1 })
    expect(explained.data[0]?.terms).toEqual(['refund', 'order'])
    expect(explained.data[0]?.forms).toEqual(['Refunds', 'refund', 'order'])
    expect(explained.data.at(-1)?.terms).toEqual([])
    const vectorRanks = explained.data.map(({ vectorRank }) => vectorRank)
    expect([...vectorRanks].sort()).toEqual([1, 2, 3])
    expect(explained.data.at(-1)?.keywordRank).toBeNull()
  })

  test('of one kind has ranks in that list alone', async () => {
    const project = await filled()
    const byKeyword = await ask(project, { query: 'refund order', mode: 'keyword' })
    expect(byKeyword.mode).toBe('keyword')
    expect(byKeyword.data.length).toBeGreaterThan(0)
    expect(byKeyword.data.every(({ vectorRank }) => vectorRank === null)).toBe(true)
    expect(byKeyword.shares).toMatchObject({ embedding: 0, vector: 0 })
    const byVector = await ask(project, { query: 'refund order', mode: 'vector', timeoutMs: 5_000 })
    expect(byVector.data.map(({ vectorRank }) => vectorRank)).toEqual([1, 2, 3])
    expect(byVector.data.every(({ keywordRank }) => keywordRank === null)).toBe(true)
    expect(byVector.shares.keyword).toBe(0)
  })

  test('separates the time of the embedding from that of the index', async () => {
    const project = await filled()
    embeddings.next({ delayMs: 1_000 })
    const { shares, tookMs } = await ask(project, { query: 'a question not asked before', timeoutMs: 5_000 })
    expect(shares.embedding).toBeGreaterThanOrEqual(990)
    expect(shares.vector).toBeLessThan(shares.embedding)
    expect(shares.fusion).toBeGreaterThan(0)
    expect(tookMs).toBeGreaterThanOrEqual(shares.embedding)
    const again = await ask(project, { query: 'a question not asked before', timeoutMs: 5_000 })
    expect(again.shares.embedding).toBeLessThan(shares.embedding)
  })

  test('of passages made of several chunks gives the best rank of them', async () => {
    const project = await console.mintProject()
    const text = Array.from({ length: 80 }, (_, n) => `Sentence ${n} tells of lighthouse number ${n}.`).join(
      ' ',
    )
    await create(project, 'Lighthouses', text)
    const { data } = await ask(project, { query: 'lighthouse', timeoutMs: 5_000 })
    expect(data[0]?.text.length).toBeGreaterThan(1_600)
    expect(data[0]?.keywordRank).toBe(1)
    expect(data[0]?.vectorRank).toBe(1)
  })

  test('within items, and refused with the field named', async () => {
    const project = await filled()
    const { data } = await list(project)
    const only = data.filter(({ name }) => name === 'Hours').map(({ id }) => id)
    const found = await ask(project, { query: 'order', itemIds: only, timeoutMs: 5_000 })
    expect(found.data.map(({ name }) => name)).toEqual(['Hours'])
    for (const [body, field] of [
      [{}, 'query'],
      [{ query: ' ' }, 'query'],
      [{ query: 'x', limit: 51 }, 'limit'],
      [{ query: 'x', mode: 'guess' }, 'mode'],
      [{ query: 'x', timeoutMs: 1 }, 'timeoutMs'],
    ] as const) {
      const answer = await owner.send('POST', `${pathOf(project)}/search`, body)
      expect(await badFields(answer)).toEqual([field])
    }
  })
})

describe('editing an item', () => {
  test('says what would become of its chunks, and stores nothing', async () => {
    const project = await console.mintProject()
    const { id, changeSeq } = await create(project, 'Numbers', threeChunks)
    const preview = async (name: string, text: string) => {
      const answer = await owner.send('POST', `${pathOf(project)}/${id}/preview`, { name, text })
      expect(answer.status).toBe(200)
      const { data, removed }: ChangePreview = await answer.json()
      return [data.map(({ change }) => change).join(' '), removed]
    }
    expect(await preview('Numbers', threeChunks)).toEqual(['kept kept kept', 0])
    expect(await preview('Numbers', threeChunks.replace('Words of section Two', 'Else'))).toEqual([
      'kept changed kept',
      0,
    ])
    expect(await preview('Numbers', threeChunks.slice(threeChunks.indexOf('# Two')))).toEqual([
      'kept kept',
      1,
    ])
    expect(await preview('Numbers', `${threeChunks}# Four\n\n${'Words. '.repeat(50)}`)).toEqual([
      'kept kept kept added',
      0,
    ])
    expect(await preview('Other', threeChunks)).toEqual(['changed changed changed', 0])
    const read: ItemDetails = await owner.read(`${pathOf(project)}/${id}`)
    expect(read.changeSeq).toBe(changeSeq)
  })

  test('replaces it unless it has changed since it was read', async () => {
    const project = await console.mintProject()
    const { id, changeSeq, createdAt } = await create(project, 'Prices')
    const put = (body: object) => owner.send('PUT', `${pathOf(project)}/${id}`, body)
    const changed = await put({ name: 'Prices', description: 'Ours', text: 'Five francs.', changeSeq })
    expect(changed.status).toBe(200)
    const item: ItemDetails = await changed.json()
    expect(item).toMatchObject({ id, createdAt, description: 'Ours', text: 'Five francs.', chunks: 1 })
    const again = await put({ name: 'Prices', text: 'Six francs.', changeSeq })
    await expectProblem(again, 'item_has_changed', 'Item has changed')
    expect((await put({ name: 'Prices', text: 'Six francs.', changeSeq: item.changeSeq })).status).toBe(200)
    expect((await put({ name: ' ', text: 'Six francs.', changeSeq })).status).toBe(400)
  })
})
