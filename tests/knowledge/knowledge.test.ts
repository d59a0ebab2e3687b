import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { chunks, knowledgeItems } from '../../src/db/schema.ts'
import { passageText } from '../../src/knowledge/chunking/passage-text.ts'
import { stemOf } from '../../src/text/words.ts'
import { chunksWith } from '../support/chunk-words.ts'
import { startFakeEmbeddings } from '../support/fake-embeddings.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

interface Item {
  id: string
  name: string
  description: string
  text: string
  createdAt: string
  tags: string[]
}

const service = await startService()

describe('POST /v1/knowledge', () => {
  test('is 201 with exactly the six fields, where the item is, and whether it is indexed', async () => {
    const project = await service.mintProject()
    const answer = await post(project, { name: 'Refunds', text: 'Within 30 days.', more: 1 })
    expect(answer.status).toBe(201)
    const item: Item = await answer.json()
    expect(item).toEqual({
      id: expect.stringMatching(/^kn_[0-9a-f]{32}$/),
      name: 'Refunds',
      description: '',
      text: 'Within 30 days.',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      tags: [],
    })
    expect(answer.headers.get('location')).toBe(`/v1/knowledge/${item.id}`)
    expect(answer.headers.get('callbook-index')).toBe('ready')
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    const read = await project.fetch(answer.headers.get('location') ?? '')
    expect(await read.json()).toEqual(item)
  })

  test('names the oldest item that has the same text, and stores this one all the same', async () => {
    const [project, other] = [await service.mintProject(), await service.mintProject()]
    const duplicateOf = (answer: Response) => [answer.status, answer.headers.get('callbook-duplicate-of')]
    const text = 'Within 30 days.'
    await create(other, { name: 'Refunds', text })
    const first = await post(project, { name: 'Refunds', text })
    expect(duplicateOf(first)).toEqual([201, null])
    const { id }: Item = await first.json()
    expect(duplicateOf(await post(project, { name: 'Again', text }))).toEqual([201, id])
    expect(duplicateOf(await project.send('PUT', '/v1/knowledge/own', { name: 'Own', text }))).toEqual([
      201,
      id,
    ])
    expect(duplicateOf(await project.send('PUT', '/v1/knowledge/own', { name: 'Same', text }))).toEqual([
      200,
      null,
    ])
    expect(duplicateOf(await post(project, { name: 'Other', text: `${text} ` }))).toEqual([201, null])
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    expect(duplicateOf(await post(project, { name: 'Third', text }))).not.toEqual([201, id])
    expect((await (await project.fetch('/v1/knowledge')).json()).length).toBe(4)
  })

  test('gives ids that sort by time', async () => {
    const project = await service.mintProject()
    const ids = []
    for (let n = 0; n < 20; n++) ids.push((await create(project, { name: `${n}`, text: 'x' })).id)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(20)
  })

  const texts: Record<string, string> = {
    'line ends of Windows': 'one\r\ntwo\r\n\r\nthree\r',
    'a byte order mark': '\uFEFF# Title\n\ntext',
    'white space around': '  \t\n text \n\n  ',
    'characters of every plane': planes(),
    'combining marks in either form': 'e\u0301 \u00e9 \u1e9b\u0323 \ufb01 \u212b',
    'emoji with joiners and flags': '👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽',
    'right to left text and controls': 'שלום \u202e مرحبا \u200f\u2066x\u2069',
    'control characters': '\u0001\u001b[31m\u007f\u0085\u2028\u2029 x',
    noncharacters: '\uFFFE \uFFFF \u{1FFFE} \u{10FFFF} \uFDD0',
    'quotes and backslashes': `\\ " ' \` \\u0000 %00 </script> {{x}} $1`,
    'a fenced code block': '```\n## not a heading\n```\n\n## A heading\n\n~~~\n# no\n~~~',
    'headings only': '# One\n\n## Two\n\n### Three\n\n## Four',
    'one heading without text': '#',
    'a table and front matter': '---\ntitle: x\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
    'SQL and JSON': `'); drop table knowledge_items; -- {"a":[1]}`,
    'one character': 'x',
    'one astral character': '𝕏',
  }
  for (const [name, text] of Object.entries(texts))
    test(`keeps the text byte for byte: ${name}`, async () => {
      const project = await service.mintProject()
      const fields = { name: ` ${name}\u0301 `, text, description: ` ${name}\n` }
      const item = await create(project, fields)
      expect(item).toMatchObject(fields)
      const [read, list] = await Promise.all([
        project.fetch(`/v1/knowledge/${item.id}`).then((answer) => answer.bytes()),
        project.fetch('/v1/knowledge').then((answer) => answer.json()),
      ])
      const readItem: Item = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(read))
      expect(Buffer.from(readItem.text).equals(Buffer.from(text))).toBe(true)
      expect(list).toEqual([item])
      const pieces = await service.services.database.read
        .select({ text: chunks.text, overlapChars: chunks.overlapChars })
        .from(chunks)
        .where(eq(chunks.projectId, project.projectId))
        .orderBy(chunks.position)
      expect(pieces.map((piece) => piece.text.slice(piece.overlapChars)).join('')).toBe(passageText(text))
    })

  const limits = {
    'a name of 200 code points': { name: '𝕏'.repeat(200), text: 'x' },
    'a description of 2,000 code points': { name: 'x', text: 'x', description: '🙂'.repeat(2_000) },
    'an empty description': { name: 'x', text: 'x', description: '' },
    'a blank description': { name: 'x', text: 'x', description: ' \n' },
  }
  for (const [name, fields] of Object.entries(limits))
    test(`takes ${name}`, async () => {
      const project = await service.mintProject()
      expect(await create(project, fields)).toMatchObject(fields)
    })

  test('takes 1 MiB of one word, and of one long word', async () => {
    const project = await service.mintProject()
    for (const text of ['word '.repeat(209_715), 'w'.repeat(1_048_576)]) {
      const item = await create(project, { name: 'Large', text })
      const read: Item = await project.fetch(`/v1/knowledge/${item.id}`).then((answer) => answer.json())
      expect(read.text === text).toBe(true)
    }
  })

  test('takes text up to the limit in bytes, and is 413 above it, whatever its characters weigh', async () => {
    const project = await service.mintProject()
    for (const [unit, bytes] of [
      ['x', 1],
      ['é', 2],
      ['語', 3],
      ['🙂', 4],
    ] as const) {
      const small = await startedWithLimit(1_200)
      const fits = await post(small.project, { name: 'x', text: unit.repeat(1_200 / bytes) })
      const tooMuch = await post(small.project, { name: 'x', text: `${unit.repeat(1_200 / bytes)}x` })
      expect([fits.status, tooMuch.status]).toEqual([201, 413])
      expect(await tooMuch.json()).toMatchObject({
        code: 'payload_too_large',
        title: 'Payload too large',
        detail: expect.stringContaining('1201 bytes'),
      })
      await small.stop()
    }
    expect(await project.fetch('/v1/knowledge').then((answer) => answer.json())).toEqual([])
  })

  test('an item is found by keyword as soon as its 201 is there', async () => {
    const project = await service.mintProject()
    for (let n = 0; n < 10; n++) {
      const item = await create(project, { name: `Item ${n}`, text: `The word is keyword${n}x.` })
      expect(await find(project, `keyword${n}x`)).toEqual([item.id])
    }
  })

  test('an item is stored and found by keyword when the provider is down', async () => {
    const fake = await startFakeEmbeddings()
    fake.always({ cut: 'before' })
    const down = await startService({ env: { EMBEDDING_ENDPOINT: fake.url, INDEX_WAIT_MS: '50' } })
    const project = await down.mintProject()
    const answer = await post(project, { name: 'Down', text: 'Nobody embeds this.' })
    expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'pending'])
    const { id }: Item = await answer.json()
    expect(await find(project, 'embeds')).toEqual([id])
    await down.stop()
    await fake.stop()
  })

  test('equal items are separate items', async () => {
    const project = await service.mintProject()
    const same = { name: 'Same', text: 'The same text.' }
    const [one, two] = [await create(project, same), await create(project, same)]
    expect(one.id).not.toBe(two.id)
    for (const { id } of [one, two]) {
      const answer = await project.send('POST', '/v1/knowledge/search', { query: 'same', itemIds: [id] })
      expect(await answer.json()).toMatchObject({ data: [{ itemId: id }] })
    }
  })

  test('fifty at once are all stored and found', async () => {
    const project = await service.mintProject()
    const items = await Promise.all(
      Array.from({ length: 50 }, (_, n) => create(project, { name: `Item ${n}`, text: `Text of item${n}x` })),
    )
    const list: Item[] = await project.fetch('/v1/knowledge').then((answer) => answer.json())
    expect(list.map(({ id }) => id).toSorted()).toEqual(items.map(({ id }) => id).toSorted())
    for (const [n, { id }] of items.entries()) expect(await find(project, `item${n}x`)).toEqual([id])
  })
})

