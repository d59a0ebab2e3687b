import { describe, expect, test } from 'bun:test'
import type { VectorIndex } from '../../../src/knowledge/indexing/index/vector-index.ts'
import { labelsOfItems } from '../../../src/knowledge/search/passages.ts'
import { Search } from '../../../src/knowledge/search/search.ts'
import { failureOf } from '../../support/failure.ts'
import { startFakeEmbeddings } from '../../support/fake-embeddings.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'

interface Hit {
  itemId: string
  name: string
  heading: string | null
  text: string
  position: number
  score: number
  matched: { keyword: boolean; vector: boolean }
}

interface Answer {
  data: Hit[]
  mode: string
  tookMs: number
  coverage: number | null
}

const documents = [
  { name: 'Refunds', text: 'We refund any order within thirty days of delivery.' },
  { name: 'Shipping', text: 'Orders ship within two days. Express delivery costs extra.' },
  {
    name: 'Passwords',
    text: '## Reset\n\nReset your password from the sign-in page.\n\n## Rules\n\nTwelve characters or more.',
  },
  { name: 'Opening hours', text: 'Our support team answers calls from nine to five on weekdays.' },
  { name: 'Near and not', text: 'The shop is near the station and not far from the harbour.' },
]

const service = await startService()
const project = await service.mintProject()
const ids: string[] = []
for (const document of documents) ids.push(await create(project, document))

