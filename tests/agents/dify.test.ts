import { describe, expect, test } from 'bun:test'
import { limitOf, toErrorBody, toRecords } from '../../src/agents/dify.ts'
import { AppError } from '../../src/errors.ts'
import fc from '../support/fast-check.ts'
import { addItems } from '../support/items.ts'
import { startService } from '../support/service.ts'

interface DifyRecord {
  content: string
  score: number
  title: string
  metadata: { document_id: string; heading: string; position: number }
}

const items = [
  {
    name: 'Returns',
    text: '## Time\n\nItems can be returned within 30 days.\n\n## Condition\n\nUnworn, with tags.',
    tags: ['policy'],
  },
  { name: 'Shipping of items', text: 'Standard shipping takes three to five days.', tags: ['policy'] },
  { name: 'Bicycles', text: 'The blue bicycle costs 900 euros, all items included.', tags: ['prices'] },
]
const path = '/integrations/dify/retrieval'
const firstDay = Date.UTC(2026, 0, 1)
const dayMs = 86_400_000
const clock = { ms: firstDay }

const service = await startService({ now: () => clock.ms, env: { BODY_MAX_BYTES: '100000' } })
const project = await service.mintProject()
const ids: string[] = []
for (const item of items) {
  ids.push(...(await addItems(project, [item])))
  clock.ms += dayMs
}

function send(more: Record<string, unknown>, target = project): Promise<Response> {
  const retrieval_setting = { top_k: 50, score_threshold: 0 }
  return target.send('POST', path, { knowledge_id: target.id, query: 'items', retrieval_setting, ...more })
}

async function retrieve(more: Record<string, unknown>, target = project): Promise<DifyRecord[]> {
  const answer = await send(more, target)
  expect(answer.status).toBe(200)
  const body = await answer.json()
  expect(Object.keys(body)).toEqual(['records'])
  return body.records
}

/** The names of the items found, sorted. */
async function titlesFor(more: Record<string, unknown>): Promise<string[]> {
  const records = await retrieve({ query: 'items', ...more })
  return [...new Set(records.map(({ title }) => title))].sort()
}

async function expectDifyError(
  answer: Response,
  status: number,
  code: number,
  message: RegExp | string,
): Promise<void> {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
  expect(answer.headers.get('x-request-id')).toMatch(/\S/)
  const body = await answer.json()
  expect(Object.keys(body)).toEqual(['error_code', 'error_msg'])
  expect(body.error_code).toBe(code)
  expect(body.error_msg).toMatch(message)
}

