import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { processOf } from '../../process-use.ts'
import { shuffled } from '../../random.ts'
import { formatCount, type Row, row } from '../figures.ts'
import { formatLatency, type LoadRequest, type Measured, measure, medianOf } from '../load.ts'
import type { MadeCall } from '../made-calls.ts'
import type { Options } from '../runner.ts'
import { formatClients, judged, sideBySide } from './compare.ts'
import type { Peer, PeerRequests } from './peer.ts'

const bodiesPerRound = 1_000
const bytesMeasured = [
  { connections: 1, kilobytesMax: 100 },
  { connections: 16, kilobytesMax: 60 },
]
const bytesCalls = 2_000
const bytesSecondsMax = 120
const pace = { perSecond: 100, connections: 32, seconds: 5 }
const deletion = { connections: 16, seconds: 20, ratioMin: 0.5 }
const settleMs = 3_000
const erasedWithinMs = 120_000
const pollMs = 50

/** The service and its peers, all with these calls. */
export interface CallPeers {
  peers: Peer[]
  calls: MadeCall[]
}

/** PUTs of calls that nobody has written yet. */
export function newCalls(put: NonNullable<PeerRequests['put']>, calls: readonly MadeCall[]): LoadRequest[] {
  const run = randomUUID()
  return calls.slice(0, bodiesPerRound).map(({ call }) => put(`${run}-{n}`, call))
}

/** What each PUT makes the servers write, checkpoints and words included. */
export async function benchBytes({ peers, calls }: CallPeers): Promise<Row[]> {
  const rows: Row[] = []
  const able = peers.filter(({ requests }) => requests.put)
  for (const { connections, kilobytesMax } of bytesMeasured) {
    const kilobytes: number[] = []
    for (const peer of able) {
      peer.checkpoint?.()
      const before = processOf(peer.pid).bytesWritten
      await put(peer, calls, { connections, seconds: bytesSecondsMax, count: bytesCalls })
      await sleep(settleMs)
      peer.checkpoint?.()
      kilobytes.push((processOf(peer.pid).bytesWritten - before) / bytesCalls / 1_000)
    }
    const texts = kilobytes.map((each) => `${formatCount(each)} KB`)
    const what = `bytes written a PUT, over ${formatCount(bytesCalls)}, ${formatClients(connections)}`
    const isMet = (kilobytes[0] ?? 0) <= kilobytesMax
    rows.push(row(what, sideBySide(able, texts), `≤ ${kilobytesMax} KB`, isMet))
  }
  return rows
}

/** Writes at a steady rate that all of them can carry. */
export async function benchPaced({ peers, calls }: CallPeers, { rounds }: Options): Promise<Row[]> {
  const able = peers.filter(({ requests }) => requests.put)
  const results = able.map((): Measured[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [at, peer] of able.entries()) results[at]?.push(await put(peer, calls, pace))
  const texts = results.map((each) => {
    const figures = medianOf(each)
    return `${formatLatency(figures)}, ${formatCount(figures.usEach)} us`
  })
  return [row(`PUT of a new call, ${pace.perSecond} a second`, sideBySide(able, texts))]
}

function put(
  peer: Peer,
  calls: readonly MadeCall[],
  load: { connections: number; seconds: number; count?: number; perSecond?: number },
): Promise<Measured> {
  const requests = peer.requests.put ? newCalls(peer.requests.put, calls) : []
  return measure(peer, { ...load, key: peer.key, requests })
}

/** Deletes of calls, until the last byte of each is gone where a server erases. */
export async function benchDelete({ peers, calls }: CallPeers): Promise<Row[]> {
  const { connections, seconds, ratioMin } = deletion
  const able = peers.filter(({ requests }) => requests.delete)
  const ids = shuffled(calls).map(({ id }) => id)
  const rates: number[][] = []
  const texts: string[] = []
  for (const peer of able) {
    await sleep(settleMs)
    const before = processOf(peer.pid).processorSeconds
    const requests = ids.flatMap((id) => peer.requests.delete?.(id) ?? [])
    const load = { key: peer.key, requests, connections, seconds, count: ids.length }
    const { served, perSecond } = await measure(peer, load)
    const erased = await untilErased(peer, ids.slice(0, served))
    await sleep(settleMs)
    const usEach = ((processOf(peer.pid).processorSeconds - before) * 1e6) / served
    rates.push([perSecond])
    texts.push(`${formatCount(perSecond)}/s of ${formatCount(served)}, ${formatCount(usEach)} us, ${erased}`)
  }
  const what = `DELETE of a call, ${formatClients(connections)}, up to ${seconds} s`
  return [{ what, ...judged(able, { rates, texts, target: { peer: 'Postgres', ratioMin } }) }]
}

/** How long it took after the last answer, in words. */
async function untilErased({ isErased }: Peer, ids: string[]): Promise<string> {
  if (!isErased) return 'not erased'
  const startedAt = performance.now()
  const left = ids.filter((_, n) => n % 100 === 0 || n >= ids.length - deletion.connections)
  while (performance.now() < startedAt + erasedWithinMs) {
    const [id] = left
    if (id === undefined)
      return `erased ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after the last`
    if (await isErased(id)) left.shift()
    else await sleep(pollMs)
  }
  throw new Error(`Calls were not erased within ${erasedWithinMs} ms`)
}
