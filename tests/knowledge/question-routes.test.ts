import { describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const project = await service.mintProject()
await service.services.settings.change(project.projectId, { keepQuestionsDays: 7 })
const keys = {
  knowledge: (await project.makeKey({ scope: 'knowledge' })).key,
  read: (await project.makeKey({ scope: 'read' })).key,
}
for (const [id, text] of Object.entries({ refunds: 'We refund any order.', hours: 'We are open from nine.' }))
  await project.send('PUT', `/v1/knowledge/${id}`, { name: id, text })

function send(method: string, path: string, body?: unknown, key = keys.knowledge): Promise<Response> {
  return project.fetch(`/v1/questions${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const read = async (path: string) => await (await send('GET', path, undefined, keys.read)).json()

async function ask(query: string, callId: string, from: TestProject = project): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-call-id': callId }
  const body = JSON.stringify({ query, timeoutMs: 10_000 })
  await from.fetch('/v1/knowledge/search', { method: 'POST', headers, body })
}

describe('/v1/questions', () => {
  test('200: gaps, the most asked first, in pages that neither skip nor repeat one', async () => {
    for (const [at, word] of ['parking', 'allergens', 'vouchers', 'wheelchairs'].entries())
      for (let times = 0; times <= at % 3; times++) await ask(`What about ${word}?`, `call-${at}`)
    await ask('Do you refund any order?', 'call-9')
    await service.services.questions.flush()
    const whole = await read('')
    expect(whole.data.map(({ query, count }: { query: string; count: number }) => [query, count])).toEqual([
      ['What about vouchers?', 3],
      ['What about allergens?', 2],
      ['What about wheelchairs?', 1],
      ['What about parking?', 1],
    ])
    expect(whole).toMatchObject({ keepDays: 7, gapCoverage: expect.any(Number), pagination: { next: null } })
    const { data, pagination } = await read('?state=gap&limit=3')
    const rest = await read(`?limit=3&cursor=${pagination.next}`)
    expect([...data, ...rest.data]).toEqual(whole.data)
    expect(rest.pagination.next).toBeNull()
    expect((await read('?state=answered')).data).toMatchObject([
      { query: 'Do you refund any order?', callId: 'call-9', state: 'answered', item: { id: 'refunds' } },
    ])
    expect(Object.keys(whole.data[0]).sort()).toEqual(
      ['callId', 'count', 'coverage', 'id', 'item', 'lastAt', 'query', 'state', 'tags'].sort(),
    )
    const { passages, askings, ...question } = await read(`/${whole.data[0].id}`)
    expect(question).toEqual(whole.data[0])
    expect([passages.length > 0, askings]).toEqual([
      true,
      Array.from({ length: 3 }, () => ({
        at: expect.any(String),
        callId: 'call-2',
        coverage: expect.any(Number),
      })),
    ])
  })

  test('200: nothing, where the project keeps no questions', async () => {
    const other = await service.mintProject()
    await ask('Anything?', 'a', other)
    expect(await (await other.fetch('/v1/questions')).json()).toMatchObject({ data: [], keepDays: null })
  })

  test.each([
    ['state', '?state=open'],
    ['limit', '?limit=-1'],
    ['cursor', '?cursor=MTIz'],
  ])('400 names %s', async (field, path) => {
    const { errors } = await expectProblem(await send('GET', path, undefined, keys.read), 'invalid_request')
    expect(errors?.map((error) => error.field)).toEqual([field])
  })

  test('403: a key for knowledge sees no question of a call', async () => {
    await expectProblem(await send('GET', ''), 'insufficient_scope', 'Key does not allow this')
  })

  test('404: an unknown question, and one of another project', async () => {
    const [{ id }] = (await read('')).data
    const other = await service.mintProject()
    for (const answer of [
      await other.fetch(`/v1/questions/${id}`),
      await project.fetch('/v1/questions/none'),
    ])
      await expectProblem(answer, 'not_found', 'Question not found')
  })
})

describe('/v1/questions/golden', () => {
  test('a question is kept (201), again (200), listed, asked as `knowledge check` asks, and deleted', async () => {
    const question = { query: 'Do you refund any order?', itemId: 'refunds' }
    const made = await send('POST', '/golden', question)
    const { id, ...golden } = await made.json()
    expect([made.status, golden]).toEqual([
      201,
      { query: question.query, tags: [], item: { id: 'refunds', name: 'refunds' }, file: null },
    ])
    const again = await send('POST', '/golden', question)
    expect([again.status, await again.json()]).toEqual([200, { id, ...golden }])
    await send('POST', '/golden', { query: 'When do you serve lunch?', itemId: 'hours' })
    const { data } = await read('/golden')
    expect(data[1]).toEqual({ id, ...golden })
    await project.fetch('/v1/knowledge/hours', { method: 'DELETE' })
    const run = await (await send('POST', '/golden/run', {})).json()
    expect(run).toEqual({
      questions: 2,
      hit1: 0.5,
      hit5: 0.5,
      misses: [{ id: data[0].id, query: data[0].query, itemId: null, found: expect.any(Array) }],
    })
    for (const golden of data)
      expect(await (await send('DELETE', `/golden/${golden.id}`)).json()).toEqual({
        id: golden.id,
        deleted: true,
      })
    expect(await (await send('POST', '/golden/run', {})).json()).toEqual({
      questions: 0,
      hit1: 0,
      hit5: 0,
      misses: [],
    })
  })

  test("a caller's words are kept as the call's, and go with it", async () => {
    await project.send('PUT', '/ingest/calls/mine', {})
    await ask('Where is my parcel?', 'mine')
    const made = await send('POST', '/golden', { query: 'where is my parcel', itemId: 'refunds' })
    expect([made.status, Object.keys(await made.json())]).toEqual([
      201,
      ['id', 'query', 'tags', 'item', 'file'],
    ])
    await project.fetch('/v1/calls/mine', { method: 'DELETE' })
    expect((await read('/golden')).data).toEqual([])
  })

  test.each([
    ['itemId', { query: 'Who?', itemId: 'nowhere' }],
    ['query', { query: ' ', itemId: 'refunds' }],
    ['itemId', { query: 'Who?' }],
  ])('400 names %s', async (field, body) => {
    const { errors } = await expectProblem(await send('POST', '/golden', body), 'invalid_request')
    expect(errors?.map((error) => error.field)).toEqual([field])
  })

  test('403: a key that reads keeps and asks none', async () => {
    for (const [method, path] of [
      ['POST', '/golden'],
      ['POST', '/golden/run'],
      ['DELETE', '/golden/gq_1'],
    ] as const)
      await expectProblem(
        await send(method, path, {}, keys.read),
        'insufficient_scope',
        'Key does not allow this',
      )
  })

  test('404: one that is not there, or of another project', async () => {
    const { id } = await (await send('POST', '/golden', { query: 'Whose?', itemId: 'refunds' })).json()
    const other = await service.mintProject()
    for (const answer of [
      await other.fetch(`/v1/questions/golden/${id}`, { method: 'DELETE' }),
      await send('DELETE', '/golden/gq_1'),
    ])
      await expectProblem(answer, 'not_found', 'Question not found')
  })
})
