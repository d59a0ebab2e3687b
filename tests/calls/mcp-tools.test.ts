import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { sql } from 'drizzle-orm'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const project = await service.mintProject()
for (let n = 0; n < 5; n++) {
  const answer = await project.send('PUT', `/ingest/calls/c${n}`, {
    status: 'completed',
    createdAt: `2026-01-0${n + 1}T00:00:00.000Z`,
    evaluation: n === 2 ? 'fail' : 'success',
    summary: `Call ${n}.`,
    callAnalysis: { intent: 'refund' },
    transcript: Array.from({ length: 5 }, (_, turn) => ({
      role: turn % 2 === 0 ? 'user' : 'assistant',
      content: `Turn ${turn}, not a word of <b>markup</b>.`,
    })),
  })
  expect(answer.status).toBe(201)
}
const client = await connectTo(project)
afterAll(async () => {
  await client.close()
})

async function connectTo({ key }: TestProject): Promise<Client> {
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  const connected = new Client({ name: 'test', version: '1' })
  await connected.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit }))
  // The client checks structured content by the output schemas that it has seen.
  await connected.listTools()
  return connected
}

async function callTool(name: string, input: object, caller = client) {
  const { structuredContent, content, isError } = await caller.callTool({ name, arguments: { ...input } })
  const texts = (content as { text: string }[]).map(({ text }) => text)
  return { answer: structuredContent as Record<string, unknown>, texts, isError }
}

const idsIn = (answer: Record<string, unknown>) => (answer.data as { id: string }[]).map(({ id }) => id)

describe('list_calls', () => {
  test('finds by the filters of the list, newest first, without transcripts', async () => {
    const { answer, texts } = await callTool('list_calls', {
      filters: { evaluation: 'success', from: '2026-01-02' },
    })
    expect(idsIn(answer)).toEqual(['c4', 'c3', 'c1'])
    expect(answer).toMatchObject({ total: 3, nextCursor: null })
    expect(JSON.stringify(answer)).not.toContain('Turn 0')
    expect(texts[0]).toContain('- c4 (2026-01-05T00:00:00.000Z, completed, 0 s, success): Call 4.')
    const failed = await callTool('list_calls', {
      filters: { evaluation: ['fail'], 'analysis.intent': 'refund' },
    })
    expect(idsIn(failed.answer)).toEqual(['c2'])
  })

  test('goes on from a cursor', async () => {
    const first = await callTool('list_calls', { limit: 2 })
    expect(idsIn(first.answer)).toEqual(['c4', 'c3'])
    const next = await callTool('list_calls', { limit: 3, cursor: first.answer.nextCursor })
    expect([idsIn(next.answer), next.answer.nextCursor]).toEqual([['c2', 'c1', 'c0'], null])
  })

  test('explains what is wrong, so that the model can try again', async () => {
    for (const name of ['list_calls', 'get_metrics', 'compare_calls']) {
      const { isError, texts } = await callTool(name, { filters: { from: 'x' } })
      expect([isError, texts[0]]).toEqual([true, expect.stringContaining('filters.from must be')])
    }
    expect((await callTool('list_calls', { cursor: 'x' })).isError).toBe(true)
  })
})