describe('POST /v1/knowledge/search', () => {
  test('answers passages of exactly these fields, the mode, the time it took and how much of the question is covered', async () => {
    const answer = await project.send('POST', '/v1/knowledge/search', { query: 'reset password', limit: 1 })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      data: [
        {
          itemId: ids[2],
          name: 'Passwords',
          heading: expect.any(String),
          text: expect.stringContaining('Reset your password'),
          position: 0,
          score: 1,
          matched: { keyword: true, vector: false },
        },
      ],
      mode: 'hybrid',
      tookMs: expect.any(Number),
      coverage: expect.any(Number),
    })
  })

  for (const mode of ['hybrid', 'vector', 'keyword'])
    test(`in ${mode} mode puts the best first, with scores from 0 to 1 that fall`, async () => {
      const { data, mode: used } = await search({ query: 'refund my order', mode, limit: 50 })
      expect(used).toBe(mode)
      expect(data[0]).toMatchObject({ itemId: ids[0], score: 1, heading: null })
      const scores = data.map(({ score }) => score)
      expect(scores).toEqual(scores.toSorted((a, b) => b - a))
      for (const score of scores) expect(score > 0 && score <= 1).toBe(true)
    })

  test('answers five passages unless asked for more or fewer, none of them twice', async () => {
    const many = await service.mintProject()
    for (let n = 0; n < 12; n++)
      await create(many, { name: `Order ${n}`, text: `Order number ${n} is on its way.` })
    for (const mode of ['hybrid', 'vector', 'keyword']) {
      for (const [limit, count] of [
        [undefined, 5],
        [1, 1],
        [12, 12],
        [50, 12],
      ] as const) {
        const { data } = await search({ query: 'order number', mode, ...(limit ? { limit } : {}) }, many)
        expect(data.length).toBe(count)
        expect(new Set(data.map(({ itemId, position }) => `${itemId} ${position}`)).size).toBe(count)
      }
    }
  })

  test('answers as many passages as asked for, also when the best chunks become few of them', async () => {
    const other = await service.mintProject()
    const sentence = 'The zeppelin, this zeppelin, lands at the zeppelin field. '
    const long = Array.from({ length: 60 }, (_, n) => `${n}. ${sentence.repeat(3)}`).join('\n\n')
    await create(other, { name: 'Zeppelin', text: long })
    const names = ['North', 'East', 'South']
    for (const name of names) await create(other, { name, text: `To the ${name} there was one zeppelin.` })
    const { data } = await search({ query: 'zeppelin', mode: 'keyword', limit: 5 }, other)
    expect(data).toHaveLength(5)
  })

  test('answers nothing in a project without knowledge', async () => {
    const empty = await service.mintProject()
    for (const mode of ['hybrid', 'vector', 'keyword'])
      expect(await search({ query: 'anything', mode }, empty)).toMatchObject({ data: [], mode })
  })

  test.each(['?!', '…', '\u200b', ' - '])('finds nothing by a query that says nothing: %j', async (query) => {
    for (const mode of ['hybrid', 'vector', 'keyword'])
      expect((await search({ query, mode })).data).toEqual([])
  })

  test("finds nothing of another project, by any mode or by its items' ids", async () => {
    const other = await service.mintProject()
    const own = await create(other, { name: 'Own', text: 'The refund desk is closed.' })
    for (const mode of ['hybrid', 'vector', 'keyword']) {
      const { data } = await search({ query: 'refund', mode, limit: 50 }, other)
      expect(data.map(({ itemId }) => itemId)).toEqual([own])
      expect((await search({ query: 'refund', mode, itemIds: ids }, other)).data).toEqual([])
    }
  })

  test('searches only the items asked for', async () => {
    for (const mode of ['hybrid', 'vector', 'keyword']) {
      const itemIds = [ids[1], ids[3], 'kn_unknown', ids[1]]
      const { data } = await search({ query: 'delivery refund order calls', mode, itemIds, limit: 50 })
      expect(new Set(data.map(({ itemId }) => itemId))).toEqual(new Set([ids[1] ?? '', ids[3] ?? '']))
      expect((await search({ query: 'delivery', mode, itemIds: [] })).data).toEqual([])
      expect((await search({ query: 'delivery', mode, itemIds: ['kn_unknown'] })).data).toEqual([])
    }
  })

  test('takes a thousand ids, also with the longest query in its longest form', async () => {
    const send = (count: number) => {
      const itemIds = Array(count).fill(ids[1])
      const body = JSON.stringify({ query: '', itemIds }).replace('""', `"${'\\ud83d\\udcde'.repeat(2_000)}"`)
      const headers = { 'content-type': 'application/json' }
      return project.fetch('/v1/knowledge/search', { method: 'POST', headers, body })
    }
    expect((await send(1_000)).status).toBe(200)
    const { errors } = await (await send(1_001)).json()
    expect(errors).toEqual([{ field: 'itemIds', message: expect.stringContaining('1000') }])
  })

  test('finds a word in another form, case and with or without accents', async () => {
    for (const query of ['REFUNDED', 'refunding', 'réfund'])
      expect((await search({ query, mode: 'keyword' })).data[0]?.itemId).toBe(ids[0] ?? '')
  })

  test('finds by the name and the headings of an item', async () => {
    expect((await search({ query: 'passwords rules', mode: 'keyword' })).data[0]?.itemId).toBe(ids[2] ?? '')
    expect((await search({ query: 'opening', mode: 'keyword' })).data[0]?.itemId).toBe(ids[3] ?? '')
  })
})

describe('the coverage of a question', () => {
  test('is high where a passage answers, lower for a part of it, and 0 where nothing is found', async () => {
    const of = async (query: string) => (await search({ query, mode: 'keyword' })).coverage ?? -1
    const answered = await of('refund within thirty days of delivery')
    const partly = await of('refund a gift voucher bought abroad')
    expect(answered).toBeGreaterThan(0.6)
    expect(partly).toBeGreaterThan(0)
    expect(partly).toBeLessThan(answered / 2)
    expect(await of('zebra')).toBe(0)
  })

  test('is the same for any limit', async () => {
    const many = await service.mintProject()
    for (let n = 0; n < 80; n++)
      await create(many, {
        name: `Order ${n}`,
        text: `Order ${n} ships by ${'boat '.repeat(n % 9)}to a port.`,
      })
    for (const query of ['order ships by boat', 'to a port', 'order 17']) {
      const of = async (limit: number) => (await search({ query, limit, mode: 'keyword' }, many)).coverage
      const least = await of(1)
      expect(least).toBeGreaterThan(0)
      for (const limit of [5, 19, 50]) expect(await of(limit)).toBe(least)
    }
  })

  test('is null by vector, and for a question without a word', async () => {
    expect((await search({ query: 'refund my order', mode: 'vector' })).coverage).toBeNull()
    expect((await search({ query: '?!' })).coverage).toBeNull()
  })

  test('with a model also says how near the nearest passage is, and without its vector in time does not', async () => {
    await withFake(async (model, fake) => {
      const words = (await search({ query: 'refund my order', mode: 'keyword' }, model)).coverage ?? 0
      const both = (await search({ query: 'refund my order', timeoutMs: 5_000 }, model)).coverage ?? 0
      expect(both).not.toBe(words)
      // Half of it is that of the words.
      expect(both - words / 2).toBeGreaterThanOrEqual(-0.01)
      expect(both - words / 2).toBeLessThanOrEqual(0.51)
      fake.always({ delayMs: 60_000 })
      expect((await search({ query: 'refund an order', timeoutMs: 50 }, model)).coverage).toBe(
        (await search({ query: 'refund an order', mode: 'keyword' }, model)).coverage,
      )
    })
  })
})

