import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import type { Analysis, RubricChange } from '../../src/analysis/schemas.ts'
import { freshFolder } from '../support/at-end.ts'
import { startFakeChat } from '../support/fake-chat.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

let aheadMs = 0
const later = (ms: number) => {
  aheadMs += ms
}

const chat = await startFakeChat({ server: 'vllm', model: 'judge-1' })
const env = {
  ANALYSIS_MODEL: 'judge-1',
  ANALYSIS_ENDPOINT: chat.url,
  ANALYSIS_DELAY_SECONDS: '0',
  ANALYSIS_CONCURRENCY: '1',
  CALL_MAX_BYTES: '4096',
}
const service = await startService({ env, now: () => Date.now() + aheadMs })

const rubric: RubricChange = {
  summary: { instructions: '' },
  criteria: [{ id: 'greeted', name: 'Greeted', question: 'Did the agent greet the caller?' }],
  fields: [{ key: 'constructor', type: 'integer', description: 'Who built it.' }],
}
const turn = (role: string, content: string) => ({ role, content })

async function judgedProject(change: Partial<RubricChange> = {}): Promise<TestProject> {
  const project = await service.mintProject()
  expect((await project.send('PUT', '/v1/rubric', { ...rubric, ...change })).status).toBe(201)
  return project
}

async function complete(project: TestProject, id: string, more: object = {}): Promise<Response> {
  return await project.send('PUT', `/ingest/calls/${id}`, {
    status: 'completed',
    transcript: [turn('assistant', 'Hello, how can I help?')],
    ...more,
  })
}

const json = async (project: TestProject, path: string) => await (await project.fetch(path)).json()

async function settled(project: TestProject, id: string): Promise<Analysis> {
  const analysis = async () => await json(project, `/v1/calls/${id}/analysis`)
  await until(async () => !['queued', 'running'].includes((await analysis()).state), `The analysis of ${id}`)
  return await analysis()
}

/** Completes a call that has as many bytes as a call may have, but for some. */
async function completeLarge(project: TestProject, id: string, bytesLeft: number): Promise<void> {
  await complete(project, id, { transcript: [], endedReason: null, status: 'live' })
  const empty = JSON.stringify(await json(project, `/v1/calls/${id}`))
  // completed for live, and one turn around the text.
  const around = Buffer.byteLength(empty) + 5 + JSON.stringify(turn('user', '')).length
  const transcript = [turn('user', 'a'.repeat(4_096 - around - bytesLeft))]
  expect((await complete(project, id, { transcript })).status).toBe(200)
}

async function sentOf(project: TestProject) {
  const { data } = await service.services.console.audit.list(project.projectId, { limit: 10 }, {})
  return data.filter(({ action }) => action === 'call_analyzed' || action === 'rubric_tried')
}

test('a call without room for what is found out is failed, and what was sent is counted', async () => {
  const project = await judgedProject()
  const sent = chat.requests.length
  await completeLarge(project, 'a', 400)
  expect(await settled(project, 'a')).toMatchObject({ state: 'failed', reason: 'too large' })
  expect(chat.requests.length).toBe(sent + 1)
  expect((await service.services.analyses.status(project.projectId)).tokens.prompt).toBeGreaterThan(100)
  expect(await sentOf(project)).toHaveLength(1)
})

test.each<[string, Partial<RubricChange>, number]>([
  ['an outcome', {}, 1],
  ['the reason why it is skipped', { when: { minUserTurns: 2 } }, 0],
])('a call without room for %s is left alone', async (_, change, requests) => {
  const project = await judgedProject(change)
  const sent = chat.requests.length
  await completeLarge(project, 'a', 10)
  expect(await settled(project, 'a')).toMatchObject({ state: 'none' })
  expect(chat.requests.length).toBe(sent + requests)
  expect(await sentOf(project)).toHaveLength(requests)
})

test('a field named as a member of every object is filled', async () => {
  const project = await judgedProject()
  await complete(project, 'a', { callAnalysis: { own: 1 } })
  await settled(project, 'a')
  expect((await json(project, '/v1/calls/a')).callAnalysis).toEqual({ own: 1, constructor: 7 })
})

test('a call of which the roles change is analyzed once more', async () => {
  const project = await judgedProject()
  await complete(project, 'a')
  const { at } = await settled(project, 'a')
  await complete(project, 'a', { transcript: [turn('user', 'Hello, how can I help?')] })
  await until(async () => (await settled(project, 'a')).at !== at)
})

test('a small call is analyzed though one before it is beyond the budget of a month', async () => {
  const project = await judgedProject({ tokensPerMonth: 1_400 })
  await complete(project, 'large', { transcript: [turn('user', 'word '.repeat(500))] })
  expect(await settled(project, 'large')).toMatchObject({ state: 'skipped', reason: 'budget' })
  await complete(project, 'small')
  expect(await settled(project, 'small')).toMatchObject({ state: 'done' })
})

