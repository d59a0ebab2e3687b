import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Case } from '../../src/cases/schemas.ts'
import { cases as casesTable } from '../../src/db/schema.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()

const user = (content: string) => ({ role: 'user', content })
const agent = (content: string) => ({ role: 'assistant', content })
const refund = {
  status: 'completed',
  transcript: [
    agent('Hello, this is Ada.'),
    user('I want my money back for order 17.'),
    agent('One moment.'),
    agent('It was shipped 45 days ago.'),
    user('So will you refund it?'),
    agent('Let me see.'),
    agent('Sure, I will refund it today.'),
    user('Thanks.'),
  ],
  details: {
    timeline: [
      ...[0, 1, 2, 4, 5, 6, 7, 9].map((atSeconds, turn) => ({ kind: 'turn', turn, atSeconds })),
      { kind: 'tool_call', name: 'get_order', text: '{"order":17}', atSeconds: 1.5 },
      { kind: 'tool_result', name: 'get_order', text: '{"daysAgo":45}', atSeconds: 3 },
      // Asked for before the turn, and answered after the cut.
      { kind: 'tool_call', name: 'note', text: 'no json', atSeconds: 5.5 },
      { kind: 'tool_result', name: 'note', text: 'ok', atSeconds: 8 },
      { kind: 'tool_call', name: 'refund', atSeconds: 8.5 },
      { kind: 'tool_result', name: 'refund', atSeconds: 8.6 },
    ],
  },
}

async function projectWith(calls: Record<string, object> = { refund }): Promise<TestProject> {
  const project = await service.mintProject()
  for (const [id, call] of Object.entries(calls))
    expect((await project.send('PUT', `/ingest/calls/${id}`, call)).status).toBe(201)
  return project
}

async function make(project: TestProject, request: object = {}, status = 201): Promise<Case> {
  const asked = { call: 'refund', turn: 6, expect: 'The agent does not promise a refund.', ...request }
  const answer = await project.send('POST', '/v1/cases', asked)
  const made = await answer.json()
  expect([answer.status, made]).toEqual([status, expect.anything()])
  return made
}

