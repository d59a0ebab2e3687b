import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { Analysis, AnalysisRun, RubricChange } from '../../src/analysis/schemas.ts'
import { goodJudgement, startFakeChat } from '../support/fake-chat.ts'
import { expectProblem } from '../support/problem.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
let aheadMs = 0
const later = (ms: number) => {
  aheadMs += ms
}

const chat = await startFakeChat({ server: 'vllm', model: 'judge-1' })
const receiver = await startReceiver()
const env = {
  ANALYSIS_MODEL: 'judge-1',
  ANALYSIS_ENDPOINT: chat.url,
  ANALYSIS_DELAY_SECONDS: '0',
  WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
  ERASE_WITHIN_MS: '400',
}
const service = await startService({ env, now: () => Date.now() + aheadMs })
afterEach(() => chat.always(null))

const rubric: RubricChange = {
  summary: { instructions: '' },
  criteria: [
    { id: 'greeted', name: 'Greeted', question: 'Did the agent greet the caller?' },
    { id: 'confirmed', name: 'Confirmed', question: 'Did the agent repeat the date?' },
  ],
  fields: [
    { key: 'day', type: 'enum', description: 'The day.', choices: ['friday', 'monday'] },
    { key: 'guests', type: 'integer', description: 'How many come.' },
  ],
  evaluation: 'all',
}
const transcript = [
  { role: 'assistant', content: 'Hello, how can I help?' },
  { role: 'user', content: 'A table for seven on Friday, please.' },
]

async function judgedProject(change: Partial<RubricChange> = {}): Promise<TestProject> {
  const project = await service.mintProject()
  expect((await project.send('PUT', '/v1/rubric', { ...rubric, ...change })).status).toBe(201)
  return project
}

async function complete(project: TestProject, id: string, more: object = {}): Promise<void> {
  const answer = await project.send('PUT', `/ingest/calls/${id}`, {
    status: 'completed',
    transcript,
    ...more,
  })
  expect(answer.status).toBeLessThan(300)
}

async function analysisOf(project: TestProject, id: string): Promise<Analysis> {
  return await (await project.fetch(`/v1/calls/${id}/analysis`)).json()
}

async function becomes(project: TestProject, id: string, state: Analysis['state']): Promise<Analysis> {
  await until(async () => (await analysisOf(project, id)).state === state, `${id} ${state}`)
  return await analysisOf(project, id)
}

const json = async (project: TestProject, path: string) => await (await project.fetch(path)).json()
const idsOf = async (project: TestProject, query: string) =>
  (await json(project, `/v1/calls?${query}`)).data.map(({ id }: { id: string }) => id).sort()

async function runOf(project: TestProject, id: string): Promise<AnalysisRun> {
  return await json(project, `/v1/analyses/${id}`)
}

async function runDone(project: TestProject, id: string): Promise<AnalysisRun> {
  await until(async () => (await runOf(project, id)).state === 'done', 'The run')
  return await runOf(project, id)
}

describe('a rubric', () => {
  test('has versions that never change; the same again adds none', async () => {
    const project = await service.mintProject()
    await expectProblem(await project.fetch('/v1/rubric'), 'not_found', 'Rubric not found')
    const first = await project.send('PUT', '/v1/rubric', { criteria: rubric.criteria })
    expect(first.status).toBe(201)
    const { createdAt, ...content } = await first.json()
    expect(content).toEqual({
      version: 1,
      summary: null,
      criteria: rubric.criteria,
      fields: [],
      evaluation: null,
      when: {},
      share: 1,
      tokensPerMonth: null,
    })
    expect((await project.send('PUT', '/v1/rubric', { criteria: rubric.criteria, share: 1 })).status).toBe(
      200,
    )
    const second = await project.send('PUT', '/v1/rubric', rubric)
    expect([second.status, (await second.json()).version]).toEqual([201, 2])
    expect(await json(project, '/v1/rubric')).toMatchObject({ version: 2, ...rubric })
    expect(await json(project, '/v1/rubric?version=1')).toEqual({ ...content, createdAt })
    expect((await project.fetch('/v1/rubric?version=3')).status).toBe(404)
    expect((await project.fetch('/v1/rubric?version=x')).status).toBe(400)
    // Back to the first one is a third.
    expect(
      (await (await project.send('PUT', '/v1/rubric', { criteria: rubric.criteria })).json()).version,
    ).toBe(3)
    const other = await service.mintProject()
    expect((await other.fetch('/v1/rubric')).status).toBe(404)
  })

  test.each<[string, object, string[]]>([
    ['no criteria', {}, ['criteria']],
    ['an id with capitals', { criteria: [{ id: 'A', name: 'A', question: '?' }] }, ['criteria.0.id']],
    [
      'the same id twice',
      { criteria: [...rubric.criteria, ...rubric.criteria] },
      ['criteria.2.id', 'criteria.3.id'],
    ],
    [
      'an enum without choices',
      { criteria: [], fields: [{ key: 'a', type: 'enum', description: 'x' }] },
      ['fields.0.choices'],
    ],
    [
      'choices of a text',
      { criteria: [], fields: [{ key: 'a', type: 'string', description: 'x', choices: ['a'] }] },
      ['fields.0.choices'],
    ],
    ['an evaluation by an unknown criterion', { criteria: [], evaluation: ['other'] }, ['evaluation']],
    ['a share above 1', { criteria: [], share: 2 }, ['share']],
    [
      '21 criteria',
      { criteria: Array.from({ length: 21 }, (_, n) => ({ id: `c${n}`, name: 'A', question: '?' })) },
      ['criteria'],
    ],
  ])('with %s is 400', async (_, body, fields) => {
    const project = await service.mintProject()
    const { errors } = await expectProblem(await project.send('PUT', '/v1/rubric', body), 'invalid_request')
    expect(errors?.map(({ field }) => field)).toEqual(fields)
    expect((await project.fetch('/v1/rubric')).status).toBe(404)
  })
})

