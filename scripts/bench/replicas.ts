import { type Primary, startPrimary } from '../../tests/support/primary.ts'
import { applyLoad } from './load.ts'
import { memoryOf } from './memory.ts'
import { type Latency, latencyOf } from './paced.ts'
import { type Running, startService } from './processes.ts'
import { createProject } from './project.ts'
import { bodyOf, statusOf } from './requests.ts'
import { type Options, runSuite } from './runner.ts'
import { formatCount, formatLatency, formatMemory, type Row } from './table.ts'
import { temporaryFolder } from './temporary.ts'
import type { Texts } from './texts.ts'

const seconds = 2
const connections = 16
const calls = 400
const writes = 150
const found = 30
/** Ten minutes of five calls a second. */
const missedCalls = 3_000
const withinMs = 30_000
const fillWithinMs = 40_000
/** As many as the service sends to a server at once. */
const writersAtOnce = 4
const pollMs = 10
const retryMs = 100
const outageMs = 6_000
const unavailable = 503

/** A running service, and keys of its database. */
interface Node extends Keys {
  service: Running
}

interface Keys {
  key: string
  ingestKey: string
}

await runSuite({
  command: 'bench:replicas',
  title: 'Nodes',
  about:
    'several workers, and the modes with a database server. Primary and nodes share one machine with the load; a ' +
    'network adds a round trip to each write and each sync.',
  cases: [
    { name: 'workers', run: benchWorkers },
    { name: 'modes', run: benchModes },
    { name: 'nodes', run: benchNodes },
    { name: 'away', run: benchOutage },
  ],
})

async function benchWorkers(_: Texts, { main }: Options): Promise<Row[]> {
  const rows: Row[] = []
  for (const workers of [1, 2, 4]) {
    const node = await startFirst(main, {}, workers > 1 ? ['--workers', String(workers)] : [])
    await fill(node, calls)
    await readLoad(node)
    rows.push(
      row(`reads/s, ${workers} worker${workers > 1 ? 's' : ''} on a file`, formatCount(await readLoad(node))),
    )
    await node.service.stop()
  }
  return rows
}

async function benchModes(_: Texts, { main, rounds }: Options): Promise<Row[]> {
  const primary = await startPrimary()
  const replica = await startFirst(main, syncWith(primary))
  const onFile = await startFirst(main, {})
  const remote = await startJoined(main, { DATABASE_URL: primary.url }, replica)
  try {
    await fill(replica, calls)
    await fill(onFile, calls)
    return [
      await benchReads({ onFile, replica, rounds }),
      row('reads/s in remote mode', formatCount(await readLoad(remote))),
      row('a write to a file', formatLatency(await writeLatency(onFile))),
      row('a write straight to the server (remote mode)', formatLatency(await writeLatency(remote))),
      row('a write through a replica', formatLatency(await writeLatency(replica))),
      row('memory of a replica', formatMemory(memoryOf(replica.service.pid))),
      row('memory of a node in remote mode', formatMemory(memoryOf(remote.service.pid))),
    ]
  } finally {
    for (const node of [replica, onFile, remote]) await node.service.stop()
    await primary.stop()
  }
}

async function benchNodes(_: Texts, { main }: Options): Promise<Row[]> {
  const primary = await startPrimary()
  const first = await startFirst(main, syncWith(primary))
  const remote = await startJoined(main, { DATABASE_URL: primary.url }, first)
  const secondFolder = temporaryFolder()
  const startSecond = () => startJoined(main, syncWith(primary), first, secondFolder)
  let second = await startSecond()
  try {
    const finding = formatLatency(await findingLatency(first, second))
    const rows = [row('created on one node, found by vector on another', finding, '< 3 s')]
    await second.service.stop()
    const catchingUp = await benchCatchingUp(remote, async () => {
      second = await startSecond()
      return second
    })
    return [...rows, ...catchingUp]
  } finally {
    for (const node of [second, remote, first]) await node.service.stop()
    await primary.stop()
  }
}

async function benchOutage(_: Texts, { main }: Options): Promise<Row[]> {
  const primary = await startPrimary()
  const node = await startFirst(main, syncWith(primary))
  try {
    await fill(node, calls)
    return [
      ...(await measureOutage(primary, node, 'SIGKILL')),
      ...(await measureOutage(primary, node, 'SIGSTOP')),
    ]
  } finally {
    await node.service.stop()
    await primary.stop()
  }
}

/** Alternates between the two, so that other load affects both. */
async function benchReads({
  onFile,
  replica,
  rounds,
}: {
  onFile: Node
  replica: Node
  rounds: number
}): Promise<Row> {
  await readLoad(onFile)
  await readLoad(replica)
  const ratios: number[] = []
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const ofFile = await readLoad(onFile)
    const ofReplica = await readLoad(replica)
    rates.push(ofReplica)
    ratios.push(ofReplica / ofFile)
  }
  const ratio = mean(ratios)
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
  return row(
    'reads/s of a replica',
    `${formatCount(mean(rates))}, ${ratio.toFixed(2)} × of a file (rounds ${spread})`,
    '≥ 0.8 ×',
    ratio >= 0.8,
  )
}

async function benchCatchingUp(writer: Node, startAgain: () => Promise<Node>): Promise<Row[]> {
  const fillingSince = performance.now()
  const missed = await fill(writer, missedCalls, 'missed')
  const rate = (missed / (performance.now() - fillingSince)) * 1_000
  const total = await totalOf(writer)
  const startedAt = performance.now()
  const node = await startAgain()
  const startingMs = performance.now() - startedAt
  await until(async () => (await totalOf(node)) === total)
  const caughtUpMs = performance.now() - startedAt
  return [
    row(`writes/s, ${writersAtOnce} abreast in remote mode`, formatCount(rate)),
    row(
      `catching up with ${formatCount(missed)} calls`,
      `${formatCount(caughtUpMs)} ms from the start of the process, ready after ${formatCount(startingMs)}`,
    ),
  ]
}

