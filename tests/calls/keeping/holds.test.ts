import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { startConsole } from '../../support/console.ts'
import { expectProblem } from '../../support/problem.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'
import { until } from '../../support/until.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })
const console = await startConsole(service)

function remove(project: TestProject, id: string): Promise<Response> {
  return project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })
}

async function hold(project: TestProject, body: object): Promise<{ id: string }> {
  const answer = await console.owner.send('POST', `/projects/${project.id}/holds`, body)
  expect(answer.status).toBe(200)
  return await answer.json()
}

async function lift(project: TestProject, id: string): Promise<void> {
  const answer = await console.owner.fetch(`/projects/${project.id}/holds/${id}`, { method: 'DELETE' })
  expect(await answer.json()).toEqual({ id, lifted: true })
}

test('a call on hold is deleted by nobody until every hold on it is lifted', async () => {
  const project = await console.mintProject()
  await service.services.settings.change(project.projectId, { country: 'DE' })
  const completed = {
    status: 'completed',
    createdAt: '2020-01-01T00:00:00Z',
    occurredAt: '2020-01-01T00:00:00Z',
  }
  await project.send('PUT', '/ingest/calls/mine', { ...completed, callerNumber: '030 123456' })
  await project.send('PUT', '/ingest/calls/free', completed)
  const ofNumber = await hold(project, { number: '+49 30 123456', reason: 'Court order 7' })
  const ofCall = await hold(project, { callId: 'mine', reason: 'Complaint' })
  // A call that arrives later from a number on hold is on hold as well.
  await project.send('PUT', '/ingest/calls/later', { ...completed, calledNumber: '0049 30 123456' })

  for (const id of ['mine', 'later']) {
    await expectProblem(await remove(project, id), 'call_on_hold')
    const answer = await console.owner.fetch(`/projects/${project.id}/calls/${id}`, { method: 'DELETE' })
    await expectProblem(answer, 'call_on_hold')
  }
  const asked = { before: '2026-01-01T00:00:00Z' }
  const dry = await project.send('POST', '/v1/erasures', { ...asked, dryRun: true })
  expect(await dry.json()).toEqual({ calls: 1, onHold: 2 })
  expect(await service.services.retention.countDue(project.projectId, 30)).toBe(1)
  await service.services.settings.change(project.projectId, { retainDays: 30 })
  await service.services.retention.run()
  expect((await project.fetch('/v1/calls/free')).status).toBe(404)
  const list = await (await project.fetch('/v1/calls?fields=id')).json()
  expect(list.data).toHaveLength(2)

  await lift(project, ofNumber.id)
  await expectProblem(await remove(project, 'mine'), 'call_on_hold')
  expect((await remove(project, 'later')).status).toBe(200)
  await lift(project, ofCall.id)
  expect((await remove(project, 'mine')).status).toBe(200)
  const trail = await (await console.owner.fetch(`/projects/${project.id}/audit?action=hold_set`)).json()
  expect(trail.data).toMatchObject([
    // With the keyed hash of the call, which is gone.
    {
      target: expect.stringMatching(new RegExp(`^[0-9a-f]{64}: ${ofCall.id}$`)),
      actor: expect.stringContaining(console.owner.email),
    },
    { target: ofNumber.id },
  ])
})

test('a hold that is set after a request was accepted keeps its call', async () => {
  const project = await console.mintProject()
  const { services } = service
  const ids = Array.from({ length: 120 }, (_, n) => `c${n}`)
  await services.ingest.putAll(
    project.projectId,
    ids.map((id) => ({ id, change: { callerNumber: '+15557294053' } })),
  )
  const accepted = await (await project.send('POST', '/v1/erasures', { number: '+15557294053' })).json()
  const held = await services.holds.set(project.projectId, { callId: 'c119', reason: 'r' }).catch(() => null)
  const receiptOf = async () => await (await project.fetch(`/v1/erasures/${accepted.id}`)).json()
  await until(async () => (await receiptOf()).status === 'done')
  const receipt = await receiptOf()
  // The last slice may have been deleted before.
  expect(receipt).toMatchObject(held ? { calls: 120, deleted: 119, onHold: 1 } : { calls: 120, deleted: 120 })
  expect((await project.fetch('/v1/calls/c119')).status).toBe(held ? 200 : 404)
})

