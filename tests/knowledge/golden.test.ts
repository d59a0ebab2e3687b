import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { CommandLine } from '../support/command-line.ts'
import { startConsole } from '../support/console.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord } from '../support/traces.ts'
import { until } from '../support/until.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })
const set = await startConsole(service)

interface History {
  questions: {
    id: string
    query: string
    callId: string | null
    item: object | null
    ranks: (number | null)[]
  }[]
  runs: { questions: number; hit1: number; hit5: number }[]
}

async function projectWith(items: Record<string, string>): Promise<TestProject> {
  const project = await set.mintProject()
  await service.services.settings.change(project.projectId, { keepQuestionsDays: 7 })
  for (const [id, text] of Object.entries(items))
    await project.send('PUT', `/v1/knowledge/${id}`, { name: id, text })
  return project
}

async function ask(project: TestProject, query: string, callId: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-call-id': callId }
  const body = JSON.stringify({ query, timeoutMs: 10_000 })
  await project.fetch('/v1/knowledge/search', { method: 'POST', headers, body })
}

const keep = (project: TestProject, body: object) =>
  set.owner.send('POST', `/projects/${project.id}/questions/golden`, body)

async function kept(project: TestProject, body: object): Promise<void> {
  const answer = await keep(project, body)
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
}

const history = async (project: TestProject, method = 'GET', path = ''): Promise<History> => {
  const body = method === 'GET' ? undefined : {}
  return await (await set.owner.send(method, `/projects/${project.id}/questions/golden${path}`, body)).json()
}

/** Where a word is in the files of the service. */
const tracesOf = (word: string) => findTraces(service.dataDir, [{ name: word, bytes: Buffer.from(word) }])

async function expectErased(...words: string[]): Promise<void> {
  const { read } = service.services.database
  await until(async () => (await read.all(sql`select 1 from erasures where done_at is null`)).length === 0)
  if (!ofFilesOnly) for (const word of words) expect(await tracesOf(word)).toEqual([])
}

