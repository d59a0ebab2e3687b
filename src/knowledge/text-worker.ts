import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from '../thread-priority.ts'
import { type ChunkRows, toChunkRows } from './chunking/chunk-rows.ts'
import { createBuiltinEmbedder } from './embedding/builtin.ts'

/** Work on long texts, on a thread of its own: see text-work.ts. */
export type TextRequest = { id: number } & (
  | { method: 'toChunkRows'; text: string }
  | { method: 'embed'; texts: readonly string[] }
)

export type TextReply = { id: number } & ({ value: ChunkRows | Float32Array[] } | { error: string })

const port = parentPort
if (!port) throw new Error('text-worker.ts runs as a worker thread only')
const { niceness }: { niceness: number } = workerData
if (niceness > 0) lowerPriority(niceness)
const embedder = createBuiltinEmbedder()
const never = new AbortController().signal

port.on('message', async (request: TextRequest) => {
  const { id } = request
  try {
    port.postMessage({ id, value: await run(request) } satisfies TextReply)
  } catch (error) {
    port.postMessage({ id, error: String(error) } satisfies TextReply)
  }
})

async function run(request: TextRequest): Promise<ChunkRows | Float32Array[]> {
  if (request.method === 'toChunkRows') return toChunkRows(request.text)
  return embedder.embed(request.texts, 'document', never)
}
