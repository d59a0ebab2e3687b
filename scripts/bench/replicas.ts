import { setTimeout as sleep } from 'node:timers/promises'
import { closeOpened } from '../../tests/support/at-end.ts'
import { type Primary, startPrimary } from '../../tests/support/primary.ts'
import { type Dataset, makeDataset } from '../dataset.ts'
import { memoryOf } from '../process-use.ts'
import type { Running } from '../processes.ts'
import { ask, send } from '../requests.ts'
import { temporaryFolder } from '../temporary.ts'
import { atMost, formatCount, type Row, row } from './figures.ts'
import { measure, median, percentile } from './load.ts'
import { type Options, runSuite } from './runner.ts'

const calls = 400
const writes = 150
const found = 30
/** Ten minutes of five calls a second. */
const missedCalls = 3_000
const withinMs = 30_000
/** As many as the service sends to a server at once. */
const writersAtOnce = 4
const pollMs = 10
const retryMs = 100
const outageMs = 6_000
const unavailable = 503
const transcript = Array.from({ length: 20 }, (_, turn) => ({
  role: turn % 2 ? 'user' : 'assistant',
  content: 'Some words.',
}))

/** A running service, and keys of its database. */
type Node = Running & Pick<Dataset, 'key' | 'ingestKey'>

await runSuite({
  command: 'bench:replicas',
  title: 'Nodes',
  about:
    'several workers, and the modes with a database server. Primary and nodes share one machine with the load; a ' +
    'network adds a round trip to each write and each sync.',
  cases: [
    { name: 'workers', run: benchWorkers },
    { name: 'modes', run: withPrimary(benchModes) },
    { name: 'nodes', run: withPrimary(benchNodes) },
    { name: 'away', run: withPrimary(benchOutage) },
  ],
})

/** Runs a case beside a database server, which its first node has filled. */
function withPrimary(run: (given: PrimaryOptions) => Promise<Row[]>): (options: Options) => Promise<Row[]> {
  return async (options) => {
    const primary = await startPrimary()
    const nodes: Running[] = []
    try {
      const environment = { DATABASE_SYNC_URL: primary.url, DATABASE_SYNC_INTERVAL_MS: '1000' }
      const dataset = await makeDataset({ environment })
      const join = async (settings: Record<string, string>, folder = temporaryFolder()) => {
        const node = await options.start(folder, { LOG_LEVEL: 'error', ...settings })
        nodes.push(node)
        return { ...node, ...keysOf(dataset) }
      }
      const replica = await join(environment, dataset.folder)
      return await run({ ...options, primary, environment, replica, join })
    } finally {
      for (const node of nodes) await node.stop()
      await closeOpened()
    }
  }
}

interface PrimaryOptions extends Options {
  primary: Primary
  /** The settings of a replica. */
  environment: Record<string, string>
  replica: Node
  join(settings: Record<string, string>, folder?: string): Promise<Node>
}

async function benchWorkers({ start }: Options): Promise<Row[]> {
  const rows: Row[] = []
  const { folder, ...dataset } = await makeDataset()
  for (const workers of [1, 2, 4]) {
    const args = workers > 1 ? ['--workers', String(workers)] : []
    const node = { ...(await start(folder, { LOG_LEVEL: 'error' }, args)), ...keysOf({ folder, ...dataset }) }
    await fill(node, calls)
    await readsPerSecond(node)
    const what = `reads/s, ${workers} worker${workers > 1 ? 's' : ''} on a file`
    rows.push(row(what, formatCount(await readsPerSecond(node))))
    await node.stop()
  }
  return rows
}

async function benchModes({ start, primary, replica, join, rounds }: PrimaryOptions): Promise<Row[]> {
  const dataset = await makeDataset()
  const onFile = { ...(await start(dataset.folder, { LOG_LEVEL: 'error' })), ...keysOf(dataset) }
  const remote = await join({ DATABASE_URL: primary.url })
  for (const node of [replica, onFile]) {
    await fill(node, calls)
    await readsPerSecond(node)
  }
  const rates: { file: number; replica: number }[] = []
  // In turns, so that other load affects both.
  for (let round = 0; round < rounds; round++)
    rates.push({ file: await readsPerSecond(onFile), replica: await readsPerSecond(replica) })
  const ratio = median(rates.map((rate) => rate.replica / rate.file))
  const reads = formatCount(median(rates.map((rate) => rate.replica)))
  return [
    row('reads/s of a replica', `${reads}, ${ratio.toFixed(2)} × of a file`, '≥ 0.8 ×', ratio >= 0.8),
    row('reads/s in remote mode', formatCount(await readsPerSecond(remote))),
    row('a write to a file', await writeLatency(onFile)),
    row('a write straight to the server (remote mode)', await writeLatency(remote)),
    row('a write through a replica', await writeLatency(replica)),
    row('memory of a replica', `${memoryOf(replica.pid).ownMb} MB of its own`),
    row('memory of a node in remote mode', `${memoryOf(remote.pid).ownMb} MB of its own`),
  ]
}