describe('a completed call', () => {
  test('is analyzed, and what its platform leaves open is filled', async () => {
    const project = await judgedProject()
    await complete(project, 'a', { callAnalysis: { day: 'sunday', own: 1 } })
    const analysis = await becomes(project, 'a', 'done')
    const evidence = { turns: [0], quote: 'Hello, how can I help?' }
    expect(analysis).toMatchObject({
      version: 1,
      model: 'judge-1',
      reason: null,
      summary: 'The summary of a call.',
      criteria: [
        { id: 'greeted', result: 'pass', ...evidence },
        { id: 'confirmed', result: 'pass', ...evidence },
      ],
      fields: [
        { key: 'day', value: 'friday', ...evidence },
        { key: 'guests', value: 7, ...evidence },
      ],
    })
    expect(analysis.tokens?.prompt).toBeGreaterThan(100)
    expect(await json(project, '/v1/calls/a')).toMatchObject({
      summary: 'The summary of a call.',
      evaluation: 'success',
      callAnalysis: { day: 'sunday', own: 1, guests: 7 },
    })
    expect((await json(project, '/v1/calls/a/details')).analysis).toEqual({
      state: 'done',
      version: 1,
      criteria: { greeted: 'pass', confirmed: 'pass' },
    })
  })

  test('keeps what its platform says, then and later', async () => {
    const project = await judgedProject()
    await complete(project, 'a', { evaluation: 'fail' })
    await becomes(project, 'a', 'done')
    expect(await json(project, '/v1/calls/a')).toMatchObject({
      evaluation: 'fail',
      summary: 'The summary of a call.',
    })
    const occurredAt = '2020-01-01T00:00:00.000Z'
    await project.send('PUT', '/ingest/calls/a', { occurredAt: '2026-01-01T00:00:00.000Z' })
    // A late event fills what is empty, and what an analysis has filled counts as empty.
    await project.send('PUT', '/ingest/calls/a', {
      summary: 'As the platform says.',
      evaluation: 'success',
      occurredAt,
    })
    expect(await json(project, '/v1/calls/a')).toMatchObject({
      evaluation: 'fail',
      summary: 'As the platform says.',
    })
    await project.send('PUT', '/ingest/calls/a', { callAnalysis: { guests: 3 } })
    expect((await json(project, '/v1/calls/a')).callAnalysis).toEqual({ guests: 3, day: 'friday' })
    // Cleared by the platform, the analysis stands in again.
    await project.send('PUT', '/ingest/calls/a', { summary: null })
    expect((await json(project, '/v1/calls/a')).summary).toBe('The summary of a call.')
  })

  test('is found by its verdicts, and by what a person says instead', async () => {
    const project = await judgedProject()
    const saying = (confirmed: string) => (request: Parameters<typeof goodJudgement>[0]) => {
      const good = goodJudgement(request) as { criteria: Record<string, object> }
      return {
        ...good,
        criteria: { ...good.criteria, confirmed: { ...good.criteria.confirmed, result: confirmed } },
      }
    }
    chat.always({ says: saying('fail') })
    await complete(project, 'failed')
    await becomes(project, 'failed', 'done')
    chat.always({ says: saying('unknown') })
    await complete(project, 'unknown')
    await becomes(project, 'unknown', 'done')
    expect((await json(project, '/v1/calls/failed')).evaluation).toBe('fail')
    expect((await json(project, '/v1/calls/unknown')).evaluation).toBeNull()
    expect(await idsOf(project, 'criterion.confirmed=fail')).toEqual(['failed'])
    expect(await idsOf(project, 'criterion.confirmed=fail,unknown')).toEqual(['failed', 'unknown'])
    expect(await idsOf(project, 'criterion.greeted=pass&criterion.confirmed=unknown')).toEqual(['unknown'])
    expect(await idsOf(project, 'criterion.other=pass')).toEqual([])
    const { errors } = await expectProblem(
      await project.fetch('/v1/calls?criterion.greeted=yes'),
      'invalid_request',
    )
    expect(errors).toMatchObject([{ field: 'criterion.greeted' }])
    for (const name of ['criterion.', 'criterion.A'])
      expect((await project.fetch(`/v1/calls?${name}=pass`)).status).toBe(400)
    const reviewer = { person: { name: 'Ada' }, by: { actor: { id: 'p', name: 'Ada' }, address: null } }
    await service.services.reviews.change(
      project.projectId,
      'failed',
      { criteria: { confirmed: 'pass' } },
      reviewer,
    )
    expect(await idsOf(project, 'criterion.confirmed=fail')).toEqual([])
    expect(await idsOf(project, 'criterion.confirmed=pass')).toEqual(['failed'])
    const { review, analysis } = await json(project, '/v1/calls/failed/details')
    expect(review.criteria).toEqual({ confirmed: 'pass' })
    expect(analysis.criteria.confirmed).toBe('fail')
    await service.services.reviews.change(
      project.projectId,
      'failed',
      { criteria: { confirmed: null } },
      reviewer,
    )
    expect(await idsOf(project, 'criterion.confirmed=fail')).toEqual(['failed'])
  })

  test('of a project without a rubric, or with share 0, is left alone', async () => {
    const sent = chat.requests.length
    const none = await service.mintProject()
    const off = await judgedProject({ share: 0 })
    for (const project of [none, off]) await complete(project, 'a')
    const seen = await judgedProject()
    await complete(seen, 'a')
    await becomes(seen, 'a', 'done')
    expect(await analysisOf(none, 'a')).toMatchObject({ state: 'none', version: null, criteria: [] })
    expect((await analysisOf(off, 'a')).state).toBe('none')
    expect(chat.requests.length).toBe(sent + 1)
    await expectProblem(await none.fetch('/v1/calls/b/analysis'), 'not_found', 'Call not found')
  })

  test.each<[string, Partial<RubricChange>, object, string]>([
    ['too few turns', { when: { minUserTurns: 2 } }, {}, 'when'],
    ['too short', { when: { minDuration: 10 } }, { duration: 9 }, 'when'],
    ['another agent', { when: { agentIds: ['b'] } }, { details: { agent: { id: 'a' } } }, 'when'],
    ['another reason', { when: { endedReasons: ['b'] } }, { endedReason: 'a' }, 'when'],
    ['no transcript', {}, { transcript: [] }, 'no transcript'],
    ['the rest of a share', { share: 0.000_001 }, {}, 'share'],
    [
      'a very long one',
      {},
      { transcript: Array(400).fill({ role: 'user', content: 'word '.repeat(100) }) },
      'too long',
    ],
  ])('that is %s is skipped with the reason', async (_, change, call, reason) => {
    const project = await judgedProject(change)
    const sent = chat.requests.length
    await complete(project, 'a', call)
    expect(await becomes(project, 'a', 'skipped')).toMatchObject({ reason, tokens: null, criteria: [] })
    expect((await json(project, '/v1/calls/a/details')).analysis.state).toBe('skipped')
    expect(chat.requests.length).toBe(sent)
  })

  test('is analyzed once more when its transcript changes, not for anything else', async () => {
    const project = await judgedProject()
    await complete(project, 'a')
    const first = await becomes(project, 'a', 'done')
    const sent = chat.requests.length
    await project.send('PUT', '/ingest/calls/a', { endedReason: 'customer-ended-call' })
    const turns = [...transcript, { role: 'assistant', content: 'Friday it is.' }]
    await project.send('PUT', '/ingest/calls/a', { transcript: turns })
    await until(
      async () =>
        (await analysisOf(project, 'a')).at !== first.at && (await analysisOf(project, 'a')).state === 'done',
    )
    expect(chat.requests.length).toBe(sent + 1)
    expect(chat.requests.at(-1)?.turns).toHaveLength(3)
  })

  test('that changes while it is analyzed keeps nothing of the answer', async () => {
    const project = await judgedProject()
    chat.next({ delayMs: 600, says: { summary: 'Of the old transcript.' } })
    await complete(project, 'a')
    await becomes(project, 'a', 'running')
    await project.send('PUT', '/ingest/calls/a', {
      transcript: [...transcript, { role: 'user', content: 'And a chair.' }],
    })
    const analysis = await becomes(project, 'a', 'done')
    expect(analysis.summary).toBe('The summary of a call.')
    expect(chat.requests.at(-1)?.turns).toHaveLength(3)
  })

  test('that is deleted while the answer is on its way leaves nothing', async () => {
    const project = await judgedProject()
    const marker = 'quizzical-marmoset'
    chat.next({ delayMs: 500, says: { summary: marker } })
    await complete(project, 'a')
    await becomes(project, 'a', 'running')
    expect((await project.fetch('/v1/calls/a', { method: 'DELETE' })).status).toBe(200)
    await until(() => chat.atOnce.now === 0)
    await complete(project, 'b')
    await becomes(project, 'b', 'done')
    expect((await project.fetch('/v1/calls/a/analysis')).status).toBe(404)
    const { read } = service.services.database
    const left = await read.all(
      sql`select 1 from call_details where analysis like ${`%${marker}%`} or details like ${`%${marker}%`}`,
    )
    expect(left).toEqual([])
    expect(await read.all(sql`select 1 from analysis_queue where project_id = ${project.projectId}`)).toEqual(
      [],
    )
  })

  test('sends webhooks that it was analyzed, and changes the feed', async () => {
    const project = await judgedProject()
    const { projectId } = project
    await service.services.webhooks.create(projectId, {
      url: receiver.url,
      events: ['call.analyzed'],
      details: true,
    })
    const before = receiver.received.length
    await complete(project, 'a')
    await until(() => receiver.received.length > before)
    const { type, data } = receiver.received[before] ?? {}
    expect(type).toBe('call.analyzed')
    expect(data?.call).toMatchObject({
      id: 'a',
      evaluation: 'success',
      details: { analysis: { state: 'done' } },
    })
    const changes = await json(project, '/v1/changes?include=details')
    expect(changes.data).toMatchObject([
      { type: 'call.changed', call: { evaluation: 'success', details: { analysis: { state: 'done' } } } },
    ])
  })

  test('is sent, and kept, redacted', async () => {
    const project = await judgedProject()
    await service.services.settings.change(project.projectId, { redact: ['phone'] })
    const said = [{ role: 'user', content: 'Call me at +1 555 729 4053 please.' }]
    chat.always({ says: { ...goodFindings(), summary: 'Reach her at +1 555 729 4053.' } })
    await complete(project, 'a', { transcript: said })
    const { summary } = await becomes(project, 'a', 'done')
    expect(summary).toBe('Reach her at [phone].')
    expect(JSON.stringify(chat.requests.at(-1)?.messages)).not.toContain('729 4053')
    const { redacted } = await json(project, '/v1/calls/a/details')
    expect(redacted).toEqual({ phone: 2 })
  })

  test('is named in the audit trail with the model, where it is, and the tokens; no text', async () => {
    const project = await judgedProject()
    await complete(project, 'a')
    const { tokens } = await becomes(project, 'a', 'done')
    const hash = service.services.recordHash(project.projectId, 'call', 'a')
    const { data } = await service.services.console.audit.list(
      project.projectId,
      { limit: 10 },
      { target: hash },
    )
    const counted = (tokens?.prompt ?? 0) + (tokens?.completion ?? 0)
    expect(data).toMatchObject([
      {
        action: 'call_analyzed',
        actor: null,
        target: `${hash}: judge-1 at ${chat.url}/, 1 request, ${counted} tokens`,
      },
    ])
  })
})

