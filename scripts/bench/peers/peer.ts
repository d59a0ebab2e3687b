import type { Dataset } from '../../dataset.ts'
import type { Running } from '../../processes.ts'
import { ask } from '../../requests.ts'
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
  /** The newest 100 calls, all of them or those that match. */
  list?(query?: string): LoadRequest
}

/** The requests of a server whose calls are all below one path. */
export function requestsBelow(path: string, put: { path: string; key?: string } = { path }): PeerRequests {
  const { path: written, ...key } = put
  return {
    put: (id, call) => ({ method: 'PUT', path: `${written}/${id}`, body: JSON.stringify(call), ...key }),
    get: (id) => ({ path: `${path}/${id}` }),
    delete: (id) => ({ method: 'DELETE', path: `${path}/${id}` }),
    list: (query = '') => ({ path: `${path}?limit=100${query}` }),
  }
}

/** The service under test as a peer of others. */
export function asPeer(running: Running, { key, ingestKey }: Dataset): Peer {
  return {
    ...running,
    name: 'Callbook',
    key,
    requests: requestsBelow('/v1/calls', { path: '/ingest/calls', key: ingestKey }),
    isErased: async (id) => {
      const { status } = await ask<{ status: string }>(running.url, { path: `/v1/erasures/${id}`, key })
      return status === 'done'
    },
  }
}