test('projects take turns, whoever has waited longest', async () => {
  const projects: [string, TestProject][] = []
  for (const name of ['a', 'b', 'c']) projects.push([name, await judgedProject()])
  const first = chat.requests.length
  // Until all of them wait.
  chat.next({ delayMs: 4_000 }, { delayMs: 4_000 })
  for (const [name, project] of projects)
    for (let n = 0; n < (name === 'c' ? 1 : 20); n++)
      await complete(project, `${n}`, { transcript: [turn('user', `Calling about ${name}`)] })
  for (const [, project] of projects)
    await until(async () => (await service.services.analyses.status(project.projectId)).waiting === 0)
  const order = chat.requests.slice(first).map(({ turns }) => turns[0]?.content.at(-1))
  expect(order).toHaveLength(41)
  expect(order.indexOf('c')).toBeLessThan(8)
})

test('a trial names every wrong field of its rubric as the request has it', async () => {
  const project = await judgedProject()
  const twice = [...rubric.criteria, ...rubric.criteria]
  const answer = await project.send('POST', '/v1/rubric/trial', { call: 'a', rubric: { criteria: twice } })
  expect(answer.status).toBe(400)
  const { errors } = (await answer.json()) as { errors: { field: string }[] }
  expect(errors.map(({ field }) => field)).toEqual(['rubric.criteria.1.id'])
})

test('a request that the end of the service cuts off is in the audit trail, and made again after the next start', async () => {
  const dataDir = freshFolder()
  const env = { ANALYSIS_MODEL: 'judge-1', ANALYSIS_ENDPOINT: chat.url, ANALYSIS_DELAY_SECONDS: '0' }
  const first = await startService({ env, dataDir })
  const project = await first.mintProject()
  await project.send('PUT', '/v1/rubric', rubric)
  chat.next({ cut: 'stall' })
  const sent = chat.requests.length
  await complete(project, 'a')
  await until(() => chat.requests.length > sent)
  await first.stop()
  const second = await startService({ env, dataDir })
  const entries = async () => {
    const { data } = await second.services.console.audit.list(project.projectId, { limit: 10 }, {})
    return data.filter(({ action }) => action === 'call_analyzed').map(({ target }) => target)
  }
  await until(async () => (await entries()).length === 2)
  expect((await entries()).at(-1)).toEndWith('1 request, 0 tokens')
  await second.stop()
  rmSync(dataDir, { recursive: true })
})

test('while the database takes no writes, the model is not asked again and again', async () => {
  const project = await judgedProject()
  const { write } = service.services.database
  const refusing = ['update', 'delete'].map((act) => [`refuse_${act}`, act] as const)
  for (const [name, act] of refusing)
    await write.run(
      sql.raw(
        `create trigger ${name} before ${act} on analysis_queue begin select raise(abort, 'refused'); end`,
      ),
    )
  const sent = chat.requests.length
  await complete(project, 'a')
  await until(() => chat.requests.length > sent)
  await Bun.sleep(1_500)
  expect(chat.requests.length).toBe(sent + 1)
  for (const [name] of refusing) await write.run(sql.raw(`drop trigger ${name}`))
  later(31_000)
  expect(await settled(project, 'a')).toMatchObject({ state: 'done' })
})

test('what a run is asking about a transcript is asked again when that changes', async () => {
  const project = await judgedProject()
  await project.send('PUT', '/v1/rubric', { ...rubric, share: 0 })
  await complete(project, 'a')
  chat.next({ delayMs: 500 })
  const sent = chat.requests.length
  const { id } = await (await project.send('POST', '/v1/analyses', { version: 1 })).json()
  await until(() => chat.requests.length > sent)
  await complete(project, 'a', { transcript: [turn('user', 'Something else.')] })
  await until(async () => (await json(project, `/v1/analyses/${id}`)).state === 'done')
  expect(await json(project, `/v1/analyses/${id}`)).toMatchObject({ calls: 1, done: 1 })
  expect((await settled(project, 'a')).criteria).toMatchObject([{ quote: 'Something else.' }])
})

test('calls that fail together pause their project once, for half a minute', async () => {
  const project = await judgedProject()
  const failing = { status: 503, body: 'Service unavailable' }
  chat.next({ ...failing, delayMs: 300 }, failing)
  const sent = chat.requests.length
  for (const id of ['a', 'b']) await complete(project, id)
  await until(() => chat.requests.length === sent + 2)
  await until(async () => (await sentOf(project)).length === 2)
  await Bun.sleep(200)
  const { pause } = await service.services.analyses.status(project.projectId)
  expect(Date.parse(pause?.until ?? '') - Date.parse(pause?.since ?? '')).toBeLessThan(31_000)
  later(31_000)
  for (const id of ['a', 'b']) await until(async () => (await settled(project, id)).state === 'done')
})
