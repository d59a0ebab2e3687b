import { findDataset, rareCallsCount } from './datasets.ts'
import { memoryOf, processOf } from './memory.ts'
import type { Running } from './processes.ts'
import type { Options } from './runner.ts'
import { formatCount, formatMemory, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const repeats = 100
const limit = 100
const p99MsMax = 15
const processorMsMax = 60
const exportMbMax = 150

/** Filters that at least a hundredth of the calls meet, and some that `rareCallsCount` of them meet. */
const common = [
  'status=completed',
  'evaluation=success',
  'evaluation=success,fail',
  'evaluation=none',
  'isEngaged=false',
  'from=2025-06-01',
  'from=2025-06-01&to=2025-06-02',
  'updatedFrom=2025-06-01',
  'minDuration=10',
  'maxDuration=100000',
  'number=1555',
  'number=7',
  'analysis.score=4',
  'analysis.topic=topic 7',
  'text=the',
  'text=refund',
  'status=completed&isEngaged=false&evaluation=success',
]
const rare = [
  'status=live',
  'evaluation=rare',
  'endedReason=rare',
  'isEngaged=true',
  'updatedFrom=2026-05-31',
  'minDuration=8000',
  'number=994',
  'number=99999',
  'callerNumber=%2B9940',
  'calledNumber=%2B15550199999',
  'analysis.topic=rare',
  'text=zeppelin',
  'text=the&evaluation=rare',
]

/** Each is met by many. */
const apart = 'analysis.score=4&analysis.topic=topic 7&evaluation=fail'

/** Pages of calls by each filter, pages by deep cursors, and walks through all calls. */
export async function benchFind(texts: Texts, { start, calls }: Options): Promise<Row[]> {
  const { key, ...dataset } = await findDataset(texts, calls)
  const service = await start(dataset)
  const get: Get = (query, accept = 'application/json') =>
    fetch(`${service.url}/v1/calls?${query}`, { headers: { authorization: `Bearer ${key}`, accept } })
  const row = (query: string, what: string) => pageRow(get, service, query, what)
  const rows: Row[] = []
  for (const query of ['', ...common])
    rows.push(await row(query, `page of ${limit} of ${formatCount(calls)} calls`))
  for (const query of rare) rows.push(await row(query, `page of ${limit}, of ${rareCallsCount} that match`))
  const none = await row(apart, 'three filters that no call meets together')
  rows.push({ ...none, target: 'only reported', isMet: null })
  rows.push(...(await walkRows(get, service, calls)))
  return rows
}

type Get = (query: string, accept?: string) => Promise<Response>

async function pageRow(get: Get, { pid }: Running, query: string, what: string): Promise<Row> {
  const path = `${query.replaceAll(' ', '%20')}&limit=${limit}`
  const times: number[] = []
  let page: { data: unknown[]; pagination: { total: number } } | undefined
  const before = processOf(pid).processorSeconds
  for (let n = 0; n < repeats; n++) {
    const startedAt = performance.now()
    const answer = await get(path)
    page = JSON.parse(await answer.text())
    times.push(performance.now() - startedAt)
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  }
  const processorMs = ((processOf(pid).processorSeconds - before) * 1_000) / repeats
  const sorted = times.sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  const found = `${page?.data.length} of ${formatCount(page?.pagination.total ?? 0)}`
  return {
    what: `${what}: ${query || 'all'}`,
    measured: `${processorMs.toFixed(1)} ms of processor, p50 ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)} ms; ${found}`,
    target: `p99 ≤ ${p99MsMax}, processor ≤ ${processorMsMax} ms`,
    isMet: at(0.99) <= p99MsMax && processorMs <= processorMsMax,
  }
}

async function walkRows(get: Get, service: Running, calls: number): Promise<Row[]> {
  const { pid } = service
  const idle = memoryOf(pid)
  const cursors: string[] = []
  const startedAt = performance.now()
  let next: string | null = null
  let seen = 0
  do {
    const answer = await get(`limit=1000${next === null ? '' : `&cursor=${next}`}`)
    const page: { data: unknown[]; pagination: { next: string | null } } = JSON.parse(await answer.text())
    seen += page.data.length
    next = page.pagination.next
    if (next !== null) cursors.push(next)
  } while (next !== null)
  const walkSeconds = (performance.now() - startedAt) / 1_000
  if (seen !== calls) throw new Error(`${seen} calls were seen instead of ${calls}`)
  const deep: Row[] = []
  for (const share of [0.1, 0.5, 0.99]) {
    const cursor = cursors[Math.floor(cursors.length * share)] ?? ''
    deep.push({
      ...(await pageRow(get, service, `cursor=${cursor}`, '')),
      what: `  page of ${limit} by a cursor at ${share * 100} %`,
    })
  }
  const lines = await timeExport(get, 'application/x-ndjson')
  const csv = await timeExport(get, 'text/csv')
  const memory = memoryOf(pid)
  return [
    ...deep,
    {
      what: `all of ${formatCount(calls)} calls, by cursors of 1,000`,
      measured: `${walkSeconds.toFixed(1)} s; NDJSON ${lines.toFixed(1)} s, CSV ${csv.toFixed(1)} s`,
      target: 'only reported',
      isMet: null,
    },
    {
      what: '  memory of the process after it',
      measured: `${formatMemory(memory)}; idle ${formatMemory(idle)}`,
      target: `own ≤ ${exportMbMax} MB more`,
      isMet: memory.ownMb - idle.ownMb <= exportMbMax,
    },
  ]
}

/** Seconds until all calls have come. */
async function timeExport(get: Get, accept: string): Promise<number> {
  const startedAt = performance.now()
  for await (const _ of (await get('', accept)).body ?? []);
  return (performance.now() - startedAt) / 1_000
}
