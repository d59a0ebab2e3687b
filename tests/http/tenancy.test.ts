import { beforeAll, describe, expect, test } from 'bun:test'
import { createServer } from '../../src/server.ts'
import { startConsole, type TestConsole, type TestPerson } from '../support/console.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject } from '../support/service.ts'

// Made from the routes that there are: a new one is judged without anybody thinking of it, or fails here until
// somebody has said which key it takes. What holds of every key: see contract.test.ts.

const service = await startService()
const served = createServer(service.services, () => null).routes.map(({ method, path }) => ({ method, path }))
const routes = served.filter(({ path }) => !path.startsWith('/console'))
const consoleRoutes = served
  .filter(({ path }) => path.startsWith('/console/api/'))
  .map(({ method, path }) => ({ method, path: path.slice('/console/api'.length) }))
const kinds: [RegExp, 'live' | 'ingest' | 'open'][] = [
  [/^\/(v1|mcp|integrations)(\/|$)/, 'live'],
  // What platforms sign: see tests/sources.
  [/^\/ingest\/from\//, 'open'],
  // What LiveKit's agents sign: see tests/sources/otel. What a link opens: see tests/recordings.
  [/^\/(observability|recordings)\//, 'open'],
  [/^\/ingest(\/|$)/, 'ingest'],
  [/^\/(health|ready|metrics|favicon.ico|openapi.json|llms.txt|docs.*)?$/, 'open'],
]

const mine = await service.mintProject()
const theirs = await service.mintProject()
await theirs.send('PUT', '/ingest/calls/their-call', { summary: 'theirs', callerNumber: '+15550001111' })
const made = await theirs.send('POST', '/v1/knowledge', { name: 'Theirs', text: 'Their zanzibar words.' })
const theirItem: string = (await made.json()).id
await mine.send('POST', '/v1/knowledge', { name: 'Mine', text: 'My own words.' })
await theirs.fetch('/ingest/calls/their-call/recording', { method: 'PUT', body: madeWav() })
const before = await everythingOf(theirs)

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
  return await factsOf(answer)
}

interface Facts {
  status: number
  headers: string
  body: string
}

async function factsOf(answer: Response): Promise<Facts> {
  const headers = [...answer.headers].filter(
    ([name]) => !/^(date|x-request-id|server-timing|content-length)$/.test(name),
  )
  return { status: answer.status, headers: JSON.stringify(headers.sort()), body: await answer.text() }
}

/** An answer without what differs from request to request. */
function comparable({ status, headers, body }: Facts, id: string): string {
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
  expect(ofRecords.length).toBeGreaterThanOrEqual(5)
})

