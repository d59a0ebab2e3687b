import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { readFirstWords } from '../../../src/calls/document.ts'
import { callSessions } from '../../../src/db/schema.ts'
import { failureOf } from '../../support/failure.ts'
import { startService } from '../../support/service.ts'
import { putCalls, said } from '../put-calls.ts'

const service = await startService()

async function project(): Promise<number> {
  const { projectId } = await service.mintProject()
  await putCalls(service.services, projectId, [
    {
      id: 'call-100042',
      callerNumber: '+1 (555) 729-4053',
      createdAt: '2026-01-01T00:00:01.000Z',
      ...said('I would like to cancel my order, please.'),
      details: { agent: { id: 'ag_1', name: 'Front "desk"' } },
    },
    {
      id: 'B-2',
      createdAt: '2026-01-01T00:00:02.000Z',
      ...said('My order was 4053. Cancel it.', 'The order is late, and the umbrella is, the order is.'),
      details: { agent: { id: 'ag_1' } },
    },
    { id: 'c', createdAt: '2026-01-01T00:00:03.000Z', summary: 'An order of order.' },
  ])
  return projectId
}

const find = async (projectId: number, text: string) => {
  const { data, total, foundBy } = await service.services.calls.rows(projectId, { text })
  return { ids: data.map(({ id }) => id), total, foundBy }
}

test('the box takes numbers, ids and words', async () => {
  const projectId = await project()
  const caller = { ids: ['call-100042'], total: 1 }
  for (const text of ['+1 555 729', '(555) 729-4053', '4053'])
    expect([text, await find(projectId, text)]).toEqual([text, { ...caller, foundBy: 'number' }])
  for (const text of ['call-100042', 'call-1000'])
    expect([text, await find(projectId, text)]).toEqual([text, { ...caller, foundBy: 'id' }])
  expect(await find(projectId, '"4053"')).toEqual({ ids: ['B-2'], total: 1, foundBy: 'words' })
  expect(await find(projectId, 'umbrella')).toEqual({ ids: ['B-2'], total: 1, foundBy: 'words' })
  expect((await find(projectId, 'call-9999')).foundBy).toBe('words')
})

test('numbers are found without their calling code, ids without a digit, and calls by the id of their trace', async () => {
  const { projectId } = await service.mintProject()
  await putCalls(service.services, projectId, [
    { id: 'booking', callerNumber: '+14155551000', ...said('A table, please.') },
    { id: 'lettersOnly' },
    { id: 'other-one', callerNumber: '+493055501234', ...said('My booking is late.') },
  ])
  for (const text of ['415 555', '4155551000', '(415) 555-10'])
    expect([text, (await find(projectId, text)).ids]).toEqual([text, ['booking']])
  expect((await find(projectId, '030 5550')).ids).toEqual([])
  await service.services.settings.change(projectId, { country: 'DE' })
  expect(await find(projectId, '030 5550')).toEqual({ ids: ['other-one'], total: 1, foundBy: 'number' })
  expect(await find(projectId, 'other-')).toEqual({ ids: ['other-one'], total: 1, foundBy: 'id' })
  // A word is a word first, and the beginning of one is no id.
  expect(await find(projectId, 'booking')).toEqual({ ids: ['other-one'], total: 1, foundBy: 'words' })
  expect(await find(projectId, 'lettersOnly')).toEqual({ ids: ['lettersOnly'], total: 1, foundBy: 'id' })
  expect((await find(projectId, 'lettersOn')).ids).toEqual([])
  expect(await find(projectId, 'book')).toEqual({ ids: ['other-one'], total: 1, foundBy: 'words' })
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  await service.services.database.write
    .insert(callSessions)
    .values({ projectId, traceId, framework: 'pipecat', callId: 'other-one', spans: '{}' })
  expect(await find(projectId, traceId.toUpperCase())).toEqual({
    ids: ['other-one'],
    total: 1,
    foundBy: 'id',
  })
  const elsewhere = await service.mintProject()
  expect((await find(elsewhere.projectId, traceId)).ids).toEqual([])
})