describe('a hold', () => {
  test('is set and lifted by owners, and told to members of the project', async () => {
    const project = await console.mintProject()
    const member = await console.join(project, 'member')
    await project.send('PUT', '/ingest/calls/a', { callerNumber: '+15557294053' })
    const path = `/projects/${project.id}/holds`
    await expectProblem(await member.send('POST', path, { callId: 'a', reason: 'r' }), 'forbidden')
    const { id } = await hold(project, { number: '(+1) 555 729 4053', reason: 'Court order 7' })
    const expected = { id, callId: null, number: '(+1) 555 729 4053', reason: 'Court order 7' }
    expect((await (await console.owner.fetch(path)).json()).data).toMatchObject([expected])
    const ofCall = await member.fetch(`/projects/${project.id}/calls/a/holds`)
    expect((await ofCall.json()).data).toMatchObject([{ ...expected, createdBy: console.owner.name }])
    const theirs = await console.mintProject()
    const elsewhere = await console.owner.fetch(`/projects/${theirs.id}/holds/${id}`, { method: 'DELETE' })
    await expectProblem(elsewhere, 'not_found')
  })

  test('that is not right is refused with the field', async () => {
    const project = await console.mintProject()
    const bad: [object, string][] = [
      [{ reason: 'r' }, 'body'],
      [{ callId: 'a', number: '+15557294053', reason: 'r' }, 'body'],
      [{ number: 'anonymous', reason: 'r' }, 'number'],
      [{ number: '+15557294053', reason: ' ' }, 'reason'],
      [{ number: '+15557294053' }, 'reason'],
    ]
    for (const [body, field] of bad) {
      const answer = await console.owner.send('POST', `/projects/${project.id}/holds`, body)
      const { errors } = await expectProblem(answer, 'invalid_request')
      expect([body, errors?.[0]?.field]).toEqual([body, field])
    }
    const nobody = await console.owner.send('POST', `/projects/${project.id}/holds`, {
      callId: 'a',
      reason: 'r',
    })
    await expectProblem(nobody, 'not_found', 'Call not found')
  })

  test.skipIf(ofFilesOnly)(
    'that is lifted leaves neither its number nor its reason in any file',
    async () => {
      const project = await console.mintProject()
      const [reason, digits] = [newWord(), `49${String(Math.random()).slice(2, 14).padEnd(12, '7')}`]
      const { id } = await hold(project, { number: `+${digits}`, reason })
      const traces = [...tracesOfWord(reason), { name: digits, bytes: Buffer.from(digits) }]
      expect(await findTraces(service.dataDir, traces)).not.toEqual([])
      await lift(project, id)
      const { read } = service.services.database
      const open = sql`select 1 from erasures where kind = 'hold' and id_hash = ${id} and done_at is null`
      await until(async () => (await read.all(open)).length === 0)
      expect(await findTraces(service.dataDir, traces)).toEqual([])
      // It can be lifted once.
      const again = await console.owner.fetch(`/projects/${project.id}/holds/${id}`, { method: 'DELETE' })
      await expectProblem(again, 'not_found')
    },
  )

  test('keeps its project from being deleted', async () => {
    const project = await console.mintProject()
    const { id } = await hold(project, { number: '+15557294053', reason: 'r' })
    const erase = () => console.owner.send('DELETE', `/projects/${project.id}`, { confirm: project.name })
    await expectProblem(await erase(), 'call_on_hold')
    await lift(project, id)
    expect((await erase()).status).toBe(200)
  })
})
