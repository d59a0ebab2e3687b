import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { erasures } from '../../src/db/schema.ts'
import type { ErasureReceipt } from '../../src/privacy/schemas.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { findTraces, newWord, tracesOfWord } from '../support/traces.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })
const patient = await startService({ env: { ERASE_WITHIN_MS: '600000' } })

async function receiptOf(project: TestProject, id: string): Promise<ErasureReceipt> {
  const answer = await project.fetch(`/v1/erasures/${id}`)
  expect(answer.status).toBe(200)
  return await answer.json()
}

/** Deletes a new call of this id. */
async function deleteCall(project: TestProject, id: string, summary = 'gone'): Promise<void> {
  expect((await project.send('PUT', `/ingest/calls/${id}`, { summary })).status).toBe(201)
  expect((await project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })).status).toBe(200)
}

test('a deleted call is pending, and done when no byte of it is left', async () => {
  const project = await service.mintProject()
  const word = newWord()
  const from = Date.now()
  await deleteCall(project, 'call-1', word)
  const first = await receiptOf(project, 'call-1')
  expect(Object.keys(first)).toEqual(['id', 'status', 'requestedAt', 'doneAt'])
  expect(first.id).toBe('call-1')
  expect(Date.parse(first.requestedAt)).toBeGreaterThanOrEqual(from)
  while ((await receiptOf(project, 'call-1')).status === 'pending') await Bun.sleep(10)
  expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
  const { doneAt, requestedAt } = await receiptOf(project, 'call-1')
  expect(requestedAt).toBe(first.requestedAt)
  expect(Date.parse(doneAt ?? '')).toBeGreaterThanOrEqual(Date.parse(requestedAt))
})

test('a deleted knowledge item is pending until it is erased', async () => {
  const project = await patient.mintProject()
  const { id } = await (await project.send('POST', '/v1/knowledge', { name: 'n', text: 'words' })).json()
  await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
  expect(await receiptOf(project, id)).toEqual({
    id,
    status: 'pending',
    requestedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    doneAt: null,
  })
})

test('what an item said before is pending anew after each change', async () => {
  const project = await patient.mintProject()
  const { id } = await (await project.send('POST', '/v1/knowledge', { name: 'n', text: 'words' })).json()
  for (const text of ['other words', 'yet others']) {
    expect((await project.send('PATCH', `/v1/knowledge/${id}`, { text })).status).toBe(200)
    expect((await receiptOf(project, id)).status).toBe('pending')
    await patient.services.erasure.finish()
    expect((await receiptOf(project, id)).status).toBe('done')
  }
})

test('when a call and an item had the same id, the receipt is that of the one still pending', async () => {
  const project = await service.mintProject()
  const { id } = await (await project.send('POST', '/v1/knowledge', { name: 'n', text: 'words' })).json()
  await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
  while ((await receiptOf(project, id)).status === 'pending') await Bun.sleep(10)
  await deleteCall(project, id)
  const { write } = service.services.database
  while ((await receiptOf(project, id)).status === 'pending') await Bun.sleep(10)
  await write.update(erasures).set({ doneAt: null }).where(eq(erasures.kind, 'item'))
  expect((await receiptOf(project, id)).status).toBe('pending')
})

test('what was never deleted is 404, and so is what another project deleted', async () => {
  const [project, other] = [await service.mintProject(), await service.mintProject()]
  await project.send('PUT', '/ingest/calls/alive', {})
  await deleteCall(other, 'theirs')
  const problems = []
  for (const id of ['alive', 'theirs', 'never', '%00', '%ff', 'a%20b', 'x'.repeat(5_000)]) {
    const answer = await project.fetch(`/v1/erasures/${id}`)
    problems.push({ ...(await expectProblem(answer, 'not_found')), requestId: '' })
  }
  for (const problem of problems) expect(problem).toEqual(problems[0] ?? problem)
})
