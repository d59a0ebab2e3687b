import { parseArgs } from 'node:util'
import { everyRuntime, type Runtime } from '../../tests/support/runtimes.ts'
import { cachedDataset, copyDataset, type Dataset, removeDataset } from './dataset.ts'
import { chunksEach, putCalls, turnsEach } from './datasets.ts'
import { applyLoad } from './load.ts'
import { callId, madeCalls } from './made-calls.ts'
import { madeItems } from './made-items.ts'
import { memoryOf } from './memory.ts'
import { realDataIfAny } from './options.ts'
import { latencyOf } from './paced.ts'
import { type Running, startCommand } from './processes.ts'
import { median } from './rounds.ts'
import { formatCount, printRow } from './table.ts'
import { readTexts, type Texts } from './texts.ts'

// The same service on each runtime, one after the other in short rounds, so that a machine that is slower for a
// while is so for all. Only reported: what people choose a runtime for is not its speed.

const callsCount = 10_000
const itemsCount = 200
const searches = 200
const warmUpSeconds = 1
const roundSeconds = 2

/** What one runtime did in one round. */
interface Figures {
  readyMs: number
  byIdPerSecond: number
  listsPerSecond: number
  searchMs: number
  residentMb: number
}

const cases: [what: string, of: keyof Figures, unit: string][] = [
  ['start to ready', 'readyMs', 'ms'],
  ['GET /v1/calls/:id', 'byIdPerSecond', 'a second'],
  ['GET /v1/calls?limit=100', 'listsPerSecond', 'a second'],
  ['search, one after the other, p50', 'searchMs', 'ms'],
  ['resident after it', 'residentMb', 'MB'],
]

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const texts = readTexts(realDataIfAny())
const dataset = await cachedDataset('runtimes', async (services, projectId) => {
  await putCalls(services, projectId, madeCalls(texts, { count: callsCount, turns: turnsEach }))
  for (const item of madeItems(texts, { count: itemsCount, chunksEach }))
    await services.knowledge.store(projectId, item)
  services.indexer.wake(projectId)
  await services.indexer.idle()
})
const runtimes = everyRuntime().filter(({ missing }) => missing === null)
const figures = new Map<string, Figures[]>()
try {
  for (const runtime of runtimes) await runtime.prepare()
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const runtime of runtimes) {
      const before = figures.get(runtime.name) ?? []
      figures.set(runtime.name, [...before, await measure(runtime)])
    }
  }
} finally {
  for (const runtime of runtimes) runtime.remove()
}
for (const [what, of, unit] of cases) {
  const measured = [...figures].map(([name, rounds]) => `${name} ${spread(rounds.map((each) => each[of]))}`)
  printRow({ what: `${what}, ${unit}`, measured: measured.join(' · '), target: 'reported', isMet: null })
}
process.exit(0)

async function measure({ command }: Runtime): Promise<Figures> {
  // Each in a folder of its own, so that none finds what another has left.
  const copy = copyDataset(dataset)
  const service = await startCommand(command, copy)
  try {
    const byId = Array.from({ length: callsCount }, (_, index) => `/v1/calls/${callId(index)}`)
    return {
      readyMs: service.readyInMs,
      byIdPerSecond: await rate(service, byId, copy),
      listsPerSecond: await rate(service, ['/v1/calls?limit=100'], copy),
      searchMs: await searchMs(service, copy, texts),
      residentMb: memoryOf(service.pid).residentMb,
    }
  } finally {
    await service.stop()
    removeDataset(copy)
  }
}

async function rate({ url }: Running, paths: string[], { key }: Dataset): Promise<number> {
  await applyLoad({ url, paths, key, seconds: warmUpSeconds })
  return (await applyLoad({ url, paths, key, seconds: roundSeconds })).requestsPerSecond
}

/** Each question is another, so that each is embedded; the first half only warms up. */
async function searchMs({ url }: Running, { key }: Dataset, { passages }: Texts): Promise<number> {
  const latenciesMs: number[] = []
  for (let index = 0; index < searches * 2; index++) {
    const query = passages[index % passages.length]?.text.slice(0, 60 + (index % 7))
    const startedAt = performance.now()
    const answer = await fetch(`${url}/v1/knowledge/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    await answer.arrayBuffer()
    if (answer.status !== 200) throw new Error(`A search was answered with ${answer.status}`)
    if (index >= searches) latenciesMs.push(performance.now() - startedAt)
  }
  return latencyOf([{ latenciesMs, failed: 0 }]).p50
}

function spread(values: number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return `${formatCount(median(values))} (${formatCount(least)}–${formatCount(most)})`
}
