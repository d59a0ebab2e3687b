import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Primary, startPrimary } from '../../tests/support/primary.ts'
import { type ServiceProcess, spawnService } from '../../tests/support/process.ts'
import { applyLoad } from './load.ts'
import { memoryOf } from './memory.ts'
import { type Latency, latencyOf } from './paced.ts'
import { runCommand } from './processes.ts'
import { formatCount, formatLatency, formatMemory, printRow } from './table.ts'

// Figures of the modes with a database server, and of several workers. Everything runs on this one machine: what a
// real network adds is its round trips, one for a write and one for the sync that shows it.

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '2' } } })
const seconds = Number(values.seconds)
const calls = 400
const writes = 150
const found = 30
const rounds = 4
/** Ten minutes of five calls a second. */
const missedCalls = 3_000
const withinMs = 30_000
const fillWithinMs = 40_000
/** Writers at once, as many as a server is asked at once. */
const abreast = 4
const pollMs = 10
const retryMs = 100
const awayMs = 6_000
const unavailable = 503
const folders: string[] = []
const pids = new Set<number>()

interface Node {
  service: ServiceProcess
  key: string
  ingestKey: string
}

const row = (what: string, measured: string, target = '', isMet: boolean | null = null) =>
  printRow({ what, measured, target, isMet })

process.on('exit', () => {
  // What is still here after a failure.
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
await benchWorkers()
await benchReplica()
process.exit(0)

async function benchWorkers(): Promise<void> {
  for (const workers of [1, 2, 4]) {
    const node = await start({}, workers > 1 ? ['--workers', String(workers)] : [])
    await fill(node, calls)
    await readLoad(node)
    row(`reads/s, ${workers} worker${workers > 1 ? 's' : ''} on a file`, formatCount(await readLoad(node)))
    await stop(node)
  }
}

async function benchReplica(): Promise<void> {
  const primary = await startPrimary()
  const sync = { DATABASE_SYNC_URL: primary.url, DATABASE_SYNC_INTERVAL_MS: '1000' }
  const first = await start(sync)
  await fill(first, calls)
  const onFile = await start({})
  await fill(onFile, calls)
  const direct = joined(await start({ DATABASE_URL: primary.url }), first)
  await benchReads(onFile, first)
  row('reads/s in remote mode', formatCount(await readLoad(direct)))
  row('a write to a file', formatLatency(await writeLatency(onFile)))
  row('a write straight to the server (remote mode)', formatLatency(await writeLatency(direct)))
  row('a write through a replica', formatLatency(await writeLatency(first)))
  await stop(onFile)

  const secondFolder = folder()
  let second = joined(await start(sync, [], secondFolder), first)
  row(
    'created on one node, found by vector on another',
    formatLatency(await findingLatency(first, second)),
    '< 3 s',
  )
  row('memory of a replica', formatMemory(memoryOf(first.service.pid)))
  row('memory of a node in remote mode', formatMemory(memoryOf(direct.service.pid)))
  await stop(second)
  await benchCatchingUp(direct, async () => {
    second = joined(await start(sync, [], secondFolder), first)
    return second
  })
  await stop(second)
  await stop(direct)
  await benchAway(primary, first)
  await stop(first)
  await primary.stop()
}

/** In turns, so that a machine that is slower for a while is so for both. */
async function benchReads(onFile: Node, replica: Node): Promise<void> {
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
  row(
    'reads/s of a replica',
    `${formatCount(mean(rates))}, ${ratio.toFixed(2)} × of a file (rounds ${spread})`,
    '≥ 0.8 ×',
    ratio >= 0.8,
  )
}

async function benchCatchingUp(writer: Node, startAgain: () => Promise<Node>): Promise<void> {
  const fillingSince = performance.now()
  const missed = await fill(writer, missedCalls, 'missed')
  const rate = (missed / (performance.now() - fillingSince)) * 1_000
  row(`writes/s, ${abreast} abreast in remote mode`, formatCount(rate))
  const total = await totalOf(writer)
  const startedAt = performance.now()
  const node = await startAgain()
  const startingMs = performance.now() - startedAt
  await until(async () => (await totalOf(node)) === total)
  const caughtUpMs = performance.now() - startedAt
  row(
    `catching up with ${formatCount(missed)} calls`,
    `${formatCount(caughtUpMs)} ms from the start of the process, ready after ${formatCount(startingMs)}`,
  )
}

async function benchAway(primary: Primary, node: Node): Promise<void> {
  for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
    await lagOf(node)
    await primary.signal(signal)
    const away = signal === 'SIGKILL' ? 'dead' : 'frozen'
    const latencies: number[] = []
    const endsAt = performance.now() + awayMs
    while (performance.now() < endsAt) {
      latencies.push(
        await timed(async () => {
          const status = await put(node, `away-${latencies.length}`)
          if (status !== unavailable) throw new Error(`A write without a primary was answered with ${status}`)
        }),
      )
    }
    const slowest = Math.max(...latencies)
    row(
      `a write is refused, primary ${away}: slowest`,
      `${slowest.toFixed(0)} ms`,
      '≤ 3,000 ms',
      slowest <= 3_000,
    )
    const lag = await lagOf(node)
    row(`longest stall of the event loop, primary ${away}`, `${lag.toFixed(1)} ms`, '≤ 50 ms', lag <= 50)
    if (signal === 'SIGKILL') await primary.restart()
    else await primary.signal('SIGCONT')
    const back = await timed(() => write(node, `back-${away}`))
    row(`the first write after the primary was ${away}`, `${back.toFixed(0)} ms`)
  }
}

async function start(env: Record<string, string>, args: string[] = [], dataDir = folder()): Promise<Node> {
  const settings = { ...env, DATA_DIR: dataDir, EMBEDDING_PROVIDER: 'builtin', LOG_LEVEL: 'error' }
  const service = await spawnService(settings, args)
  pids.add(service.pid)
  service.exited.then(() => pids.delete(service.pid))
  const key = /ck_live_[0-9a-f]{60}/.exec(service.banner)?.[0] ?? ''
  if (key === '') return { service, key, ingestKey: '' }
  const made = await runCommand(
    [
      'scripts/callbook.ts',
      'key',
      'create',
      '--project',
      'default',
      '--name',
      'bench',
      '--kind',
      'ingest',
      '--json',
    ],
    settings,
  )
  const node = { service, key, ingestKey: JSON.parse(made).key }
  // A command talks to the primary; its key is known here when the replica has followed.
  await until(async () => (await put(node, 'first')) < 300)
  return node
}

/** Keys are of the database, which the first node has made. */
function joined(node: Node, { key, ingestKey }: Node): Node {
  return { ...node, key, ingestKey }
}

async function stop({ service }: Node): Promise<void> {
  service.kill('SIGTERM')
  await service.exited
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'callbook-bench-replicas-'))
  folders.push(path)
  return path
}