test('the list is sorted by cost, latency and criteria; calls without come last', async () => {
  const { projectId } = await service.mintProject()
  const costs = [0.3, null, 0.1, 0.3, 0.2]
  await putCalls(
    service.services,
    projectId,
    costs.map((costUsd, at) => ({
      id: `c${at}`,
      createdAt: `2026-01-01T00:00:0${at}.000Z`,
      summary: 'alpha beta',
      details: { costUsd, latencyMs: costUsd === null ? null : 1_000 * costUsd },
    })),
  )
  const pageOf = async (query: Record<string, string>) =>
    await service.services.calls.rows(projectId, { limit: '2', ...query })
  const all = async (order: string, more: Record<string, string> = {}) => {
    const ids: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await pageOf({ order, ...more, ...(cursor && { cursor }) })
      ids.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor
    }
    return ids.join(' ')
  }
  expect(await all('-cost')).toBe('c3 c0 c4 c2 c1')
  expect(await all('cost')).toBe('c2 c4 c0 c3 c1')
  expect(await all('latency')).toBe('c2 c4 c0 c3 c1')
  expect(await all('criteria')).toBe('c0 c1 c2 c3 c4')
  expect(await all('-cost', { text: '"alpha beta"' })).toBe('c3 c0 c4 c2 c1')
  expect(await all('-criteria', { text: '"alpha beta"' })).toBe('c4 c3 c2 c1 c0')
  expect((await pageOf({ order: '-cost' })).data[0]).toMatchObject({ costUsd: 0.3, latencyMs: 300 })
  const neighbours = (id: string) => service.services.calls.neighbours(projectId, id, { order: '-cost' })
  expect(await neighbours('c4')).toEqual({ previous: 'c0', next: 'c2' })
  expect(await neighbours('c1')).toEqual({ previous: 'c2', next: null })
  expect(await failureOf(pageOf({ order: 'price' }))).toMatchObject({ code: 'invalid_request' })
  const { nextCursor } = await pageOf({ order: '-cost' })
  expect(await failureOf(pageOf({ order: 'cost', cursor: nextCursor ?? '' }))).toMatchObject({
    code: 'invalid_request',
  })
})

test('a menu counts what the other filters leave', async () => {
  const { projectId } = await service.mintProject()
  await putCalls(
    service.services,
    projectId,
    Array.from({ length: 12 }, (_, at) => ({
      id: `m${at}`,
      status: 'completed' as const,
      duration: at,
      evaluation: at % 3 === 0 ? 'fail' : at % 3 === 1 ? 'success' : null,
      endedReason: at < 6 ? 'hangup' : 'transfer',
    })),
  )
  const by = { actor: { id: 'p', name: 'Ada' }, address: null }
  const reviewer = { person: { name: 'Ada' }, by }
  const labels = { addLabels: ['vip', 'late'] }
  await service.services.reviews.changeMany(projectId, ['m0', 'm7'], labels, reviewer)
  const counts = async (name: string, query: Record<string, string>) =>
    await service.services.calls.countValues(projectId, name, query)
  expect(await counts('evaluation', { endedReason: 'hangup', evaluation: 'fail' })).toEqual({
    counts: { fail: 2, success: 2, none: 2 },
  })
  expect((await counts('label', { endedReason: 'hangup' })).counts).toEqual({ vip: 1, late: 1, none: 5 })
  expect((await counts('isEngaged', { minDuration: '10' })).counts).toEqual({ none: 2 })
  expect((await counts('noted', {})).counts).toEqual({ false: 12 })
  expect(await failureOf(counts('number', {}))).toMatchObject({ code: 'not_found' })
})

test('live calls of which nothing was heard for half an hour are silent', async () => {
  const { projectId } = await service.mintProject()
  await putCalls(service.services, projectId, [
    { id: 'talks' },
    { id: 'quiet' },
    { id: 'over', status: 'completed' },
  ])
  await service.services.database.write.run(
    sql`update calls set heard_at = heard_at - 1860000 where project_id = ${projectId} and id = 'quiet'`,
  )
  const ids = async (query: Record<string, string>) =>
    (await service.services.calls.rows(projectId, query)).data.map(({ id }) => id).sort()
  expect(await ids({ status: 'live', silent: 'false' })).toEqual(['talks'])
  expect(await ids({ status: 'live', silent: 'true' })).toEqual(['quiet'])
  expect(await ids({ silent: 'false' })).toEqual(['over', 'talks'])
})

test('a long call has a talk timeline in the list, which follows its changes', async () => {
  const { projectId } = await service.mintProject()
  const turns = Array.from({ length: 1_200 }, (_, at) => `Turn ${at}: where is my order, and who brings it?`)
  await putCalls(service.services, projectId, [{ id: 'long', ...said(...turns) }])
  const timeline = async () => (await service.services.calls.rows(projectId, {})).data[0]?.talkTimeline
  expect(await timeline()).toMatchObject({ user: '9'.repeat(36), assistant: '0'.repeat(36) })
  const quiet = turns.map((content) => ({ role: 'assistant' as const, content }))
  await putCalls(service.services, projectId, [{ id: 'long', transcript: quiet }])
  expect(await timeline()).toMatchObject({ user: '0'.repeat(36), assistant: '9'.repeat(36) })
})

