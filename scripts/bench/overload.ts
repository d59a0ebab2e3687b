import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { memoryOf } from './memory.ts'
import { repository } from './options.ts'
import type { OverloadResult } from './overload-load.ts'
import { type Running, runCommand, startService } from './processes.ts'

// What happens when ten times as much is asked for as the machine can do: prints for each kind of request what was
// offered, served and refused, the 99th percentile of what was served, and the most memory that the service took.

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
/** A part of the names of the cases to run. */
const { only } = values
const seconds = 8
const peakConnections = 32
const overloadFactor = 10
const servedShareMin = 0.8
const idleConnections = 10_000
const items = 300

interface Case {
  name: string
  method: string
  path: string
  kind: 'live' | 'ingest'
  /** `#` stands for another number each time. */
  body: string | null
}

const cases: Case[] = [
  { name: 'GET /v1/calls/:id', method: 'GET', path: '/v1/calls/call-1', kind: 'live', body: null },
  {
    name: 'POST /v1/knowledge/search',
    method: 'POST',
    path: '/v1/knowledge/search',
    kind: 'live',
    body: JSON.stringify({ query: 'how long do refunds of order # take', timeoutMs: 300 }),
  },
  {
    name: 'PUT /ingest/calls/:id',
    method: 'PUT',
    path: '/ingest/calls/call-#',
    kind: 'ingest',
    body: JSON.stringify({ summary: 'A caller asked for a refund of order #.' }),
  },
  {
    name: 'POST /v1/knowledge, 20 KB',
    method: 'POST',
    path: '/v1/knowledge',
    kind: 'live',
    body: JSON.stringify({ name: 'Item #', text: 'Refunds of orders take a week, item #. '.repeat(500) }),
  },
]

const folder = mkdtempSync(join(tmpdir(), 'callbook-overload-'))
let isMet = true
try {
  for (const one of cases.filter(({ name }) => name.includes(only))) isMet = (await measure(one)) && isMet
} catch (error) {
  console.error(error)
  isMet = false
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(isMet ? 0 : 1)

async function measure(one: Case): Promise<boolean> {
  const dataDir = mkdtempSync(join(folder, 'data-'))
  const service = await startService(join(repository, 'src/main.ts'), { folder: dataDir })
  try {
    const keys = await prepare(service, dataDir)
    const load = (connections: number, perSecond: number) =>
      runLoad({ ...one, url: service.url, key: keys[one.kind], connections, perSecond, seconds })
    await load(peakConnections, Number.POSITIVE_INFINITY)
    const peak = await load(peakConnections, Number.POSITIVE_INFINITY)
    const idle = one.method === 'GET' ? await holdIdle(service.url) : null
    const over = await load(peakConnections * overloadFactor * 4, (peak.served / seconds) * overloadFactor)
    idle?.release()
    const share = over.served / peak.served
    const memory = memoryOf(service.pid)
    const perSecond = (count: number) => `${Math.round(count / seconds).toLocaleString('en')}/s`
    process.stdout.write(
      `${one.name}${idle ? ` beside ${idle.count.toLocaleString('en')} idle connections` : ''}\n` +
        `  peak     ${perSecond(peak.served)}, p99 ${peak.p99Ms} ms\n` +
        `  offered  ${perSecond(over.offered)} on ${over.connections} connections\n` +
        `  served   ${perSecond(over.served)}, p99 ${over.p99Ms} ms: ${Math.round(share * 100)} % of the peak\n` +
        `  refused  ${perSecond(over.refused)} with 503; ${over.failed} failed otherwise\n` +
        `  memory   ${memory.residentMbMax} MB at most\n`,
    )
    return share >= servedShareMin && over.failed === 0
  } finally {
    await service.stop()
  }
}

async function prepare({ url }: Running, dataDir: string): Promise<Record<'live' | 'ingest', string>> {
  const make = async (kind: 'live' | 'ingest') => {
    const args = [
      'scripts/callbook.ts',
      'key',
      'create',
      '--project',
      'default',
      '--name',
      kind,
      '--kind',
      kind,
      '--json',
    ]
    const made = await runCommand(args, { DATA_DIR: dataDir, EMBEDDING_PROVIDER: 'builtin' })
    return String(JSON.parse(made).key)
  }
  const keys = { live: await make('live'), ingest: await make('ingest') }
  const send = (path: string, method: string, key: string, body: unknown) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await send('/ingest/calls/call-1', 'PUT', keys.ingest, { summary: 'The first call.' })
  for (let n = 0; n < items; n++) {
    const text = `Refunds of order ${n} take a week. Deliveries of window ${n} are on Fridays.`
    await send('/v1/knowledge', 'POST', keys.live, { name: `Item ${n}`, text })
  }
  return keys
}

/** Connections that say nothing; as many as the system lets us have. */
async function holdIdle(url: string): Promise<{ count: number; release(): void }> {
  const { port, hostname } = new URL(url)
  const sockets = await Promise.all(
    Array.from(
      { length: idleConnections },
      () =>
        new Promise<ReturnType<typeof connect> | null>((resolve) => {
          const socket = connect(Number(port), hostname)
          socket.once('connect', () => resolve(socket))
          socket.once('error', () => resolve(null))
        }),
    ),
  )
  const open = sockets.filter((socket) => socket !== null)
  return { count: open.length, release: () => open.map((socket) => socket.destroy()) }
}

function runLoad(load: object): Promise<OverloadResult> {
  const script = fileURLToPath(new URL('overload-load.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(load))
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (part) => {
      text += part
    })
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`The load ended with ${code}`)),
    )
  })
}
