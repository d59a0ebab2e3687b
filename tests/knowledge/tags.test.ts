import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { SearchAnswer } from '../../src/knowledge/schemas.ts'
import { asCommand } from '../support/command.ts'
import fc from '../support/fast-check.ts'
import { addItems } from '../support/items.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord, untilInFiles } from '../support/traces.ts'
import { until } from '../support/until.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })
const project = await service.mintProject()
const items = [
  { name: 'Invoices', text: 'Invoices are paid within thirty days.', tags: ['eu', 'billing', 'eu'] },
  { name: 'Salaries', text: 'Salaries are paid on the last day.', tags: ['hr', 'eu'] },
  { name: 'Parking', text: 'Parking is paid at the gate.' },
]
const [invoices = '', salaries = '', parking = ''] = await addItems(project, items)

async function itemOf(id: string, of = project) {
  return await (await of.fetch(`/v1/knowledge/${id}`)).json()
}

async function namesOf(query: string): Promise<string[]> {
  const list: { name: string }[] = await (await project.fetch(`/v1/knowledge?${query}`)).json()
  return list.map(({ name }) => name).sort()
}

async function search(more: object, of: Pick<TestProject, 'send'> = project): Promise<SearchAnswer> {
  const answer = await of.send('POST', '/v1/knowledge/search', { query: 'paid', ...more })
  expect(answer.status).toBe(200)
  return await answer.json()
}

async function found(more: object, of: Pick<TestProject, 'send'> = project): Promise<string[]> {
  return (await search(more, of)).data.map(({ name }) => name).sort()
}

