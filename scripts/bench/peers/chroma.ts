import { freePort, type Running, startProgram } from '../../processes.ts'
import { ask } from '../../requests.ts'
import { temporaryFolder } from '../../temporary.ts'
import type { ChunkRow } from '../retrieval/recall.ts'
import type { Peer } from './peer.ts'

const chunksPerRequest = 1_000
const collections = '/api/v2/tenants/default_tenant/databases/default_database/collections'

/** Chroma without a collection; a sentence when it is not installed. */
export async function startChroma(): Promise<Running | string> {
  const program = Bun.which('chroma')
  if (!program) return 'Chroma is not installed: pip install chromadb, with chroma in PATH.'
  const port = String(await freePort())
  const args = ['run', '--path', temporaryFolder('run'), '--host', '127.0.0.1', '--port', port]
  return startProgram(program, args, { address: `http://127.0.0.1:${port}`, ready: '/api/v2/heartbeat' })
}

/** Chroma with the chunks, which have ids by their place. */
export async function fillChroma(running: Running, chunks: readonly ChunkRow[]): Promise<Peer> {
  const body = { name: 'chunks', configuration: { hnsw: { space: 'cosine' } } }
  const made = await ask<{ id: string }>(running.url, { path: collections, key: '', body })
  const collection = `${collections}/${made.id}`
  for (let from = 0; from < chunks.length; from += chunksPerRequest) {
    const part = chunks.slice(from, from + chunksPerRequest)
    const body = {
      ids: part.map((_, index) => String(from + index)),
      documents: part.map(({ text }) => text),
      embeddings: part.map(({ vector }) => Array.from(vector)),
    }
    await ask(running.url, { path: `${collection}/add`, key: '', body })
  }
  return {
    ...running,
    name: 'Chroma',
    key: '',
    requests: {
      search: (_, vector) => ({
        method: 'POST',
        path: `${collection}/query`,
        body: JSON.stringify({
          query_embeddings: [Array.from(vector)],
          n_results: 10,
          include: ['documents', 'distances'],
        }),
      }),
    },
  }
}
