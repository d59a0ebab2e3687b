import { type Dataset, makeDataset } from '../../dataset.ts'
import { type Running, startService } from '../../processes.ts'
import { ask } from '../../requests.ts'
import { temporaryFolder } from '../../temporary.ts'
import type { Peer } from './peer.ts'

/** The service under test, with one empty project. */
export async function startCallbook(): Promise<Peer & { dataset: Dataset }> {
  const dataset = await makeDataset({ folder: temporaryFolder('run') })
  return { ...asPeer(await startService(dataset.folder), dataset), dataset }
}

export function asPeer(running: Running, { key, ingestKey }: Dataset): Peer {
  const list = '/v1/calls?limit=100'
  return {
    ...running,
    name: 'Callbook',
    key,
    requests: {
      put: (id, call) => ({
        method: 'PUT',
        path: `/ingest/calls/${id}`,
        body: JSON.stringify(call),
        key: ingestKey,
      }),
      get: (id) => ({ path: `/v1/calls/${id}` }),
      delete: (id) => ({ method: 'DELETE', path: `/v1/calls/${id}` }),
      list: () => ({ path: list }),
      filter: (status, evaluation) => ({ path: `${list}&status=${status}&evaluation=${evaluation}` }),
      word: (word) => ({ path: `${list}&text=${word}` }),
      search: (query) => searchRequest(query, 'vector'),
    },
    isErased: async (id) => {
      const { status } = await ask<{ status: string }>(running.url, { path: `/v1/erasures/${id}`, key })
      return status === 'done'
    },
  }
}

export function searchRequest(query: string, mode: string) {
  const body = JSON.stringify({ query, mode, limit: 10, timeoutMs: 10_000 })
  return { method: 'POST', path: '/v1/knowledge/search', body }
}
