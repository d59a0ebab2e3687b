import { freePort, type Running, startProgram } from '../processes.ts'
import { bodyOf } from '../requests.ts'
import type { ChunkRow } from '../retrieval/recall.ts'
import { temporaryFolder } from '../temporary.ts'
import type { Peer } from './peer.ts'

const chunksPerRequest = 1_000
const neighbours = 10
const database = '/api/v2/tenants/default_tenant/databases/default_database/collections'

/** Chroma without a collection; a sentence when it is not installed. */
export async function startChroma(): Promise<Running | string> {
  const program = Bun.which('chroma')
  if (!program) return 'Chroma is not installed: pip install chromadb, with chroma in PATH.'
  const port = await freePort()
  const args = ['run', '--path', temporaryFolder('run'), '--host', '127.0.0.1', '--port', String(port)]
  return startProgram(program, args, { url: `http://127.0.0.1:${port}`, ready: '/api/v2/heartbeat' })
}

/** Chroma with the chunks, which have ids by their place. */
export async function fillChroma(running: Running, chunks: readonly ChunkRow[]): Promise<Peer> {
  const post = (path: string, body: object) =>
    bodyOf(running.url, { method: 'POST', path: database + path, key: '', body })
  const made = await post('', { name: 'chunks', configuration: { hnsw: { space: 'cosine' } } })
  const { id }: { id: string } = JSON.parse(made)
  for (let from = 0; from < chunks.length; from += chunksPerRequest) {
    const part = chunks.slice(from, from + chunksPerRequest)
    await post(`/${id}/add`, {
      ids: part.map((_, index) => String(from + index)),
      documents: part.map(({ text }) => text),
      embeddings: part.map(({ vector }) => Array.from(vector)),
    })
  }
  return {
    ...running,
    name: 'Chroma',
    key: '',
    requests: {
      search: (_, vector) => ({
        method: 'POST',
        path: `${database}/${id}/query`,
        body: JSON.stringify({
          query_embeddings: [Array.from(vector)],
          n_results: neighbours,
          include: ['documents', 'distances'],
        }),
      }),
    },
  }
}