const lists = keyed.filter(({ method, path }) => method === 'GET' && !path.includes(':'))
test.each(lists)("$path has nothing of another project's", async ({ path }) => {
  const { body } = await ask('GET', `${path}?limit=1000`, `Bearer ${mine.key}`)
  for (const text of ['their-call', theirItem, 'Theirs', 'zanzibar']) expect(body).not.toContain(text)
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

describe('the console', () => {
  const inProjects = consoleRoutes.filter(({ path }) => path.includes(':project'))
  /** The parts of a path that name records. */
  const records = /:(?!project\b)\w+/g
  const ofRecords = consoleRoutes.filter(({ path }) => path.match(records) !== null)
  /** Every field that a body of the console has, so that no request is refused for what it lacks. */
  const body = JSON.stringify({
    name: 'Taken over',
    role: 'member',
    confirm: 'Theirs',
    kind: 'live',
    allowedIps: [],
    expiresAt: null,
    text: 'Written by strangers.',
    query: 'zanzibar',
  })
  let set: TestConsole
  let ours: TestProject
  let others: TestProject
  let othersOwner: TestPerson
  /** Who may ask, by what they are in our project; none of them is anything in the other. */
  let roles: Record<string, Pick<TestPerson, 'fetch'>>
  /** Of the other project's records and people. */
  let ids: string[]
  let seenBefore: string

  beforeAll(async () => {
    set = await startConsole(service)
    ours = await set.mintProject()
    others = await set.mintProject()
    othersOwner = await set.join(others, 'owner')
    const othersMember = await set.join(others, 'member')
    roles = { nobody: set.nobody, owner: await set.join(ours, 'owner') }
    await others.send('PUT', '/ingest/calls/their-console-call', { summary: 'zanzibar' })
    const item = await others.send('POST', '/v1/knowledge', { name: 'Theirs', text: 'Their zanzibar words.' })
    const send = {
      method: 'POST',
      body: '{"role":"member"}',
      headers: { 'content-type': 'application/json' },
    }
    const invited = await othersOwner.fetch(`/projects/${others.id}/invitations`, send)
    const sessions: { data: { id: string }[] } = await (await othersOwner.fetch('/sessions')).json()
    ids = [
      'their-console-call',
      ...[await item.json(), await invited.json(), ...sessions.data].map(({ id }) => id),
      others.keyId,
      others.id,
      othersOwner.personId,
      othersMember.personId,
    ]
    expect(ids.filter((id) => typeof id !== 'string')).toEqual([])
    seenBefore = await everythingSeen()
  })

  async function everythingSeen(): Promise<string> {
    const parts = ['calls', 'knowledge', 'keys', 'people'].map((part) => `/projects/${others.id}/${part}`)
    const answers = await Promise.all([...parts, '/sessions'].map((path) => othersOwner.fetch(path)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    return texts.join('\n').replace(/"last(Used|Seen|Active)\w*":("[^"]*"|null)/g, '')
  }

  async function askAs(role: string, method: string, path: string): Promise<Facts> {
    const content = method === 'GET' ? {} : { body, headers: { 'content-type': 'application/json' } }
    const answer = await roles[role]?.fetch(path, { method, ...content })
    if (!answer) throw new Error(`There is nobody who is ${role}`)
    return await factsOf(answer)
  }

  test('names projects and records as this test expects', () => {
    const parameters = consoleRoutes.flatMap(({ path }) => path.match(/:\w+/g) ?? [])
    expect([...new Set(parameters)].sort()).toEqual([
      ':call',
      ':caller',
      ':id',
      ':message',
      ':name',
      ':project',
    ])
    expect(inProjects.length).toBeGreaterThanOrEqual(28)
    expect(ofRecords.length).toBeGreaterThanOrEqual(9)
  })

  // Who has every right in a project of their own, and who has none. What roles between may ask: see console/access.
  describe.each(['nobody', 'owner'])('%s', (role) => {
    test.each(inProjects)("$method $path tells nothing of others' projects", async ({ method, path }) => {
      for (const id of ids) {
        const missing = `${others.id.slice(0, -4)}zzzz`
        const at = (project: string) => path.replace(':project', project).replace(records, id)
        const foreign = await askAs(role, method, at(others.id))
        const none = await askAs(role, method, at(missing))
        expect(foreign.status).toBe(role === 'nobody' ? 401 : 404)
        expect(comparable(foreign, others.id)).toBe(comparable(none, missing))
        if (path.match(records) === null) break
      }
    })
  })

  test.each(ofRecords)("$method $path tells nothing of others' records", async ({ method, path }) => {
    for (const id of ids) {
      const missing = `${id.slice(0, -4)}zzzz`
      const at = (record: string) => path.replace(':project', ours.id).replace(records, record)
      const [foreign, none] = [
        await askAs('owner', method, at(id)),
        await askAs('owner', method, at(missing)),
      ]
      // A list of what belongs to a call is empty.
      if (foreign.status === 200) expect(JSON.parse(foreign.body)).toMatchObject({ data: [] })
      else expect(foreign.status).toBeGreaterThanOrEqual(400)
      expect(comparable(foreign, id)).toBe(comparable(none, missing))
    }
  })

  test("finds nothing among others' items, whoever names them", async () => {
    const answerTo = async (itemId: string | undefined) => {
      const request = { query: 'zanzibar words', itemIds: [itemId], timeoutMs: 10_000 }
      const answer = await roles.owner?.fetch(`/projects/${ours.id}/knowledge/search`, {
        method: 'POST',
        body: JSON.stringify(request),
        headers: { 'content-type': 'application/json' },
      })
      return answer ? await factsOf(answer) : null
    }
    const foreign = await answerTo(ids[1])
    expect(foreign?.status).toBe(200)
    expect(foreign?.body).not.toContain('zanzibar words.')
  })

  test('has changed nothing of all that was asked for', async () => {
    expect(await everythingSeen()).toBe(seenBefore)
  })
})
