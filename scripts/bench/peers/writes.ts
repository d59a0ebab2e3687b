import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { applyLoad } from '../load.ts'
import { processOf } from '../memory.ts'
import { latencyOf, type PacedResult, startPaced } from '../paced.ts'
import { shuffled } from '../random.ts'
import { median } from '../rounds.ts'
import type { Options } from '../runner.ts'
import { formatCount, type Row } from '../table.ts'
import type { CallPeers, MadeCall } from './call-peers.ts'
import { compare, formatClients, ratiosOf, sideBySide, verdict } from './compare.ts'
import type { Peer } from './peer.ts'

const bodiesPerRound = 1_000
const putsMeasured = [
  { connections: 1, ratioMin: 0.8 },
  { connections: 16, ratioMin: 1 },
  { connections: 64, ratioMin: 1 },
]
const bytesMeasured = [
  { connections: 1, kilobytesMax: 100 },
  { connections: 16, kilobytesMax: 60 },
]
const bytesCalls = 2_000
const bytesSecondsMax = 120
const pacedPerSecond = 100
const pacedSeconds = 5
const deleteConnections = 16
const deleteSeconds = 20
const deleteRatioMin = 0.5
const settleMs = 3_000
const erasedWithinMs = 120_000
const pollMs = 50

export async function benchPut({ peers, calls }: CallPeers, { rounds }: Options): Promise<Row[]> {
  const rows: Row[] = []
  for (const { connections, ratioMin } of putsMeasured) {
    const name = randomUUID()
    const comparison = {
      what: 'PUT of a new call',
      connections,
      // The round that warms up is -1.
      requests: (peer: Peer, round: number) => newCalls(peer, calls, `${name}-${round + 1}-{n}`),
      target: { peer: 'Postgres', ratioMin },
    }
    rows.push(await compare(peers, comparison, rounds))
  }
  return rows
}

/** What each PUT makes the servers write, checkpoints and words included. */
export async function benchBytes({ peers, calls }: CallPeers): Promise<Row[]> {
  const able = peers.filter(({ requests }) => requests.put)
  const rows: Row[] = []
  for (const { connections, kilobytesMax } of bytesMeasured) {
    const kilobytesEach: number[] = []
    for (const peer of able) {
      const { url, key, pid, checkpoint } = peer
      checkpoint?.()
      const before = processOf(pid).bytesWritten
      const requests = newCalls(peer, calls, `${randomUUID()}-{n}`) ?? []
      await applyLoad({ url, key, requests, connections, seconds: bytesSecondsMax, count: bytesCalls })
      await sleep(settleMs)
      checkpoint?.()
      kilobytesEach.push((processOf(pid).bytesWritten - before) / bytesCalls / 1_000)
    }
    rows.push({
      what: `bytes written a PUT, over ${formatCount(bytesCalls)}, ${formatClients(connections)}`,
      measured: sideBySide(
        able,
        kilobytesEach.map((each) => `${formatCount(each)} KB`),
      ),
      target: `≤ ${kilobytesMax} KB`,
      isMet: (kilobytesEach[0] ?? 0) <= kilobytesMax,
    })
  }
  return rows
}

/** Writes at a steady rate that all of them can carry. */
export async function benchPaced({ peers, calls }: CallPeers, { rounds }: Options): Promise<Row[]> {
  const able = peers.filter(({ requests }) => requests.put)
  const measured = able.map(() => ({ results: [] as PacedResult[], usEach: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, { url, key, pid, requests }] of able.entries()) {
      const name = randomUUID()
      const puts = calls
        .slice(0, pacedPerSecond * pacedSeconds)
        .flatMap(({ call }, n) => requests.put?.(`${name}-${n}`, call) ?? [])
      const before = processOf(pid).processorSeconds
      const pace = { repeats: 1, requestsPerSecond: pacedPerSecond, secondsMax: pacedSeconds }
      const result = await startPaced({ url, key, requests: puts, ...pace }).done
      const usEach = ((processOf(pid).processorSeconds - before) * 1e6) / result.latenciesMs.length
      measured[index]?.results.push(result)
      measured[index]?.usEach.push(usEach)
    }
  }
  const texts = measured.map(({ results, usEach }) => {
    const { p50, p99, failed } = latencyOf(results)
    const failures = failed > 0 ? `, ${failed} FAILED` : ''
    return `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${formatCount(median(usEach))} us${failures}`
  })
  const what = `PUT of a new call, ${pacedPerSecond} a second`
  return [{ what, measured: sideBySide(able, texts), target: 'reported', isMet: null }]
}

/** Deletes of calls, until the last byte of each is gone where a server erases. */
export async function benchDelete({ peers, calls }: CallPeers): Promise<Row[]> {
  const able = peers.filter(({ requests }) => requests.delete)
  const ids = shuffled(calls).map(({ id }) => id)
  const rates: number[] = []
  const texts: string[] = []
  for (const peer of able) {
    const { url, key, pid, requests } = peer
    await sleep(settleMs)
    const before = processOf(pid).processorSeconds
    const { served, perSecond } = await applyLoad({
      ...{ url, key, connections: deleteConnections, seconds: deleteSeconds },
      requests: ids.flatMap((id) => requests.delete?.(id) ?? []),
      count: ids.length,
    })
    const erased = await untilErased(peer, ids.slice(0, served))
    await sleep(settleMs)
    const usEach = ((processOf(pid).processorSeconds - before) * 1e6) / served
    rates.push(perSecond)
    texts.push(`${formatCount(perSecond)}/s of ${formatCount(served)}, ${formatCount(usEach)} us, ${erased}`)
  }
  const ratios = ratiosOf(able, rates)
  return [
    {
      what: `DELETE of a call, ${formatClients(deleteConnections)}, up to ${deleteSeconds} s`,
      measured: sideBySide(able, texts, ratios),
      ...verdict({ peer: 'Postgres', ratioMin: deleteRatioMin }, ratios),
    },
  ]
}

/** How long it took after the last answer, in words. */
async function untilErased({ isErased }: Peer, ids: string[]): Promise<string> {
  if (!isErased) return 'not erased'
  const startedAt = performance.now()
  const left = ids.filter((_, n) => n % 100 === 0 || n >= ids.length - deleteConnections)
  while (performance.now() < startedAt + erasedWithinMs) {
    const [id] = left
    if (id === undefined)
      return `erased ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after the last`
    if (await isErased(id)) left.shift()
    else await sleep(pollMs)
  }
  throw new Error(`Calls were not erased within ${erasedWithinMs} ms`)
}

/** @param id with `{n}` for the number of the call */
function newCalls({ requests: { put } }: Peer, calls: readonly MadeCall[], id: string) {
  return put && calls.slice(0, bodiesPerRound).map(({ call }) => put(id, call))
}