describe('an argument that a tool does not have', () => {
  const cases: [tool: string, input: object, sentence: string][] = [
    ['list_calls', { agentId: '7' }, 'agentId is not known; the nearest name is filters.agentId'],
    ['list_calls', { agent_id: '7', limit: 1 }, 'agent_id is not known; the nearest name is filters.agentId'],
    [
      'list_calls',
      { 'analysis.intent': 'x' },
      'analysis.intent is not known; the nearest name is filters.analysis.KEY',
    ],
    ['list_calls', { filters: { limit: 5 } }, 'filters.limit is not known; the nearest name is limit'],
    [
      'list_calls',
      { filters: { evaluatoin: 'fail' } },
      'filters.evaluatoin is not known; the nearest name is filters.evaluation',
    ],
    ['get_metrics', { from: '2026-01-01' }, 'from is not known; the nearest name is filters.from'],
    ['get_metrics', { filters: { by: 'day' } }, 'filters.by is not known; the nearest name is by'],
    [
      'compare_calls',
      { b: { agentVersoin: 'x' } },
      'b.agentVersoin is not known; the nearest name is b.agentVersion',
    ],
    ['get_call', { id: 'c2', maxTurn: 3 }, 'maxTurn is not known; the nearest name is maxTurns'],
    ['search_knowledge', { query: 'x', item_ids: [] }, 'item_ids is not known; the nearest name is itemIds'],
    [
      'search_knowledge',
      { question: 'x' },
      'query is required; question is not known; the nearest name is query',
    ],
    ['list_knowledge', { name: 'Shipping' }, 'name is not known'],
    ['get_knowledge', { id: 'kn_0', constructor: 1 }, 'constructor is not known'],
  ]
  test.each(cases)('%s with %j names the right place, and answers nothing', async (tool, input, sentence) => {
    const { answer, isError, texts } = await callTool(tool, input)
    expect([answer, isError]).toEqual([undefined, true])
    expect(texts[0]).toStartWith(`Invalid arguments: ${sentence}`)
  })
})

test('compare_calls answers what the API does, and as lines for the model', async () => {
  const { answer, texts } = await callTool('compare_calls', {
    a: { from: '2026-01-01', to: '2026-01-03' },
    b: { from: '2026-01-03' },
    filters: { 'analysis.intent': ['refund', 'a,b'] },
    of: ['success', 'analysis.x,y.avg'],
  })
  const query =
    'a.from=2026-01-01&a.to=2026-01-03&b.from=2026-01-03&analysis.intent=refund&analysis.intent=a%5C,b'
  const path = `/v1/compare?${query}&of=success,analysis.x%5C,y.avg`
  expect(answer).toEqual(await (await project.fetch(path)).json())
  expect(texts).toEqual([
    'b: 3 calls, a: 2 calls.\n- success: 1 → 0.6666666666666666, not_sure (few)\n- analysis.x,y.avg: null → null, not_sure (few)',
  ])
})

