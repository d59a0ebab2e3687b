import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import Database from 'libsql'
import { splitIntoChunks } from '../../src/knowledge/chunking/chunks.ts'
import { stemOf } from '../../src/text/words.ts'
import { chunksWith } from '../support/chunk-words.ts'
import { startFakeEmbeddings } from '../support/fake-embeddings.ts'
import { addMarkedItem } from '../support/marked.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord, untilInFiles } from '../support/traces.ts'
import { until } from '../support/until.ts'

const embeddings = await startFakeEmbeddings()
const service = await startService({
  env: { ERASE_WITHIN_MS: '2000', EMBEDDING_ENDPOINT: embeddings.url, INDEX_WAIT_MS: '2000' },
})

const path = '/v1/knowledge/handbook'
const filler = 'We answer the telephone every day and write down what the caller wants from us. '.repeat(5)

/** A text of so many sections; `said` is in one of them. */
function textOf(sections: number, said: Record<number, string> = {}): string {
  const sectionOf = (_: unknown, at: number) =>
    `## Section ${at}\n\n${said[at] ?? `Nothing ${at} yet`}. ${filler}`
  return Array.from({ length: sections }, sectionOf).join('\n\n')
}

describe('PUT /v1/knowledge/:id', () => {
  test("creates an item under an id of one's own, once", async () => {
    const project = await service.mintProject()
    const body = { name: 'Handbook', text: 'Refunds take a week.' }
    const created = await project.send('PUT', path, body)
    expect([created.status, created.headers.get('location')]).toEqual([201, path])
    expect(created.headers.get('callbook-index')).toBe('ready')
    const item = await created.json()
    expect(item).toEqual({
      ...body,
      id: 'handbook',
      description: '',
      createdAt: expect.any(String),
      tags: [],
    })
    const before = await readFeed(project)
    const again = await project.send('PUT', path, body)
    expect([again.status, again.headers.get('etag')]).toEqual([200, created.headers.get('etag')])
    expect(await again.json()).toEqual(item)
    expect(await readFeed(project)).toEqual(before)
    expect(await (await project.fetch(path)).json()).toEqual(item)
  })

  test('replaces an item: the old text is not found any more, the new one is', async () => {
    const project = await service.mintProject()
    const { id, createdAt } = await (
      await project.send('POST', '/v1/knowledge', {
        name: 'Prices',
        description: 'Of us',
        text: 'It costs apples.',
      })
    ).json()
    const answer = await project.send('PUT', `/v1/knowledge/${id}`, {
      name: 'Prices',
      text: 'It costs pears.',
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('callbook-index')).toBe('ready')
    const item = { id, name: 'Prices', description: '', text: 'It costs pears.', createdAt, tags: [] }
    expect(await answer.json()).toEqual(item)
    const read = await project.fetch(`/v1/knowledge/${id}`)
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'))
    expect(await read.json()).toEqual(item)
    for (const mode of ['keyword', 'vector']) {
      expect(await textsBy(project, 'pears', mode)).toEqual(['It costs pears.'])
      expect((await textsBy(project, 'apples', mode)).join()).not.toContain('apples')
    }
  })

  test('embeds only what has changed, and the rest keeps its labels', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Handbook', text: textOf(100) })
    const labels = await labelsOf(project)
    embeddings.requests.length = 0
    const text = textOf(100, { 40: 'Parrots are welcome' })
    const answer = await project.send('PUT', path, { name: 'Handbook', text })
    expect(answer.headers.get('callbook-index')).toBe('ready')
    const embedded = embeddings.requests.flatMap(({ texts }) => texts)
    expect(embedded).toHaveLength(1)
    expect(embedded[0]).toContain('Parrots')
    const after = await labelsOf(project)
    expect(after).toHaveLength(labels.length)
    expect(after.filter((label) => labels.includes(label))).toHaveLength(labels.length - 1)
    await expectWhole(project, 'Handbook', text)
    expect((await textsBy(project, 'Parrots welcome', 'vector'))[0]).toContain('Parrots')
  })

  test('keeps chunks that move, appear twice, or only change a link', async () => {
    const project = await service.mintProject()
    const texts = [
      textOf(5),
      `# Start\n\n${filler}\n\n${textOf(5)}`,
      `${textOf(5)}\n\n${textOf(5)}`,
      textOf(2),
      textOf(3, { 1: 'See [this](https://example.com/a) page' }),
      textOf(3, { 1: 'See [this](https://example.com/b) page' }),
    ]
    for (const text of texts) {
      const answer = await project.send('PUT', path, { name: 'Handbook', text })
      expect(answer.headers.get('callbook-index')).toBe('ready')
      await expectWhole(project, 'Handbook', text)
    }
    embeddings.requests.length = 0
    await project.send('PUT', path, { name: 'Handbook', text: texts[4] })
    expect(embeddings.requests).toEqual([])
    await expectWhole(project, 'Handbook', texts[4] ?? '')
    expect(await keywordCount(project, 'example')).toBe(1)
  })

  test('another name is found, the old one is not', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Quokkas', text: 'Nothing else.' })
    await project.send('PUT', path, { name: 'Wombats', text: 'Nothing else.' })
    expect(await textsBy(project, 'Wombats', 'keyword')).toEqual(['Nothing else.'])
    expect(await textsBy(project, 'Quokkas', 'keyword')).toEqual([])
  })

  test('creates again after a deletion, and readers of changes end with the item', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Handbook', text: 'One.' })
    await project.fetch(path, { method: 'DELETE' })
    expect((await project.send('PUT', path, { name: 'Handbook', text: 'Two.' })).status).toBe(201)
    const feed = await readFeed(project)
    expect(feed.map(({ type, item }) => [type, item?.text])).toEqual([['knowledge.changed', 'Two.']])
    expect((await project.fetch('/v1/erasures/handbook')).status).toBe(200)
    await project.fetch(path, { method: 'DELETE' })
    expect((await readFeed(project)).map(({ type }) => type)).toEqual(['knowledge.deleted'])
  })

  test('names what is wrong with an id, a body or a size', async () => {
    const project = await service.mintProject()
    const body = { name: 'x', text: 'y' }
    for (const id of ['a b', 'a:b', 'é', 'x'.repeat(129), 'preview%20']) {
      const answer = await project.send('PUT', `/v1/knowledge/${encodeURI(id)}`, body)
      expect([id, answer.status, (await answer.json()).errors?.[0].field]).toEqual([id, 400, 'id'])
    }
    const made = await project.send('PUT', '/v1/knowledge/kn_mine', body)
    await expectProblem(made, 'not_found', 'Knowledge item not found')
    const blank = await project.send('PUT', path, { name: ' ' })
    const fields = (await blank.json()).errors.map(({ field }: { field: string }) => field)
    expect(fields.toSorted()).toEqual(['name', 'text'])
    await project.send('PUT', path, body)
    expect((await project.send('PUT', path, { name: 'x', text: 'y'.repeat(1_048_577) })).status).toBe(413)
    expect((await (await project.fetch(path)).json()).text).toBe('y')
  })

  test('is another item in each project', async () => {
    const [project, other] = [await service.mintProject(), await service.mintProject()]
    await project.send('PUT', path, { name: 'Mine', text: 'Mine.' })
    const unknown = await other.send('PATCH', path, { name: 'Yours' })
    await expectProblem(unknown, 'not_found', 'Knowledge item not found')
    expect((await other.send('PUT', path, { name: 'Yours', text: 'Yours.' })).status).toBe(201)
    expect((await (await project.fetch(path)).json()).text).toBe('Mine.')
  })
})

