import type { LoadRequest } from './load.ts'
import { type LoadRun, startLoad } from './load-process.ts'

export interface PacedLoad {
  url: string
  key: string
  /** Sent in this order, `repeats` times at most. */
  requests: LoadRequest[]
  repeats: number
  requestsPerSecond: number
  secondsMax: number
}

export interface PacedResult {
  latenciesMs: number[]
  /** Requests that failed or were not answered. */
  failed: number
}

/** Starts a load at a fixed rate. */
export function startPaced(load: PacedLoad): LoadRun<PacedResult> {
  return startLoad('paced-load.ts', load)
}

export interface Latency {
  p50: number
  p99: number
  max: number
  count: number
  failed: number
}

export function latencyOf(results: PacedResult[]): Latency {
  const sorted = results.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
  const failed = results.reduce((sum, result) => sum + result.failed, 0)
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? Number.NaN, count: sorted.length, failed }
}
