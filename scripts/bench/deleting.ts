import { randomUUID } from 'node:crypto'
import Database from 'libsql'
import { copyDataset, type Dataset } from './dataset.ts'
import { chunksDataset, randomCallPaths } from './datasets.ts'
import type { LoadRequest } from './load.ts'
import { latencyOf, startPaced } from './paced.ts'
import type { Running } from './processes.ts'
import type { Options } from './runner.ts'
import { formatLatency, type Row } from './table.ts'
import type { Texts } from './texts.ts'

const deletesCount = 200
const deletesPerSecond = 10
const readsPerSecond = 200
const writesPerSecond = 20
const idleSeconds = 10
const secondsMax = 60
/** The default of ERASE_WITHIN_MS. */
const erasedAfterMsMax = 5_000
const erasedWithinMs = 30_000
const p99MsMax = 30

/** Latency of deleting items of 10 chunks out of 50,000, and of other requests while the deletions are erased. */
export async function benchDeleting(texts: Texts, { start }: Options): Promise<Row[]> {
  const dataset = copyDataset(await chunksDataset(texts))
  const service = await start(dataset)
  const paths = itemPaths(dataset)
  await measureOthers(service, dataset, wait(idleSeconds))
  const idle = await measureOthers(service, dataset, wait(idleSeconds))
  const deleting = startPaced({
    url: service.url,
    key: dataset.key,
    requests: paths.map((path) => ({ method: 'DELETE', path })),
    repeats: 1,
    requestsPerSecond: deletesPerSecond,
    secondsMax,
  })
  const busy = await measureOthers(service, dataset, untilErased(dataset, deleting.done))
  const deletes = latencyOf([await deleting.done])
  return [
    {
      what: `DELETE of items of 10 chunks out of 50,000, ${deletes.count} at ${deletesPerSecond}/s`,
      measured: formatLatency(deletes),
      target: `p99 ≤ ${p99MsMax} ms`,
      isMet: deletes.p99 <= p99MsMax && deletes.failed === 0,
    },
    {
      what: '  GET /v1/calls/:id meanwhile, erasures included',
      measured: `${formatLatency(busy.reads)}; idle ${formatLatency(idle.reads)}`,
      target: `p99 ≤ ${p99MsMax} ms`,
      isMet: busy.reads.p99 <= p99MsMax && busy.reads.failed === 0,
    },
    {
      what: '  PUT /ingest/calls/:id meanwhile',
      measured: `${formatLatency(busy.writes)}; idle ${formatLatency(idle.writes)}`,
      target: `p99 ≤ ${p99MsMax} ms`,
      isMet: busy.writes.p99 <= p99MsMax && busy.writes.failed === 0,
    },
    {
      what: '  from a DELETE to the erasure that it asked for',
      ...erasureTimes(dataset),
      target: `≤ ${erasedAfterMsMax / 1_000} s`,
    },
  ]
}

/** Latency of reads and writes of calls until `meanwhile` resolves. */
async function measureOthers({ url }: Running, { key, ingestKey }: Dataset, meanwhile: Promise<unknown>) {
  const reading = startPaced({
    url,
    key,
    requests: randomCallPaths(20_000).map((path) => ({ method: 'GET', path })),
    repeats: 1,
    requestsPerSecond: readsPerSecond,
    secondsMax: secondsMax * 2,
  })
  const writing = startPaced({
    url,
    key: ingestKey,
    requests: newCalls(),
    repeats: 1,
    requestsPerSecond: writesPerSecond,
    secondsMax: secondsMax * 2,
  })
  await meanwhile
  return { reads: latencyOf([await reading.stop()]), writes: latencyOf([await writing.stop()]) }
}

/** Writes of new calls. No other run has used their ids. */
function newCalls(): LoadRequest[] {
  const run = randomUUID()
  return Array.from({ length: writesPerSecond * secondsMax * 2 }, (_, n) => ({
    method: 'PUT',
    path: `/ingest/calls/${run}-${n}`,
    body: JSON.stringify({
      status: 'completed',
      transcript: [{ role: 'user', content: 'Is anybody there?' }],
    }),
  }))
}

function wait(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
}

async function untilErased({ databaseFile }: Dataset, deleted: Promise<unknown>): Promise<void> {
  await deleted
  const deadline = performance.now() + erasedWithinMs
  while (performance.now() < deadline) {
    await wait(0.5)
    if (read(databaseFile, 'select count(*) as value from erasures where done_at is null') === 0) return
  }
}

function erasureTimes({ databaseFile }: Dataset): { measured: string; isMet: boolean } {
  const longest = read(databaseFile, 'select max(done_at - requested_at) as value from erasures')
  const open = read(databaseFile, 'select count(*) as value from erasures where done_at is null')
  if (open > 0)
    return { measured: `${open} are open ${erasedWithinMs / 1_000} s after the last`, isMet: false }
  const mean = read(databaseFile, 'select avg(done_at - requested_at) as value from erasures')
  const measured = `${(mean / 1_000).toFixed(1)} s on average, ${(longest / 1_000).toFixed(1)} s at most`
  return { measured, isMet: longest <= erasedAfterMsMax }
}

/** Paths of items that are spread evenly over the project. */
function itemPaths({ databaseFile, projectId }: Dataset): string[] {
  const db = new Database(databaseFile, { readonly: true })
  const ids = asIds(
    db.prepare('select id from knowledge_items where project_id = ? order by seq').all(projectId),
  )
  db.close()
  const step = Math.floor(ids.length / deletesCount)
  return Array.from({ length: deletesCount }, (_, index) => `/v1/knowledge/${ids[index * step]?.id}`)
}

function read(file: string, sql: string): number {
  const db = new Database(file, { readonly: true, timeout: 5_000 })
  try {
    return asNumber(db.prepare(sql).get())
  } finally {
    db.close()
  }
}

/** Rows have the columns that their statement names. */
function asIds(rows: unknown[]): { id: string }[] {
  return rows as { id: string }[]
}

function asNumber(row: unknown): number {
  return (row as { value: number }).value
}
