import { applyLoad } from './load.ts'
import { processorSecondsOf } from './memory.ts'
import type { Running } from './processes.ts'

const warmUpSeconds = 2
const roundSeconds = 2

/** What one server did in one round. */
interface Round {
  requestsPerSecond: number
  /** Processor time of the main thread; hardly changes when other processes are busy. */
  processorUsPerRequest: number
}

export interface Ratio {
  /** Medians of the rounds. */
  service: Round
  ceiling: Round
  /** Each round's own ratio of requests a second, so that what slows both of a round does not count. */
  ratios: number[]
  /** The median of `ratios`. */
  ratio: number
}

interface RoundsOptions {
  service: Running
  ceiling: Running
  paths: string[]
  key: string
  rounds: number
}

/** Short rounds in turn, service and ceiling, so that a noisy neighbour meets both. */
export async function measureRatio({ service, ceiling, paths, key, rounds }: RoundsOptions): Promise<Ratio> {
  const measure = async ({ url, pid }: Running, seconds: number): Promise<Round> => {
    const before = processorSecondsOf(pid)
    const { requests, requestsPerSecond } = await applyLoad({ url, paths, key, seconds })
    const processorUsPerRequest = ((processorSecondsOf(pid) - before) * 1e6) / requests
    return { requestsPerSecond, processorUsPerRequest }
  }
  await measure(service, warmUpSeconds)
  await measure(ceiling, warmUpSeconds)
  const pairs: { service: Round; ceiling: Round }[] = []
  for (let round = 0; round < rounds; round++) {
    pairs.push({ service: await measure(service, roundSeconds), ceiling: await measure(ceiling, roundSeconds) })
  }
  const ratios = pairs.map((pair) => pair.service.requestsPerSecond / pair.ceiling.requestsPerSecond)
  return {
    service: medianRound(pairs.map((pair) => pair.service)),
    ceiling: medianRound(pairs.map((pair) => pair.ceiling)),
    ratios,
    ratio: median(ratios),
  }
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
