import { beforeAll, describe, expect, test } from 'bun:test'
import { bootstrap } from '../../src/start/bootstrap.ts'
import { freshFolder } from '../support/at-end.ts'
import { foundByVector, startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import { until } from '../support/until.ts'

const primary = await startPrimary()
const node = await startNode(primary)
const project = await node.mintProject()
await project.send('PUT', '/ingest/calls/call-1', { summary: 'Before' })
await project.send('POST', '/v1/knowledge', { name: 'Parking', text: 'There is parking behind the house.' })

const ways = {
  killed: {
    leave: 'SIGKILL',
    back: () => primary.restart(),
    detail: 'The primary database cannot be reached. Nothing was written.',
  },
  frozen: {
    leave: 'SIGSTOP',
    back: () => primary.signal('SIGCONT'),
    detail:
      'The primary database did not answer in time. The write is either complete or absent, and may still arrive.',
  },
} as const

test('a call that is larger than the server takes is refused, and nothing of it is stored', async () => {
  const turn = { role: 'user', content: 'word '.repeat(20_000) }
  const large = { status: 'completed', transcript: Array(80).fill(turn) }
  const answer = await project.send('PUT', '/ingest/calls/large', large)
  expect([answer.status, (await answer.json()).code]).toEqual([413, 'payload_too_large'])
  expect((await project.fetch('/v1/calls/large')).status).toBe(404)
})

for (const [way, { leave, back, detail }] of Object.entries(ways))
  describe(`a node whose primary is ${way}`, () => {
    beforeAll(() => primary.signal(leave))

    test('reads and searches', async () => {
      expect((await project.fetch('/v1/calls/call-1')).status).toBe(200)
      expect((await project.fetch('/v1/knowledge')).status).toBe(200)
      expect(await foundByVector(project, 'parking')).toEqual(['Parking'])
    })

    test('answers writes with 503, which says whether they may still be stored', async () => {
      const writes = [
        project.send('PUT', `/ingest/calls/${way}`, { summary: 'Meanwhile' }),
        project.send('POST', '/v1/knowledge', { name: way, text: 'Meanwhile.' }),
        project.fetch('/v1/calls/call-1', { method: 'DELETE' }),
      ]
      for (const answer of await Promise.all(writes)) {
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
        expect(await answer.json()).toMatchObject({ code: 'unavailable', detail })
      }
    })

    test('is ready and reports how far behind it is, also in its metrics', async () => {
      await until(async () => {
        const { lagMs, failures } = (await readiness()).replication
        return lagMs > 1_000 && failures > 0
      })
      const metrics = await (await fetch(`${node.url}/metrics`)).text()
      expect(Number(/^callbook_replication_lag_seconds (\S+)/m.exec(metrics)?.[1])).toBeGreaterThan(1)
      expect(Number(/^callbook_replication_sync_failures_total (\S+)/m.exec(metrics)?.[1])).toBeGreaterThan(0)
    })

    test('catches up by itself when the primary is back', async () => {
      await back()
      await until(async () => (await readiness()).replication.lagMs < 1_000)
      await until(async () => (await project.send('PUT', `/ingest/calls/after-${way}`, {})).status < 300)
      expect((await project.fetch(`/v1/calls/after-${way}`)).status).toBe(200)
      await project.send('PUT', '/ingest/calls/call-1', { summary: 'Before' })
    })
  })

test('a node that starts without its primary serves what it has', async () => {
  const folder = freshFolder()
  let alone = await startNode(primary, { dataDir: folder })
  await bootstrap(alone.services)
  await alone.stop()
  await primary.signal('SIGKILL')
  alone = await startNode(primary, { dataDir: folder })
  expect(await bootstrap(alone.services)).toEqual({ firstKey: null, setupToken: null })
  const answer = await fetch(`${alone.url}/v1/calls/after-killed`, {
    headers: { authorization: `Bearer ${project.key}` },
  })
  expect(answer.status).toBe(200)
  await primary.restart()
  await until(async () => (await fetch(`${alone.url}/ready`)).status === 200)
  await alone.stop()
})

test('a node that has never seen its primary does not start', async () => {
  await primary.signal('SIGKILL')
  const error = await startNode(primary).catch(String)
  expect(error).toContain('cannot be reached, and there is no replica of it here yet')
  await primary.restart()
})

test('a node with a bound on its staleness refuses to serve beyond it, and serves again', async () => {
  const bounded = await startNode(primary, { env: { REPLICA_MAX_STALENESS_MS: '1500' } })
  const read = () => fetch(`${bounded.url}/v1/calls`, { headers: { authorization: `Bearer ${project.key}` } })
  expect((await read()).status).toBe(200)
  await primary.signal('SIGKILL')
  await until(async () => (await read()).status === 503)
  expect(await (await read()).json()).toMatchObject({
    detail: 'This replica has not synced for more than 1500 ms (REPLICA_MAX_STALENESS_MS).',
  })
  expect((await fetch(`${bounded.url}/ready`)).status).toBe(503)
  expect((await fetch(`${bounded.url}/health`)).status).toBe(200)
  await primary.restart()
  await until(async () => (await read()).status === 200)
  await bounded.stop()
})

async function readiness(): Promise<{ replication: { lagMs: number; failures: number } }> {
  const answer = await fetch(`${node.url}/ready`)
  expect(answer.status).toBe(200)
  return await answer.json()
}