describe('GET /v1/knowledge', () => {
  test('is a bare array, empty without items', async () => {
    const project = await service.mintProject()
    const answer = await project.fetch('/v1/knowledge')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    expect(await answer.text()).toBe('[]')
  })

  test('lists every item, newest first, in the order they were made within a millisecond', async () => {
    const still = await startService({ now: () => 1_700_000_000_000 })
    const project = await still.mintProject()
    const ids = []
    for (let n = 0; n < 25; n++) ids.push((await create(project, { name: `${n}`, text: 'x' })).id)
    const list: Item[] = await project.fetch('/v1/knowledge').then((answer) => answer.json())
    expect(list.map(({ id }) => id)).toEqual(ids.toReversed())
    await still.stop()
  })

  test('goes on after an item whose id its writer has chosen', async () => {
    const project = await service.mintProject()
    const body = JSON.stringify({ name: 'n', text: 'x' })
    const headers = { 'content-type': 'application/json' }
    const ids = [`${'a'.repeat(126)}.1`, 'refund-policy', 'B_2']
    for (const id of ids) await project.fetch(`/v1/knowledge/${id}`, { method: 'PUT', headers, body })
    const read: string[] = []
    for (let path: string | undefined = '/v1/knowledge?limit=1&fields=id'; path; ) {
      const answer = await project.fetch(path)
      read.push(...(await answer.json()).map((item: Item) => item.id))
      path = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(read.toSorted()).toEqual(ids.toSorted())
  })

  test('gives pages and fields when they are asked for, with a link to the next', async () => {
    const project = await service.mintProject()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await create(project, { name: `${n}`, text: 'x' })).id)
    const pages: Partial<Item>[][] = []
    let path: string | undefined = '/v1/knowledge?limit=2&fields=name'
    while (path) {
      const answer = await project.fetch(path)
      pages.push(await answer.json())
      path = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
      // Deleted or new items repeat and skip nothing.
      if (pages.length === 1) await project.fetch(`/v1/knowledge/${ids[1]}`, { method: 'DELETE' })
    }
    const items = ids.map((id, n) => ({ id, name: `${4 - n}` }))
    expect(pages).toEqual([items.slice(0, 2), items.slice(2, 4), items.slice(4)])
    const texts = await (await project.fetch('/v1/knowledge?fields=text&limit=1')).json()
    expect(texts).toEqual([{ id: ids[0], text: 'x' }])
    const none = await project.fetch('/v1/knowledge?limit=0')
    expect([await none.text(), none.headers.get('link')]).toEqual(['[]', null])
    for (const field of ['limit', 'cursor', 'fields']) {
      const answer = await project.fetch(`/v1/knowledge?${field}=x`)
      const problem = await expectProblem(answer, 'invalid_request')
      expect(problem.errors).toMatchObject([{ field }])
    }
  })

  test('lists 300 items of 100 KB whole, in order and in slices', async () => {
    const project = await service.mintProject()
    await insertLarge(project, 300, 100_000)
    const answer = await project.fetch('/v1/knowledge')
    expect(answer.headers.get('content-length')).toBeNull()
    let parts = 0
    const bytes: Uint8Array[] = []
    for await (const part of answer.body ?? []) {
      parts++
      bytes.push(part)
    }
    expect(parts).toBeGreaterThan(5)
    const list: Item[] = JSON.parse(Buffer.concat(bytes).toString())
    expect(list.length).toBe(300)
    expect(list.map(({ name }) => name)).toEqual(Array.from({ length: 300 }, (_, n) => `Large ${299 - n}`))
    for (const { text } of list) expect(text.length).toBe(100_000)
  })

  test('leaves out items that are deleted while the list is being sent, and stays valid JSON', async () => {
    const project = await service.mintProject()
    await insertLarge(project, 100, 100_000)
    const answer = await project.fetch('/v1/knowledge')
    const ids: Item[] = await project.fetch('/v1/knowledge').then((other) => other.json())
    const deleted = ids.slice(90).map(({ id }) => id)
    for (const id of deleted) await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    const list: Item[] = await answer.json()
    expect(list.length).toBeGreaterThanOrEqual(90)
    expect(list.slice(0, 90)).toEqual(ids.slice(0, 90))
  })
})

