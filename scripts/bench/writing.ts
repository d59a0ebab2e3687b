import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Dataset, emptyDataset } from './dataset.ts'
import { turnsEach } from './datasets.ts'
import { applyLoad } from './load.ts'
import { madeCalls } from './made-calls.ts'
import { latencyOf, startPaced } from './paced.ts'
import type { Running } from './processes.ts'
import { median } from './rounds.ts'
import type { Options } from './runner.ts'
import { formatCount, formatLatency, type Row } from './table.ts'
import { temporaryFolder } from './temporary.ts'
import type { Texts } from './texts.ts'

const connections = 16
const roundSeconds = 4
const bodiesCount = 1_000
const perSecondMin = 2_200
const shareOfCommitsMin = 0.35
const pacedPerSecond = 100
const pacedSeconds = 30
const pacedMsMax = { p99: 10, most: 50, reads: 6 }

/** Whole calls written over HTTP: as fast as they are answered, and at a steady rate. */
export async function benchWriting(texts: Texts, { start, rounds }: Options): Promise<Row[]> {
  const bodies = wholeCalls(texts)
  const dataset = await emptyDataset()
  const service = await start(dataset)
  const rates = { service: [] as number[], commits: [] as number[] }
  for (let round = 0; round < Math.min(rounds, 2); round++) {
    const requests = bodies.map((body) => ({ method: 'PUT', path: `/ingest/calls/round-${round}-{n}`, body }))
    const load = { url: service.url, key: dataset.ingestKey, requests, connections, seconds: roundSeconds }
    rates.service.push((await applyLoad(load)).perSecond)
    rates.commits.push(bareCommits(median(bodies.map(({ length }) => length))))
  }
  const [rate, commits] = [median(rates.service), median(rates.commits)]
  return [
    {
      what: `PUT of whole calls of ${turnsEach} turns, ${connections} clients`,
      measured: `${formatCount(rate)}/s`,
      target: `≥ ${formatCount(perSecondMin)}/s`,
      isMet: rate >= perSecondMin,
    },
    {
      what: '  against bare commits, one after another',
      measured: `${(rate / commits).toFixed(2)} × of ${formatCount(commits)}/s`,
      target: `≥ ${shareOfCommitsMin} ×`,
      isMet: rate / commits >= shareOfCommitsMin,
    },
    ...(await paced(service, dataset, bodies)),
  ]
}

async function paced(service: Running, dataset: Dataset, bodies: string[]): Promise<Row[]> {
  const requests = bodies.map((body, n) => ({ method: 'PUT', path: `/ingest/calls/paced-${n}`, body }))
  const common = {
    url: service.url,
    repeats: 100,
    requestsPerSecond: pacedPerSecond,
    secondsMax: pacedSeconds,
  }
  const writing = startPaced({ ...common, key: dataset.ingestKey, requests })
  const reads = requests.map((_, n) => ({ method: 'GET', path: `/v1/calls/round-0-${n}` }))
  const reading = startPaced({ ...common, key: dataset.key, requests: reads })
  const [writes, gets] = [latencyOf([await writing.done]), latencyOf([await reading.done])]
  const { p99, most, reads: readsMsMax } = pacedMsMax
  return [
    {
      what: `PUT of whole calls, ${pacedPerSecond} a second`,
      measured: formatLatency(writes),
      target: `p99 ≤ ${p99}, max ≤ ${most} ms`,
      isMet: writes.p99 <= p99 && writes.max <= most && writes.failed === 0,
    },
    {
      what: '  GET /v1/calls/:id meanwhile',
      measured: formatLatency(gets),
      target: `p99 ≤ ${readsMsMax} ms`,
      isMet: gets.p99 <= readsMsMax && gets.failed === 0,
    },
  ]
}

function wholeCalls(texts: Texts): string[] {
  return Array.from(madeCalls(texts, { count: bodiesCount, turns: turnsEach }), ({ change }) => {
    const { id: _, ...call } = change
    return JSON.stringify(call)
  })
}

function bareCommits(rowChars: number): number {
  const script = fileURLToPath(new URL('commits.ts', import.meta.url))
  const file = join(temporaryFolder(), 'commits.db')
  return Number(execFileSync(process.execPath, [script, file, String(rowChars), String(roundSeconds / 2)]))
}
