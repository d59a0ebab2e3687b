import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { applyLoad, type LoadRequest } from '../load.ts'
import { processOf } from '../memory.ts'
import { latencyOf, type PacedResult, startPaced } from '../paced.ts'
import { shuffled } from '../random.ts'
import { send } from '../requests.ts'
import { median } from '../rounds.ts'
import type { Case, Options } from '../runner.ts'
import { formatCount, type Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { type CallPeers, commonWord, type MadeCall, rareWord } from './call-peers.ts'
import { type Comparison, compare, formatClients, verdict } from './compare.ts'
import type { Peer, PeerRequests } from './peer.ts'

const readConnections = 32
const pageConnections = 8
const putConnections = [1, 16, 64] as const
const putRatios = { 1: 0.8, 16: 1, 64: 1 }
const bodiesPerRound = 1_000
const deleteConnections = 16
const deleteSeconds = 20
const bytesCalls = 2_000
const bytesSeconds = 120
const kilobytesMax = { 1: 100, 16: 60 } as const
const pacedPerSecond = 100
const pacedSeconds = 5
const settleMs = 3_000
const erasedWithinMs = 120_000
const pollMs = 50
const versusPostgres = (ratioMin: number) => ({ peer: 'Postgres', ratioMin })

type Filled = (texts: Texts, options: Options) => Promise<CallPeers>

/** Requests for calls, beside the peers. @param filled the peers with their calls */
export function callCases(filled: Filled): Case[] {
  const pages = (
    name: string,
    what: string,
    ask: (requests: PeerRequests) => LoadRequest | undefined,
    ratioMin: number,
  ) => ({
    name,
    run: async (texts: Texts, options: Options) => {
      const { peers } = await filled(texts, options)
      await checkSame(peers, ask)
      const requests = (peer: Peer) => {
        const request = ask(peer.requests)
        return request && [request]
      }
      const target = versusPostgres(ratioMin)
      return [await compare(peers, { what, connections: pageConnections, requests, target }, options.rounds)]
    },
  })
  return [
    { name: 'get', run: async (texts, options) => benchGet(await filled(texts, options), options) },
    pages('list', 'GET, the newest 100 calls', ({ list }) => list?.(), 1.5),
    pages(
      'filter',
      'GET, 100 calls by status and evaluation',
      ({ filter }) => filter?.('completed', 'fail'),
      1.5,
    ),
    pages('rare', 'GET, calls with a word that 1 in 1,000 has', ({ word }) => word?.(rareWord), 1.5),
    pages('common', 'GET, 100 calls with a word that 1 in 2 has', ({ word }) => word?.(commonWord), 1.5),
    { name: 'put', run: async (texts, options) => benchPut(await filled(texts, options), options) },
    { name: 'bytes', run: async (texts, options) => benchBytes(await filled(texts, options)) },
    { name: 'paced', run: async (texts, options) => benchPaced(await filled(texts, options), options) },
    { name: 'delete', run: async (texts, options) => benchDelete(await filled(texts, options)) },
  ]
}

async function benchGet({ peers, calls }: CallPeers, { rounds }: Options): Promise<Row[]> {
  await checkSame(peers, ({ get }) => get?.(calls[0]?.id ?? ''))
  const ids = shuffled(calls).map(({ id }) => id)
  const comparison: Comparison = {
    what: 'GET of a call by id',
    connections: readConnections,
    requests: ({ requests: { get } }) => get && ids.map(get),
    target: { peer: 'bare server', ratioMin: 0.55 },
  }
  return [await compare(peers, comparison, rounds)]
}

async function benchPut({ peers, calls }: CallPeers, { rounds }: Options): Promise<Row[]> {
  const rows: Row[] = []
  for (const connections of putConnections) {
    const name = `put-${randomUUID().slice(0, 8)}-${connections}`
    const comparison: Comparison = {
      what: 'PUT of a new call',
      connections,
      requests: (peer, round) => newCalls(peer, calls, `${name}-${round + 1}-{n}`),
      target: versusPostgres(putRatios[connections]),
    }
    rows.push(await compare(peers, comparison, rounds))
  }
  return rows
}

async function benchBytes({ peers, calls }: CallPeers): Promise<Row[]> {
  const rows: Row[] = []
  for (const connections of [1, 16] as const) {
    const texts: string[] = []
    let isMet: boolean | null = null
    for (const peer of peers) {
      const requests = newCalls(peer, calls, `bytes-${randomUUID().slice(0, 8)}-{n}`)
      if (!requests) continue
      peer.checkpoint?.()
      const before = processOf(peer.pid).bytesWritten
      const { url, key } = peer
      await applyLoad({ url, key, requests, connections, seconds: bytesSeconds, count: bytesCalls })
      await sleep(settleMs)
      peer.checkpoint?.()
      const kilobytesEach = (processOf(peer.pid).bytesWritten - before) / bytesCalls / 1_000
      isMet ??= kilobytesEach <= kilobytesMax[connections]
      texts.push(`${peer === peers[0] ? '' : `${peer.name} `}${formatCount(kilobytesEach)} KB`)
    }
    rows.push({
      what: `bytes written a PUT, over ${bytesCalls}, ${formatClients(connections)}`,
      measured: texts.join('; '),
      target: `≤ ${kilobytesMax[connections]} KB`,
      isMet,
    })
  }
  return rows
}

async function benchPaced({ peers, calls }: CallPeers, { rounds }: Options): Promise<Row[]> {
  const able = peers.filter(({ requests }) => requests.put)
  const results = able.map((): PacedResult[] => [])
  const usEach = able.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, peer] of able.entries()) {
      const name = `paced-${randomUUID().slice(0, 8)}`
      const requests = calls
        .slice(0, pacedPerSecond * pacedSeconds)
        .flatMap(({ call }, n) => peer.requests.put?.(`${name}-${n}`, call) ?? [])
      const before = processOf(peer.pid).processorSeconds
      const load = { url: peer.url, key: peer.key, requests, repeats: 1 }
      const result = await startPaced({
        ...load,
        requestsPerSecond: pacedPerSecond,
        secondsMax: pacedSeconds,
      }).done
      results[index]?.push(result)
      usEach[index]?.push(((processOf(peer.pid).processorSeconds - before) * 1e6) / result.latenciesMs.length)
    }
  }
  const texts = able.map(({ name }, index) => {
    const { p50, p99, failed } = latencyOf(results[index] ?? [])
    const figures = `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${formatCount(median(usEach[index] ?? []))} us`
    return `${index === 0 ? '' : `${name} `}${figures}${failed > 0 ? `, ${failed} FAILED` : ''}`
  })
  return [
    {
      what: `PUT of a new call, ${pacedPerSecond} a second`,
      measured: texts.join('; '),
      target: 'reported',
      isMet: null,
    },
  ]
}