function goodFindings() {
  const judged = { turns: [], quote: '', rationale: '', result: 'unknown' }
  const found = { turns: [], quote: '', value: null }
  return {
    summary: 'x',
    criteria: { greeted: judged, confirmed: judged },
    fields: { day: found, guests: found },
  }
}

describe('trouble with the model', () => {
  test.each<[string, object, string]>([
    ['a wrong token', { status: 401, body: { error: 'no' } }, 'credentials'],
    [
      'a model that is not there',
      {
        status: 404,
        body: { error: { message: 'The model `judge-1` does not exist.', type: 'NotFoundError' } },
      },
      'model',
    ],
    ['a server that fails', { status: 503, body: 'Service unavailable' }, 'unreachable'],
  ])('%s pauses the project, and its calls are analyzed later', async (_, misbehaviour, reason) => {
    const project = await judgedProject()
    chat.always(misbehaviour)
    await complete(project, 'a')
    expect((await becomes(project, 'a', 'paused')).reason).toBe(reason)
    const status = await service.services.analyses.status(project.projectId)
    expect(status.pause).toMatchObject({ reason })
    expect(status.waiting).toBe(1)
    chat.always(null)
    const sent = chat.requests.length
    await complete(project, 'b')
    await becomes(project, 'b', 'paused')
    expect(chat.requests.length).toBe(sent)
    later(11 * minuteMs)
    for (const id of ['a', 'b']) await becomes(project, id, 'done')
    expect((await service.services.analyses.status(project.projectId)).pause).toBeNull()
  })

  test('an operator reads of it in the log, in /ready and in the metrics, until it is over', async () => {
    const project = await judgedProject()
    const lines = (start: string) => service.logs.filter(({ msg }) => String(msg).startsWith(start)).length
    const before = [lines('The analysis model cannot be used'), lines('The analysis model can be used again')]
    const seen = async () => {
      const { problem } = await (await fetch(`${service.url}/ready`)).json()
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1])
      return { problem, one: value('callbook_problem'), paused: value('callbook_analyses_paused') }
    }
    expect(await seen()).toEqual({ problem: null, one: 0, paused: 0 })
    chat.always({ status: 503, body: 'Service unavailable' })
    for (const id of ['a', 'b']) await complete(project, id)
    await becomes(project, 'a', 'paused')
    expect(await seen()).toEqual({
      problem: expect.stringMatching(/^Calls are not analyzed: The model server .+\.$/),
      one: 1,
      paused: 1,
    })
    chat.always(null)
    later(11 * minuteMs)
    for (const id of ['a', 'b']) await becomes(project, id, 'done')
    expect(await seen()).toEqual({ problem: null, one: 0, paused: 0 })
    const after = [lines('The analysis model cannot be used'), lines('The analysis model can be used again')]
    expect(after).toEqual(before.map((count) => count + 1))
  })

  test('429 is waited for as long as the server asks, without a pause', async () => {
    const project = await judgedProject()
    chat.next({ status: 429, headers: { 'retry-after': '30' }, body: { error: 'slow down' } })
    const sent = chat.requests.length
    await complete(project, 'a')
    await until(() => chat.requests.length > sent)
    await Bun.sleep(300)
    expect((await analysisOf(project, 'a')).state).toBe('queued')
    expect(chat.requests.length).toBe(sent + 1)
    later(31_000)
    await becomes(project, 'a', 'done')
  })

  test('a call with which the server fails again and again is failed, and others go on', async () => {
    const project = await judgedProject()
    const poison = 'poisonous'
    chat.always({ status: 500, body: { error: 'CUDA error' } })
    const sent = chat.requests.length
    await complete(project, 'bad', { transcript: [{ role: 'user', content: poison }] })
    await until(async () => {
      later(11 * minuteMs)
      return (await analysisOf(project, 'bad')).state === 'failed'
    })
    expect((await analysisOf(project, 'bad')).reason).not.toContain(poison)
    expect(chat.requests.length).toBe(sent + 4)
    chat.always(null)
    later(11 * minuteMs)
    await complete(project, 'good')
    await becomes(project, 'good', 'done')
  })

  test('an answer that cannot be read is asked for once more, then the call is failed', async () => {
    const project = await judgedProject()
    const sent = chat.requests.length
    chat.next({ says: 'I cannot judge that.' }, { says: 'Still not.' })
    await complete(project, 'a')
    const { reason, tokens } = await becomes(project, 'a', 'failed')
    expect(reason).toStartWith('no usable answer')
    expect(tokens?.completion).toBeGreaterThan(0)
    expect(chat.requests.length).toBe(sent + 2)
    expect((await json(project, '/v1/calls/a')).summary).toBeNull()
  })

  test('nothing of a call is in the log', async () => {
    const project = await judgedProject()
    const marker = 'perspicacious-ocelot'
    chat.next({ status: 400, body: { error: { message: `cannot read ${marker}` } } })
    await complete(project, 'a', { transcript: [{ role: 'user', content: marker }] })
    await becomes(project, 'a', 'failed')
    expect(JSON.stringify(service.logs)).not.toContain(marker)
  })
})

