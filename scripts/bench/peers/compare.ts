import type { LoadRequest } from '../load.ts'
import { measureInTurn, medianRound, type Round, ratioOf } from '../rounds.ts'
import { formatCount, type Row } from '../table.ts'
import type { Peer } from './peer.ts'

interface Comparison {
  what: string
  connections: number
  /** What a peer is asked in a round; undefined when it cannot. */
  requests(peer: Peer, round: number): LoadRequest[] | undefined
  target: Target
}

/** The least ratio of our rate to that of a peer. */
interface Target {
  peer: string
  ratioMin: number
}

/** The ratio of our rate to that of each peer. */
type Ratios = ReadonlyMap<string, number>

type Named = Pick<Peer, 'name'>

/** Loads the peers in turn: the first is the service. */
export async function compare(
  peers: readonly Peer[],
  { what, connections, requests, target }: Comparison,
  rounds: number,
): Promise<Row> {
  const able = peers.filter((peer) => requests(peer, 0))
  const targets = able.map((peer) => ({
    pid: peer.pid,
    load: (round: number) => {
      return { url: peer.url, key: peer.key, requests: requests(peer, round) ?? [], connections }
    },
  }))
  const results = await measureInTurn(targets, rounds)
  const [ours = []] = results
  const ratios = new Map(able.map(({ name }, at) => [name, ratioOf(ours, results[at] ?? []).ratio]))
  const texts = results.map((each) => formatRound(medianRound(each)))
  return {
    what: `${what}, ${formatClients(connections)}`,
    measured: sideBySide(able, texts, ratios),
    ...verdict(target, ratios),
  }
}

/** @param rates of each peer, the service first */
export function ratiosOf(peers: readonly Named[], rates: readonly number[]): Ratios {
  return new Map(peers.map(({ name }, at) => [name, (rates[0] ?? 0) / (rates[at] ?? 0)]))
}

/** The text of the service, then those of its peers with their names. */
export function sideBySide(peers: readonly Named[], texts: readonly string[], ratios?: Ratios): string {
  const parts = peers.map(({ name }, at) => {
    const ratio = ratios ? `: ${ratios.get(name)?.toFixed(2)} ×` : ''
    return at === 0 ? texts[at] : `${name} ${texts[at]}${ratio}`
  })
  return parts.join('; ')
}

/** A target whose peer is missing is not judged. */
export function verdict({ peer, ratioMin }: Target, ratios: Ratios): Pick<Row, 'target' | 'isMet'> {
  const ratio = ratios.get(peer)
  return { target: `≥ ${ratioMin} × ${peer}`, isMet: ratio === undefined ? null : ratio >= ratioMin }
}

export function formatClients(connections: number): string {
  return `${connections} client${connections === 1 ? '' : 's'}`
}

function formatRound({ requestsPerSecond, processorUsPerRequest, bytesEach }: Round): string {
  const size = bytesEach >= 100 ? `, ${formatCount(bytesEach / 1_000)} KB` : ''
  return `${formatCount(requestsPerSecond)}/s, ${formatCount(processorUsPerRequest)} us${size}`
}
