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
  /** Of a person's session, which has no key. */
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
}

/** @throws unless all requests succeed */
export async function measure(
  { pid, url }: Pick<Running, 'pid' | 'url'>,
  load: Omit<Load, 'url'>,
): Promise<Measured> {
  const before = processOf(pid).processorSeconds
  const result = await runLoad({ ...load, url })
  const { sent, served } = result
  if (served < sent) throw new Error(`${sent - served} of ${sent} requests of the load failed`)
  await sleep(settleMs)
  return { ...result, usEach: ((processOf(pid).processorSeconds - before) * 1e6) / served }
}

export type Figures = Pick<Measured, 'perSecond' | 'bytesEach' | 'p50Ms' | 'p99Ms' | 'usEach'>

/** The median of each figure over some rounds. */
export function medianOf(rounds: readonly Measured[]): Figures {
  const of = (name: keyof Figures) => median(rounds.map((round) => round[name]))
  const [p50Ms, p99Ms, usEach] = [of('p50Ms'), of('p99Ms'), of('usEach')]
  return { perSecond: of('perSecond'), bytesEach: of('bytesEach'), p50Ms, p99Ms, usEach }
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
