import { afterEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { primaryUnavailable } from '../../src/db/remote-failure.ts'
import { ProjectWasDeleted } from '../../src/errors.ts'
import { Questions } from '../../src/knowledge/questions/questions.ts'
import { addSource } from '../sources/deliver.ts'
import { startConsole } from '../support/console.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord } from '../support/traces.ts'
import { until } from '../support/until.ts'

const dayMs = 86_400_000

let clockMs = 0
afterEach(() => {
  clockMs = 0
})
const service = await startService({ env: { ERASE_WITHIN_MS: '500' }, now: () => Date.now() + clockMs })
const set = await startConsole(service)

async function projectKeeping(keepQuestionsDays: 7 | 30 | null): Promise<TestProject> {
  const project = await set.mintProject()
  await service.services.settings.change(project.projectId, { keepQuestionsDays })
  return project
}

const addItem = async (project: TestProject, name: string, text: string): Promise<string> =>
  (await (await project.send('POST', '/v1/knowledge', { name, text })).json()).id

async function ask(project: TestProject, query: string, more: object = {}, callId?: string): Promise<void> {
  const headers = { 'content-type': 'application/json', ...(callId && { 'x-call-id': callId }) }
  const body = JSON.stringify({ query, timeoutMs: 10_000, ...more })
  expect((await project.fetch('/v1/knowledge/search', { method: 'POST', headers, body })).status).toBe(200)
}

async function kept({ projectId }: TestProject) {
  const { questions, database } = service.services
  await questions.flush()
  return await database.read.all<{
    query: string
    callId: string | null
    coverage: number
    hits: string
  }>(sql`
    select query, call_id as callId, coverage, hits from questions where project_id = ${projectId} order by seq`)
}

/** Where a word is in the files of the service. */
const tracesOf = (word: string) => findTraces(service.dataDir, [{ name: word, bytes: Buffer.from(word) }])

const openErasures = async () =>
  (await service.services.database.read.all(sql`select 1 from erasures where done_at is null`)).length

const api = async (project: TestProject, path = '') =>
  await (await set.owner.fetch(`/projects/${project.id}/questions${path}`)).json()

describe('questions of searches', () => {
  test('are written nowhere while the project keeps none, nor are those of the console', async () => {
    const off = await projectKeeping(null)
    const on = await projectKeeping(7)
    const word = newWord()
    await ask(off, `where is the ${word}`)
    await set.owner.send('POST', `/projects/${on.id}/knowledge/search`, { query: `try the ${word}` })
    expect([await kept(off), await kept(on)]).toEqual([[], []])
    expect(await tracesOf(word)).toEqual([])
    const none = { gap: 0, answered: 0, dismissed: 0 }
    expect(await api(off)).toEqual({ keepDays: null, gapCoverage: 0.5, ...none })
  })

  test('are kept with the items, positions and ranks of what they found', async () => {
    const project = await projectKeeping(30)
    await ask(project, 'Is anybody there?')
    const refunds = await addItem(project, 'Refunds', 'We refund any order within thirty days.')
    await addItem(project, 'Opening hours', 'We are open from nine to five. An order arrives in two days.')
    await ask(project, 'refund my order within thirty days', {}, 'call-1')
    // By vector alone nothing says how much of the question a passage covers.
    await ask(project, 'refund', { mode: 'vector' })
    const [first, second, third] = await kept(project)
    expect(first).toEqual({ query: 'Is anybody there?', callId: null, coverage: 0, hits: '[]' })
    const items = await service.services.database.read.all<{ seq: number; id: string }>(
      sql`select seq, id from knowledge_items where project_id = ${project.projectId} order by seq`,
    )
    const seqs = items.map(({ seq }) => seq)
    expect(items[0]?.id).toBe(refunds)
    expect(JSON.parse(second?.hits ?? '')).toEqual(seqs.map((seq) => [seq, 0]))
    expect(second).toMatchObject({ callId: 'call-1', coverage: expect.any(Number) })
    expect(third?.coverage).toBeNull()
  })

  test('carry the id of the call that platforms say', async () => {
    const project = await projectKeeping(7)
    const header = { 'content-type': 'application/json', 'x-call-id': 'tool-call' }
    const post = (path: string, body: object, headers: Record<string, string> = header) =>
      project.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const toolCallList = [{ id: 't', name: 'find', parameters: { query: 'by vapi' } }]
    await post('/integrations/vapi/tool', { message: { call: { id: 'vapi-call' }, toolCallList } })
    const messages = [{ role: 'user', content: 'asked of a knowledge base' }]
    const type = 'knowledge-base-request'
    await post('/integrations/vapi/knowledge', { message: { type, call: { id: 'vapi-2' }, messages } })
    await post('/integrations/tool', { query: 'by tool' })
    await post('/integrations/tool', { query: 'with a bad id' }, { ...header, 'x-call-id': 'a b' })
    const params = { name: 'search_knowledge', arguments: { query: 'by mcp' } }
    await post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const retell = await addSource(service, project, 'retell')
    await retell.send({ name: 'find', call: { call_id: 'retell-call' }, args: { query: 'by retell' } })
    expect((await kept(project)).map(({ query, callId }) => [query, callId])).toEqual([
      ['by vapi', 'vapi-call'],
      ['asked of a knowledge base', 'vapi-2'],
      ['by tool', 'tool-call'],
      ['with a bad id', null],
      ['by mcp', 'tool-call'],
      ['by retell', 'retell-call'],
    ])
  })

  test('keep what the agent read whole after them, by the id of the call', async () => {
    const project = await projectKeeping(7)
    await project.send('PUT', '/v1/knowledge/refunds', { name: 'Refunds', text: 'We refund any order.' })
    const call = (name: string, args: object, callId: string) =>
      project.fetch('/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-call-id': callId },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: args },
        }),
      })
    await call('get_knowledge', { id: 'refunds' }, 'silent')
    for (const callId of ['reader', 'other'])
      await call('search_knowledge', { query: `refund ${callId}` }, callId)
    await call('get_knowledge', { id: 'refunds', maxChars: 3 }, 'reader')
    await call('get_knowledge', { id: 'refunds', offset: 3 }, 'reader')
    await kept(project)
    const readsOf = async (callId: string) =>
      (await api(project, `/calls/${callId}`)).data.map(({ reads }: { reads: object[] }) => reads)
    expect(await readsOf('reader')).toEqual([[{ id: 'refunds', name: 'Refunds' }]])
    expect([await readsOf('other'), await readsOf('silent')]).toEqual([[[]], []])
  })

  test('are redacted as the project says', async () => {
    const project = await projectKeeping(7)
    await service.services.settings.change(project.projectId, { redact: ['phone', 'email'] })
    await ask(project, 'is +49 30 901820 yours, or ada@example.com')
    expect((await kept(project)).map(({ query }) => query)).toEqual(['is [phone] yours, or [email]'])
    if (!ofFilesOnly) expect(await tracesOf('ada@example.com')).toEqual([])
  })

  test('never fail a search, and wait while the database cannot be written', async () => {
    const project = await projectKeeping(7)
    const { questions, database } = service.services
    const run = database.write.run
    Object.assign(database.write, { run: () => Promise.reject(new Error('broken on purpose')) })
    try {
      await ask(project, 'is it kept')
      await expect(questions.flush()).rejects.toThrow('broken on purpose')
    } finally {
      Object.assign(database.write, { run })
    }
    expect((await kept(project)).map(({ query }) => query)).toEqual(['is it kept'])
  })

  test('wait while the settings of their project cannot be read, and are dropped with their project', async () => {
    const { core, holds, erasure } = service.services
    const failures: Error[] = [primaryUnavailable('The database does not answer.'), new ProjectWasDeleted()]
    const settingsOf = () => Promise.reject(failures.shift())
    const questions = new Questions({ ...core, settingsOf }, { holds, erasure })
    questions.add(
      { projectId: 1, tags: [] },
      'is it kept',
      { data: [], mode: 'keyword', tookMs: 0, coverage: 0 },
      null,
    )
    await expect(questions.flush()).rejects.toThrow('does not answer')
    // Reads the settings again, since the question still waits; after that none does.
    await questions.flush()
    expect(failures).toEqual([])
    await questions.flush()
    await questions.close()
  })

  test('are deleted with their call, and none is kept of a deleted call', async () => {
    const project = await projectKeeping(7)
    const [word, other] = [newWord(), newWord()]
    await project.send('PUT', '/ingest/calls/mine', { summary: 'A call.' })
    await ask(project, `where is ${word}`, {}, 'mine')
    await ask(project, `where is ${other}`, {}, 'theirs')
    expect(await kept(project)).toHaveLength(2)
    await project.fetch('/v1/calls/mine', { method: 'DELETE' })
    await ask(project, `late ${word}`, {}, 'mine')
    expect((await kept(project)).map(({ query }) => query)).toEqual([`where is ${other}`])
    await until(async () => (await openErasures()) === 0)
    if (ofFilesOnly) return
    expect(await tracesOf(word)).toEqual([])
    expect(await tracesOf(other)).not.toEqual([])
  })

  test('are deleted when their time is over, and when the project keeps none any more', async () => {
    const [week, month, stopped] = [
      await projectKeeping(7),
      await projectKeeping(30),
      await projectKeeping(7),
    ]
    const [old, older, kind] = [newWord(), newWord(), newWord()]
    await ask(week, `where is ${old}`)
    await ask(month, `where is ${older}`)
    await ask(stopped, `where is ${kind}`)
    expect([await kept(week), await kept(month), await kept(stopped)].flat()).toHaveLength(3)
    clockMs = 8 * dayMs
    await service.services.settings.change(stopped.projectId, { keepQuestionsDays: null })
    // What is over is not shown, before it is deleted.
    expect([(await api(week)).gap, (await api(month)).gap]).toEqual([0, 1])
    await service.services.core.jobs.now('expiry of questions')
    expect([await kept(week), await kept(stopped)]).toEqual([[], []])
    expect(await kept(month)).toHaveLength(1)
    const { data } = await service.services.console.audit.list(week.projectId, { limit: 1 })
    expect(data).toMatchObject([{ action: 'questions_expired', target: '1 question' }])
    await until(async () => (await openErasures()) === 0)
    if (!ofFilesOnly) for (const word of [old, kind]) expect(await tracesOf(word)).toEqual([])
    expect(
      await service.services.questions.deleteQuestionsBefore(month.projectId, Date.now() + clockMs + 1),
    ).toBe(1)
  })

  test('of a call on hold stay until the hold is lifted, also when the project keeps none any more', async () => {
    const project = await projectKeeping(7)
    const { holds, core, settings } = service.services
    await project.send('PUT', '/ingest/calls/held', { callerNumber: '+16502530000' })
    await project.send('PUT', '/ingest/calls/free', {})
    for (const callId of ['held', 'free', undefined]) await ask(project, `asked in ${callId}`, {}, callId)
    expect(await kept(project)).toHaveLength(3)
    const hold = await holds.set(project.projectId, { number: '+16502530000', reason: 'Order' })
    const idsAfter = async () => {
      await core.jobs.now('expiry of questions')
      return (await kept(project)).map(({ callId }) => callId)
    }
    clockMs = 8 * dayMs
    expect(await idsAfter()).toEqual(['held'])
    await settings.change(project.projectId, { keepQuestionsDays: null })
    expect(await idsAfter()).toEqual(['held'])
    await holds.lift(project.projectId, hold.id)
    expect(await idsAfter()).toEqual([])
  })
})
