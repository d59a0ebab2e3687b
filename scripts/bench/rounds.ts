import { setTimeout as sleep } from 'node:timers/promises'
import { applyLoad, type Load } from './load.ts'
import { processOf } from './memory.ts'
import type { Running } from './processes.ts'

const connectionsDefault = 16
const warmUpSeconds = 2
const roundSeconds = 2
/** For the work that follows a write's answer. */
const settleMs = 200

/** What one server did in one round. */
export interface Round {
  requestsPerSecond: number
  /** Of the server with all its threads and children, also after the answers. */
  processorUsPerRequest: number
  bytesEach: number
}

export interface Ratio {
  /** Medians of the rounds. */
  service: Round
  ceiling: Round
  /** Requests a second of the service over those of the ceiling, one ratio a round. */
  ratios: number[]
  /** The median of `ratios`. */
  ratio: number
}

export interface Target {
  pid: number
  /** The load of a round. Round -1 warms up. */
  load(round: number): Omit<Load, 'seconds'>
}

interface RatioOptions {
  service: Running
  ceiling: Running
  paths: string[]
  key: string
  rounds: number
}

export async function measureRatio({ service, ceiling, paths, key, rounds }: RatioOptions): Promise<Ratio> {
  const targets = [service, ceiling].map((server) => readsOf(server, paths, key))
  const [ours = [], theirs = []] = await measureInTurn(targets, rounds)
  return ratioOf(ours, theirs)
}

/** GETs of the paths in turn. */
export function readsOf({ url, pid }: Running, paths: string[], key: string): Target {
  const requests = paths.map((path) => ({ path }))
  const load = { url, requests, key, connections: connectionsDefault }
  return { pid, load: () => load }
}

export function ratioOf(service: Round[], ceiling: Round[]): Ratio {
  const ratios = service.map(
    (round, index) => round.requestsPerSecond / (ceiling[index]?.requestsPerSecond ?? 0),
  )
  return { service: medianRound(service), ceiling: medianRound(ceiling), ratios, ratio: median(ratios) }
}

/** Alternates between the targets in short rounds, so that other load affects all of them. Returns each target's rounds. */
export async function measureInTurn(targets: readonly Target[], rounds: number): Promise<Round[][]> {
  for (const target of targets) await measure(target, -1, warmUpSeconds)
  const results: Round[][] = targets.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, target] of targets.entries()) {
      results[index]?.push(await measure(target, round, roundSeconds))
    }
  }
  return results
}

async function measure({ pid, load }: Target, round: number, seconds: number): Promise<Round> {
  const before = processOf(pid).processorSeconds
  const { served, perSecond, bytesEach } = await applyLoad({ ...load(round), seconds })
  await sleep(settleMs)
  const processorUsPerRequest = ((processOf(pid).processorSeconds - before) * 1e6) / served
  return { requestsPerSecond: perSecond, processorUsPerRequest, bytesEach }
}

export function medianRound(rounds: Round[]): Round {
  const medianOf = (name: keyof Round) => median(rounds.map((round) => round[name]))
  return {
    requestsPerSecond: medianOf('requestsPerSecond'),
    processorUsPerRequest: medianOf('processorUsPerRequest'),
    bytesEach: medianOf('bytesEach'),
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
