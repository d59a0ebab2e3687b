import { send } from '../../requests.ts'
import { formatCount, type Row } from '../figures.ts'
import { type Figures, type LoadRequest, type Measured, measure, median, medianOf } from '../load.ts'
import type { Peer } from './peer.ts'

const warmUpSeconds = 2
const roundSeconds = 2

interface Comparison {
  what: string
  connections: number
  /** The requests of a round; undefined when a peer lacks them. */
  requests(peer: Peer): LoadRequest[] | undefined
  target: Target
}

/** The least ratio of our rate to that of a peer. */
export interface Target {
  peer: string
  ratioMin: number
}

type Named = Pick<Peer, 'name'>

/** Loads the peers in turn, in short rounds, so that other load affects all of them. The first is the service. */
export async function compare(
  peers: readonly Peer[],
  { what, connections, requests, target }: Comparison,
  rounds: number,
): Promise<Row> {
  const able = peers.filter(requests)
  await checkSame(able, (peer) => requests(peer)?.[0])
  const load = (peer: Peer, seconds: number) =>
    measure(peer, { key: peer.key, requests: requests(peer) ?? [], connections, seconds })
  const results = able.map((): Measured[] => [])
  for (const peer of able) await load(peer, warmUpSeconds)
  for (let round = 0; round < rounds; round++)
    for (const [at, peer] of able.entries()) results[at]?.push(await load(peer, roundSeconds))
  const rates = results.map((each) => each.map(({ perSecond }) => perSecond))
  const texts = results.map((each) => formatRound(medianOf(each)))
  return { what: `${what}, ${formatClients(connections)}`, ...judged(able, { rates, texts, target }) }
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
    const found: { id: string }[] = body.data ?? body.items ?? [body]
    answers.push(found.map(({ id }) => id).join())
  }
  const other = answers.findIndex((ids) => ids !== answers[0])
  if (other > 0) throw new Error(`${peers[other]?.name} answers with other calls than ${peers[0]?.name}`)
}

/** @param rates of each peer in each round, the service first */
export function judged(
  peers: readonly Named[],
  { rates, texts, target }: { rates: number[][]; texts: string[]; target: Target },
): Omit<Row, 'what'> {
  const ratios = rates.map((each) => median(each.map((rate, round) => (rates[0]?.[round] ?? 0) / rate)))
  const withRatios = texts.map((text, at) => (at === 0 ? text : `${text}: ${ratios[at]?.toFixed(2)} ×`))
  // A target whose peer is missing is not judged.
  const ratio = ratios[peers.findIndex(({ name }) => name === target.peer)]
  const isMet = ratio === undefined ? null : ratio >= target.ratioMin
  return { measured: sideBySide(peers, withRatios), target: `≥ ${target.ratioMin} × ${target.peer}`, isMet }
}

/** The text of the service, then those of its peers with their names. */
export function sideBySide(peers: readonly Named[], texts: readonly string[]): string {
  return peers.map(({ name }, at) => (at === 0 ? texts[at] : `${name} ${texts[at]}`)).join('; ')
}

export function formatClients(connections: number): string {
  return `${connections} client${connections === 1 ? '' : 's'}`
}

function formatRound({ perSecond, usEach, bytesEach }: Figures): string {
  const size = bytesEach >= 100 ? `, ${formatCount(bytesEach / 1_000)} KB` : ''
  return `${formatCount(perSecond)}/s, ${formatCount(usEach)} us${size}`
}
