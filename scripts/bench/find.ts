import { copyDataset } from '../dataset.ts'
import { memoryOf } from '../process-use.ts'
import { signIn } from './console.ts'
import { atMost, formatCount, type Row, row } from './figures.ts'
import { formatLatency, type Measured, measure, runLoad } from './load.ts'
import { callsDataset, commonWord, rareWord } from './made-calls.ts'
import type { Options } from './runner.ts'

const repeats = 50
const secondsMax = 60
const processorMsMax = 60
/** Of filters of which many calls match each, and none all. */
const noMatchMsMax = 120
const p99MsMax = 30
const exportMbMax = 150

const noMatch = 'status=completed&evaluation=fail&isEngaged=true'
/** Of GET /v1/calls. */
const filters = [
  '',
  'status=completed',
  'status=completed&evaluation=fail',
  'evaluation=success,fail&from=2025-06-01',
  'from=2025-06-01&to=2025-06-02',
  'minDuration=10',
  'number=1555',
  'number=99999',
  'callerNumber=%2B9940',
  `text=${commonWord}`,
  `text=${rareWord}`,
  `text=${commonWord}&evaluation=fail`,
  noMatch,
]
const year = 'from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z'
/** Below a project in the console. */
const cards = [
  `/overview/figures?before=2024-01-01T00:00:00Z&${year}`,
  `/metrics?by=day&${year}`,
  `/overview/durations?${year}`,
  `/overview/end-reasons?${year}`,
  '/call-facets',
  '/calls?order=-duration&evaluation=fail',
]

/** Pages of calls by filters and words, the cards of the overview, and an export. */
export async function benchFind({ texts, start, calls }: Options): Promise<Row[]> {
  const dataset = copyDataset(await callsDataset({ texts }, calls))
  const { cookie, project, ...service } = await signIn(dataset, start)
  const { key } = dataset
  const pathOf = (query: string) => `/v1/calls?${query}${query && '&'}limit=100`
  const load = (path: string, session?: string) => ({
    key,
    ...(session === undefined ? {} : { cookie: session }),
    requests: [{ path }],
    connections: 1,
    seconds: secondsMax,
    count: repeats,
  })
  const rows: Row[] = []
  for (const query of filters) {
    const what = `page of 100 of ${formatCount(calls)} calls: ${query || 'all'}`
    const most = query === noMatch ? noMatchMsMax : processorMsMax
    rows.push(processorRow(what, await measure(service, load(pathOf(query))), most))
  }
  const cardPaths = cards.map((card) => `/console/api/projects/${project}${card}`)
  for (const [at, path] of cardPaths.entries())
    rows.push(
      processorRow(
        `console: ${cards[at]?.split('?')[0]}`,
        await measure(service, load(path, cookie)),
        processorMsMax,
      ),
    )
  const [first = ''] = cardPaths
  const working = runLoad({
    ...load(first, cookie),
    url: service.url,
    requests: cardPaths.map((path) => ({ path })),
  })
  const beside = await measure(service, load(pathOf('status=completed&evaluation=fail')))
  await working
  const before = memoryOf(service.pid).ownMb
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${key}`, accept: 'application/x-ndjson' }
  for await (const _ of (await fetch(`${service.url}/v1/calls`, { headers })).body ?? []);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  return [
    ...rows,
    row(
      'filtered page while somebody works on the overview',
      formatLatency(beside),
      `p99 ≤ ${p99MsMax} ms`,
      beside.p99Ms <= p99MsMax,
    ),
    atMost(
      'export of all as NDJSON: memory',
      memoryOf(service.pid).ownMb - before,
      exportMbMax,
      'MB',
      `; ${seconds} s`,
    ),
  ]
}

function processorRow(what: string, measured: Measured, most: number): Row {
  return atMost(what, measured.usEach / 1_000, most, 'ms of processor', `; ${formatLatency(measured)}`)
}