describe('the vectors', () => {
  test('that stand for words alone are asked only where words find fewer passages than were asked for', async () => {
    const enough = await search({ query: 'order', limit: 1 })
    expect(enough.mode).toBe('hybrid')
    expect(enough.data.map(({ matched }) => matched)).toEqual([{ keyword: true, vector: false }])
    // A slip of the pen in each word.
    const misspelt = await search({ query: 'refnud delivry', limit: 1 })
    expect(misspelt.mode).toBe('hybrid')
    expect(misspelt.data[0]).toMatchObject({ name: 'Refunds', matched: { keyword: false, vector: true } })
  })

  test('come after all that words have found', async () => {
    const { data } = await search({ query: 'refund', limit: 3 })
    expect(data.map(({ matched }) => matched.keyword)).toEqual([true, false, false])
  })

  test('of a model are asked for a question that only has numbers in it, however many', async () => {
    await withFake(async (model) => {
      const hits = await search({ query: 'refund within 30 days', timeoutMs: 5_000 }, model)
      expect(hits.data.some(({ matched }) => matched.vector)).toBe(true)
      // A pattern with nested repetitions would never be done with it.
      const long = `${'11 '.repeat(650)}refund`
      expect((await search({ query: long, timeoutMs: 5_000 }, model)).data.length).toBeGreaterThan(0)
    })
  })

  test('of a model are not asked for an id, a number or a name in quotes that words find', async () => {
    await withFake(async (model, fake) => {
      await create(model, { name: 'Parts', text: 'The spare part ZX-4410 fits the model "Blue Heron".' })
      const before = fake.requests.length
      for (const query of ['ZX-4410', ' "Blue Heron" ', '“Blue Heron”', 'ZX-4410 4410']) {
        const { data, mode } = await search({ query, timeoutMs: 5_000 }, model)
        expect(mode).toBe('hybrid')
        expect(data[0]?.name).toBe('Parts')
        expect(data.every(({ matched }) => matched.keyword && !matched.vector)).toBe(true)
      }
      expect(fake.requests.length).toBe(before)
      // Nothing has this number, so its neighbours are better than nothing.
      const unknown = await search({ query: '99999', timeoutMs: 5_000 }, model)
      expect(unknown.data.length).toBeGreaterThan(0)
      expect(unknown.data.every(({ matched }) => matched.vector)).toBe(true)
    })
  })
})