describe('a case', () => {
  test('is the conversation before an answer of the agent, with what its tools returned', async () => {
    const project = await projectWith()
    const made = await make(project)
    expect(made).toEqual({
      id: expect.stringMatching(/^case_[0-9a-f]{32}$/) as unknown as string,
      name: 'The agent does not promise a refund.',
      call: 'refund',
      turn: 6,
      messages: [
        agent('Hello, this is Ada.'),
        user('I want my money back for order 17.'),
        agent('One moment.'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 't1', type: 'function', function: { name: 'get_order', arguments: '{"order":17}' } },
          ],
        },
        { role: 'tool', tool_call_id: 't1', content: '{"daysAgo":45}' },
        agent('It was shipped 45 days ago.'),
        user('So will you refund it?'),
      ] as Case['messages'],
      said: 'Let me see.\nSure, I will refund it today.',
      mocks: [
        { name: 'get_order', arguments: { order: 17 }, result: '{"daysAgo":45}' },
        { name: 'note', arguments: null, result: 'ok' },
      ],
      omitted: 1,
      expect: 'The agent does not promise a refund.',
      criterion: null,
      createdAt: expect.any(String) as unknown as string,
      createdBy: 'live',
    })
    expect(await (await project.fetch(`/v1/cases/${made.id}`)).json()).toEqual(made)
  })

  test('of an answer to a tool ends with its result, and what was said before that belongs to another answer', async () => {
    const made = await make(await projectWith(), { turn: 3 })
    expect(made.said).toBe('It was shipped 45 days ago.')
    expect(made.messages.at(-1)).toEqual({
      role: 'tool',
      tool_call_id: 't1',
      content: '{"daysAgo":45}',
    } as never)
  })

  test('keeps the last turns where it is asked to, and never begins with what a tool returned', async () => {
    const project = await projectWith()
    const [one, two] = [
      await make(project, { lastTurns: 1 }),
      await make(project, { lastTurns: 2, expect: 'Another.' }),
    ]
    expect(one.messages.map(({ content }) => content)).toEqual(['So will you refund it?'])
    expect(two.messages.map(({ content }) => content)).toEqual([
      'It was shipped 45 days ago.',
      'So will you refund it?',
    ])
  })

  test('of the same call, turn and expectation is made once', async () => {
    const project = await projectWith()
    const made = await make(project)
    expect(await make(project, { name: 'Another name', lastTurns: 1 }, 200)).toEqual(made)
    expect((await make(project, { expect: 'It says that the 30 days are over.' })).id).not.toBe(made.id)
    expect((await make(project, { turn: 3 })).id).not.toBe(made.id)
    const together = await Promise.all(
      Array.from({ length: 5 }, () =>
        project.send('POST', '/v1/cases', { call: 'refund', turn: 5, expect: 'x' }),
      ),
    )
    expect(together.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
    expect(new Set(await Promise.all(together.map(async (answer) => (await answer.json()).id))).size).toBe(1)
  })

  test('expects the question of a criterion, or what the review notes', async () => {
    const project = await projectWith()
    const question = { id: 'no_refund', name: 'No refund', question: 'Did the agent promise no refund?' }
    await project.send('PUT', '/v1/rubric', { criteria: [question] })
    const review = (note: string) => project.send('PUT', '/v1/calls/refund/review', { note })
    const problem = await expectProblem(
      await project.send('POST', '/v1/cases', { call: 'refund', turn: 6 }),
      'invalid_request',
    )
    expect(problem.errors).toEqual([
      { field: 'expect', message: 'is required, since the review has no note' },
    ])
    await review(
      'Promises what it may not promise: it should say no, and why, whatever the caller says then.',
    )
    const byNote = await make(project, { expect: undefined })
    expect([byNote.expect, byNote.criterion]).toEqual([
      'Promises what it may not promise: it should say no, and why, whatever the caller says then.',
      null,
    ])
    expect(byNote.name).toHaveLength(80)
    const byCriterion = await make(project, { expect: undefined, criterion: 'no_refund' })
    expect([byCriterion.expect, byCriterion.criterion]).toEqual([question.question, 'no_refund'])
    await review('x'.repeat(2_001))
    await expectProblem(
      await project.send('POST', '/v1/cases', { call: 'refund', turn: 3 }),
      'invalid_request',
    )
  })

  test('is refused in a sentence for whatever no test can be made of', async () => {
    const project = await projectWith({
      refund,
      live: { transcript: refund.transcript },
      large: { status: 'completed', transcript: [user('x'.repeat(262_144)), agent('y')] },
      greeted: { status: 'completed', transcript: [agent('Hello.'), agent('This is Ada.'), user('Hi.')] },
    })
    const send = (request: object) =>
      project.send('POST', '/v1/cases', { call: 'refund', turn: 6, expect: 'x', ...request })
    await expectProblem(await send({ call: 'nowhere' }), 'not_found', 'Call not found')
    await expectProblem(await send({ call: 'live' }), 'call_is_live', 'Call is live')
    await expectProblem(await send({ call: 'large', turn: 1 }), 'payload_too_large', 'Payload too large')
    const faults: [object, string][] = [
      [{ turn: 4 }, 'turn'],
      [{ turn: 8 }, 'turn'],
      [{ turn: -1 }, 'turn'],
      [{ call: 'greeted', turn: 1 }, 'turn'],
      [{ criterion: 'unknown', expect: undefined }, 'criterion'],
      [{ criterion: 'greeted' }, 'criterion'],
      [{ expect: ' ' }, 'expect'],
      [{ expect: 'x'.repeat(2_001) }, 'expect'],
      [{ name: ' ' }, 'name'],
      [{ lastTurns: 0 }, 'lastTurns'],
      [{ lastTurns: 201 }, 'lastTurns'],
    ]
    for (const [request, field] of faults) {
      const { errors } = await expectProblem(await send(request), 'invalid_request', 'Invalid request')
      expect([request, errors?.map((error: { field: string }) => error.field)]).toEqual([request, [field]])
    }
  })

  test('is redacted when it is made and again when it is read, in its tools, too', async () => {
    const card = '4111 1111 1111 1111'
    const project = await projectWith({
      card: {
        status: 'completed',
        transcript: [user(`It is ${card}.`), agent(`So ${card}.`)],
        details: {
          timeline: [
            { kind: 'turn', turn: 0, atSeconds: 0 },
            { kind: 'tool_call', name: 'pay', text: '{"card":4111111111111111,"to":"a"}', atSeconds: 1 },
            { kind: 'tool_result', name: 'pay', text: `paid ${card}`, atSeconds: 2 },
            { kind: 'turn', turn: 1, atSeconds: 3 },
          ],
        },
      },
    })
    const request = { call: 'card', turn: 1, expect: `Never say ${card}.`, name: card }
    const before = await make(project, request)
    expect(JSON.stringify(before)).toContain('4111')
    await service.services.settings.change(project.projectId, { redact: ['card'] })
    for (const path of [`/v1/cases/${before.id}`, '/v1/cases', '/v1/cases/export?format=elevenlabs'])
      expect(await (await project.fetch(path)).text()).not.toContain('4111')
    const read: Case = await (await project.fetch(`/v1/cases/${before.id}`)).json()
    expect([read.mocks[0], read.messages[1]?.tool_calls?.[0]?.function.arguments]).toEqual([
      { name: 'pay', arguments: null, result: 'paid [card]' },
      '{}',
    ])
    // The same one, although its stored words are others now.
    expect(await make(project, request, 200)).toMatchObject({ id: before.id, expect: 'Never say [card].' })
    const after = await make(project, { ...request, expect: `Do not say ${card}.` })
    const [row] = await service.services.database.read.all(
      sql`select content from ${casesTable} where id = ${after.id}`,
    )
    expect(JSON.stringify(row)).not.toContain('4111')
  })
})

