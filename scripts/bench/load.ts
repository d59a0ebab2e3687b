import { type LoadRun, startLoad } from './load-process.ts'

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
  /** Sent in this order, again and again. `{n}` stands for the number of the request, counted from 0. */
  requests: LoadRequest[]
  connections: number
  seconds: number
  /** The most requests. */
  count?: number
}

export interface LoadResult {
  seconds: number
  sent: number
  /** Requests that succeeded. */
  served: number
  /** Requests that were answered 503. */
  refused: number
  failed: number
  perSecond: number
  /** Of the answers to successful requests. */
  bytesEach: number
  p50Ms: number
  p99Ms: number
}

/** Requests over some connections, each the next one as soon as the one before is answered. */
export function startLoop(load: Load): LoadRun<LoadResult> {
  return startLoad('loop-load.ts', load)
}

/** @throws unless all requests succeed */
export async function applyLoad(load: Load): Promise<LoadResult> {
  const result = await startLoop(load).done
  const { sent, refused, failed } = result
  if (refused + failed > 0) throw new Error(`${refused + failed} of ${sent} requests of the load failed`)
  return result
}
