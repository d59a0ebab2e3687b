import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putCalls } from '../calls/put-calls.ts'
import { freshFolder } from '../support/at-end.ts'
import { type FakeChat, startFakeChat } from '../support/fake-chat.ts'
import { startService, type TestProject } from '../support/service.ts'
import { spawnService } from '../support/spawned.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces } from '../support/traces.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(180_000)
const calls = 60
const kills = 4
const requestsAtOnce = 2
const dataDir = freshFolder()
let chat: FakeChat

describe.skipIf(ofFilesOnly)('a run over the past', () => {
  test('survives kills: each call is counted once, and only what was under way is asked again', async () => {
    chat = await startFakeChat({ delayMs: 30 })
    const settings = {
      DATA_DIR: dataDir,
      ANALYSIS_MODEL: 'judge-1',
      ANALYSIS_ENDPOINT: chat.url,
      ANALYSIS_CONCURRENCY: String(requestsAtOnce),
      ERASE_WITHIN_MS: '400',
    }
    const { key } = await fillWithCalls()
    let service = await spawnService(settings)
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const answer = await fetch(service.url + path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return await answer.json()
    }
    const criteria = [{ id: 'greeted', name: 'Greeted', question: 'Did the agent greet the caller?' }]
    await ask('PUT', '/v1/rubric', { summary: { instructions: '' }, criteria, evaluation: 'all' })
    const { id } = await ask('POST', '/v1/analyses', {})
    for (let kill = 0; kill < kills; kill++) {
      // In the middle of the run, at another moment each time.
      const next = chat.requests.length + 2 + Math.floor(Math.random() * 8)
      await until(() => chat.requests.length >= next, `Request ${next}`)
      await service.stop('SIGKILL')
      service = await spawnService(settings)
    }
    const run = () => ask('GET', `/v1/analyses/${id}`)
    await until(async () => (await run()).state !== 'running', 'The end of the run')
    expect(await run()).toMatchObject({ state: 'done', calls, done: calls, skipped: 0, failed: 0 })
    expect((await ask('GET', '/v1/calls?criterion.greeted=pass&limit=0')).pagination.total).toBe(calls)
    // In each kill: a request under way, and an answer that was not stored yet, for each place.
    expect(chat.requests.length).toBeGreaterThanOrEqual(calls)
    expect(chat.requests.length).toBeLessThanOrEqual(calls + kills * 2 * requestsAtOnce)
    expect(await ask('DELETE', '/v1/calls/c7')).toEqual({ id: 'c7', deleted: true })
    await until(async () => (await ask('GET', '/v1/erasures/c7')).status !== 'pending', 'The erasure')
    await service.stop()
    // The quotation of the deleted call is in no file; that of another one is, since the search would find it.
    const traces = [7, 8].map((n) => ({ name: String(n), bytes: Buffer.from(said(n)) }))
    expect((await findTraces(dataDir, traces)).map((found) => found.slice(0, 1))).toEqual(['8'])
  })
})

function said(n: number): string {
  return `quizzical marmoset number ${n} calls.`
}

async function fillWithCalls(): Promise<TestProject> {
  const service = await startService({ dataDir })
  const project = await service.mintProject()
  await putCalls(
    service.services,
    project.projectId,
    Array.from({ length: calls }, (_, n) => ({
      id: `c${n}`,
      status: 'completed',
      transcript: [{ role: 'user', content: said(n) }],
    })),
  )
  await service.stop()
  return project
}
