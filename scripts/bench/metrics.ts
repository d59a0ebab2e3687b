import { setTimeout as sleep } from 'node:timers/promises'
import type { CallChange } from '../../src/calls/schemas.ts'
import { cachedDataset, copyDataset, type Dataset } from '../dataset.ts'
import { atMost, formatCount, type Row, row } from './figures.ts'
import { formatLatency, measure, runLoad } from './load.ts'
import { callId } from './made-calls.ts'
import type { Options } from './runner.ts'

const repeats = 30
const secondsMax = 60
const callsPerBatch = 1_000
const firstAt = Date.UTC(2025, 0, 1)
const yearMs = 365 * 24 * 3_600_000
const p99MsMax = 30
/** Long enough for the pages that are asked for meanwhile. */
const besideSeconds = 20
const startMs = 1_000

const quarter = 'from=2025-04-01&to=2025-06-30'
/** Of GET /v1/metrics, with the most milliseconds of processor. */
const unfiltered: [string, number][] = [
  [`by=day&${quarter}`, 60],
  [`by=day&${quarter}&timeZone=Europe/Berlin`, 60],
  [`of=success&by=day&${quarter}`, 60],
  [`of=duration&show=p95&by=day&${quarter}`, 400],
]
/** Reported for each thousand of the calls that match. */
const others = [
  'of=duration&show=p95&by=day',
  'of=duration&show=p95',
  `of=costUsd&show=sum&by=day&${quarter}`,
  `of=analysis.score&show=avg&by=day&${quarter}`,
  `by=agentId&${quarter}`,
  `by=label&${quarter}`,
  `by=analysis.intent&${quarter}`,
  `by=day&${quarter}&evaluation=fail`,
  `by=day&${quarter}&agentId=agent-3`,
  `of=success&by=day&${quarter}&source=vapi`,
  `of=duration&show=p95&by=day&${quarter}&analysis.intent=intent-3`,
  `by=day&${quarter}&label=billing`,
]

/** Figures of calls, by processor time, and what they cost others. */
export async function benchMetrics({ start, calls }: Options): Promise<Row[]> {
  const dataset = copyDataset(await metricsDataset(calls))
  const service = await start(dataset.folder)
  const { key } = dataset
  const load = (path: string, count = repeats) => ({
    key,
    requests: [{ path }],
    connections: 1,
    seconds: secondsMax,
    count,
  })
  const rows: Row[] = []
  for (const [query, most] of unfiltered) {
    const measured = await measure(service, load(`/v1/metrics?${query}`))
    const what = `metrics of ${formatCount(calls)} calls: ${query}`
    rows.push(atMost(what, measured.usEach / 1_000, most, 'ms of processor', `; ${formatLatency(measured)}`))
  }
  for (const query of others) {
    const headers = { authorization: `Bearer ${key}` }
    const { total } = await (await fetch(`${service.url}/v1/metrics?${query}`, { headers })).json()
    const measured = await measure(service, load(`/v1/metrics?${query}`, 10))
    const each = `${formatCount(measured.usEach / total)} µs for each of ${formatCount(total)} calls`
    rows.push(row(`… ${query}`, `${formatCount(measured.usEach / 1_000)} ms of processor; ${each}`))
  }
  const list = load('/v1/calls?status=completed&evaluation=fail&limit=100', 200)
  const alone = await measure(service, list)
  const heavy = others.slice(0, 2).map((query) => ({ path: `/v1/metrics?${query}` }))
  const busy = { key, url: service.url, requests: heavy, connections: 2, seconds: besideSeconds }
  const working = runLoad(busy)
  await sleep(startMs)
  const beside = await measure(service, list)
  await working
  rows.push(
    row(
      'filtered page while two clients ask for percentiles of all calls',
      `${formatLatency(beside)}; alone ${formatLatency(alone)}`,
      `p99 ≤ ${p99MsMax} ms`,
      beside.p99Ms <= p99MsMax,
    ),
  )
  return rows
}

/** A project with that many calls without transcripts, spread evenly over a year. */
export function metricsDataset(count: number): Promise<Dataset> {
  return cachedDataset(`metrics-${count}`, async ({ ingest }, projectId) => {
    for (let start = 0; start < count; start += callsPerBatch) {
      const length = Math.min(callsPerBatch, count - start)
      const batch = Array.from({ length }, (_, n) => madeCall(start + n, count))
      for (const result of await ingest.putAll(projectId, batch)) if (result instanceof Error) throw result
    }
  })
}

function madeCall(index: number, count: number) {
  const random = Math.imul(index, 0x9e3779b1) >>> 0
  const createdAt = new Date(firstAt + Math.floor((index * yearMs) / count)).toISOString()
  const id = callId(index)
  const change: CallChange = {
    id,
    status: 'completed',
    createdAt,
    updatedAt: createdAt,
    duration: (random % 6_000) / 10,
    evaluation: random % 4 === 0 ? 'fail' : 'success',
    endedReason:
      ['customer-ended-call', 'assistant-ended-call', 'silence', 'error'][(random >> 5) % 4] ?? null,
    isEngaged: random % 4 !== 0,
    callAnalysis: { intent: `intent-${random % 7}`, score: random % 11 },
    details: {
      agent: { id: `agent-${random % 12}`, name: null },
      costUsd: (random % 100) / 100,
      latencyMs: 300 + (random % 900),
    },
  }
  const labels = random % 50 === 0 ? ['billing'] : []
  const review = { evaluation: null, note: null, labels, by: null, at: createdAt }
  const source = ['vapi', 'retell', 'bland'][random % 3] ?? null
  return { id, change, own: { source, ...(labels.length > 0 ? { review } : {}) } }
}