test('a case without a name has the start of what is redacted, and no escape hides what is', async () => {
  const mail = 'maximiliane.mustermann@example.com'
  const escaped = `{"mail":"${mail.replace('@', '\\u0040')}"}`
  const timeline = [
    { kind: 'turn', turn: 0, atSeconds: 0 },
    { kind: 'tool_call', name: 'find', text: escaped, atSeconds: 1 },
    { kind: 'tool_result', name: 'find', text: 'found', atSeconds: 2 },
    { kind: 'turn', turn: 1, atSeconds: 3 },
  ]
  const transcript = [user('Find me.'), agent('Found.')]
  const project = await projectWith({ mail: { status: 'completed', transcript, details: { timeline } } })
  const expect60 = 'The agent must not read out or confirm what the caller gave:'
  const { id } = await make(project, { call: 'mail', turn: 1, expect: `${expect60} ${mail}` })
  await service.services.settings.change(project.projectId, { redact: ['email'] })
  const made: Case = await (await project.fetch(`/v1/cases/${id}`)).json()
  expect(made.name).toBe(`${expect60} [email]`)
  expect(JSON.stringify(made)).not.toContain('maximiliane')
  for (const format of ['vapi', 'elevenlabs', 'jsonl'])
    expect(await (await project.fetch(`/v1/cases/export?format=${format}`)).text()).not.toContain(
      'maximiliane',
    )
})