describe('what is large', () => {
  let large: TestProject
  let reader: Client
  const long = 'ä'.repeat(300_000)
  const mark = ' … [cut]'

  beforeAll(async () => {
    large = await service.mintProject()
    reader = await connectTo(large)
    // As calls were stored before texts had a limit.
    const texts = JSON.stringify({ summary: long, callerNumber: long })
    for (let n = 0; n < 6; n++) await service.services.ingest.put(large.projectId, `l${n}`, {})
    await service.services.database.write.run(sql`update call_documents
      set document = json_set(document, '$.summary', ${texts} ->> 'summary', '$.callerNumber', ${texts} ->> 'callerNumber')
      where seq in (select seq from calls where project_id = ${large.projectId})`)
    await service.services.database.write.run(sql`update calls set document_chars =
      (select length(document) from call_documents where call_documents.seq = calls.seq) where project_id = ${large.projectId}`)
    const turns = Array.from({ length: 600 }, (_, n) => ({
      role: 'user' as const,
      content: `${n} ${'ö'.repeat(500)}`,
    }))
    await service.services.ingest.put(large.projectId, 'turns', {
      transcript: turns,
      callAnalysis: { a: 1, b: long, c: 2 },
    })
    await service.services.ingest.put(large.projectId, 'turn', {
      transcript: [{ role: 'user', content: long }, ...turns.slice(0, 2)],
    })
  })
  afterAll(() => reader.close())

  test('a page of calls ends at 1 MiB of documents, and the next goes on from there', async () => {
    const seen: string[] = []
    let pages = 0
    for (let cursor: unknown; cursor !== null; pages++) {
      const { answer, texts } = await callTool(
        'list_calls',
        { limit: 100, ...(cursor ? { cursor } : {}) },
        reader,
      )
      expect(JSON.stringify([answer, texts]).length).toBeLessThan(60_000)
      seen.push(...idsIn(answer))
      expect(answer.total).toBe(8)
      cursor = answer.nextCursor
    }
    expect([seen, pages]).toEqual([['turn', 'turns', 'l5', 'l4', 'l3', 'l2', 'l1', 'l0'], 7])
    const filtered = await callTool('list_calls', { filters: { status: 'live' }, limit: 100 }, reader)
    expect([filtered.answer.total, idsIn(filtered.answer).length < 8, filtered.answer.nextCursor]).toEqual([
      8,
      true,
      expect.any(String),
    ])
  })

  test('texts of a listed call are cut at 2,000 characters, with a mark', async () => {
    const { nextCursor: cursor } = (await callTool('list_calls', {}, reader)).answer
    const { answer } = await callTool('list_calls', { cursor }, reader)
    const { summary, callerNumber } = (answer.data as { summary: string; callerNumber: string }[])[0] ?? {}
    expect([summary?.length, summary?.startsWith('ää'), summary?.endsWith(mark)]).toEqual([2_000, true, true])
    expect(callerNumber).toHaveLength(2_000)
  })

  test('a call is answered in parts of 256 KiB, which have every turn once', async () => {
    const seen: number[] = []
    for (let fromTurn: unknown = 0; fromTurn !== null; ) {
      const { answer } = await callTool('get_call', { id: 'turns', fromTurn, maxTurns: 1_000 }, reader)
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(262_144)
      expect(answer.callAnalysis).toEqual({ a: 1, b: expect.stringContaining(mark), c: 2 })
      seen.push(
        ...(answer.transcript as { content: string }[]).map(({ content }) => Number.parseInt(content, 10)),
      )
      expect(answer.nextTurn).toBe(seen.length < 600 ? seen.length : null)
      fromTurn = answer.nextTurn
    }
    expect(seen).toEqual(Array.from({ length: 600 }, (_, n) => n))
  })

  test('a turn longer than a part is cut, with a mark, and so are the texts of the call', async () => {
    const { answer } = await callTool('get_call', { id: 'turn' }, reader)
    const [{ content } = { content: '' }] = answer.transcript as { content: string }[]
    expect([content.startsWith('ää'), content.endsWith(`ä${mark}`), answer.nextTurn]).toEqual([true, true, 1])
    expect((await callTool('get_call', { id: 'turn', fromTurn: 1 }, reader)).answer.transcript).toHaveLength(
      2,
    )
    const { answer: call } = await callTool('get_call', { id: 'l0' }, reader)
    expect(call.summary).toEndWith(`ä${mark}`)
    expect(Buffer.byteLength(JSON.stringify(call))).toBeLessThanOrEqual(262_144)
  })

  test('what JSON escapes counts as it is sent', async () => {
    const [escaped, quotes] = ['\u0001'.repeat(65_000), '"'.repeat(400_000)]
    const texts = { summary: escaped, evaluation: escaped, endedReason: escaped, callerNumber: escaped }
    const transcript = [
      { role: 'user', content: quotes },
      { role: 'user', content: 'The end' },
    ]
    const own = await service.mintProject()
    const caller = await connectTo(own)
    for (const [id, change] of Object.entries({ escaped: texts, quotes: { transcript } })) {
      expect((await own.send('PUT', `/ingest/calls/${id}`, change)).status).toBe(201)
      const { answer } = await callTool('get_call', { id }, caller)
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(262_144)
      expect(JSON.stringify(answer)).toContain(mark)
    }
    await caller.close()
  })
})

describe('get_call', () => {
  test('reads a call, a long transcript in parts', async () => {
    const { answer, texts } = await callTool('get_call', { id: 'c2', maxTurns: 3 })
    expect(answer).toMatchObject({ id: 'c2', evaluation: 'fail', totalTurns: 5, nextTurn: 3 })
    expect(answer.transcript).toHaveLength(3)
    expect(texts[0]).toContain('Caller: Turn 0')
    const rest = await callTool('get_call', { id: 'c2', fromTurn: 3 })
    expect(rest.answer).toMatchObject({
      nextTurn: null,
      transcript: [{ role: 'assistant' }, { role: 'user' }],
    })
  })

  test('of another project, and of no project, finds nothing', async () => {
    const other = await service.mintProject()
    await other.send('PUT', '/ingest/calls/theirs', {})
    for (const id of ['theirs', 'nobody'])
      expect(await callTool('get_call', { id })).toMatchObject({ isError: true, texts: ['Call not found'] })
  })
})