describe('DELETE /v1/knowledge/:id', () => {
  test('is 200 with the id, and takes row, chunks, keyword rows and vectors', async () => {
    const project = await service.mintProject()
    const kept = await create(project, { name: 'Kept', text: 'This shared word stays.' })
    const gone = await create(project, {
      name: 'Gone',
      text: `This shared word goes.\n\n${'more '.repeat(900)}`,
    })
    const answer = await project.fetch(`/v1/knowledge/${gone.id}`, { method: 'DELETE' })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ id: gone.id, deleted: true })
    expect((await project.fetch(`/v1/knowledge/${gone.id}`)).status).toBe(404)
    expect(await project.fetch('/v1/knowledge').then((list) => list.json())).toEqual([kept])
    for (const mode of ['keyword', 'vector', 'hybrid'])
      expect(await find(project, 'shared word goes', mode)).toEqual([kept.id])
    expect(await countRows(project)).toEqual({ items: 1, chunks: 1, words: 1, vectors: 1 })
  })

  test('is 404 the second time, and one of several at once succeeds', async () => {
    const project = await service.mintProject()
    const { id } = await create(project, { name: 'Once', text: 'Deleted once.' })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(404)])
    expect((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(404)
  })
})

function post(project: TestProject, fields: Record<string, unknown>): Promise<Response> {
  return project.send('POST', '/v1/knowledge', fields)
}

