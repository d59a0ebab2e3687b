import { setTimeout as sleep } from 'node:timers/promises'
import { apiKey, pastCalls, startPlatform } from '../../tests/sources/history/fake-platforms.ts'
import { makeDataset } from '../dataset.ts'
import { memoryOf } from '../process-use.ts'
import { ask } from '../requests.ts'
import { atMost, formatCount, type Row } from './figures.ts'
import { type LoadResult, runLoad } from './load.ts'
import type { Options } from './runner.ts'

const callsCount = 10_000
const rate = 20
const dayMs = 86_400_000
const lookEveryMs = 250
/** Of others: alone, and as long beside the import. */
const others = { connections: 2, perSecond: 50, seconds: 60 }

/** Importing the past calls of a platform that is imitated on loopback, each with a request of its own. */
export async function benchHistory({ start }: Options): Promise<Row[]> {
  const platform = await startPlatform('retell')
  platform.calls.push(...pastCalls(callsCount, Date.now() - 89 * dayMs, (88 * dayMs) / callsCount))
  let [source, manageKey] = ['', '']
  const { folder, ingestKey } = await makeDataset({
    async fill({ sources, keys }, projectId) {
      const options = { apiKey, host: platform.origin }
      source = (await sources.create(projectId, { platform: 'retell', options })).id
      const manage = { name: 'manage', kind: 'live' as const, scope: 'manage' as const }
      manageKey = (await keys.create(projectId, { ...manage, allowedIps: [], expiresAt: null })).key
    },
  })
  const { url, pid } = await start(folder, { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' })
  const load = (name: string): Promise<LoadResult> => {
    const body = JSON.stringify({ status: 'completed', summary: 'Asks when we open.' })
    const requests = [{ method: 'PUT', path: `/ingest/calls/${name}-{n}`, body }]
    return runLoad({ url, key: ingestKey, requests, ...others })
  }
  const alone = await load('alone')
  const before = memoryOf(pid).ownMb
  const path = `/v1/sources/${source}/import`
  const startedAt = performance.now()
  await ask(url, { path, key: manageKey, body: { since: '90d', rate } })
  const besides = load('beside')
  let [most, report] = [before, { state: 'running', created: 0 }]
  while (report.state === 'running') {
    await sleep(lookEveryMs)
    most = Math.max(most, memoryOf(pid).ownMb)
    report = await ask(url, { path, key: manageKey })
  }
  const seconds = (performance.now() - startedAt) / 1_000
  const beside = await besides
  if (report.created !== callsCount) throw new Error(`The import is ${JSON.stringify(report)}`)
  const requests = platform.requests.length
  const what = `of ${formatCount(requests)} requests, ${formatCount(seconds)} s`
  return [
    atMost(
      `time of an import of ${formatCount(callsCount)} calls at ${rate}/s`,
      (seconds * rate) / requests,
      1.1,
      '×',
      ` ${what}`,
    ),
    atMost('memory more meanwhile', most - before, 60, 'MB'),
    atMost(
      'p99 of others meanwhile',
      beside.p99Ms / alone.p99Ms,
      1.3,
      '×',
      `: ${formatCount(beside.p99Ms)} ms, ${formatCount(alone.p99Ms)} ms without`,
    ),
  ]
}