describe('a budget', () => {
  test('pauses a project until the month turns, or the budget is larger', async () => {
    const project = await judgedProject({ tokensPerMonth: 1_500 })
    await complete(project, 'a')
    await becomes(project, 'a', 'done')
    await complete(project, 'b')
    expect((await becomes(project, 'b', 'paused')).reason).toBe('budget')
    await project.send('PUT', '/v1/rubric', { ...rubric, tokensPerMonth: 2_000 })
    await becomes(project, 'b', 'done')
    await complete(project, 'c')
    await becomes(project, 'c', 'paused')
    later(31 * dayMs)
    await becomes(project, 'c', 'done')
  })
})

describe('a run over the past', () => {
  async function pastProject(): Promise<TestProject> {
    const project = await service.mintProject()
    for (let n = 0; n < 6; n++)
      await complete(project, `c${n}`, {
        createdAt: `2026-01-0${n + 1}T00:00:00.000Z`,
        endedReason: n % 2 === 0 ? 'even, really' : 'odd',
      })
    await project.send('PUT', '/ingest/calls/live', { transcript })
    return project
  }

  test('counts in a dry run, then analyzes the newest first', async () => {
    const project = await pastProject()
    const none = await project.send('POST', '/v1/analyses', {})
    await expectProblem(none, 'not_found', 'Rubric not found')
    await project.send('PUT', '/v1/rubric', rubric)
    const filters = { endedReason: ['even, really'], from: '2026-01-02' }
    const dry = await project.send('POST', '/v1/analyses', { filters, dryRun: true })
    expect(dry.status).toBe(200)
    const { calls, tokens } = await dry.json()
    expect(calls).toBe(2)
    expect(tokens).toBeGreaterThan(2 * 300)
    const sent = chat.requests.length
    const started = await project.send('POST', '/v1/analyses', { filters })
    expect(started.status).toBe(202)
    const { id, ...rest } = await started.json()
    expect([id.slice(0, 4), rest]).toEqual(['ana_', { calls: 2 }])
    expect(await runDone(project, id)).toMatchObject({ id, calls: 2, done: 2, skipped: 0, failed: 0 })
    expect(chat.requests.length).toBe(sent + 2)
    expect((await analysisOf(project, 'c4')).state).toBe('done')
    expect((await analysisOf(project, 'c1')).state).toBe('none')
    // What this version has done is skipped, but for `again`.
    const everything = await (await project.send('POST', '/v1/analyses', {})).json()
    expect(everything.calls).toBe(6)
    expect(await runDone(project, everything.id)).toMatchObject({ done: 4, skipped: 2 })
    const again = await (await project.send('POST', '/v1/analyses', { filters, again: true })).json()
    expect(await runDone(project, again.id)).toMatchObject({ done: 2, skipped: 0 })
    const other = await service.mintProject()
    expect((await other.fetch(`/v1/analyses/${id}`)).status).toBe(404)
  })

  test('with another version replaces what the first has filled, and keeps it where it finds out nothing', async () => {
    const project = await pastProject()
    await project.send('PUT', '/v1/rubric', rubric)
    const first = await (
      await project.send('POST', '/v1/analyses', { filters: { endedReason: 'odd' } })
    ).json()
    await runDone(project, first.id)
    await project.send('PUT', '/v1/rubric', { ...rubric, evaluation: null, fields: [] })
    const second = await (
      await project.send('POST', '/v1/analyses', { filters: { endedReason: 'odd' } })
    ).json()
    expect(await runDone(project, second.id)).toMatchObject({ done: 3 })
    expect(await json(project, '/v1/calls/c1')).toMatchObject({ evaluation: null, callAnalysis: null })
    const old = await (
      await project.send('POST', '/v1/analyses', { version: 1, filters: { endedReason: 'odd' } })
    ).json()
    await runDone(project, old.id)
    expect(await json(project, '/v1/calls/c1')).toMatchObject({
      evaluation: 'success',
      callAnalysis: { guests: 7 },
    })
    chat.always({ says: 'nonsense' })
    const bad = await (
      await project.send('POST', '/v1/analyses', { again: true, filters: { endedReason: 'odd' } })
    ).json()
    expect(await runDone(project, bad.id)).toMatchObject({ failed: 3 })
    expect(await analysisOf(project, 'c1')).toMatchObject({ state: 'done', version: 1 })
  })

  test('can be stopped', async () => {
    const project = await pastProject()
    await project.send('PUT', '/v1/rubric', rubric)
    chat.always({ delayMs: 500 })
    const { id } = await (await project.send('POST', '/v1/analyses', {})).json()
    await until(() => chat.atOnce.now > 0)
    const stopped = await project.fetch(`/v1/analyses/${id}`, { method: 'DELETE' })
    expect(await stopped.json()).toMatchObject({ id, state: 'stopped' })
    chat.always(null)
    await until(() => chat.atOnce.now === 0)
    await Bun.sleep(200)
    expect(await runOf(project, id)).toMatchObject({ state: 'stopped', done: 0 })
    expect((await analysisOf(project, 'c0')).state).toBe('none')
  })

  test('names what is wrong with its filters', async () => {
    const project = await judgedProject()
    const body = { filters: { colour: 'red', minDuration: 'long', status: { a: 1 } } }
    const { errors } = await expectProblem(
      await project.send('POST', '/v1/analyses', body),
      'invalid_request',
    )
    expect(errors?.map(({ field }) => field).sort()).toEqual([
      'filters.colour',
      'filters.minDuration',
      'filters.status',
    ])
  })
})