async function create(project: TestProject, fields: Record<string, unknown>): Promise<Item> {
  const answer = await post(project, fields)
  expect(answer.status).toBe(201)
  return await answer.json()
}

/** Ids of the items found, each once. */
async function find(project: TestProject, query: string, mode = 'keyword'): Promise<string[]> {
  const request = { query, mode, limit: 50, timeoutMs: 5_000 }
  const answer = await project.send('POST', '/v1/knowledge/search', request)
  const { data }: { data: { itemId: string }[] } = await answer.json()
  return [...new Set(data.map(({ itemId }) => itemId))]
}

async function startedWithLimit(bytes: number) {
  const limited = await startService({ env: { KNOWLEDGE_TEXT_MAX_BYTES: String(bytes) } })
  return { project: await limited.mintProject(), stop: () => limited.stop() }
}

/** Straight into the rows: what is tested is the list. */
async function insertLarge({ projectId }: TestProject, count: number, chars: number): Promise<void> {
  const { write } = service.services.database
  for (let n = 0; n < count; n += 20) {
    const rows = Array.from({ length: 20 }, (_, at) => ({
      projectId,
      id: `kn_${String(n + at).padStart(32, '0')}`,
      name: `Large ${n + at}`,
      description: '',
      text: String(n + at).padEnd(chars, '-'),
      textHash: '',
      updatedAt: Math.floor((n + at) / 7),
      changeSeq: 1,
      createdAt: Math.floor((n + at) / 7),
    }))
    await write.insert(knowledgeItems).values(rows)
  }
}

async function countRows({ projectId }: TestProject) {
  const { read } = service.services.database
  const count = async (query: Promise<unknown[]>) => (await query).length
  return {
    items: await count(read.select().from(knowledgeItems).where(eq(knowledgeItems.projectId, projectId))),
    chunks: await count(read.select().from(chunks).where(eq(chunks.projectId, projectId))),
    words: await count(chunksWith(read, projectId, stemOf('shared'))),
    vectors: (await service.services.index.reconcile(projectId)).vectors,
  }
}

/** Characters from all seventeen planes, at both ends of each. */
function planes(): string {
  const points = Array.from({ length: 17 }, (_, plane) => [plane * 0x10000 + 0x21, plane * 0x10000 + 0xfffd])
  return points
    .flat()
    .map((point) => String.fromCodePoint(point))
    .join(' ')
}