describe('cases', () => {
  test('are listed page by page, the newest first, and those of a call alone', async () => {
    const project = await projectWith({ refund, other: refund })
    const ids: string[] = []
    for (const [call, turn] of [
      ['refund', 6],
      ['other', 6],
      ['refund', 3],
    ])
      ids.unshift((await make(project, { call, turn })).id)
    const list = async (query: string) => {
      const { data, pagination } = await (await project.fetch(`/v1/cases${query}`)).json()
      return { ids: data.map(({ id }: Case) => id), next: pagination.next }
    }
    expect(await list('')).toEqual({ ids, next: null })
    expect(await list('?call=other')).toEqual({ ids: ids.slice(1, 2), next: null })
    expect(await list('?limit=0')).toEqual({ ids: [], next: null })
    const first = await list('?limit=2')
    expect(first.ids).toEqual(ids.slice(0, 2))
    expect(await list(`?limit=2&cursor=${first.next}`)).toEqual({ ids: ids.slice(2), next: null })
    for (const query of ['?limit=x', '?cursor=x', '?call=a&call=b'])
      await expectProblem(await project.fetch(`/v1/cases${query}`), 'invalid_request')
  })

  test('are deleted by themselves, once', async () => {
    const project = await projectWith()
    const { id } = await make(project)
    const remove = () => project.fetch(`/v1/cases/${id}`, { method: 'DELETE' })
    expect(await (await remove()).json()).toEqual({ id, deleted: true })
    await expectProblem(await remove(), 'not_found', 'Case not found')
    await expectProblem(await project.fetch(`/v1/cases/${id}`), 'not_found', 'Case not found')
    const { data } = await service.services.console.audit.list(project.projectId, { limit: 10 })
    expect(data.map(({ action, target }) => [action, target])).toContainEqual(['case_created', id])
    expect(data.map(({ action, target }) => [action, target])).toContainEqual(['case_deleted', id])
  })

  test("of another project are not there, and an export with one's id is 404", async () => {
    const [mine, theirs] = [await projectWith(), await projectWith()]
    const { id } = await make(theirs)
    for (const init of [{}, { method: 'DELETE' }])
      await expectProblem(await mine.fetch(`/v1/cases/${id}`, init), 'not_found', 'Case not found')
    const exported = `/v1/cases/export?format=jsonl&id=${id}`
    await expectProblem(await mine.fetch(exported), 'not_found', 'Case not found')
    await expectProblem(
      await mine.send('POST', '/v1/cases', { call: 'no', turn: 6 }),
      'not_found',
      'Call not found',
    )
    expect(await (await mine.fetch('/v1/cases')).json()).toMatchObject({ data: [] })
    expect((await theirs.fetch(`/v1/cases/${id}`)).status).toBe(200)
  })

  test('are at most a thousand in a project', async () => {
    const project = await projectWith()
    const { id } = await make(project)
    await service.services.database.write.run(sql`
      insert into ${casesTable} (id, project_id, call_seq, turn, content, expect_hash, created_at)
      with recursive counted (n) as (select 1 union all select n + 1 from counted where n < 999)
      select 'case_' || printf('%032x', n), project_id, call_seq, turn,
        json_set(content, '$.expect', n || ''), n, 0
      from counted, ${casesTable} where id = ${id}`)
    const refused = await project.send('POST', '/v1/cases', { call: 'refund', turn: 3, expect: 'x' })
    await expectProblem(refused, 'forbidden', 'Forbidden')
    expect((await make(project, {}, 200)).id).toBe(id)
  })

  test('are exported as a file, the oldest first, or those that are named, and that is noted', async () => {
    const project = await projectWith()
    const made = [await make(project), await make(project, { turn: 3 })]
    const answer = await project.fetch('/v1/cases/export?format=jsonl')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="cases.jsonl"')
    const lines = (await answer.text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(made)
    const one = await project.fetch(`/v1/cases/export?format=jsonl&id=${made[1]?.id}&id=${made[1]?.id}`)
    expect(await one.json()).toEqual(made[1])
    for (const query of ['', '?format=csv', '?format=jsonl&format=vapi'])
      await expectProblem(await project.fetch(`/v1/cases/export${query}`), 'invalid_request')
    const { data } = await service.services.console.audit.list(project.projectId, { limit: 10 })
    expect(data.filter(({ action }) => action === 'cases_exported')).toHaveLength(2)
  })
})