/** Deletes the calls that the other cases read. */
async function benchDelete({ peers, calls }: CallPeers): Promise<Row[]> {
  const ids = shuffled(calls).map(({ id }) => id)
  const rates = new Map<string, number>()
  const texts: string[] = []
  for (const peer of peers) {
    const remove = peer.requests.delete
    if (!remove) continue
    await sleep(settleMs)
    const before = processOf(peer.pid).processorSeconds
    const { url, key } = peer
    const { served, perSecond } = await applyLoad({
      ...{ url, key, requests: ids.map(remove), count: ids.length },
      connections: deleteConnections,
      seconds: deleteSeconds,
    })
    const erasedMs = await untilErased(peer, ids.slice(0, served))
    await sleep(settleMs)
    const usEach = ((processOf(peer.pid).processorSeconds - before) * 1e6) / served
    rates.set(peer.name, perSecond)
    const ratio =
      peer === peers[0] ? '' : `: ${((rates.get(peers[0]?.name ?? '') ?? 0) / perSecond).toFixed(2)} ×`
    const erased =
      erasedMs === null ? 'not erased' : `erased ${(erasedMs / 1_000).toFixed(1)} s after the last`
    const rate = `${formatCount(perSecond)}/s of ${formatCount(served)}, ${formatCount(usEach)} us, ${erased}`
    texts.push(`${peer === peers[0] ? '' : `${peer.name} `}${rate}${ratio}`)
  }
  const ratios = new Map(
    [...rates].map(([name, rate]) => [name, (rates.get(peers[0]?.name ?? '') ?? 0) / rate]),
  )
  const what = `DELETE of a call, ${deleteConnections} clients, up to ${deleteSeconds} s`
  return [{ what, measured: texts.join('; '), ...verdict(versusPostgres(0.5), ratios) }]
}

/** Milliseconds until the last byte is gone; null for a peer that does not erase. */
async function untilErased({ isErased }: Peer, ids: string[]): Promise<number | null> {
  if (!isErased) return null
  const startedAt = performance.now()
  const left = ids.filter((_, n) => n % 100 === 0 || n >= ids.length - deleteConnections)
  while (performance.now() < startedAt + erasedWithinMs) {
    const [id] = left
    if (id === undefined) return performance.now() - startedAt
    if (await isErased(id)) left.shift()
    else await sleep(pollMs)
  }
  throw new Error(`Calls were not erased within ${erasedWithinMs} ms`)
}

/** @param id with `{n}` for the number of the call */
export function newCalls({ requests: { put } }: Peer, calls: readonly MadeCall[], id: string) {
  return put && calls.slice(0, bodiesPerRound).map(({ call }) => put(id, call))
}

/** @throws unless all answer with the same calls in the same order */
async function checkSame(peers: readonly Peer[], ask: (requests: PeerRequests) => LoadRequest | undefined) {
  const answers: { name: string; ids: string }[] = []
  for (const { name, url, key, requests } of peers) {
    const request = ask(requests)
    if (!request) continue
    const answer = await send(url, { method: 'GET', path: request.path, key })
    if (!answer.ok) throw new Error(`${name} answered ${answer.status} to ${request.path}`)
    const body = await answer.json()
    const found: { id: string }[] = body.data ?? body.items ?? [body]
    answers.push({ name, ids: found.map(({ id }) => id).join() })
  }
  const other = answers.find(({ ids }) => ids !== answers[0]?.ids)
  if (other) throw new Error(`${other.name} answers with other calls than ${answers[0]?.name}`)
}