describe('PATCH /v1/knowledge/:id', () => {
  test('changes what is sent', async () => {
    const project = await service.mintProject()
    const { createdAt } = await (
      await project.send('PUT', path, { name: 'Handbook', description: 'Old', text: 'Refunds.' })
    ).json()
    embeddings.requests.length = 0
    const item = {
      id: 'handbook',
      name: 'Handbook',
      description: 'New',
      text: 'Refunds.',
      createdAt,
      tags: [],
    }
    const described = await project.send('PATCH', path, { description: 'New' })
    expect([described.status, await described.json()]).toEqual([200, item])
    expect(await (await project.send('PATCH', path, {})).json()).toEqual(item)
    expect(embeddings.requests).toEqual([])
    const { ignored, text } = await project
      .send('PATCH', path, { text: 'Returns.', txt: 1 })
      .then(async (answer) => ({
        ignored: answer.headers.get('callbook-ignored'),
        text: (await answer.json()).text,
      }))
    expect([ignored, text]).toEqual(['txt', 'Returns.'])
    await expectWhole(project, 'Handbook', 'Returns.')
    expect((await project.send('PATCH', path, { description: null })).status).toBe(400)
  })
})

describe('If-Match', () => {
  const send = (project: TestProject, method: string, ifMatch: string, text: string) =>
    project.fetch(path, {
      method,
      headers: { 'content-type': 'application/json', 'if-match': ifMatch },
      body: JSON.stringify({ name: 'Handbook', text }),
    })

  test('lets a change through for the item that was read, plain or compressed, and for any', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Handbook', text: 'One.' })
    const tag = async () => (await project.fetch(path)).headers.get('etag') ?? ''
    for (const method of ['PUT', 'PATCH']) {
      const stale = await tag()
      expect((await send(project, method, `"other", ${stale}`, `${method} 1.`)).status).toBe(200)
      const refused = await send(project, method, stale, `${method} 2.`)
      await expectProblem(refused, 'item_has_changed', 'Item has changed')
      expect((await send(project, method, `W/${await tag()}`, `${method} 2.`)).status).toBe(412)
      expect((await (await project.fetch(path)).json()).text).toBe(`${method} 1.`)
      const packed = (await tag()).replace(/"$/, '-gzip"')
      expect((await send(project, method, packed, `${method} 3.`)).status).toBe(200)
      expect((await send(project, method, '*', `${method} 4.`)).status).toBe(200)
    }
  })

  test('never creates', async () => {
    const project = await service.mintProject()
    expect((await send(project, 'PUT', '*', 'One.')).status).toBe(412)
    expect((await project.fetch(path)).status).toBe(404)
  })
})

