import type { Running } from '../../processes.ts'
import type { LoadRequest } from '../load.ts'
import type { MadeCall } from '../made-calls.ts'

/** A server that is compared, and how it is asked. */
export interface Peer extends Running {
  name: string
  key: string
  requests: PeerRequests
  /** Whether no byte of a deleted call is left. A peer without it only marks rows as free. */
  isErased?(id: string): Promise<boolean>
  /** What it does in the background after many writes. */
  analyze?(): void
  /** Writes what it would write later. */
  checkpoint?(): void
}

/** A peer lacks the requests that it cannot answer. */
export interface PeerRequests {
  put?(id: string, call: MadeCall['call']): LoadRequest
  get?(id: string): LoadRequest
  delete?(id: string): LoadRequest
  /** The newest 100 calls. */
  list?(): LoadRequest
  /** The newest 100 calls with this status and evaluation. */
  filter?(status: string, evaluation: string): LoadRequest
  /** The newest 100 calls with this word. */
  word?(word: string): LoadRequest
  /** The 10 nearest passages. A peer that does not embed takes the vector. */
  search?(query: string, vector: Float32Array): LoadRequest
}
