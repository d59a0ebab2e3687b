import { connect, type Socket } from 'node:net'
import type { Services } from '../../src/services/services.ts'
import { makeDataset } from '../dataset.ts'
import { memoryOf } from '../process-use.ts'
import { formatCount, type Row, row } from './figures.ts'
import { type LoadRequest, runLoad } from './load.ts'
import { type Options, runSuite } from './runner.ts'

const seconds = 8
const peakConnections = 32
const overloadFactor = 10
const servedShareMin = 0.8
const idleConnections = 10_000
const items = 300

/** `{n}` stands for another number in each. */
const requests: (LoadRequest & { name: string; what: string })[] = [
  { name: 'by-id', what: 'GET /v1/calls/:id', path: '/v1/calls/call-1' },
  {
    name: 'search',
    what: 'POST /v1/knowledge/search',
    method: 'POST',
    path: '/v1/knowledge/search',
    body: JSON.stringify({ query: 'how long do refunds of order {n} take', timeoutMs: 300 }),
  },
  {
    name: 'ingest',
    what: 'PUT /ingest/calls/:id',
    method: 'PUT',
    path: '/ingest/calls/call-{n}',
    body: JSON.stringify({ summary: 'A caller asked for a refund of order {n}.' }),
  },
  {
    name: 'knowledge',
    what: 'POST /v1/knowledge, 20 KB',
    method: 'POST',
    path: '/v1/knowledge',
    body: JSON.stringify({ name: 'Item {n}', text: 'Refunds of orders take a week, item {n}. '.repeat(500) }),
  },
]

await runSuite({
  command: 'bench:overload',
  title: 'Overload',
  about:
    'ten times as much as the machine can do, on 1,280 connections that never wait before they try again. The rest ' +
    'is refused with 503.',
  cases: requests.map(({ name, what, ...request }) => ({
    name,
    run: (options) => benchOverload(what, request, options),
  })),
})

async function benchOverload(what: string, request: LoadRequest, { start }: Options): Promise<Row[]> {
  const { folder, key, ingestKey } = await makeDataset({ fill })
  const { url, pid } = await start(folder)
  const who = request.path.startsWith('/ingest') ? ingestKey : key
  const load = (connections: number) => runLoad({ url, key: who, requests: [request], connections, seconds })
  await load(peakConnections)
  const peak = await load(peakConnections)
  const idle = request.method === undefined ? await holdIdle(url) : []
  const over = await load(peakConnections * overloadFactor * 4)
  for (const socket of idle) socket.destroy()
  // A request that is due while every connection is busy counts as offered, too.
  const offered = Math.max(over.sent, peak.served * overloadFactor)
  const share = over.served / peak.served
  const perSecond = (count: number) => `${formatCount(count / seconds)}/s`
  const parts = [
    `${Math.round(share * 100)} % of the peak: ${perSecond(over.served)} of ${perSecond(peak.served)}, ` +
      `p99 ${over.p99Ms.toFixed(1)} against ${peak.p99Ms.toFixed(1)} ms`,
    `${perSecond(offered)} offered, ${perSecond(over.refused)} refused, ${over.failed} failed otherwise`,
    `${memoryOf(pid).residentMbMax} MB at most`,
  ]
  return [
    row(
      idle.length > 0 ? `${what} beside ${formatCount(idle.length)} idle connections` : what,
      parts.join('; '),
      `≥ ${servedShareMin * 100} %, none failed`,
      share >= servedShareMin && over.failed === 0,
    ),
  ]
}

async function fill({ ingest, knowledge, indexer }: Services, projectId: number): Promise<void> {
  await ingest.put(projectId, 'call-1', { summary: 'The first call.' })
  for (let n = 0; n < items; n++) {
    const text = `Refunds of order ${n} take a week. Deliveries of window ${n} are on Fridays.`
    await knowledge.store(projectId, { name: `Item ${n}`, text })
  }
  indexer.wake(projectId)
  await indexer.idle()
}

/** Opens idle connections, as many as the system allows. */
async function holdIdle(url: string): Promise<Socket[]> {
  const { port, hostname } = new URL(url)
  const opening = Array.from({ length: idleConnections }, () => {
    const { promise, resolve } = Promise.withResolvers<Socket | null>()
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(null))
    return promise
  })
  return (await Promise.all(opening)).filter((socket) => socket !== null)
}
