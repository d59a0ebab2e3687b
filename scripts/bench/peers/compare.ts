import type { LoadRequest } from '../load.ts'
import { measureInTurn, medianRound, type Round, ratioOf } from '../rounds.ts'
import { formatCount, type Row } from '../table.ts'
import type { Peer } from './peer.ts'

export interface Comparison {
  what: string
  connections: number
  /** What a peer is asked in a round; undefined when it cannot. */
  requests(peer: Peer, round: number): LoadRequest[] | undefined
  /** The least ratio of our rate to that of a peer. */
  target?: { peer: string; ratioMin: number }
}

/** Loads the peers in turn: the first is the service. */
export async function compare(
  peers: readonly Peer[],
  { what, connections, requests, target }: Comparison,
  rounds: number,
): Promise<Row> {
  const able = peers.filter((peer) => requests(peer, 0))
  const targets = able.map((peer) => ({
    pid: peer.pid,
    load: (round: number) => ({
      url: peer.url,
      key: peer.key,
      requests: requests(peer, round) ?? [],
      connections,
    }),
  }))
  const [ours = [], ...others] = await measureInTurn(targets, rounds)
  const names = able.slice(1).map(({ name }) => name)
  const ratios = new Map(names.map((name, index) => [name, ratioOf(ours, others[index] ?? []).ratio]))
  const theirs = names.map(
    (name, index) =>
      `${name} ${formatRound(medianRound(others[index] ?? []))}: ${ratios.get(name)?.toFixed(2)} ×`,
  )
  return {
    what: `${what}, ${formatClients(connections)}`,
    measured: [formatRound(medianRound(ours)), ...theirs].join('; '),
    ...verdict(target, ratios),
  }
}

/** A target whose peer is missing is not judged. */
export function verdict(
  target: Comparison['target'],
  ratios: ReadonlyMap<string, number>,
): Pick<Row, 'target' | 'isMet'> {
  const ratio = target && ratios.get(target.peer)
  return {
    target: target ? `≥ ${target.ratioMin} × ${target.peer}` : 'reported',
    isMet: ratio === undefined ? null : ratio >= (target?.ratioMin ?? 0),
  }
}

export function formatClients(connections: number): string {
  return `${connections} client${connections === 1 ? '' : 's'}`
}

function formatRound({ requestsPerSecond, processorUsPerRequest, bytesEach }: Round): string {
  const size = bytesEach > 0 ? `, ${formatCount(bytesEach / 1_000)} KB` : ''
  return `${formatCount(requestsPerSecond)}/s, ${formatCount(processorUsPerRequest)} us${size}`
}