describe('a query is text, whatever it looks like', () => {
  const queries = [
    '"',
    '""',
    '"refund',
    'refund"',
    '"refund order"',
    "'",
    "''",
    '*',
    'refund*',
    '*refund',
    '^refund',
    '^',
    'NEAR(',
    'NEAR(refund order)',
    'NEAR(refund order, 3)',
    'refund NEAR order',
    '-refund',
    '- refund',
    '-',
    'text:refund',
    'heading:refund',
    'nowhere:refund',
    ':',
    'refund:',
    'AND',
    'OR',
    'NOT',
    'AND OR NOT',
    'refund AND',
    'NOT refund',
    'refund AND (order',
    '(',
    ')',
    '((',
    '{refund}',
    '{text heading}:refund',
    '+',
    'refund + order',
    '%',
    '_',
    '\\',
    '\\"',
    ';',
    '--',
    '; drop table chunks',
    '?',
    '?1',
    ':name',
    '@x',
    '$x',
    '.',
    '…',
    '🙂',
    '🏳️‍🌈',
    '\u0301',
    '\u200d',
    '\u00ad',
    '٣',
    'Ⅷ',
    '²',
    '½',
    '語',
    'שלום',
    '\u{1E900}',
    '\u{1F1E9}\u{1F1EA}',
    '\uFFFE',
    '\u{10FFFF}',
    '\uE000',
    'ﬁ',
    'İ',
    'ß',
    '\t',
    '\u00a0x',
    'a\u0000b'.replace('\u0000', ' '),
    '\u0001',
    'refund\nrefund',
    'x'.repeat(2_000),
    'refund '.repeat(285),
    '"'.repeat(2_000),
    '( '.repeat(1_000),
    Array.from({ length: 500 }, (_, n) => n.toString(36))
      .join(' ')
      .slice(0, 2_000),
    '🙂'.repeat(2_000),
  ]
  for (const mode of ['keyword', 'vector', 'hybrid'])
    test(`in ${mode} mode`, async () => {
      for (const query of queries) {
        const answer = await project.send('POST', '/v1/knowledge/search', { query, mode })
        const isBlank = !/\S/.test(query)
        expect({ query, status: answer.status }).toEqual({ query, status: isBlank ? 400 : 200 })
        if (!isBlank && /refund/i.test(query) && !query.includes('\u00e9')) {
          const { data }: Answer = await answer.json()
          expect({ query, first: data[0]?.itemId }).toEqual({ query, first: ids[0] })
        }
      }
    })

  test('words of the query language are words of the text as well', async () => {
    const { data } = await search({ query: 'NEAR AND NOT', mode: 'keyword' })
    expect(data[0]?.itemId).toBe(ids[4] ?? '')
  })

  test('a query without a word finds nothing by keyword', async () => {
    for (const query of ['?!', '🙂', '"*"', '—'])
      expect(await search({ query, mode: 'keyword' })).toMatchObject({ data: [], mode: 'keyword' })
  })

  test('2,000 characters are taken, counted as code points, and 2,001 are 400', async () => {
    for (const unit of ['x', '𝕏']) {
      expect((await project.send('POST', '/v1/knowledge/search', { query: unit.repeat(2_000) })).status).toBe(
        200,
      )
      expect((await project.send('POST', '/v1/knowledge/search', { query: unit.repeat(2_001) })).status).toBe(
        400,
      )
    }
  })
})

describe('an embedder that is late or fails', () => {
  test('leaves the answer to keyword search, and on time: mode says so', async () => {
    await withFake(async (late, fake) => {
      fake.always({ delayMs: 60_000 })
      for (const mode of ['hybrid', 'vector']) {
        const answer = await search({ query: 'refund', mode, timeoutMs: 50 }, late)
        expect(answer.mode).toBe('keyword')
        expect(answer.data[0]?.name).toBe('Refunds')
        expect(answer.tookMs).toBeLessThan(30_000)
      }
    })
  })

  test('is not asked at all for a search by keyword', async () => {
    await withFake(async (late, fake) => {
      const before = fake.requests.length
      expect((await search({ query: 'refund', mode: 'keyword' }, late)).mode).toBe('keyword')
      expect(fake.requests.length).toBe(before)
    })
  })

  test('is asked once for a query that comes again', async () => {
    await withFake(async (late, fake) => {
      const before = fake.requests.length
      for (let n = 0; n < 3; n++)
        expect((await search({ query: 'refund my order', timeoutMs: 5_000 }, late)).mode).toBe('hybrid')
      expect(fake.requests.length).toBe(before + 1)
    })
  })

  for (const [name, misbehaviour] of Object.entries({
    'status 500': { status: 500 },
    'a web page': { html: true },
    'a vector of another dimension': { dimensions: 12 },
    'a closed connection': { cut: 'before' },
  } as const))
    test(`with ${name} is never an error`, async () => {
      await withFake(async (late, fake) => {
        fake.always(misbehaviour)
        const answer = await search({ query: 'refund', timeoutMs: 5_000 }, late)
        expect(answer).toMatchObject({ mode: 'keyword', data: [{ name: 'Refunds' }] })
        fake.always(null)
      })
    })

  test('a failure is not remembered as the vector of the query', async () => {
    await withFake(async (late, fake) => {
      fake.always({ status: 401 })
      expect((await search({ query: 'refund', timeoutMs: 5_000 }, late)).mode).toBe('keyword')
      fake.always(null)
      expect((await search({ query: 'refund', timeoutMs: 5_000 }, late)).mode).toBe('hybrid')
    })
  })
})