async function benchNodes({ primary, environment, replica, join }: PrimaryOptions): Promise<Row[]> {
  const remote = await join({ DATABASE_URL: primary.url })
  const folder = temporaryFolder()
  const second = await join(environment, folder)
  const findingMs: number[] = []
  for (let n = 0; n < found; n++) {
    const name = `Item ${n} ${crypto.randomUUID()}`
    const body = { name, text: `What there is to say about ${name}.` }
    await ask(replica.url, { path: '/v1/knowledge', key: replica.key, body })
    findingMs.push(await timed(() => until(() => finds(second, name))))
  }
  await second.stop()
  const fillingMs = await timed(() => fill(remote, missedCalls, 'missed'))
  const total = await totalOf(remote)
  const startedAt = performance.now()
  const again = await join(environment, folder)
  await until(async () => (await totalOf(again)) === total)
  const caughtUpMs = performance.now() - startedAt
  return [
    row(
      'created on one node, found by vector on another',
      formatLatency(findingMs),
      '< 3 s',
      Math.max(...findingMs) < 3_000,
    ),
    row(`writes/s, ${writersAtOnce} abreast in remote mode`, formatCount((missedCalls * 1_000) / fillingMs)),
    row(
      `catching up with ${formatCount(missedCalls)} calls`,
      `${formatCount(caughtUpMs)} ms from the start of the process, ready after ${formatCount(again.readyInMs)}`,
    ),
  ]
}

async function benchOutage({ primary, replica }: PrimaryOptions): Promise<Row[]> {
  await fill(replica, calls)
  const rows: Row[] = []
  for (const [signal, away] of [
    ['SIGKILL', 'dead'],
    ['SIGSTOP', 'frozen'],
  ] as const) {
    await lagOf(replica)
    await primary.signal(signal)
    const refusalsMs: number[] = []
    const endsAt = performance.now() + outageMs
    while (performance.now() < endsAt)
      refusalsMs.push(await timed(() => refused(replica, `away-${refusalsMs.length}`)))
    const lag = await lagOf(replica)
    if (signal === 'SIGKILL') await primary.restart()
    else await primary.signal('SIGCONT')
    const backMs = await timed(() => write(replica, `back-${away}`))
    rows.push(
      atMost(`a write is refused, primary ${away}: slowest`, Math.max(...refusalsMs), 3_000, 'ms'),
      atMost(`longest stall of the event loop, primary ${away}`, lag, 50, 'ms'),
      row(`the first write after the primary was ${away}`, `${formatCount(backMs)} ms`),
    )
  }
  return rows
}

function keysOf({ key, ingestKey }: Dataset): Pick<Dataset, 'key' | 'ingestKey'> {
  return { key, ingestKey }
}

async function readsPerSecond({ key, ...node }: Node): Promise<number> {
  const requests = Array.from({ length: 200 }, (_, n) => ({ path: `/v1/calls/call-${n}` }))
  return (await measure(node, { requests, key, connections: 16, seconds: 2 })).perSecond
}

async function fill(node: Node, count: number, prefix = 'call'): Promise<void> {
  let next = 0
  const writer = async () => {
    while (next < count) await write(node, `${prefix}-${next++}`)
  }
  await Promise.all(Array.from({ length: writersAtOnce }, writer))
}

/** Retries while the service answers 503, as a client does. */
async function write(node: Node, id: string): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const status = await put(node, id)
    if (status < 300) return
    if (status !== unavailable || performance.now() > deadline)
      throw new Error(`A write was answered with ${status}`)
    await sleep(retryMs)
  }
}

async function refused(node: Node, id: string): Promise<void> {
  const status = await put(node, id)
  if (status !== unavailable) throw new Error(`A write without a primary was answered with ${status}`)
}

async function put({ url, ingestKey: key }: Node, id: string): Promise<number> {
  const body = { summary: `Call ${id}`, transcript }
  return (await send(url, { method: 'PUT', path: `/ingest/calls/${id}`, key, body })).status
}

async function writeLatency(node: Node): Promise<string> {
  const timesMs: number[] = []
  const run = crypto.randomUUID()
  for (let n = 0; n < writes; n++) timesMs.push(await timed(() => write(node, `write-${run}-${n}`)))
  return formatLatency(timesMs)
}

async function finds({ url, key }: Node, name: string): Promise<boolean> {
  const body = { query: name, mode: 'vector', limit: 1, timeoutMs: 2_000 }
  const { data } = await ask<{ data: { name: string }[] }>(url, { path: '/v1/knowledge/search', key, body })
  return data[0]?.name === name
}

async function totalOf({ url, key }: Node): Promise<number> {
  const page = await ask<{ pagination: { total: number } }>(url, { path: '/v1/calls?limit=0', key })
  return page.pagination.total
}

/** The longest delay of the event loop since the last call, in milliseconds. */
async function lagOf({ url }: Node): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^callbook_event_loop_lag_seconds (\S+)/m.exec(text)?.[1]) * 1_000
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('It did not happen in time')
    await sleep(pollMs)
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function formatLatency(timesMs: number[]): string {
  const sorted = timesMs.toSorted((a, b) => a - b)
  const at = (share: number) => percentile(sorted, share).toFixed(1)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms of ${sorted.length}`
}
