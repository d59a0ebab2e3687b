import { applyLoad } from './load.ts'
import { processorSecondsOf } from './memory.ts'
import type { Running } from './processes.ts'

const warmUpSeconds = 2
const roundSeconds = 2

/** What one server did in one round. */
export interface Round {
  requestsPerSecond: number
  /** Of the main thread. Other busy processes hardly change it. */
  processorUsPerRequest: number
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

interface Target {
  server: Running
  paths: string[]
  key: string
}

interface RatioOptions {
  service: Running
  ceiling: Running
  paths: string[]
  key: string
  rounds: number
}

export async function measureRatio({ service, ceiling, paths, key, rounds }: RatioOptions): Promise<Ratio> {
  const targets = [service, ceiling].map((server) => ({ server, paths, key }))
  const [ours = [], theirs = []] = await measureInTurn(targets, rounds)
  return ratioOf(ours, theirs)
}

export function ratioOf(service: Round[], ceiling: Round[]): Ratio {
  const ratios = service.map(
    (round, index) => round.requestsPerSecond / (ceiling[index]?.requestsPerSecond ?? 0),
  )
  return { service: medianRound(service), ceiling: medianRound(ceiling), ratios, ratio: median(ratios) }
}

/** Alternates between the targets in short rounds, so that other load affects all of them. Returns each target's rounds. */
export async function measureInTurn(targets: Target[], rounds: number): Promise<Round[][]> {
  for (const target of targets) await measure(target, warmUpSeconds)
  const results: Round[][] = targets.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, target] of targets.entries()) {
      results[index]?.push(await measure(target, roundSeconds))
    }
  }
  return results
}

async function measure({ server: { url, pid }, paths, key }: Target, seconds: number): Promise<Round> {
  const before = processorSecondsOf(pid)
  const { requests, requestsPerSecond } = await applyLoad({
    ...{ url, key, seconds },
    requests: paths.map((path) => ({ path })),
  })
  const processorUsPerRequest = ((processorSecondsOf(pid) - before) * 1e6) / requests
  return { requestsPerSecond, processorUsPerRequest }
}

function medianRound(rounds: Round[]): Round {
  return {
    requestsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
    processorUsPerRequest: median(rounds.map((round) => round.processorUsPerRequest)),
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
