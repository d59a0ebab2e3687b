import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFirstWords } from '../../../src/calls/document.ts'
import { failureOf } from '../../support/failure.ts'
import { startService, type TestService } from '../../support/service.ts'
import { putCalls, said } from '../put-calls.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

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