describe('golden questions', () => {
  test('are asked on demand, as `knowledge check` asks them, with a history of what they found', async () => {
    const project = await projectWith({ refunds: 'We refund any order.', hours: 'We are open from nine.' })
    await kept(project, { query: 'Do you refund an order?', itemId: 'refunds' })
    await kept(project, { query: 'refund any order?', itemId: 'hours' })
    const first = await history(project, 'POST', '/run')
    expect(first.questions.map(({ query, ranks }) => [query, ranks])).toEqual([
      ['refund any order?', [2]],
      ['Do you refund an order?', [1]],
    ])
    expect(first.runs).toMatchObject([{ questions: 2, hit1: 0.5, hit5: 1 }])
    const lines = first.questions.map(({ query }, at) => ({ query, itemId: ['hours', 'refunds'][at] }))
    const checked = await new CommandLine(service.dataDir).json(
      ['knowledge', 'check', '-', '--project', project.id],
      { stdin: lines.map((line) => JSON.stringify(line)).join('\n') },
    )
    expect(checked.value).toMatchObject({ questions: 2, hit1: 0.5, hit5: 1, misses: [] })
    // The same again is no new entry.
    expect((await history(project, 'POST', '/run')).runs).toHaveLength(1)
    await project.fetch('/v1/knowledge/hours', { method: 'DELETE' })
    const last = await history(project, 'POST', '/run')
    expect(last.questions).toMatchObject([{ item: null, ranks: [2, 0] }, { ranks: [1, 1] }])
    expect(last.runs).toMatchObject([{ hit5: 1 }, { hit1: 0.5, hit5: 0.5 }])
  })

  test('are asked after each change of knowledge, without being told to', async () => {
    const project = await projectWith({ refunds: 'We refund any order.' })
    await kept(project, { query: 'Is there free parking?', itemId: 'refunds' })
    await service.services.questionChecks.finish()
    await project.send('PUT', '/v1/knowledge/parking', { name: 'Parking', text: 'There is free parking.' })
    // The change is noticed at the latest half a second after its commit.
    await until(async () => {
      await service.services.questionChecks.finish()
      return (await history(project)).questions[0]?.ranks.includes(2) ?? false
    })
  })

  test('keep the last fifty results', async () => {
    const project = await projectWith({ refunds: 'We refund any order.' })
    await kept(project, { query: 'Do you refund?', itemId: 'refunds' })
    const rows = Array.from({ length: 60 }, (_, at) => ({ ranks: { 1: at }, at, lastAt: at }))
    const { database } = service.services
    for (const { ranks, at } of rows)
      await database.write.run(sql`insert into golden_runs (project_id, at, last_at, ranks)
        values (${project.projectId}, ${at}, ${at}, ${JSON.stringify(ranks)})`)
    expect((await history(project, 'POST', '/run')).runs).toHaveLength(50)
  })

  test('that repeat a caller’s words are kept only when a person agrees, and are erased with the call', async () => {
    const project = await projectWith({ refunds: 'We refund any order.' })
    const [said, reworded] = [newWord(), newWord()]
    await project.send('PUT', '/ingest/calls/mine', {})
    await ask(project, `where is ${said}`, 'mine')
    const refused = await keep(project, { query: `Where is ${said}?`, itemId: 'refunds' })
    expect([refused.status, (await refused.json()).code]).toEqual([409, 'words_of_a_call'])
    expect((await history(project)).questions).toEqual([])
    const wrongCall = {
      query: `where is ${said}`,
      itemId: 'refunds',
      callId: 'other',
      keepsWordsOfCall: true,
    }
    expect((await keep(project, wrongCall)).status).toBe(404)
    await kept(project, { ...wrongCall, callId: 'mine' })
    await kept(project, { query: `Where do I find ${reworded}?`, itemId: 'refunds' })
    expect((await history(project)).questions).toMatchObject([{ callId: null }, { callId: 'mine' }])
    await project.fetch('/v1/calls/mine', { method: 'DELETE' })
    expect((await history(project)).questions).toMatchObject([{ query: `Where do I find ${reworded}?` }])
    await expectErased(said)
    if (!ofFilesOnly) expect(await tracesOf(reworded)).not.toEqual([])
    // Words that were said within tags are a call's words as well.
    await project.send('PUT', '/ingest/calls/tagged', {})
    const key = { name: 'hr', kind: 'live' as const, scope: 'search' as const, tags: ['hr'] }
    const made = await service.services.keys.create(project.projectId, {
      ...key,
      allowedIps: [],
      expiresAt: null,
    })
    await fetch(`${service.url}/v1/knowledge/search`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${made.key}`,
        'content-type': 'application/json',
        'x-call-id': 'tagged',
      },
      body: JSON.stringify({ query: 'where is the turquoise order' }),
    })
    const turquoise = { query: 'Where is the turquoise order?', itemId: 'refunds' }
    expect((await keep(project, turquoise)).status).toBe(409)
    await kept(project, { ...turquoise, keepsWordsOfCall: true })
    await project.fetch('/v1/calls/tagged', { method: 'DELETE' })
    expect((await history(project)).questions).toMatchObject([{ query: `Where do I find ${reworded}?` }])
    // Its words are not kept once they are erased.
    expect((await keep(project, { ...wrongCall, callId: 'mine' })).status).toBe(404)
  })

  test('are erased when they are deleted or reworded', async () => {
    const project = await projectWith({ refunds: 'We refund any order.' })
    const [old, next] = [newWord(), newWord()]
    await kept(project, { query: `about ${old}`, itemId: 'refunds' })
    const [question] = (await history(project)).questions
    await kept(project, { query: `about ${next}`, itemId: 'refunds', replaces: question?.id })
    const { questions } = await history(project)
    expect(questions.map(({ query }) => query)).toEqual([`about ${next}`])
    await expectErased(old)
    await history(project, 'DELETE', `/${questions[0]?.id}`)
    expect((await history(project)).questions).toEqual([])
    await expectErased(next)
    const gone = await set.owner.send(
      'DELETE',
      `/projects/${project.id}/questions/golden/${questions[0]?.id}`,
    )
    expect(gone.status).toBe(404)
  })

  test('are redacted, and of one wording there is one', async () => {
    const project = await projectWith({ refunds: 'We refund any order.', hours: 'We are open.' })
    await service.services.settings.change(project.projectId, { redact: ['email'] })
    await kept(project, { query: 'May I write to ada@example.com?', itemId: 'refunds' })
    await kept(project, { query: 'may i write to bob@example.com', itemId: 'hours' })
    expect((await history(project)).questions).toMatchObject([
      { query: 'May I write to [email]?', item: { id: 'hours' } },
    ])
    if (!ofFilesOnly) expect(await tracesOf('bob@example.com')).toEqual([])
  })

  test('go with their project, and are no other project’s', async () => {
    const [project, other] = [await projectWith({ refunds: 'We refund.' }), await projectWith({})]
    const word = newWord()
    await kept(project, { query: `about ${word}`, itemId: 'refunds' })
    expect((await keep(other, { query: 'about', itemId: 'refunds' })).status).toBe(400)
    const [question] = (await history(project)).questions
    const path = `/projects/${other.id}/questions/golden/${question?.id}`
    expect((await set.owner.send('DELETE', path)).status).toBe(404)
    expect((await history(other)).questions).toEqual([])
    const { name } = await service.services.projects.get(project.projectId)
    await set.owner.send('DELETE', `/projects/${project.id}`, { confirm: name })
    await until(async () => {
      const { read } = service.services.database
      return (await read.all(sql`select 1 from project_erasures where done_at is null`)).length === 0
    })
    if (!ofFilesOnly) expect(await tracesOf(word)).toEqual([])
  })
})