async function readLoad({ service, key }: Node): Promise<number> {
  const paths = Array.from({ length: 200 }, (_, n) => `/v1/calls/call-${n}`)
  return (await applyLoad({ url: service.url, paths, key, seconds })).requestsPerSecond
}

/** How many it wrote: fewer on a machine that is too busy. */
async function fill(node: Node, count: number, prefix = 'call'): Promise<number> {
  const deadline = performance.now() + fillWithinMs
  let written = 0
  const writer = async () => {
    while (written < count && performance.now() < deadline) await write(node, `${prefix}-${written++}`)
  }
  await Promise.all(Array.from({ length: abreast }, writer))
  return written
}

/** Again for as long as it is refused, as a client does. */
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
  const answer = await fetch(`${service.url}/ingest/calls/${id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${ingestKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ summary: `Call ${id}`, transcript }),
  })
  await answer.arrayBuffer()
  return answer.status
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
    const created = await post(from, '/v1/knowledge', { name, text: `What there is to say about ${name}.` })
    if (created.status !== 201) throw new Error(`The item was answered with ${created.status}`)
    latenciesMs.push(await timed(() => until(() => finds(to, name))))
  }
  return latencyOf([{ latenciesMs, failed: 0 }])
}

async function finds(node: Node, name: string): Promise<boolean> {
  const answer = await post(node, '/v1/knowledge/search', {
    query: name,
    mode: 'vector',
    limit: 1,
    timeoutMs: 2_000,
  })
  const { data }: { data: { name: string }[] } = await answer.json()
  return data[0]?.name === name
}

function post({ service, key }: Node, path: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function totalOf({ service, key }: Node): Promise<number> {
  const answer = await fetch(`${service.url}/v1/calls?limit=0`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { pagination }: { pagination: { total: number } } = await answer.json()
  return pagination.total
}

/** Milliseconds, the most since it was last asked. */
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
