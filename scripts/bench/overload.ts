import { connect } from 'node:net'
import { startLoop } from './load.ts'
import { memoryOf } from './memory.ts'
import type { Running } from './processes.ts'
import { createProject, type Project } from './project.ts'
import { bodyOf } from './requests.ts'
import { type Options, runSuite } from './runner.ts'
import { formatCount, type Row } from './table.ts'

const seconds = 8
const peakConnections = 32
const overloadFactor = 10
const servedShareMin = 0.8
const idleConnections = 10_000
const items = 300

interface Request {
  name: string
  what: string
  method: string
  path: string
  kind: 'live' | 'ingest'
  /** `{n}` stands for another number in each. */
  body?: string
}

const requests: Request[] = [
  {
    name: 'by-id',
    what: 'GET /v1/calls/:id',
    method: 'GET',
    path: '/v1/calls/call-1',
    kind: 'live',
  },
  {
    name: 'search',
    what: 'POST /v1/knowledge/search',
    method: 'POST',
    path: '/v1/knowledge/search',
    kind: 'live',
    body: JSON.stringify({ query: 'how long do refunds of order {n} take', timeoutMs: 300 }),
  },
  {
    name: 'ingest',
    what: 'PUT /ingest/calls/:id',
    method: 'PUT',
    path: '/ingest/calls/call-{n}',
    kind: 'ingest',
    body: JSON.stringify({ summary: 'A caller asked for a refund of order {n}.' }),
  },
  {
    name: 'knowledge',
    what: 'POST /v1/knowledge, 20 KB',
    method: 'POST',
    path: '/v1/knowledge',
    kind: 'live',
    body: JSON.stringify({ name: 'Item {n}', text: 'Refunds of orders take a week, item {n}. '.repeat(500) }),
  },
]

await runSuite({
  command: 'bench:overload',
  title: 'Overload',
  about:
    'ten times as much as the machine can do, on 1,280 connections that never wait before they try again. The rest ' +
    'is refused with 503.',
  cases: requests.map((request) => ({
    name: request.name,
    run: (_, options) => measure(request, options),
  })),
})

async function measure(request: Request, { main, start }: Options): Promise<Row[]> {
  const project = await createProject(main)
  const service = await start(project)
  await fill(service, project)
  const key = request.kind === 'live' ? project.key : project.ingestKey
  const { method, path, body } = request
  const load = (connections: number) =>
    startLoop({ url: service.url, key, requests: [{ method, path, body }], connections, seconds }).done
  await load(peakConnections)
  const peak = await load(peakConnections)
  const idle = request.method === 'GET' ? await holdIdle(service.url) : null
  const over = await load(peakConnections * overloadFactor * 4)
  // A request that is due while every connection is busy counts as offered, too.
  const offered = Math.max(over.sent, peak.served * overloadFactor)
  idle?.release()
  const share = over.served / peak.served
  const perSecond = (count: number) => `${formatCount(count / seconds)}/s`
  return [
    {
      what: `${request.what}${idle ? ` beside ${formatCount(idle.count)} idle connections` : ''}`,
      measured:
        `${Math.round(share * 100)} % of the peak: ${perSecond(over.served)} of ${perSecond(peak.served)}, ` +
        `p99 ${over.p99Ms.toFixed(1)} against ${peak.p99Ms.toFixed(1)} ms; ${perSecond(offered)} offered, ` +
        `${perSecond(over.refused)} refused, ${over.failed} failed otherwise; ` +
        `${memoryOf(service.pid).residentMbMax} MB at most`,
      target: `≥ ${servedShareMin * 100} %, none failed`,
      isMet: share >= servedShareMin && over.failed === 0,
    },
  ]
}

async function fill({ url }: Running, { key, ingestKey }: Project): Promise<void> {
  const body = { summary: 'The first call.' }
  await bodyOf(url, { method: 'PUT', path: '/ingest/calls/call-1', key: ingestKey, body })
  for (let n = 0; n < items; n++) {
    const text = `Refunds of order ${n} take a week. Deliveries of window ${n} are on Fridays.`
    await bodyOf(url, { method: 'POST', path: '/v1/knowledge', key, body: { name: `Item ${n}`, text } })
  }
}

/** Opens idle connections, as many as the system allows. */
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
