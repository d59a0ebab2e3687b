import { createHash } from 'node:crypto'
import type { Comparison } from '../../src/calls/figures/comparing/schemas.ts'
import type { CallChange } from '../../src/calls/schemas.ts'
import { type Dataset, makeDataset } from '../dataset.ts'
import { ask, send } from '../requests.ts'
import { atMost, type Row, row } from './figures.ts'
import { measure, runLoad } from './load.ts'
import { filteredPage } from './questions.ts'
import type { Options } from './runner.ts'

/** Each key of a call's analysis has one of ten values, which makes five comparisons of equals, or ten samples. */
const hashes = 40
const values = 10
const samples = 100
const callsCompared = 8_000
const callsMeasured = 100_000
const callsPerBatch = 1_000
const failuresOf = 10
const figures = 'of=success,duration.avg,latencyMs.p50,latencyMs.p95,costUsd.avg'
const perMinute = 60_000

/** A number from 0 to 1 that only the two names decide. */
function chance(name: string, of: number): number {
  return (createHash('sha256').update(`${name} ${of}`).digest().readUInt32BE() + 0.5) / 2 ** 32
}

/** Of v2, ten of a hundred calls more fail, exactly; all other numbers are of one distribution. */
function madeCall(index: number, ofVersion: number, version: string): CallChange & { id: string } {
  const normal = Math.sqrt(-2 * Math.log(chance('a', index))) * Math.cos(2 * Math.PI * chance('b', index))
  // Every 25th call has a model that stalls.
  const latencyMs = Math.round(Math.exp(6.7 + 0.45 * normal) * (chance('stalled', index) < 0.04 ? 5 : 1))
  const hashOf = (_: unknown, key: number) => [`hash${key}`, Math.floor(values * chance(`hash${key}`, index))]
  return {
    id: `call-${index}`,
    status: 'completed',
    createdAt: new Date(Date.UTC(2026, 0, 1) + index * perMinute).toISOString(),
    evaluation: ofVersion % failuresOf < (version === 'v1' ? 2 : 3) ? 'fail' : 'success',
    duration: 30 + Math.round(600 * chance('duration', index) ** 2),
    callAnalysis: Object.fromEntries(Array.from({ length: hashes }, hashOf)),
    details: {
      agent: { id: 'desk', name: null, version },
      latencyMs,
      costUsd: Math.round(1e4 * chance('cost', index)) / 1e5,
    },
  }
}

function madeDataset(calls: number): Promise<Dataset> {
  return makeDataset({
    fill: async ({ ingest }, projectId) => {
      const ofVersion = new Map<string, number>()
      for (let start = 0; start < calls; start += callsPerBatch) {
        const batch = Array.from({ length: callsPerBatch }, (_, at) => {
          const version = chance('version', start + at) < 0.5 ? 'v1' : 'v2'
          const place = ofVersion.get(version) ?? 0
          ofVersion.set(version, place + 1)
          const { id, ...change } = madeCall(start + at, place, version)
          return { id, change }
        })
        for (const result of await ingest.putAll(projectId, batch)) if (result instanceof Error) throw result
      }
    },
  })
}

/** How often equal calls are told apart, and how often calls that differ are. */
export async function benchComparing({ start }: Options): Promise<Row[]> {
  const { folder, key } = await madeDataset(callsCompared)
  const { url } = await start(folder)
  const compare = async (query: string) => {
    const path = `/v1/compare?${query}&${figures}`
    const [first, again] = [await send(url, { path, key }), await send(url, { path, key })]
    if (!first.ok) throw new Error(first.text)
    const answer: Comparison = JSON.parse(first.text)
    const [compared] = answer.comparisons
    if (!compared) throw new Error('Nothing was compared')
    return { answer, compared, isSame: first.text === again.text }
  }
  const isVerdict = ({ verdict }: { verdict: string }) => verdict !== 'not_sure'
  const equal: Awaited<ReturnType<typeof compare>>[] = []
  for (let key = 0; key < hashes; key++)
    for (let value = 0; value < values; value += 2)
      equal.push(await compare(`a.analysis.hash${key}=${value}&b.analysis.hash${key}=${value + 1}`))
  const two = 'a.agentVersion=v1&b.agentVersion=v2'
  const planted: typeof equal = []
  for (let sample = 0; sample < samples; sample++)
    planted.push(await compare(`${two}&analysis.hash${Math.floor(sample / values)}=${sample % values}`))
  const all = [...equal, ...planted]
  let listed = 0
  for (const { answer, compared } of planted)
    for (const { query, calls } of [answer.a, compared.b]) {
      const path = `/v1/calls?${query}&limit=0`
      const { pagination } = await ask<{ pagination: { total: number } }>(url, { path, key })
      listed += Number(pagination.total === calls)
    }
  const verdicts = equal.filter(({ compared }) => compared.metrics.slice(0, 1).some(isVerdict)).length
  const others = equal.filter(({ compared }) => compared.metrics.slice(1).some(isVerdict)).length
  const found = planted.filter(({ compared }) => compared.metrics[0]?.verdict === 'worse').length
  const sizes = planted.flatMap(({ answer, compared }) => [answer.a.calls, compared.b.calls])
  const same = all.filter(({ isSame }) => isSame).length
  return [
    atMost(
      `${equal.length} comparisons of equals: verdicts of the question`,
      (100 * verdicts) / equal.length,
      8,
      '%',
    ),
    row('  verdicts of any of the four others', `${(100 * others) / equal.length} %`),
    row(
      `10 points at ${Math.min(...sizes)} to ${Math.max(...sizes)} calls each: found`,
      `${found} of ${samples}`,
      '≥ 80 of 100',
      found >= 80,
    ),
    row('the same request twice: equal bytes', `${same} of ${all.length}`, 'all', same === all.length),
    row(
      'lists with as many calls as were counted',
      `${listed} of ${2 * samples}`,
      'all',
      listed === 2 * samples,
    ),
  ]
}

/** What a comparison of many calls takes, and what a page takes beside it. */
export async function benchComparingCost({ start }: Options): Promise<Row[]> {
  const { folder, key } = await madeDataset(callsMeasured)
  const service = await start(folder)
  // Each request is another one: an equal one is answered from what is kept.
  const versions = `/v1/compare?by=agentVersion&against=v1&${figures}&minDuration=0.{n}1`
  const filters = `/v1/compare?a.agentVersion=v1&b.agentVersion=v2&${figures}&minDuration=0.{n}2`
  const rows: Row[] = []
  for (const [what, path] of Object.entries({ 'by version': versions, 'by filters': filters })) {
    const load = { key, requests: [{ path }], connections: 1, seconds: 30, count: 20 }
    const { p50Ms, p99Ms, usEach } = await measure(service, load)
    const more = `, median ${Math.round(p50Ms)} ms; ${Math.round(usEach / 1_000)} ms of processor`
    rows.push(atMost(`2 × 50,000 calls, five figures, ${what}: slowest of 20`, p99Ms, 1_000, 'ms', more))
  }
  const beside = runLoad({
    url: service.url,
    key,
    requests: [{ path: versions }],
    connections: 1,
    seconds: 12,
  })
  const page = await runLoad({
    url: service.url,
    key,
    requests: [{ path: filteredPage }],
    connections: 1,
    perSecond: 50,
    seconds: 10,
  })
  await beside
  rows.push(
    atMost(
      'p99 of a filtered page meanwhile',
      page.p99Ms,
      30,
      'ms',
      `, ${page.served} of ${page.sent} served`,
    ),
  )
  return rows
}