test('a phrase is found where its words follow one another', async () => {
  const projectId = await project()
  const found = (id: string) => ({ ids: [id], total: 1, foundBy: 'words' as const })
  expect(await find(projectId, '"cancel my order"')).toEqual(found('call-100042'))
  expect(await find(projectId, '“My Order” cancel')).toMatchObject({ ids: ['B-2', 'call-100042'] })
  expect(await find(projectId, '"order cancel"')).toMatchObject({ ids: [], total: 0 })
  expect(await find(projectId, '"100%_of it\\"')).toMatchObject({ ids: [] })
  const exported = await service.services.calls.readBox(projectId, { text: '"my order was"' })
  expect(await service.services.calls.count(projectId, exported)).toEqual({ total: 1, isCapped: false })
})

test('the line that is shown has the rarest word', async () => {
  const projectId = await project()
  const { data } = await service.services.calls.rows(projectId, { text: 'order umbrella is' })
  expect(data.map(({ match }) => match?.text)).toEqual([
    'The order is late, and the umbrella is, the order is.',
  ])
  const other = await service.mintProject()
  await putCalls(
    service.services,
    other.projectId,
    Array.from({ length: 30 }, (_, at) => ({
      id: `x${at}`,
      ...said('I am late for the bus.', at === 7 ? 'It is the marmalade.' : 'Thanks.'),
    })),
  )
  await service.services.wordBacklog.finish()
  const [row] = (await service.services.calls.rows(other.projectId, { text: 'marmalade the bus late' })).data
  expect(row?.match?.text).toBe('It is the marmalade.')
})

test('a row says who the agent is, and what the caller says first where there is no summary', async () => {
  const projectId = await project()
  const { data } = await service.services.calls.rows(projectId, {})
  expect(data.map(({ id, said, agentId, agentName }) => [id, said, agentId, agentName])).toEqual([
    ['c', null, null, null],
    ['B-2', 'My order was 4053. Cancel it.', 'ag_1', null],
    ['call-100042', 'I would like to cancel my order, please.', 'ag_1', 'Front "desk"'],
  ])
  const { agentId } = await service.services.calls.facets(projectId)
  expect(agentId).toEqual([{ value: 'ag_1', calls: 2 }])
})

test('what the caller says first is read from the start of a document', () => {
  const document = (turns: string) =>
    `{"id":"a","callAnalysis":{"x":"\\",\\"transcript\\":["},"transcript":[${turns}`
  const agent = '{"role":"assistant","content":"Hello, \\"you\\"."},'
  expect(
    readFirstWords(document(`${agent}{"role":"user","content":"Hi. I lost my bag on the train. Help."}`)),
  ).toBe('Hi. I lost my bag on the train.')
  expect(readFirstWords(document(`{"role":"user","content":"Cut \\u00`))).toBe('Cut')
  expect(readFirstWords(document(agent))).toBeNull()
})

test('lists go by duration, of one length by time, and neighbours and pages follow', async () => {
  const { projectId } = await service.mintProject()
  const durations = { a: 2.5, b: 2.5, c: 10, d: 0, e: 1e-7 }
  await putCalls(
    service.services,
    projectId,
    Object.entries(durations).map(([id, duration], at) => ({
      id,
      duration,
      createdAt: `2026-01-01T00:00:0${at}.000Z`,
    })),
  )
  const { calls } = service.services
  for (const [order, expected] of [
    ['-duration', ['c', 'b', 'a', 'e', 'd']],
    ['duration', ['d', 'e', 'a', 'b', 'c']],
  ] as const) {
    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await calls.rows(projectId, { order, limit: '1', ...(cursor ? { cursor } : {}) })
      pages.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor
    }
    expect(pages).toEqual([...expected])
    const [, previous, id = '', next] = expected
    expect(await calls.neighbours(projectId, id, { order })).toEqual({ previous, next })
    const { nextCursor } = await calls.rows(projectId, { order, limit: '1' })
    const other = calls.rows(projectId, { cursor: nextCursor ?? '', order: 'createdAt' })
    expect(await failureOf(other)).toMatchObject({ code: 'invalid_request' })
  }
})

test('the calls before and after one are those of the list', async () => {
  const projectId = await project()
  const { calls } = service.services
  expect(await calls.neighbours(projectId, 'B-2', {})).toEqual({ previous: 'c', next: 'call-100042' })
  expect(await calls.neighbours(projectId, 'B-2', { order: 'createdAt' })).toEqual({
    previous: 'call-100042',
    next: 'c',
  })
  expect(await calls.neighbours(projectId, 'B-2', { text: 'cancel' })).toEqual({
    previous: null,
    next: 'call-100042',
  })
  expect(await failureOf(calls.neighbours(projectId, 'gone', {}))).toMatchObject({ code: 'not_found' })
})