/** A key of the scope `search`, bound to tags. */
async function keyFor(tags: string[], of = project) {
  const input = { name: tags.join() || 'all', kind: 'live' as const, allowedIps: [], expiresAt: null }
  const key = await service.services.keys.create(of.projectId, { ...input, scope: 'search', tags })
  const send = (method: string, path: string, body?: unknown) =>
    fetch(service.url + path, {
      method,
      headers: {
        authorization: `Bearer ${key.key}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return { ...key, send }
}

describe('the tags of an item', () => {
  test('are served sorted, each once, and kept by a change of anything else', async () => {
    expect(Object.keys(await itemOf(invoices))).toEqual([
      'id',
      'name',
      'description',
      'text',
      'createdAt',
      'tags',
    ])
    expect((await itemOf(invoices)).tags).toEqual(['billing', 'eu'])
    expect((await itemOf(parking)).tags).toEqual([])
    const patched = await project.send('PATCH', `/v1/knowledge/${invoices}`, { description: 'Money' })
    expect((await patched.json()).tags).toEqual(['billing', 'eu'])
    const put = (tags?: string[]) =>
      project.send('PUT', '/v1/knowledge/own', { name: 'Own', text: 'Owned.', ...(tags && { tags }) })
    expect((await (await put(['b', 'a'])).json()).tags).toEqual(['a', 'b'])
    expect((await (await put()).json()).tags).toEqual([])
    await project.fetch('/v1/knowledge/own', { method: 'DELETE' })
  })

  test('are at most twenty, of certain characters', async () => {
    const twenty = Array.from({ length: 20 }, (_, n) => `t${n}`)
    for (const tags of [
      [...twenty, 'x'],
      ['Billing'],
      ['a b'],
      [''],
      ['-a'],
      ['a'.repeat(51)],
      'a',
      [5],
      null,
    ])
      await expectProblem(
        await project.send('POST', '/v1/knowledge', { name: 'N', text: 'T', tags }),
        'invalid_request',
      )
    const most = [...twenty.slice(1), `0.a_b:c/d-${'e'.repeat(40)}`]
    const answer = await project.send('POST', '/v1/knowledge', { name: 'N', text: 'T', tags: most })
    const { id, tags } = await answer.json()
    expect([answer.status, tags]).toEqual([201, most.toSorted()])
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
  })

  test('changed alone embed nothing, and move the tag of the answer, the feed and the next search', async () => {
    const path = `/v1/knowledge/${parking}`
    const before = await project.fetch(path)
    const vectors = () =>
      service.services.database.read.all(sql`select label, hex(embedding) from chunks order by label`)
    const stored = await vectors()
    const answer = await project.send('PATCH', path, { tags: ['cars'] })
    expect([answer.status, answer.headers.get('callbook-index')]).toEqual([200, 'ready'])
    expect(answer.headers.get('etag')).not.toBe(before.headers.get('etag'))
    expect(await vectors()).toEqual(stored)
    expect(await found({ tags: ['cars'] })).toEqual(['Parking'])
    const feed = await (await project.fetch('/v1/changes?limit=1000')).json()
    const change = feed.data.find(({ item }: { item?: { id: string } }) => item?.id === parking)
    expect(change.item.tags).toEqual(['cars'])
    const again = await project.send('PATCH', path, { tags: ['cars', 'cars'] })
    expect(again.headers.get('etag')).toBe(answer.headers.get('etag'))
    await project.send('PATCH', path, { tags: [] })
    expect(await found({ tags: ['cars'] })).toEqual([])
  })

  test('come with an upload, in its form and in its front matter', async () => {
    const own = await service.mintProject()
    const upload = async (text: string, tags?: string) => {
      const form = new FormData()
      form.append('file', new File([text], 'guide.md'))
      if (tags !== undefined) form.append('tags', tags)
      return await own.fetch('/v1/knowledge/files', { method: 'POST', body: form })
    }
    const answer = await upload('---\ntags: [API Reference, eu, "!"]\n---\n\n# Guide\n\nRead.', 'own,eu')
    expect([answer.status, (await answer.json()).tags]).toEqual([201, ['api-reference', 'eu', 'own']])
    await expectProblem(await upload('# Guide', 'Not a tag'), 'invalid_request')
    expect((await (await upload('# Guide\n\nPlain.', '')).json()).tags).toEqual([])
  })

  test.skipIf(ofFilesOnly)(
    'leave no byte when they are taken away, and when the item is deleted',
    async () => {
      const [first, second] = [newWord(), newWord()]
      const traces = (word: string) => [{ name: word, bytes: Buffer.from(word) }]
      const own = await service.mintProject()
      const [id] = await addItems(own, [{ name: 'N', text: 'T', tags: [first] }])
      await untilInFiles(service.dataDir, traces(first))
      expect((await own.send('PATCH', `/v1/knowledge/${id}`, { tags: [second] })).status).toBe(200)
      await until(async () => (await findTraces(service.dataDir, traces(first))).length === 0)
      expect((await own.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
      await until(async () => (await findTraces(service.dataDir, traces(second))).length === 0)
      expect(
        await service.services.database.read.all(sql`select * from item_tags where tag = ${second}`),
      ).toEqual([])
    },
  )
})

describe('a list', () => {
  test('has the items with one of the tags, or with all of them, on every page', async () => {
    expect(await namesOf('tags=billing,hr')).toEqual(['Invoices', 'Salaries'])
    expect(await namesOf('tags=billing&tags=eu&tagsMatch=all')).toEqual(['Invoices'])
    expect(await namesOf('tags=unknown')).toEqual([])
    const page = await project.fetch('/v1/knowledge?tags=eu&limit=1')
    const next = /<([^>]*)>/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
    expect((await (await project.fetch(next)).json()).map(({ name }: { name: string }) => name)).toEqual([
      'Invoices',
    ])
    for (const bad of ['tags=', 'tags=a,', 'tags=A', 'tagsMatch=some'])
      await expectProblem(await project.fetch(`/v1/knowledge?${bad}`), 'invalid_request')
  })
})

describe('a search', () => {
  test('finds items with one of the tags, or with all, together with itemIds', async () => {
    expect(await found({ tags: ['billing', 'hr'] })).toEqual(['Invoices', 'Salaries'])
    expect(await found({ tags: ['billing', 'eu'], tagsMatch: 'all' })).toEqual(['Invoices'])
    expect(await found({ tags: ['eu'], itemIds: [salaries, parking] })).toEqual(['Salaries'])
    expect(await found({ tags: ['unknown'] })).toEqual([])
    expect(await found({ tags: [] })).toEqual(['Invoices', 'Parking', 'Salaries'])
    for (const mode of ['keyword', 'vector'])
      expect(await found({ tags: ['hr'], mode })).toEqual(['Salaries'])
  })

  test('in any process finds by the tags that another process has given', async () => {
    const shared = await service.mintProject()
    const [id = ''] = await addItems(shared, [{ name: 'Fees', text: 'Fees are paid.', tags: ['old'] }])
    const query = { query: 'paid', tags: ['new'] }
    await asCommand(service.dataDir, async ({ search, itemChanges }) => {
      const inOther = async () => (await search.search(shared.projectId, query)).answer.data.length
      expect([await inOther(), (await found(query, shared)).length]).toEqual([0, 0])
      await itemChanges.patch(shared.projectId, id, { tags: ['new'] })
      expect([await inOther(), (await found(query, shared)).length]).toEqual([1, 1])
      await shared.send('PATCH', `/v1/knowledge/${id}`, { tags: ['old'] })
      expect([await inOther(), (await found(query, shared)).length]).toEqual([0, 0])
    })
  })
})

/** What each door finds: as text, since each has a form of its own. @param tags what stands in its address, with `?` */
type Door = (send: Key['send'], tags: string) => Promise<Response>
type Key = Awaited<ReturnType<typeof keyFor>>

const question = { role: 'user', content: 'How are invoices, salaries and parking paid?' }
const toolCall = { id: '1', name: 'search', parameters: { query: question.content } }
const doors: Record<string, Door> = {
  'a search by /mcp': (send, tags) =>
    send('POST', `/mcp${tags}`, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search_knowledge', arguments: { query: question.content } },
    }),
  "Vapi's knowledge base": (send, tags) =>
    send('POST', `/integrations/vapi/knowledge${tags}`, {
      message: { type: 'knowledge-base-request', messages: [question] },
    }),
  "Vapi's tool": (send, tags) =>
    send('POST', `/integrations/vapi/tool${tags}`, { message: { toolCallList: [toolCall] } }),
  'a tool': (send, tags) => send('POST', `/integrations/tool${tags}`, { query: question.content }),
  Dify: (send, tags) =>
    send('POST', `/integrations/dify/retrieval${tags}`, {
      knowledge_id: project.id,
      query: question.content,
      retrieval_setting: { top_k: 10 },
    }),
}
const rest: Door = (send) => send('POST', '/v1/knowledge/search', { query: question.content })

async function itemsIn(answer: Response): Promise<string[]> {
  expect(answer.status).toBe(200)
  const text = await answer.text()
  return items
    .map(({ name }) => name)
    .filter((name) => text.includes(`${name} are`) || text.includes(`${name} is`))
}

describe('every door', () => {
  test.each(Object.entries({ ...doors, 'a search by REST': rest }))(
    '%s is bound to the tags of its key',
    async (_, door) => {
      expect(await itemsIn(await door((await keyFor([])).send, ''))).toEqual([
        'Invoices',
        'Salaries',
        'Parking',
      ])
      expect(await itemsIn(await door((await keyFor(['billing'])).send, ''))).toEqual(['Invoices'])
      expect(await itemsIn(await door((await keyFor(['unknown', 'hr'])).send, ''))).toEqual(['Salaries'])
    },
  )

  test.each(Object.entries(doors))(
    '%s is bound to the tags of its address, which narrow those of the key',
    async (_, door) => {
      expect(await itemsIn(await door(project.send, '?tags=hr,billing'))).toEqual(['Invoices', 'Salaries'])
      expect(await itemsIn(await door(project.send, '?tags=eu,billing&tagsMatch=all'))).toEqual(['Invoices'])
      expect(await itemsIn(await door(project.send, '?tags=unknown'))).toEqual([])
      const { send } = await keyFor(['eu'])
      expect(await itemsIn(await door(send, '?tags=hr'))).toEqual(['Salaries'])
      expect(await itemsIn(await door((await keyFor(['hr'])).send, '?tags=billing'))).toEqual([])
      for (const bad of ['?tags=', '?tags=a,', '?tagsMatch=x'])
        expect((await door(send, bad)).status).toBe(400)
    },
  )

  test("a source's address answers within the tags of the source", async () => {
    const { sources } = service.services
    const ask = async (tags: string) => {
      const made = await sources.create(project.projectId, { platform: 'vapi', options: { tags } })
      return await fetch(`${service.url}/ingest/from/${made.id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${made.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: { type: 'tool-calls', toolCallList: [toolCall] } }),
      })
    }
    expect(await itemsIn(await ask('billing'))).toEqual(['Invoices'])
    expect(await itemsIn(await ask('billing,hr'))).toEqual(['Invoices', 'Salaries'])
    for (const [platform, tags] of [
      ['vapi', 'Billing'],
      ['vapi', 'a,'],
      ['vapi', ''],
      ['bland', 'billing'],
    ] as const)
      await expect(sources.create(project.projectId, { platform, options: { tags } })).rejects.toThrow(
        'tags: ',
      )
  })

  test('a model narrows its own search by /mcp, and has no such parameter elsewhere', async () => {
    const call = async (key: Pick<Key, 'send'>, name: string, more: object = {}, address = '') => {
      const params = { name, arguments: more }
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      return (await (await key.send('POST', `/mcp${address}`, body)).json()).result
    }
    const asked = { query: question.content, tags: ['billing', 'hr'] }
    const { structuredContent } = await call(await keyFor(['hr', 'eu']), 'search_knowledge', asked)
    expect(structuredContent.data.map(({ itemId }: { itemId: string }) => itemId).sort()).toEqual(
      [invoices, salaries].sort(),
    )
    // An item beyond the tags of the address does not exist for the other tools, either.
    const { structuredContent: list } = await call(project, 'list_knowledge', {}, '?tags=billing')
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual([invoices])
    expect((await call(project, 'get_knowledge', { id: invoices }, '?tags=billing')).isError).toBeUndefined()
    const beyond = await call(project, 'get_knowledge', { id: salaries }, '?tags=billing')
    expect(beyond).toEqual(await call(project, 'get_knowledge', { id: 'nowhere' }, '?tags=billing'))
    const { send } = await keyFor(['billing'])
    const told = await (await send('POST', '/integrations/tool', { query: 'paid', tags: ['hr'] })).json()
    expect(told.result).toContain('Invoices are')
    expect(told.result).not.toContain('Salaries are')
  })

  test('for Dify, an item beyond the tags of a key does not exist', async () => {
    const { send } = await keyFor(['billing'])
    const ask = (knowledge_id: string) =>
      send('POST', '/integrations/dify/retrieval', { knowledge_id, query: 'paid', retrieval_setting: {} })
    expect(await itemsIn(await ask(invoices))).toEqual(['Invoices'])
    expect(await itemsIn(await ask('tags:eu'))).toEqual(['Invoices'])
    expect(await itemsIn(await ask('tags:hr'))).toEqual([])
    const beyond = await ask(salaries)
    expect([beyond.status, (await beyond.json()).error_code]).toEqual([404, 2001])
  })
})