describe('the deadline', () => {
  test('holds while the circuit is open: the answer comes by keyword, and nobody is asked', async () => {
    await withFake(async (late, fake) => {
      fake.always({ status: 500 })
      for (let n = 0; n < 8; n++) await search({ query: `refund ${n}`, timeoutMs: 2_000 }, late)
      const before = fake.requests.length
      for (const mode of ['hybrid', 'vector']) {
        const answer = await search({ query: 'refund again', mode, timeoutMs: 10_000 }, late)
        expect(answer).toMatchObject({ mode: 'keyword', data: [{ name: 'Refunds' }] })
      }
      expect(fake.requests.length).toBe(before)
    })
  })

  test('that an embedding missed does not lose it: asked again, the answer is hybrid without another request', async () => {
    await withFake(async (late, fake) => {
      const before = fake.requests.length
      fake.next({ delayMs: 300 })
      expect((await search({ query: 'refund my order', timeoutMs: 20 }, late)).mode).toBe('keyword')
      const again = await search({ query: 'refund my order', timeoutMs: 10_000 }, late)
      expect([again.mode, again.data[0]?.name]).toEqual(['hybrid', 'Refunds'])
      expect(fake.requests.length).toBe(before + 1)
    })
  })

  test('is each request’s own: a hundred at once share one embedding, and all are answered without it', async () => {
    await withFake(async (late, fake) => {
      const before = fake.requests.length
      fake.always({ delayMs: 60_000 })
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => search({ query: 'refund', timeoutMs: 50 }, late)),
      )
      for (const answer of answers)
        expect(answer).toMatchObject({ mode: 'keyword', data: [{ name: 'Refunds' }] })
      expect(fake.requests.length).toBe(before + 1)
    })
  })
})

describe('two projects with the same texts', () => {
  test('never see each other’s items, however many searches go on at once', async () => {
    const [one, other] = [await service.mintProject(), await service.mintProject()]
    const itemIds = new Map<TestProject, string[]>([
      [one, []],
      [other, []],
    ])
    for (const document of documents)
      for (const [target, own] of itemIds) own.push(await create(target, document))
    const requests = Array.from({ length: 240 }, (_, n) => {
      const target = n % 2 === 0 ? one : other
      const strangers = itemIds.get(target === one ? other : one) ?? []
      const mode = ['hybrid', 'vector', 'keyword'][n % 3]
      const named = n % 5 === 0 ? { itemIds: [...strangers, ...(itemIds.get(target) ?? [])] } : {}
      const query = ['refund my order', 'delivery', 'password', 'support team'][n % 4]
      return { target, body: { query, mode, limit: 1 + (n % 50), ...named } }
    })
    const answers = await Promise.all(requests.map(({ target, body }) => search(body, target)))
    for (const [n, { data }] of answers.entries()) {
      const own = itemIds.get(requests[n]?.target ?? one)
      expect(data.length).toBeGreaterThan(0)
      expect(data.filter(({ itemId }) => !own?.includes(itemId))).toEqual([])
    }
  })
})