describe('a deletion', () => {
  const remove = (project: TestProject, headers: Record<string, string>) =>
    project.fetch(path, { method: 'DELETE', headers })

  test('is only of the item that was read, where If-Match says so', async () => {
    const project = await service.mintProject()
    const first = await project.send('PUT', path, { name: 'Handbook', text: 'We sell apples.' })
    const stale = first.headers.get('etag') ?? ''
    const second = await project.send('PUT', path, { name: 'Handbook', text: 'We sell pears.' })
    const list = (await project.fetch('/v1/knowledge')).headers.get('etag')
    await expectProblem(await remove(project, { 'if-match': stale }), 'item_has_changed', 'Item has changed')
    expect((await remove(project, { 'if-none-match': '*' })).status).toBe(412)
    expect(await textsBy(project, 'sell', 'keyword')).toEqual(['We sell pears.'])
    expect((await project.fetch('/v1/knowledge')).headers.get('etag')).toBe(list)
    const tag = second.headers.get('etag') ?? ''
    expect((await remove(project, { 'if-match': tag.replace(/"$/, '-gzip"') })).status).toBe(200)
    expect((await remove(project, { 'if-match': '*' })).status).toBe(412)
    expect((await remove(project, {})).status).toBe(404)
  })

  test('and a change of the same version: only one of them happens', async () => {
    const { knowledge, itemChanges } = service.services
    for (let round = 0; round < 5; round++) {
      const project = await service.mintProject()
      const { projectId } = project
      const { changeSeq } = await itemChanges.put(projectId, 'handbook', { name: 'Handbook', text: 'One.' })
      const isRead = (seq: number | null) => seq === changeSeq
      // Both have read the same version before either of them writes.
      const outcomes = await Promise.allSettled([
        knowledge.delete(projectId, 'handbook', undefined, isRead),
        itemChanges.patch(projectId, 'handbook', { name: 'Other' }, undefined, isRead),
      ])
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const isDeleted = outcomes[0]?.status === 'fulfilled'
      expect((await project.fetch(path)).status).toBe(isDeleted ? 404 : 200)
      if (!isDeleted) await expectWhole(project, 'Other', 'One.')
    }
  })

  test.skipIf(ofFilesOnly)(
    'that has read a version which another process changes deletes nothing',
    async () => {
      const project = await service.mintProject()
      const { projectId } = project
      await project.send('PUT', path, { name: 'Handbook', text: 'One.' })
      const other = new Database(join(service.dataDir, 'callbook.db'))
      other.exec('pragma busy_timeout = 5000')
      const deleting = service.services.knowledge.delete(projectId, 'handbook', undefined, (seq) => {
        const change = 'update knowledge_items set change_seq = change_seq + 1000 where project_id = ?'
        other.prepare(change).run(projectId)
        return seq !== null
      })
      await expect(deleting).rejects.toMatchObject({ code: 'item_has_changed' })
      other.close()
      await expectWhole(project, 'Handbook', 'One.')
    },
  )
})

test('PUT with If-None-Match: * only creates, and one of two at once does', async () => {
  const project = await service.mintProject()
  const create = (text: string) =>
    project.fetch(path, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'if-none-match': '*' },
      body: JSON.stringify({ name: 'Handbook', text }),
    })
  const statuses = (await Promise.all([create('One.'), create('Two.')])).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([201, 412])
  const tag = (await project.fetch(path)).headers.get('etag') ?? ''
  await expectProblem(await create('Three.'), 'item_has_changed', 'Item has changed')
  expect((await project.fetch(path)).headers.get('etag')).toBe(tag)
})

describe('while an item is changed', () => {
  test('the old text is found until the provider has answered', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Handbook', text: 'We sell apples.' })
    embeddings.next({ delayMs: 400 })
    const changing = project.send('PUT', path, { name: 'Handbook', text: 'We sell pears.' })
    await until(async () => embeddings.requests.at(-1)?.texts.join().includes('pears') ?? false)
    expect(await textsBy(project, 'sell', 'keyword')).toEqual(['We sell apples.'])
    expect((await (await project.fetch(path)).json()).text).toBe('We sell apples.')
    expect((await changing).headers.get('callbook-index')).toBe('ready')
    expect(await textsBy(project, 'sell', 'keyword')).toEqual(['We sell pears.'])
  })

  test('a provider that fails does not keep the old text', async () => {
    const project = await service.mintProject()
    const text = textOf(3, { 1: 'We sell apples' })
    await project.send('PUT', path, { name: 'Handbook', text })
    embeddings.always({ status: 503 })
    const next = textOf(3, { 1: 'We sell pears' })
    const answer = await project.send('PUT', path, { name: 'Handbook', text: next })
    expect([answer.status, answer.headers.get('callbook-index')]).toEqual([200, 'pending'])
    const again = await project.send('PUT', path, { name: 'Handbook', text: next })
    expect(again.headers.get('callbook-index')).toBe('pending')
    expect((await textsBy(project, 'sell pears', 'keyword')).join()).toContain('pears')
    expect((await textsBy(project, 'sell apples', 'keyword')).join()).not.toContain('apples')
    embeddings.always(null)
    await until(async () => (await service.services.knowledge.figures(project.projectId)).pendingChunks === 0)
    await expectWhole(project, 'Handbook', next)
  })

  test('a provider that is too slow does not either: the change waits no longer than INDEX_WAIT_MS', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Handbook', text: 'We sell apples.' })
    embeddings.next({ delayMs: 10_000 })
    const answer = await project.send('PUT', path, { name: 'Handbook', text: 'We sell pears.' })
    expect([answer.status, answer.headers.get('callbook-index')]).toEqual([200, 'pending'])
    expect(await textsBy(project, 'sell', 'keyword')).toEqual(['We sell pears.'])
    await until(async () => (await textsBy(project, 'sell', 'vector')).join() === 'We sell pears.')
  })

  test('of many writers at once, one is last and whole', async () => {
    const project = await service.mintProject()
    const texts = Array.from({ length: 20 }, (_, n) => textOf(6, { [n % 6]: `Writer ${n} was here` }))
    const statuses = await Promise.all(
      texts.map(async (text) => (await project.send('PUT', path, { name: 'Handbook', text })).status),
    )
    expect(statuses.toSorted()).toEqual([...new Array(19).fill(200), 201])
    const { text } = await (await project.fetch(path)).json()
    expect(texts).toContain(text)
    await expectWhole(project, 'Handbook', text)
  })

  test('a lost race is 412 for whoever said what it had read', async () => {
    const project = await service.mintProject()
    const tag =
      (await project.send('PUT', path, { name: 'Handbook', text: 'One.' })).headers.get('etag') ?? ''
    const answers = await Promise.all(
      ['Two.', 'Three.', 'Four.'].map((text) =>
        project.fetch(path, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json', 'if-match': tag },
          body: JSON.stringify({ text }),
        }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
  })

  test('every search finds the old or the new text, never both and never neither, in each process', async () => {
    const { dataDir } = service
    const other = await startService({ dataDir, env: { EMBEDDING_ENDPOINT: embeddings.url } })
    const project = await service.mintProject()
    const versionOf = (n: number) => textOf(4, { 2: `The secret ingredient is version${n}` })
    await project.send('PUT', path, { name: 'Handbook', text: versionOf(0) })
    for (let n = 0; n < 10; n++)
      await project.send('PUT', `/v1/knowledge/other-${n}`, { name: `Other ${n}`, text: textOf(1) })
    const searchBy = async ({ services }: TestService, request: object) =>
      (
        await services.search.search(project.projectId, {
          query: 'What is the secret ingredient?',
          ...request,
          limit: 20,
          timeoutMs: 5_000,
        })
      ).answer.data.flatMap(({ text }) => text.match(/version\d+/g) ?? [])
    await until(async () => (await searchBy(other, { mode: 'vector' })).length === 1)
    let isDone = false
    const wrong: unknown[] = []
    let searches = 0
    const searching = [service, other].flatMap((searched, process) =>
      (['hybrid', 'vector', 'keyword'] as const).flatMap((mode) =>
        [{ mode }, { mode, itemIds: ['handbook'] }].map(async (request) => {
          while (!isDone) {
            const versions = await searchBy(searched, request)
            searches++
            if (versions.length !== 1) wrong.push([process, request, versions])
            // Let the requests in.
            await Bun.sleep(5)
          }
        }),
      ),
    )
    for (let n = 1; n <= 15; n++) {
      const answer = await project.send('PUT', path, { name: 'Handbook', text: versionOf(n) })
      expect(answer.headers.get('callbook-index')).toBe('ready')
    }
    isDone = true
    await Promise.all(searching)
    await other.stop()
    expect(searches).toBeGreaterThan(30)
    expect(wrong).toEqual([])
  })
})

describe('what an item said before', () => {
  test.skipIf(ofFilesOnly)('leaves no byte in any file, and a receipt says when', async () => {
    const builtin = await startService({ env: { ERASE_WITHIN_MS: '2000' } })
    const project = await builtin.mintProject()
    const { id, traces } = await addMarkedItem(project)
    await builtin.services.index.eraseDeleted(project.projectId)
    const own = traces.filter(({ name }) => !name.startsWith('id '))
    await untilInFiles(builtin.dataDir, own)
    const word = newWord()
    await project.send('PATCH', `/v1/knowledge/${id}`, {
      name: 'Plain',
      text: `Only ${word}.`,
      description: '',
    })
    const receipt = await receiptOf(project, id)
    expect(['pending', 'done']).toContain(receipt.status)
    await until(async () => (await receiptOf(project, id)).status === 'done')
    expect(await findTraces(builtin.dataDir, own)).toEqual([])
    expect(await textsBy(project, word, 'keyword')).toEqual([`Only ${word}.`])
    // A second change is erased as well, under the same receipt.
    await project.send('PATCH', `/v1/knowledge/${id}`, { text: 'Nothing.' })
    expect((await receiptOf(project, id)).requestedAt >= receipt.requestedAt).toBe(true)
    await until(async () => (await receiptOf(project, id)).status === 'done')
    expect(await findTraces(builtin.dataDir, tracesOfWord(word))).toEqual([])
  })

  test('is no deletion to readers of changes: the item stands there once, when it was changed', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Handbook', text: 'One.' })
    const [created] = await readFeed(project)
    await project.send('PUT', '/v1/knowledge/other', { name: 'Other', text: 'Other.' })
    await project.send('PATCH', path, { text: 'Two.' })
    const feed = await readFeed(project)
    expect(feed.map(({ type, item }) => [type, item?.text])).toEqual([
      ['knowledge.changed', 'Other.'],
      ['knowledge.changed', 'Two.'],
    ])
    expect(feed[1]?.ref).toBe(created?.ref)
    expect((feed[1]?.at ?? '') >= (created?.at ?? '')).toBe(true)
    expect(feed[1]?.at).not.toBe(feed[1]?.item?.createdAt)
  })
})

describe('matched', () => {
  test('says which search found a passage', async () => {
    const project = await service.mintProject()
    await project.send('PUT', path, { name: 'Handbook', text: 'Refunds take a week.' })
    const matched = async (query: string, mode: string) =>
      (await search(project, { query, mode })).data.map((hit) => hit.matched)
    expect(await matched('refunds', 'hybrid')).toEqual([{ keyword: true, vector: true }])
    expect(await matched('refunds', 'keyword')).toEqual([{ keyword: true, vector: false }])
    expect(await matched('refunds', 'vector')).toEqual([{ keyword: false, vector: true }])
    expect(await matched('xyzzy plugh', 'hybrid')).toEqual([{ keyword: false, vector: true }])
  })
})

interface Hit {
  text: string
  matched: { keyword: boolean; vector: boolean }
}

async function search(project: TestProject, body: object): Promise<{ data: Hit[] }> {
  const answer = await project.send('POST', '/v1/knowledge/search', body)
  expect(answer.status).toBe(200)
  return await answer.json()
}

async function textsBy(project: TestProject, query: string, mode: string): Promise<string[]> {
  return (await search(project, { query, mode, timeoutMs: 5_000 })).data.map(({ text }) => text)
}

interface FeedEntry {
  type: string
  ref: string
  at: string
  item?: { text: string; createdAt: string }
}

async function readFeed(project: TestProject): Promise<FeedEntry[]> {
  return (await (await project.fetch('/v1/changes?after=0')).json()).data
}

async function receiptOf(project: TestProject, id: string): Promise<{ status: string; requestedAt: string }> {
  return await (await project.fetch(`/v1/erasures/${id}`)).json()
}

async function labelsOf({ projectId }: TestProject): Promise<number[]> {
  const rows = await service.services.database.read.all<{ label: number }>(
    sql`select label from chunks where project_id = ${projectId}`,
  )
  return rows.map(({ label }) => label)
}

async function keywordCount({ projectId }: TestProject, word: string): Promise<number> {
  return (await chunksWith(service.services.database.read, projectId, stemOf(word))).length
}

/** Whether the project's only item has just the chunks of this text, in rows, keyword index and vector index. */
async function expectWhole(project: TestProject, name: string, text: string): Promise<void> {
  const { read } = service.services.database
  const rows = await read.all<{ label: number }>(sql`
    select label, position, heading, chunks.text as text, overlap_chars as overlapChars
    from chunks join knowledge_items on seq = item_seq
    where chunks.project_id = ${project.projectId} and name = ${name} order by position`)
  expect(rows.map(({ label: _, ...chunk }) => chunk)).toEqual(
    splitIntoChunks(text).map((chunk) => ({ ...chunk })),
  )
  const words = await read.all<{ id: number }>(sql`
    select id from chunk_words_0_docsize where id in (select label from chunks where project_id = ${project.projectId})
    order by id`)
  const labels = rows.map(({ label }) => label).toSorted((a, b) => a - b)
  expect(words.map(({ id }) => id)).toEqual(labels)
  // A new index is complete once it was compared with the rows.
  await until(
    async () => (await service.services.index.reconcile(project.projectId)).vectors === labels.length,
  )
}