describe('a trial', () => {
  test('stores nothing, and takes a rubric that is not saved', async () => {
    const project = await judgedProject({ share: 0 })
    await complete(project, 'a')
    await project.send('PUT', '/ingest/calls/live', { transcript })
    const saved = await (await project.send('POST', '/v1/rubric/trial', { call: 'a' })).json()
    expect(saved).toMatchObject({
      state: 'done',
      version: 1,
      criteria: [{ id: 'greeted', result: 'pass' }, {}],
    })
    const criteria = [{ id: 'other', name: 'Other', question: 'Another question?' }]
    const given = await (
      await project.send('POST', '/v1/rubric/trial', { call: 'a', rubric: { criteria } })
    ).json()
    expect(given).toMatchObject({ state: 'done', version: null, summary: null, criteria: [{ id: 'other' }] })
    expect((await analysisOf(project, 'a')).state).toBe('none')
    expect((await json(project, '/v1/calls/a')).summary).toBeNull()
    await expectProblem(
      await project.send('POST', '/v1/rubric/trial', { call: 'b' }),
      'not_found',
      'Call not found',
    )
    await expectProblem(
      await project.send('POST', '/v1/rubric/trial', { call: 'live' }),
      'call_is_live',
      'Call is live',
    )
    const bad = await project.send('POST', '/v1/rubric/trial', {
      call: 'a',
      rubric: { criteria: [{ id: '?' }] },
    })
    expect(bad.status).toBe(400)
    chat.next({ status: 401, body: '{}' })
    const failed = await project.send('POST', '/v1/rubric/trial', { call: 'a' })
    await expectProblem(failed, 'unavailable')
  })

  test('is one of two at most in a project, and the others are 503 at once', async () => {
    const [project, other] = [await judgedProject({ share: 0 }), await judgedProject({ share: 0 })]
    await Promise.all([complete(project, 'a'), complete(other, 'a')])
    chat.always({ delayMs: 300 })
    const trial = (of: TestProject) => of.send('POST', '/v1/rubric/trial', { call: 'a' })
    const asked = await Promise.all([...Array.from({ length: 6 }, () => trial(project)), trial(other)])
    const statuses = asked.map(({ status }) => status)
    expect(statuses.pop()).toBe(200)
    expect(statuses.sort()).toEqual([200, 200, 503, 503, 503, 503])
    // One that fails gives its place back.
    for (const _ of statuses)
      expect((await project.send('POST', '/v1/rubric/trial', { call: 'b' })).status).toBe(404)
    expect((await trial(project)).status).toBe(200)
  })

  test('reserves what it may take of the budget in force, whatever its own rubric says', async () => {
    // A call takes some 1,000 tokens of the estimate: enough for one of two at once.
    const project = await judgedProject({ share: 0, tokensPerMonth: 1_500 })
    await complete(project, 'a')
    chat.always({ delayMs: 200, usage: { prompt_tokens: 1_400, completion_tokens: 50 } })
    const trial = async (change: object = {}) =>
      await (await project.send('POST', '/v1/rubric/trial', { call: 'a', ...change })).json()
    const atOnce = await Promise.all([trial(), trial()])
    expect(atOnce.map(({ state }) => state).sort()).toEqual(['done', 'skipped'])
    expect(atOnce.find(({ state }) => state === 'skipped')).toMatchObject({ reason: 'budget', tokens: null })
    const own = { rubric: { ...rubric, tokensPerMonth: 1_000_000 } }
    expect(await trial(own)).toMatchObject({ state: 'skipped', reason: 'budget', version: null })
    expect((await service.services.analyses.status(project.projectId)).tokens).toEqual({
      prompt: 1_400,
      completion: 50,
    })
    await project.send('PUT', '/v1/rubric', { ...rubric, tokensPerMonth: 1_000_000 })
    expect(await trial()).toMatchObject({ state: 'done' })
  })

  test('without a model is 503', async () => {
    const plain = await startService()
    const project = await plain.mintProject()
    await project.send('PUT', '/v1/rubric', rubric)
    await project.send('PUT', '/ingest/calls/a', { status: 'completed', transcript })
    const answer = await project.send('POST', '/v1/rubric/trial', { call: 'a' })
    await expectProblem(answer, 'unavailable')
    expect((await (await project.fetch('/v1/calls/a/analysis')).json()).state).toBe('none')
    await plain.stop()
  })
})