describe('an external knowledge base of Dify', () => {
  test("answers Dify's published request in Dify's published form", async () => {
    const answer = await project.send('POST', path, {
      knowledge_id: project.id,
      query: 'How long do I have to return items?',
      retrieval_setting: { top_k: 3, score_threshold: 0.1 },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    const { records } = await answer.json()
    expect(records[0]).toEqual({
      content: expect.stringMatching(/^Returns( › Time)?\n[\s\S]*within 30 days/),
      score: expect.any(Number),
      title: 'Returns',
      metadata: { document_id: ids[0], heading: expect.any(String), position: 0 },
    })
    for (const record of records) {
      expect(Object.keys(record)).toEqual(['content', 'score', 'title', 'metadata'])
      expect(Object.values(record.metadata)).not.toContain(null)
      expect(record.score >= 0.1 && record.score <= 1).toBe(true)
    }
  })

  test("takes the request as Dify's own client writes it, with null for what is not set", async () => {
    const records = await retrieve({
      retrieval_setting: { top_k: null, score_threshold: null },
      metadata_condition: null,
    })
    expect(records.length).toBeGreaterThan(1)
    for (const retrieval_setting of [{}, { top_k: 2 }, { score_threshold: 0.1 }])
      expect((await retrieve({ retrieval_setting })).length).toBeGreaterThan(0)
  })

  test("is the key's project by its id or its name, or one of its items", async () => {
    for (const knowledge_id of [project.id, project.name]) {
      const records = await retrieve({ knowledge_id })
      expect(new Set(records.map(({ title }) => title)).size).toBe(3)
    }
    for (const [at, id] of ids.entries()) {
      const records = await retrieve({ knowledge_id: id })
      expect(records.map(({ title }) => title)).toContain(items[at]?.name ?? '')
      expect(new Set(records.map(({ metadata }) => metadata.document_id))).toEqual(new Set([id]))
    }
  })

  test('that is unknown, deleted or of another project is one and the same 404', async () => {
    const other = await service.mintProject()
    const [theirs = ''] = await addItems(other, [{ name: 'Theirs', text: 'items of theirs' }])
    const [gone = ''] = await addItems(project, [{ name: 'Gone', text: 'items that are gone' }])
    expect((await project.fetch(`/v1/knowledge/${gone}`, { method: 'DELETE' })).status).toBe(200)
    const answers = new Set<string>()
    const unknown = [
      '',
      ' ',
      'nobody',
      'prj_0',
      'kn_0',
      `${project.id} `,
      project.name.toUpperCase(),
      '*',
      '%',
    ]
    for (const knowledge_id of [...unknown, other.id, other.name, theirs, gone]) {
      const answer = await send({ knowledge_id })
      await expectDifyError(answer.clone(), 404, 2001, /^Knowledge not found: /)
      answers.add(await answer.text())
    }
    expect(answers.size).toBe(1)
    expect((await retrieve({ knowledge_id: theirs }, other)).length).toBe(1)
  })

  test('gives as many records as asked for, from 1 to 50', async () => {
    const large = await service.mintProject()
    const wordsOf = (part: number) => Array.from({ length: 150 }, (_, n) => `w${part}x${n}`).join(' ')
    const parts = Array.from({ length: 60 }, (_, part) => `# Part ${part}\n\nThe items: ${wordsOf(part)}`)
    await addItems(large, [{ name: 'Large', text: parts.join('\n\n') }])
    for (const [top_k, count] of [
      [1, 1],
      [7, 7],
      [0, 1],
      [-5, 1],
      [50, 50],
      [1_000_000, 50],
    ]) {
      const records = await retrieve({ retrieval_setting: { top_k, score_threshold: 0 } }, large)
      expect([top_k, records.length]).toEqual([top_k, count])
    }
  })

  test('compares the threshold with what a passage covers of the question, which its rank does not tell', async () => {
    const setting = { retrieval_setting: { top_k: 3, score_threshold: 0.3 } }
    const [best] = await retrieve({ query: 'send back within 30 days', ...setting })
    expect(best?.score).toBeGreaterThan(0.3)
    const unknown = 'Does the zebra exhibition in Lisbon sell an order of opera tickets?'
    const all = await retrieve({ query: unknown })
    expect(all.length).toBeGreaterThan(0)
    const searched = await project.send('POST', '/v1/knowledge/search', { query: unknown, limit: 50 })
    const { data, coverage } = await searched.json()
    expect([data[0].score, all[0]?.score]).toEqual([1, coverage])
    expect(await retrieve({ query: unknown, ...setting })).toEqual([])
  })

  test('leaves out what covers less than the threshold', async () => {
    const all = await retrieve({})
    for (const score_threshold of [0, 0.5, ...all.map(({ score }) => score), 1]) {
      const kept = await retrieve({ retrieval_setting: { top_k: 50, score_threshold } })
      expect(kept).toEqual(all.filter(({ score }) => score >= score_threshold))
    }
  })

  test('takes whatever is asked as text, of a long one the last 2,000 characters', async () => {
    for (const word of [
      '"',
      'NEAR(',
      'returned*',
      '-returned',
      'heading:returned AND',
      '🙂',
      '; drop table',
    ]) {
      const records = await retrieve({ query: `${word} returned within days` })
      expect([word, records[0]?.metadata.document_id]).toEqual([word, ids[0]])
      await retrieve({ query: word })
    }
    await retrieve({ query: '🙂'.repeat(2_000) })
    expect(await retrieve({ query: `returned within days${' \n'.repeat(3_000)}` })).toEqual(
      await retrieve({ query: 'returned within days' }),
    )
    const end = `${'🙂'.repeat(1_980)}returned within days`
    const records = await retrieve({ query: end })
    expect(records.length).toBeGreaterThan(0)
    expect(await retrieve({ query: `${'warranty shipping '.repeat(1_000)}${end}` })).toEqual(records)
  })

  test('has no records in a project without knowledge', async () => {
    expect(await retrieve({}, await service.mintProject())).toEqual([])
  })

  test('when the search fails is 500 in the same form, and the log has the cause', async () => {
    const broken = await startService()
    const victim = await broken.mintProject()
    await addItems(victim, items)
    await broken.services.database.write.run('alter table chunks rename to lost')
    const answer = await send({}, victim)
    await broken.services.database.write.run('alter table lost rename to chunks')
    const requestId = answer.headers.get('x-request-id')
    await expectDifyError(answer, 500, 500, /^Internal error: [^:]*$/)
    const logged = broken.logs.filter((line) => line.requestId === requestId)
    expect(logged.map(({ msg }) => msg)).toEqual(['internal', 'request'])
    expect(JSON.stringify(logged[0])).toContain('no such table')
    await broken.stop()
  })
})

describe('tags in the knowledge id', () => {
  test('limit the search to items with one of them; unknown ones find nothing', async () => {
    expect(await titlesFor({ knowledge_id: 'tags:policy' })).toEqual(['Returns', 'Shipping of items'])
    expect(await titlesFor({ knowledge_id: 'tags:prices,policy' })).toEqual([
      'Bicycles',
      'Returns',
      'Shipping of items',
    ])
    expect(await titlesFor({ knowledge_id: 'tags:unknown' })).toEqual([])
    for (const knowledge_id of ['tags:', 'tags:Policy', 'tags:policy,'])
      await expectDifyError(await send({ knowledge_id }), 400, 400, /^Invalid request: tags: must be 1 to 50/)
  })

  test('take the place of metadata_condition, which is refused and not passed over', async () => {
    const condition = { name: 'name', comparison_operator: 'is', value: 'Returns' }
    const conditions = [
      { conditions: [condition] },
      { logical_operator: null, conditions: null },
      {},
      [],
      'x',
    ]
    for (const metadata_condition of conditions)
      await expectDifyError(
        await send({ metadata_condition }),
        400,
        400,
        'Invalid request: metadata_condition: must be null: name tags in knowledge_id instead, such as tags:billing,eu',
      )
  })
})

describe('the key', () => {
  test('is all that Dify sends when the endpoint is registered, and it must not be taken for a wrong address or key', async () => {
    const authorization = `Bearer ${project.key}`
    const { status } = await fetch(service.url + path, { method: 'POST', headers: { authorization } })
    expect([502, 404, 403]).not.toContain(status)
  })
})

describe('every error under /integrations/dify has Dify’s form', () => {
  test('a body that is not a retrieval is 400, with the field named', async () => {
    const good = { knowledge_id: project.id, query: 'q', retrieval_setting: { top_k: 1, score_threshold: 0 } }
    const without = (field: string) =>
      Object.fromEntries(Object.entries(good).filter(([name]) => name !== field))
    for (const [sent, message] of [
      [[], 'Invalid request: body: must be an object'],
      [{}, 'Invalid request: knowledge_id: is required; query: is required; retrieval_setting: is required'],
      [without('knowledge_id'), 'knowledge_id: is required'],
      [without('query'), 'query: is required'],
      [without('retrieval_setting'), 'retrieval_setting: is required'],
      [{ ...good, knowledge_id: 5 }, 'knowledge_id: must be a string'],
      [{ ...good, query: '' }, 'query: must not be empty'],
      [{ ...good, query: ' \n' }, 'query: must not be blank'],
      [{ ...good, query: ['q'] }, 'query: must be a string'],
      [{ ...good, retrieval_setting: null }, 'retrieval_setting: must be an object'],
      [{ ...good, retrieval_setting: { top_k: '3' } }, 'retrieval_setting.top_k: must be an integer'],
      [{ ...good, retrieval_setting: { top_k: 2.5 } }, 'retrieval_setting.top_k: must be an integer'],
      [
        { ...good, retrieval_setting: { score_threshold: 'high' } },
        'retrieval_setting.score_threshold: must be a number',
      ],
      [
        { ...good, retrieval_setting: { score_threshold: 50 } },
        'retrieval_setting.score_threshold: must be at most 1',
      ],
    ] as const)
      await expectDifyError(await project.send('POST', path, sent), 400, 400, message)
  })

  test('malformed JSON and other paths', async () => {
    const post = (body: string, type = 'application/json') =>
      project.fetch(path, { method: 'POST', body, headers: { 'content-type': type } })
    await expectDifyError(await post('{"query"'), 400, 400, 'body: must be valid JSON')
    await expectDifyError(await post('{"query":"\\u0000"}'), 400, 400, 'query: must not contain U+0000')
    for (const other of ['', '/', '/nope', '/retrieval/nope'])
      await expectDifyError(await project.fetch(`/integrations/dify${other}`), 404, 404, /^Not found: /)
  })
})

describe('the mapping', () => {
  const hit = {
    itemId: 'kn_1',
    name: 'Returns',
    heading: null,
    position: 3,
    score: 0.5,
    text: 'T',
    matched: { keyword: true, vector: true },
  }

  test('gives a passage without heading an empty one, never null', () => {
    expect(toRecords([hit], [0.3], {})).toEqual([
      {
        content: 'Returns\nT',
        score: 0.3,
        title: 'Returns',
        metadata: { document_id: 'kn_1', heading: '', position: 3 },
      },
    ])
  })

  test('keeps the limit within what search takes, and leaves the default to it', () => {
    expect(limitOf({})).toBeUndefined()
    expect(limitOf({ top_k: null })).toBeUndefined()
    fc.assert(
      fc.property(fc.integer(), (top_k) => {
        const limit = limitOf({ top_k }) ?? 0
        expect(limit >= 1 && limit <= 50 && (limit === top_k || top_k < 1 || top_k > 50)).toBe(true)
      }),
    )
  })

  test('says a sentence once', () => {
    const bare = new AppError('unavailable', 'Service unavailable')
    expect(toErrorBody(bare)).toEqual({ error_code: 503, error_msg: 'Service unavailable.' })
  })
})
