import { startLoad } from './load-process.ts'

export interface LoopedLoad {
  url: string
  headers: Record<string, string>
  method: string
  /** `{n}` stands for the number of the request, which makes each path another. */
  path: string
  /** Sent in turn. */
  bodies: string[]
  connections: number
  seconds: number
}

export interface LoopedResult {
  requestsPerSecond: number
  /** Requests with another answer than success. */
  failed: number
}

/** A load whose requests follow one another on each connection, in a process of its own. */
export async function applyLoop(load: LoopedLoad): Promise<number> {
  const { requestsPerSecond, failed } = await startLoad<LoopedLoad, LoopedResult>('looped-load.ts', load).done
  if (failed > 0) throw new Error(`${failed} requests of the load failed`)
  return requestsPerSecond
}
