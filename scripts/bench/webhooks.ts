import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import type { Services } from '../../src/services/services.ts'
import { buildDataset, copyDataset, type Dataset } from './dataset.ts'
import { putCalls } from './datasets.ts'
import { memoryOf, processOf } from './memory.ts'
import { latencyOf, type PacedResult, startPaced } from './paced.ts'
import type { Running } from './processes.ts'
import { bodyOf } from './requests.ts'
import type { Options, Start } from './runner.ts'
import { formatLatency, type Row } from './table.ts'
import { temporaryFolder } from './temporary.ts'
import type { Texts } from './texts.ts'

const endpointsCount = 20
const changesPerSecond = 10
const changesCount = 80
const arrivedWithinMs = 20_000
const queuedCount = 100_000
const deliveredCount = 5_000
const getsPerSecond = 200
const secondsEach = 2
const roundsCount = 4
const environment = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' }

/**
 * The time from a committed change to the webhooks of 20 endpoints, how fast a queue is sent to one, and the cost of a
 * long queue for one that is down.
 */
export async function benchWebhooks(texts: Texts, { start }: Options): Promise<Row[]> {
  return [await benchArrival(texts, start), await benchRate(start), ...(await benchDown(start))]
}

async function benchArrival({ dialogues }: Texts, start: Start): Promise<Row> {
  const endpoint = new Endpoint()
  const url = await endpoint.listen()
  const dataset = await buildDataset(temporaryFolder(), async ({ webhooks }, projectId) => {
    for (let at = 0; at < endpointsCount; at++)
      await webhooks.create(projectId, { url: `https://${at}.invalid/` })
  })
  // Written directly, because the API refuses loopback addresses.
  change(dataset, `update webhooks set url = '${url}' || rowid`)
  const service = await start(dataset, environment)
  try {
    const committedAt = new Map<string, number>()
    for (let at = 0; at < changesCount; at++) {
      const id = `call-${at}`
      const body = { ...dialogues[at % dialogues.length], id, status: 'completed' }
      const path = `/ingest/calls/${id}`
      void bodyOf(service.url, { method: 'PUT', path, key: dataset.ingestKey, body }).then(() =>
        committedAt.set(id, performance.now()),
      )
      await sleep(1_000 / changesPerSecond)
    }
    const deadline = performance.now() + arrivedWithinMs
    while (endpoint.arrived.length < changesCount * endpointsCount && performance.now() < deadline)
      await sleep(50)
    const latenciesMs = endpoint.arrived.map(({ id, at }) => Math.max(0, at - (committedAt.get(id) ?? 0)))
    const failed = changesCount * endpointsCount - latenciesMs.length
    const latency = latencyOf([{ latenciesMs, failed }])
    return {
      what: `From the answer to a PUT to its webhook, ${endpointsCount} endpoints`,
      measured: formatLatency(latency),
      target: 'p50 ≤ 100, p99 ≤ 1,000 ms',
      isMet: failed === 0 && latency.p50 <= 100 && latency.p99 <= 1_000,
    }
  } finally {
    await service.stop()
    endpoint.close()
  }
}

async function benchRate(start: Start): Promise<Row> {
  const endpoint = new Endpoint()
  const url = await endpoint.listen()
  const dataset = await buildDataset(temporaryFolder(), async (services, projectId) => {
    await services.webhooks.create(projectId, { url: 'https://one.invalid/' })
    await putCalls(services, projectId, smallCalls(deliveredCount))
  })
  // The first ones have been tried meanwhile, in vain.
  change(dataset, `update webhooks set url = '${url}'; update webhook_queue set due_at = 0 where due_at > 0`)
  const service = await start(dataset, environment)
  try {
    const startedAt = performance.now()
    const [before, sent] = [processOf(service.pid).processorSeconds, endpoint.arrived.length]
    while (endpoint.arrived.length < deliveredCount && performance.now() < startedAt + arrivedWithinMs)
      await sleep(20)
    const count = endpoint.arrived.length - sent
    const rate = count / ((performance.now() - startedAt) / 1_000)
    const us = ((processOf(service.pid).processorSeconds - before) * 1e6) / count
    return {
      what: `${deliveredCount.toLocaleString('en')} queued events to one endpoint`,
      measured: `${Math.round(rate)}/s, ${Math.round(us)} us of processor each`,
      target: '≥ 1,200/s',
      isMet: rate >= 1_200,
    }
  } finally {
    await service.stop()
    endpoint.close()
  }
}

async function benchDown(start: Start): Promise<Row[]> {
  const queued = await buildDataset(temporaryFolder(), async (services, projectId) => {
    await services.webhooks.create(projectId, { url: 'https://down.invalid/' })
    await putCalls(services, projectId, smallCalls(queuedCount))
  })
  change(queued, `update webhooks set url = 'http://127.0.0.1:9/'`)
  const empty = copyDataset(queued)
  change(empty, 'delete from webhooks')
  const [withQueue, without] = [await start(queued, environment), await start(empty, environment)]
  const results: Record<'queue' | 'none', PacedResult[]> = { queue: [], none: [] }
  // The first round warms both up.
  for (let round = 0; round <= roundsCount; round++) {
    const [ours, theirs] = [await load(withQueue, queued), await load(without, empty)]
    if (round === 0) continue
    results.queue.push(ours)
    results.none.push(theirs)
  }
  const [ours, theirs] = [latencyOf(results.queue), latencyOf(results.none)]
  const [mb, mbWithout] = [memoryOf(withQueue.pid).ownMb, memoryOf(without.pid).ownMb]
  const ratio = ours.p99 / theirs.p99
  const what = `${queuedCount.toLocaleString('en')} changes queued for an endpoint that is down`
  return [
    {
      what: `${what}: memory`,
      measured: `${mb - mbWithout} MB more: ${mb} against ${mbWithout} MB`,
      target: '≤ 20 MB more',
      isMet: mb - mbWithout <= 20,
    },
    {
      what: `${what}: GET by id`,
      measured: `p99 ${ratio.toFixed(2)} ×: ${formatLatency(ours)}, against ${formatLatency(theirs)}`,
      target: 'p99 ≤ 1.2 ×',
      isMet: ratio <= 1.2,
    },
  ]
}

function load({ url }: Running, { key }: Dataset): Promise<PacedResult> {
  const requests = Array.from({ length: 500 }, (_, at) => ({
    method: 'GET',
    path: `/v1/calls/call-${at * 7}`,
  }))
  return startPaced({
    ...{ url, key, requests, repeats: 100, requestsPerSecond: getsPerSecond, secondsMax: secondsEach },
  }).done
}

function* smallCalls(count: number): Generator<Parameters<Services['ingest']['putAll']>[1][number]> {
  for (let at = 0; at < count; at++)
    yield { id: `call-${at}`, change: { status: 'completed', summary: `Call ${at}` } }
}

function change({ databaseFile }: Dataset, statement: string): void {
  const database = new Database(databaseFile, { timeout: 5_000 })
  database.exec('pragma foreign_keys = on')
  database.exec(statement)
  database.close()
}

/** Takes webhooks of calls and notes when they arrive. */
class Endpoint {
  readonly arrived: { id: string; at: number }[] = []
  readonly #server = createServer((request, response) => {
    const at = performance.now()
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      this.arrived.push({ id: /"id":"([^"]+)"/.exec(body)?.[1] ?? '', at })
      response.writeHead(204).end()
    })
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
