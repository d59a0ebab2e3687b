import { makeDataset } from '../dataset.ts'
import type { Running } from '../processes.ts'
import { createRandom } from '../random.ts'
import { ask, send } from '../requests.ts'
import { temporaryFolder } from '../temporary.ts'
import { type Row, row } from './figures.ts'
import { median } from './load.ts'
import { type Options, runSuite } from './runner.ts'

const records = 500
const warmUp = 300
/** In standard errors. A larger difference is not chance. */
const errorsMax = 4

interface Tenant {
  key: string
  /** Ids of records, and of calls that were deleted. */
  calls: string[]
  items: string[]
  erased: string[]
}

interface Probe {
  method: string
  path: string
  of: 'calls' | 'items' | 'erased'
  timesEach: number
  body?: (id: string) => object
}

const probes: Probe[] = [
  { method: 'GET', path: '/v1/calls/', of: 'calls', timesEach: 4_000 },
  { method: 'GET', path: '/v1/knowledge/', of: 'items', timesEach: 4_000 },
  { method: 'GET', path: '/v1/erasures/', of: 'erased', timesEach: 4_000 },
  { method: 'DELETE', path: '/v1/calls/', of: 'calls', timesEach: 1_000 },
  { method: 'DELETE', path: '/v1/knowledge/', of: 'items', timesEach: 1_000 },
  {
    method: 'POST',
    path: '/v1/knowledge/search',
    of: 'items',
    timesEach: 4_000,
    body: (id) => ({ query: 'refund window', itemIds: [id], timeoutMs: 10_000 }),
  },
]

await runSuite({
  command: 'bench:tenancy',
  title: 'Tenancy',
  about:
    "whether the time of an answer tells another project's record from one that does not exist. Requests for both in " +
    "random order on one connection: the medians, and how often one for another's record took longer (0.5 is a coin).",
  cases: [{ name: 'timing', run: benchTiming }],
})

async function benchTiming({ start }: Options): Promise<Row[]> {
  const folder = temporaryFolder()
  const [mine, theirs] = [await makeTenant(folder, 'mine'), await makeTenant(folder, 'theirs')]
  const service = await start(folder)
  for (const { key, erased } of [mine, theirs])
    for (const id of erased) await ask(service.url, { method: 'DELETE', path: `/v1/calls/${id}`, key })
  const rows: Row[] = []
  for (const probe of probes) rows.push(await measure(service, probe, { mine, theirs }))
  return rows
}

async function makeTenant(folder: string, name: string): Promise<Tenant> {
  const idsOf = (kind: string) => Array.from({ length: records }, (_, n) => `${name}-${kind}-${n}`)
  const ids = { calls: idsOf('call'), items: idsOf('item'), erased: idsOf('gone') }
  const { key } = await makeDataset({
    folder,
    name,
    async fill({ ingest, knowledge, indexer }, projectId) {
      const calls = [...ids.calls, ...ids.erased].map((id) => ({ id, change: { id, summary: 'Refund.' } }))
      await ingest.putAll(projectId, calls)
      for (const [n, id] of ids.items.entries()) {
        const text = `Item ${n} is about the refund window of order ${n * 7}.`
        await knowledge.store(projectId, { name: String(n), text }, { id })
      }
      indexer.wake(projectId)
      await indexer.idle()
    },
  })
  return { key, ...ids }
}

async function measure(
  { url }: Running,
  { method, path, of, body, timesEach }: Probe,
  { mine, theirs }: { mine: Tenant; theirs: Tenant },
): Promise<Row> {
  const random = createRandom(1)
  const times = { foreign: [] as number[], missing: [] as number[] }
  const answers = { foreign: new Set<number>(), missing: new Set<number>() }
  for (let n = -warmUp; Math.min(times.foreign.length, times.missing.length) < timesEach; n++) {
    const kind = random() < 0.5 ? 'foreign' : 'missing'
    const existing = theirs[of][Math.floor(random() * records)] ?? ''
    const id = kind === 'foreign' ? existing : `${existing.slice(0, -3)}zzz`
    const request = { method, path: body ? path : path + id, key: mine.key, body: body?.(id) }
    const startedAt = performance.now()
    const { status } = await send(url, request)
    if (n >= 0) times[kind].push(performance.now() - startedAt)
    answers[kind].add(status)
  }
  if ([...answers.foreign].join() !== [...answers.missing].join())
    throw new Error('The answers differ by status')
  const [foreignMs, missingMs] = [median(times.foreign), median(times.missing)]
  const { share, error } = shareOfLonger(times.foreign, times.missing)
  const differenceUs = ((foreignMs - missingMs) * 1_000).toFixed(1)
  return row(
    `${method} ${path}${body ? '' : ':id'} of another project, and of none`,
    `medians ${foreignMs.toFixed(3)} and ${missingMs.toFixed(3)} ms, ${differenceUs} us apart; ` +
      `longer in ${share.toFixed(4)} ± ${error.toFixed(4)} of ${times.foreign.length} and ${times.missing.length}`,
    `0.5 ± ${(errorsMax * error).toFixed(3)}`,
    Math.abs(share - 0.5) <= errorsMax * error,
  )
}

/**
 * The share of pairs in which the first value is the larger one, and its standard error if both are distributed
 * alike: the U statistic of Mann and Whitney (1947), which is robust to outliers.
 */
function shareOfLonger(ones: number[], others: number[]): { share: number; error: number } {
  const all = [
    ...ones.map((value) => ({ value, isOne: true })),
    ...others.map((value) => ({ value, isOne: false })),
  ]
  all.sort((a, b) => a.value - b.value)
  const ranks = all.reduce((sum, { isOne }, at) => sum + (isOne ? at + 1 : 0), 0)
  const pairs = ones.length * others.length
  const share = (ranks - (ones.length * (ones.length + 1)) / 2) / pairs
  return { share, error: Math.sqrt((all.length + 1) / (12 * pairs)) }
}
