import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { processOf } from '../process-use.ts'
import { killOnExit, type Running } from '../processes.ts'

/** For the work that follows a write's answer. */
const settleMs = 200

export interface LoadRequest {
  /** GET by default. */
  method?: string
  path: string
  /** JSON. */
  body?: string
  /** Instead of that of the load. */
  key?: string
}

export interface Load {
  url: string
  key: string
  /** Of a person's session, which requests of the console have instead of a key. */
  cookie?: string
  /** Sent in this order, again and again. `{n}` stands for the number of the request, counted from 0. */
  requests: LoadRequest[]
  connections: number
  seconds: number
  /** The most requests. */
  count?: number
  /** A steady rate; by default each connection sends its next request once the one before is answered. */
  perSecond?: number
}

export interface LoadResult {
  sent: number
  /** Requests that succeeded. */
  served: number
  /** Requests that were answered 503. */
  refused: number
  failed: number
  /** Of the requests that succeeded; so are the next ones. */
  perSecond: number
  bytesEach: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** Applies the load from a process of its own, so that the benchmark does not delay it. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const script = fileURLToPath(new URL('load-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  killOnExit(child)
  child.stdin.end(JSON.stringify(load))
  return JSON.parse(await text(child.stdout))
}

/** What a server did under a load. */
export interface Measured extends LoadResult {
  /** Microseconds of processor a request, of the server with all its threads and children, also after the answers. */
  usEach: number
  /** Bytes that the server has written a request. */
  writtenEach: number
}

/** @throws unless all requests succeed */
export async function measure(
  { pid, url }: Pick<Running, 'pid' | 'url'>,
  load: Omit<Load, 'url'>,
  afterwards: (served: number) => Promise<void> = () => sleep(settleMs),
): Promise<Measured> {
  const before = processOf(pid)
  const result = await runLoad({ ...load, url })
  const { sent, served } = result
  if (served < sent) throw new Error(`${sent - served} of ${sent} requests of the load failed`)
  await afterwards(served)
  const after = processOf(pid)
  return {
    ...result,
    usEach: ((after.processorSeconds - before.processorSeconds) * 1e6) / served,
    writtenEach: (after.bytesWritten - before.bytesWritten) / served,
  }
}

/** The median of each figure over some rounds. */
export function medianOf([first, ...rest]: readonly [Measured, ...Measured[]]): Measured {
  const names = Object.keys(first) as (keyof Measured)[]
  const medians = names.map((name) => [name, median([first, ...rest].map((round) => round[name]))])
  // The names are those of the first.
  return Object.fromEntries(medians) as Measured
}

export function formatLatency({ p50Ms, p99Ms }: Pick<Measured, 'p50Ms' | 'p99Ms'>): string {
  return `p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms`
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** The least value that this share of all does not exceed. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
