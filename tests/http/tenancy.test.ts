import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer } from '../../src/server.ts'
import { startService, type TestProject } from '../support/service.ts'

// Made from the routes that there are: a new one is judged without anybody thinking of it, or fails here until
// somebody has said which key it takes.

const service = await startService()
const routes = createServer(service.services, () => null)
  .routes.filter(({ path }) => !path.startsWith('/console'))
  .map(({ method, path }) => ({ method, path }))
const kinds: [RegExp, 'live' | 'ingest' | 'open'][] = [
  [/^\/(v1|mcp|integrations)(\/|$)/, 'live'],
  [/^\/ingest(\/|$)/, 'ingest'],
  [/^\/(health|ready|metrics|docs.*)?$/, 'open'],
]

let mine: TestProject
let theirs: TestProject
let theirItem: string
let before: string

beforeAll(async () => {
  mine = await service.mintProject()
  theirs = await service.mintProject()
  await theirs.send('PUT', '/ingest/calls/their-call', { summary: 'theirs', callerNumber: '+15550001111' })
  const made = await theirs.send('POST', '/v1/knowledge', { name: 'Theirs', text: 'Their zanzibar words.' })
  theirItem = (await made.json()).id
  await mine.send('POST', '/v1/knowledge', { name: 'Mine', text: 'My own words.' })
  before = await everythingOf(theirs)
})
afterAll(() => service.stop())

async function everythingOf(project: TestProject): Promise<string> {
  const answers = await Promise.all(['/v1/calls', '/v1/knowledge'].map((path) => project.fetch(path)))
  return (await Promise.all(answers.map((answer) => answer.text()))).join('\n')
}

function kindOf(path: string): 'live' | 'ingest' | 'open' {
  const kind = kinds.find(([pattern]) => pattern.test(path))?.[1]
  if (!kind) throw new Error(`Say in this test which key ${path} takes`)
  return kind
}

async function ask(method: string, path: string, authorization: string | null, body?: unknown) {
  const answer = await fetch(service.url + path, {
    method: method === 'ALL' ? 'GET' : method,
    headers: { 'content-type': 'application/json', ...(authorization === null ? {} : { authorization }) },
    ...(method === 'GET' || method === 'ALL' ? {} : { body: JSON.stringify(body ?? {}) }),
  })
  const headers = [...answer.headers].filter(
    ([name]) => !/^(date|x-request-id|server-timing|content-length)$/.test(name),
  )
  return { status: answer.status, headers: JSON.stringify(headers.sort()), body: await answer.text() }
}

/** An answer without what differs from request to request. */
function comparable({ status, headers, body }: Awaited<ReturnType<typeof ask>>, id: string): string {
  const text = `${status}\n${headers}\n${body}`
  return text
    .replaceAll(id, 'ID')
    .replace(/"requestId":"[^"]*"/, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"tookMs":[\d.]+/, '')
}

const keyed = routes.filter(({ path }) => kindOf(path) !== 'open')
const ofRecords = keyed.filter(({ path }) => path.includes(':'))

test('there are routes to judge', () => {
  expect(keyed.length).toBeGreaterThanOrEqual(13)
  expect(ofRecords.length).toBeGreaterThanOrEqual(5)
})

describe.each(keyed)('$method $path', ({ method, path }) => {
  const kind = kindOf(path)
  const target = path.replace(/:\w+/g, 'nothing')

  test('opens to no key but one of its kind that holds', async () => {
    const { keys } = service.services
    const make = async (change: object) =>
      await keys.create(mine.projectId, {
        name: 'other',
        kind: kind === 'ingest' ? 'ingest' : 'live',
        allowedIps: [],
        expiresAt: null,
        ...change,
      })
    const revoked = await make({})
    await keys.revoke(mine.projectId, revoked.id)
    const expired = await make({ expiresAt: Date.now() + 20 })
    const elsewhere = await make({ allowedIps: ['192.0.2.1'] })
    while (Date.now() <= (expired.expiresAt ?? 0)) await Bun.sleep(5)
    const cases: [string | null, number][] = [
      [null, 401],
      ['Bearer', 401],
      [`Bearer ${kind === 'live' ? mine.ingestKey : mine.key}`, 401],
      [`Bearer ck_${kind}_${'0'.repeat(60)}`, 401],
      [`Bearer ${revoked.key}`, 401],
      [`Bearer ${expired.key}`, 401],
      [`Bearer ${elsewhere.key}`, 403],
    ]
    for (const [authorization, status] of cases) {
      const answer = await ask(method, target, authorization)
      expect({ authorization, status: answer.status }).toEqual({ authorization, status })
      expect(answer.body).not.toContain('their')
    }
  })
})

describe.each(ofRecords)('$method $path', ({ method, path }) => {
  test("tells nothing of another project's records", async () => {
    const authorization = `Bearer ${kindOf(path) === 'ingest' ? mine.ingestKey : mine.key}`
    for (const id of ['their-call', theirItem, theirs.id, theirs.keyId]) {
      const missing = `${id.slice(0, -4)}zzzz`
      const [foreign, none] = [
        await ask(method, path.replace(/:\w+/, id), authorization),
        await ask(method, path.replace(/:\w+/, missing), authorization),
      ]
      expect(comparable(foreign, id)).toBe(comparable(none, missing))
    }
    expect(await everythingOf(theirs)).toBe(before)
  })
})

describe('ids in bodies', () => {
  const bodies: [string, (item: string, project: string) => unknown][] = [
    ['/v1/knowledge/search', (item) => ({ query: 'zanzibar words', itemIds: [item], timeoutMs: 10_000 })],
    [
      '/integrations/dify/retrieval',
      (item) => ({
        knowledge_id: item,
        query: 'zanzibar',
        retrieval_setting: { top_k: 3, score_threshold: 0 },
      }),
    ],
    [
      '/integrations/dify/retrieval',
      (_, project) => ({
        knowledge_id: project,
        query: 'zanzibar',
        retrieval_setting: { top_k: 3, score_threshold: 0 },
      }),
    ],
    [
      '/integrations/vapi/tool',
      (item) => ({
        message: {
          toolCallList: [{ id: 't', name: 's', parameters: { query: 'zanzibar', itemIds: [item] } }],
        },
      }),
    ],
    [
      '/mcp',
      (item) => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'get_knowledge', arguments: { id: item } },
      }),
    ],
    [
      '/mcp',
      (item) => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'search_knowledge', arguments: { query: 'zanzibar', itemIds: [item] } },
      }),
    ],
  ]
  test.each(bodies)("%s: another project's id is answered as a missing one", async (path, bodyOf) => {
    const authorization = `Bearer ${mine.key}`
    const missing = { item: `${theirItem.slice(0, -4)}zzzz`, project: `${theirs.id.slice(0, -4)}zzzz` }
    const foreign = comparable(
      await ask('POST', path, authorization, bodyOf(theirItem, theirs.id)),
      theirItem,
    )
    const none = comparable(
      await ask('POST', path, authorization, bodyOf(missing.item, missing.project)),
      missing.item,
    )
    expect(foreign.replaceAll(theirs.id, 'ID')).toBe(none.replaceAll(missing.project, 'ID'))
    expect(foreign).not.toContain('Their zanzibar')
    const own = await ask('POST', path, `Bearer ${theirs.key}`, bodyOf(theirItem, theirs.id))
    expect(own.body).toContain('zanzibar')
  })
})
