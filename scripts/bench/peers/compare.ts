import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../../requests.ts'
import { formatCount, type Row, row } from '../figures.ts'
import { type LoadRequest, type Measured, measure, median, medianOf } from '../load.ts'
import type { Peer } from './peer.ts'

const warmUpSeconds = 2
const roundSeconds = 2
const settleMs = 3_000

/** What the service and its peers are asked in turns. */
export interface Comparison<Given> {
  /** Of its case. */
  name: string
  what: string
  connections: number
  /** The requests of a round; undefined when a peer lacks them. */
  ask(requests: Peer['requests'], given: Given): LoadRequest[] | undefined
  /** The least ratio of our rate to that of a peer. */
  target?: { peer: string; ratioMin: number }
  /** Instead of the usual seconds. */
  load?: { seconds: number; count?: number; perSecond?: number }
  /** The most bytes that each request may write. They are counted in one round, with what is written later. */
  kilobytesMax?: number
  /** By default rate, processor time and the size of an answer. */
  shows?(figures: Measured): string
}

/** Loads the peers in turn, in short rounds, so that other load affects all of them. The first is the service. */
export async function compare<Given>(
  peers: readonly Peer[],
  comparison: Comparison<Given> & { given: Given },
  rounds: number,
): Promise<Row> {
  const { what, connections, ask, given, load = { seconds: roundSeconds }, kilobytesMax, target } = comparison
  const able = peers.filter(({ requests }) => ask(requests, given))
  await checkSame(able, ({ requests }) => ask(requests, given)?.[0])
  const apply = (peer: Peer, how: typeof load) => {
    const requests = ask(peer.requests, given) ?? []
    const afterwards = kilobytesMax === undefined ? undefined : () => untilWritten(peer)
    return measure(peer, { key: peer.key, requests, connections, ...how }, afterwards)
  }
  const results = able.map((): Measured[] => [])
  if (kilobytesMax === undefined) for (const peer of able) await apply(peer, { seconds: warmUpSeconds })
  else for (const peer of able) peer.checkpoint?.()
  for (let round = 0; round < (kilobytesMax === undefined ? rounds : 1); round++)
    for (const [at, peer] of able.entries()) results[at]?.push(await apply(peer, load))
  const figures = results.flatMap(([first, ...rest]) => (first ? [medianOf([first, ...rest])] : []))
  const texts = figures.map(comparison.shows ?? formatRate)
  const title = `${what}, ${connections} client${connections === 1 ? '' : 's'}`
  if (kilobytesMax !== undefined)
    return row(
      title,
      sideBySide(able, texts),
      `≤ ${kilobytesMax} KB`,
      (figures[0]?.writtenEach ?? Number.NaN) <= kilobytesMax * 1_000,
    )
  if (!target) return row(title, sideBySide(able, texts))
  const rates = results.map((each) => each.map(({ perSecond }) => perSecond))
  return { what: title, ...judged(able, { rates, texts, target }) }
}

async function untilWritten({ checkpoint }: Peer): Promise<void> {
  await sleep(settleMs)
  checkpoint?.()
}

/** @throws unless all answer a GET with the same calls in the same order */
async function checkSame(peers: readonly Peer[], requestOf: (peer: Peer) => LoadRequest | undefined) {
  const answers: string[] = []
  for (const peer of peers) {
    const { method, path = '' } = requestOf(peer) ?? {}
    if (method !== undefined) return
    const { ok, status, text } = await send(peer.url, { path, key: peer.key })
    if (!ok) throw new Error(`${peer.name} answered ${status} to ${path}`)
    const body = JSON.parse(text)
    const calls: { id: string }[] = body.data ?? [body]
    answers.push(calls.map(({ id }) => id).join())
  }
  const other = answers.findIndex((ids) => ids !== answers[0])
  if (other > 0) throw new Error(`${peers[other]?.name} answers with other calls than ${peers[0]?.name}`)
}

/** @param rates of each peer in each round, the service first */
export function judged(
  peers: readonly Peer[],
  {
    rates,
    texts,
    target,
  }: { rates: number[][]; texts: string[]; target: { peer: string; ratioMin: number } },
): Omit<Row, 'what'> {
  const ratios = rates.map((each) => median(each.map((rate, round) => (rates[0]?.[round] ?? 0) / rate)))
  const withRatios = texts.map((text, at) => (at === 0 ? text : `${text}: ${ratios[at]?.toFixed(2)} ×`))
  // A target whose peer is missing is not judged.
  const ratio = ratios[peers.findIndex(({ name }) => name === target.peer)]
  const isMet = ratio === undefined ? null : ratio >= target.ratioMin
  return { measured: sideBySide(peers, withRatios), target: `≥ ${target.ratioMin} × ${target.peer}`, isMet }
}

/** The text of the service, then those of its peers with their names. */
export function sideBySide(peers: readonly { name: string }[], texts: readonly string[]): string {
  return peers.map(({ name }, at) => (at === 0 ? texts[at] : `${name} ${texts[at]}`)).join('; ')
}

function formatRate({ perSecond, usEach, bytesEach }: Measured): string {
  const size = bytesEach >= 100 ? `, ${formatCount(bytesEach / 1_000)} KB` : ''
  return `${formatCount(perSecond)}/s, ${formatCount(usEach)} us${size}`
}