test('a text that is changed between finding and reading is searched for again', async () => {
  const own = await service.mintProject()
  const id = await create(own, { name: 'Hours', text: 'Open until five.' })
  const { core, index, database, embedder } = service.services
  let searches = 0
  const overtaken: VectorIndex = Object.assign(Object.create(index), {
    search: async () => {
      const labels = await labelsOfItems(database.read, own.projectId, [id])
      if (++searches === 1) await own.send('PATCH', `/v1/knowledge/${id}`, { text: 'Open until six.' })
      return labels.map((label) => ({ label, similarity: 1 }))
    },
  })
  const search = new Search(core, { embedder, index: overtaken })
  const request = { query: 'How long are you open?', mode: 'vector', timeoutMs: 10_000 } as const
  const { answer } = await search.search(own.projectId, request)
  expect(answer.data.map(({ text }) => text)).toEqual(['Open until six.'])
  search.close()
})

test('searches beyond 256 at once are refused, and each gives its place back, also one that fails', async () => {
  const { search, projects } = service.services
  const deleted = await service.mintProject()
  await projects.delete(deleted.projectId)
  const find = ({ projectId }: TestProject) =>
    search.search(projectId, { query: 'refund order', mode: 'keyword', timeoutMs: 10_000 })
  const failing = Array.from({ length: 256 }, () => failureOf(find(deleted)))
  expect(search.isFull).toBe(true)
  expect(await failureOf(find(project))).toMatchObject({ detail: 'Too many searches are under way.' })
  for (const failure of await Promise.all(failing))
    expect(failure).toMatchObject({ detail: 'The project was just deleted.' })
  expect(search.isFull).toBe(false)
  for (const { answer } of await Promise.all(Array.from({ length: 256 }, () => find(project))))
    expect(answer.data[0]?.name).toBe('Refunds')
})

describe('the log', () => {
  test('holds no word of a query or a text, whatever is answered', async () => {
    await withFake(async (late, fake, { logs }) => {
      const secret = 'pin4711zebra'
      await create(late, { name: 'Secret name', text: `The text says ${secret}text.` })
      for (const misbehaviour of [
        null,
        { status: 500 },
        { status: 422 },
        { html: true },
        { dimensions: 3 },
      ]) {
        fake.always(misbehaviour)
        const query = `${secret} ${Math.random()}`
        await search({ query, timeoutMs: 2_000 }, late)
        for (const mode of ['hybrid', 'vector', 'keyword']) await search({ query: secret, mode }, late)
        await late.send('POST', '/v1/knowledge/search', { query, limit: 99 })
        await late.send('POST', '/v1/knowledge/preview', { text: `${secret} ${'x'.repeat(2_000_000)}` })
        await late.send('POST', '/integrations/dify/retrieval', {
          knowledge_id: secret,
          query,
          retrieval_setting: {},
        })
        await late.send('POST', '/integrations/vapi/tool', {
          message: { toolCallList: [{ parameters: { query } }] },
        })
        await late.send('POST', '/mcp', {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: secret },
        })
        await late.fetch(`/v1/knowledge/search?query=${secret}`)
      }
      expect(logs.length).toBeGreaterThan(20)
      expect(logs.filter((line) => JSON.stringify(line).includes(secret))).toEqual([])
    })
  })
})

async function withFake(
  use: (
    project: TestProject,
    fake: Awaited<ReturnType<typeof startFakeEmbeddings>>,
    service: TestService,
  ) => Promise<void>,
): Promise<void> {
  const fake = await startFakeEmbeddings()
  const late = await startService({ env: { EMBEDDING_ENDPOINT: fake.url } })
  try {
    const own = await late.mintProject()
    for (const document of documents.slice(0, 2)) await create(own, document)
    await use(own, fake, late)
  } finally {
    fake.always(null)
    await late.stop()
    await fake.stop()
  }
}

async function create(target: TestProject, fields: { name: string; text: string }): Promise<string> {
  const answer = await target.send('POST', '/v1/knowledge', fields)
  expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'ready'])
  const { id }: { id: string } = await answer.json()
  return id
}

async function search(request: Record<string, unknown>, target = project): Promise<Answer> {
  const answer = await target.send('POST', '/v1/knowledge/search', { timeoutMs: 5_000, ...request })
  expect(answer.status).toBe(200)
  return await answer.json()
}