test('agreement compares people and the analysis, as a whole and by criterion', async () => {
  const project = await judgedProject()
  const reviewer = { person: { name: 'Ada' }, by: { actor: { id: 'p', name: 'Ada' }, address: null } }
  // The analysis says success of all but the last three.
  const people = ['success', 'success', 'success', 'fail', 'success', 'fail', 'fail', 'other', null]
  const judge = (result: string) => (request: Parameters<typeof goodJudgement>[0]) => {
    const good = goodJudgement(request) as { criteria: Record<string, object> }
    return { ...good, criteria: { ...good.criteria, confirmed: { ...good.criteria.confirmed, result } } }
  }
  for (const [n, evaluation] of people.entries()) {
    chat.always({ says: judge(n < 4 || n > 6 ? 'pass' : 'fail') })
    await complete(project, `c${n}`)
    await becomes(project, `c${n}`, 'done')
    const criteria: Record<string, 'pass' | 'fail'> =
      n === 4 ? { confirmed: 'pass' } : n === 5 ? { confirmed: 'fail' } : {}
    await service.services.reviews.change(project.projectId, `c${n}`, { evaluation, criteria }, reviewer)
  }
  const agreement = await json(project, '/v1/rubric/agreement')
  // Of seven: three successes and two fails agree; people say success of four.
  const expected = (4 / 7) * (4 / 7) + (3 / 7) * (3 / 7)
  expect(agreement).toMatchObject({ version: 1, calls: 7, agreed: 5 })
  expect(agreement.accuracy).toBeCloseTo(5 / 7)
  expect(agreement.baseRate).toBeCloseTo(4 / 7)
  expect(agreement.kappa).toBeCloseTo((5 / 7 - expected) / (1 - expected))
  expect(agreement.disagreements).toEqual([
    { id: 'c3', person: 'fail', model: 'success' },
    { id: 'c4', person: 'success', model: 'fail' },
  ])
  expect(agreement.criteria).toMatchObject([
    { id: 'greeted', calls: 0, kappa: null, accuracy: null },
    { id: 'confirmed', calls: 2, agreed: 1, accuracy: 0.5 },
  ])
  expect((await project.fetch('/v1/rubric/agreement?version=2')).status).toBe(404)
  const next = await service.services.agreements.next(project.projectId)
  expect(next.map(({ id }) => id)).toEqual(['c8'])
})

test('a key of scope read reads, and only one of scope full changes and asks', async () => {
  const project = await judgedProject()
  await complete(project, 'a')
  const { key } = await project.makeKey({ name: 'reads', scope: 'read' })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const status = async (method: string, path: string, body?: object) =>
    (await fetch(service.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).status
  expect(await status('GET', '/v1/rubric')).toBe(200)
  expect(await status('GET', '/v1/rubric/agreement')).toBe(200)
  expect(await status('GET', '/v1/calls/a/analysis')).toBe(200)
  expect(await status('PUT', '/v1/rubric', rubric)).toBe(403)
  expect(await status('POST', '/v1/rubric/trial', { call: 'a' })).toBe(403)
  expect(await status('POST', '/v1/analyses', { dryRun: true })).toBe(403)
})