async function measureOutage(primary: Primary, node: Node, signal: 'SIGKILL' | 'SIGSTOP'): Promise<Row[]> {
  await lagOf(node)
  await primary.signal(signal)
  const away = signal === 'SIGKILL' ? 'dead' : 'frozen'
  const latencies: number[] = []
  const endsAt = performance.now() + outageMs
  while (performance.now() < endsAt) {
    latencies.push(
      await timed(async () => {
        const status = await put(node, `away-${latencies.length}`)
        if (status !== unavailable) throw new Error(`A write without a primary was answered with ${status}`)
      }),
    )
  }
  const slowest = Math.max(...latencies)
  const lag = await lagOf(node)
  if (signal === 'SIGKILL') await primary.restart()
  else await primary.signal('SIGCONT')
  const back = await timed(() => write(node, `back-${away}`))
  return [
    row(
      `a write is refused, primary ${away}: slowest`,
      `${slowest.toFixed(0)} ms`,
      '≤ 3,000 ms',
      slowest <= 3_000,
    ),
    row(`longest stall of the event loop, primary ${away}`, `${lag.toFixed(1)} ms`, '≤ 50 ms', lag <= 50),
    row(`the first write after the primary was ${away}`, `${back.toFixed(0)} ms`),
  ]
}

function syncWith(primary: Primary): Record<string, string> {
  return { DATABASE_SYNC_URL: primary.url, DATABASE_SYNC_INTERVAL_MS: '1000' }
}

/** Starts a node on a new database and creates its keys. */
async function startFirst(
  main: string,
  environment: Record<string, string>,
  args: string[] = [],
): Promise<Node> {
  const { folder, key, ingestKey } = await createProject(main, { environment })
  const service = await startService(main, { folder }, { ...environment, LOG_LEVEL: 'error' }, args)
  return { service, key, ingestKey }
}

/** Starts a node on a database that has keys already. */
async function startJoined(
  main: string,
  environment: Record<string, string>,
  { key, ingestKey }: Keys,
  folder = temporaryFolder(),
): Promise<Node> {
  const service = await startService(main, { folder }, { ...environment, LOG_LEVEL: 'error' })
  return { service, key, ingestKey }
}

async function readLoad({ service, key }: Node): Promise<number> {
  const requests = Array.from({ length: 200 }, (_, n) => ({ path: `/v1/calls/call-${n}` }))
  return (await applyLoad({ url: service.url, requests, key, connections, seconds })).perSecond
}

/** Returns how many calls it wrote: fewer than `count` when the machine is too slow. */
async function fill(node: Node, count: number, prefix = 'call'): Promise<number> {
  const deadline = performance.now() + fillWithinMs
  let written = 0
  const writer = async () => {
    while (written < count && performance.now() < deadline) await write(node, `${prefix}-${written++}`)
  }
  await Promise.all(Array.from({ length: writersAtOnce }, writer))
  return written
}

/** Retries while the service answers 503, as a client does. */
async function write(node: Node, id: string): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const status = await put(node, id)
    if (status < 300) return
    if (status !== unavailable || performance.now() > deadline)
      throw new Error(`A write was answered with ${status}`)
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

async function put({ service, ingestKey }: Node, id: string): Promise<number> {
  const transcript = Array.from({ length: 20 }, (_, turn) => ({
    role: turn % 2 ? 'user' : 'assistant',
    content: 'Some words.',
  }))
  const body = { summary: `Call ${id}`, transcript }
  return statusOf(service.url, { method: 'PUT', path: `/ingest/calls/${id}`, key: ingestKey, body })
}

async function writeLatency(node: Node): Promise<Latency> {
  const latenciesMs: number[] = []
  let failed = 0
  const run = Math.random().toString(36).slice(2)
  for (let n = 0; n < writes; n++) {
    latenciesMs.push(
      await timed(async () => {
        if ((await put(node, `write-${run}-${n}`)) >= 300) failed++
      }),
    )
  }
  return latencyOf([{ latenciesMs, failed }])
}

async function findingLatency(from: Node, to: Node): Promise<Latency> {
  const latenciesMs: number[] = []
  for (let n = 0; n < found; n++) {
    const name = `Item ${n} ${Math.random().toString(36).slice(2)}`
    await post(from, '/v1/knowledge', { name, text: `What there is to say about ${name}.` })
    latenciesMs.push(await timed(() => until(() => finds(to, name))))
  }
  return latencyOf([{ latenciesMs, failed: 0 }])
}

async function finds(node: Node, name: string): Promise<boolean> {
  const found = await post(node, '/v1/knowledge/search', {
    query: name,
    mode: 'vector',
    limit: 1,
    timeoutMs: 2_000,
  })
  const { data }: { data: { name: string }[] } = JSON.parse(found)
  return data[0]?.name === name
}

function post({ service, key }: Node, path: string, body: unknown): Promise<string> {
  return bodyOf(service.url, { method: 'POST', path, key, body })
}

async function totalOf({ service, key }: Node): Promise<number> {
  const page = await bodyOf(service.url, { method: 'GET', path: '/v1/calls?limit=0', key })
  const { pagination }: { pagination: { total: number } } = JSON.parse(page)
  return pagination.total
}

/** The longest delay of the event loop since the last call, in milliseconds. */
async function lagOf({ service }: Node): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(/^callbook_event_loop_lag_seconds (\S+)/m.exec(text)?.[1]) * 1_000
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('It did not happen in time')
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function row(what: string, measured: string, target = 'reported', isMet: boolean | null = null): Row {
  return { what, measured, target, isMet }
}