describe('a key', () => {
  test('of another scope has no tags; an edit holds from the next request on, and a rotation keeps them', async () => {
    const { keys, keyChanges } = service.services
    const input = { name: 'k', kind: 'live' as const, allowedIps: [], expiresAt: null }
    for (const [scope, tags] of [
      ['read', ['a']],
      [undefined, ['a']],
      ['search', ['A']],
      ['search', Array.from({ length: 21 }, (_, n) => `t${n}`)],
    ] as const)
      await expect(keys.create(project.projectId, { ...input, scope, tags: [...tags] })).rejects.toThrow(
        'tags: ',
      )
    expect((await keys.create(project.projectId, input)).tags).toEqual([])
    const key = await keyFor(['billing'])
    expect(await (await key.send('GET', '/v1/key')).json()).toMatchObject({
      scope: 'search',
      tags: ['billing'],
    })
    expect(await found({}, key)).toEqual(['Invoices'])
    await keyChanges.edit(project.projectId, key.id, { tags: ['hr', 'hr'] })
    expect(await found({}, key)).toEqual(['Salaries'])
    const rotated = await keyChanges.rotate(project.projectId, key.id)
    expect(rotated.tags).toEqual(['hr'])
    await keyChanges.edit(project.projectId, key.id, { tags: [] })
    expect(await found({}, key)).toEqual(['Invoices', 'Parking', 'Salaries'])
    await expect(keyChanges.edit(project.projectId, key.id, { tags: [''] })).rejects.toThrow('tags: ')
  })

  test('cannot tell whether a word is in an item beyond its tags', async () => {
    const own = await service.mintProject()
    const ofHr = { text: 'How can the staff ask for leave? Staff can ask by mail.', tags: ['hr'] }
    const ofBilling = { name: 'Secret', text: 'The zebracorn is paid.', tags: ['billing'] }
    await addItems(own, [{ name: 'Leave', ...ofHr }, { name: 'Mail', ...ofHr }, ofBilling])
    const hr = await keyFor(['hr'], own)
    const answers = ['zebracorn', 'zebranope'].map((word) =>
      search({ query: `how can the ${word}`, mode: 'keyword' }, hr),
    )
    const [there, nowhere] = await Promise.all(answers)
    expect(there?.data.map(({ name }) => name)).toEqual(nowhere?.data.map(({ name }) => name) ?? [])
    expect(there?.data.length).toBeGreaterThan(0)
  })

  test('finds no passage of another, whatever is asked', async () => {
    const shared = await service.mintProject()
    const topics = ['refunds', 'holidays', 'parking', 'invoices', 'warranty']
    const teams = ['red', 'blue']
    for (const team of teams)
      for (const topic of topics)
        await service.services.knowledge.add(shared.projectId, {
          name: `${topic} of ${team}`,
          text: `# ${topic}\n\nAbout ${topic}, the ${team} team says: ask before noon.`,
          tags: [team],
        })
    const keys = await Promise.all(teams.map((team) => keyFor([team], shared)))
    const word = fc.constantFrom(...topics, ...teams, 'team', 'noon', 'the', 'says', 'nothing')
    const request = fc.record(
      {
        query: fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' ')),
        limit: fc.integer({ min: 1, max: 50 }),
        mode: fc.constantFrom('hybrid', 'vector', 'keyword'),
        tags: fc.subarray([...teams, 'none']),
        tagsMatch: fc.constantFrom('any', 'all'),
      },
      { requiredKeys: ['query'] },
    )
    for (const asked of fc.sample(request, 500))
      await Promise.all(
        teams.map(async (team, at) => {
          for (const { name } of (await search(asked, keys[at])).data) expect(name).toEndWith(`of ${team}`)
        }),
      )
  })
})
