import { sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { TextThreads } from '../knowledge/chunking/text-threads.ts'
import { createBuiltinEmbedder } from '../knowledge/embedding/builtin.ts'
import type { Embedder } from '../knowledge/embedding/embedder.ts'
import type { EmbeddingFormat } from '../knowledge/embedding/formats.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'

interface EmbedderParts {
  config: Config
  metrics: Metrics
  database: OpenDatabase
  textThreads: TextThreads
  log: Log
  role: 'service' | 'command'
}

/** The embedder that the configuration names. */
export async function createEmbedder(parts: EmbedderParts): Promise<Embedder> {
  const { textThreads } = parts
  const { provider } = parts.config.embedding
  switch (provider) {
    case 'builtin':
      return createBuiltinEmbedder({ embedDocuments: (texts) => textThreads.embed(texts) })
    case 'local': {
      const { openLocalEmbedder } = await import('./local-embedder.ts')
      return await openLocalEmbedder(parts)
    }
    case 'huggingface':
    case 'openai':
      return await openRemoteEmbedder(parts, provider)
    default:
      // A provider that the configuration knows and this list does not is a type error.
      throw new Error(`No embedder for the provider ${provider satisfies never}`)
  }
}

async function openRemoteEmbedder(
  { config, metrics, database }: EmbedderParts,
  format: EmbeddingFormat,
): Promise<Embedder> {
  // Loaded only when it is used: Hugging Face's client is large.
  const { RemoteEmbedder, spaceOf } = await import('../knowledge/embedding/remote.ts')
  const { model, endpoint, token } = config.embedding
  return new RemoteEmbedder({
    format,
    model,
    endpoint,
    token,
    dimensions: await dimensionsInRows(database, spaceOf(format, model)),
    observe: (outcome) => metrics.observeEmbedding(outcome),
  })
}

async function dimensionsInRows({ read }: OpenDatabase, space: string): Promise<number | null> {
  const [row] = await read.all<{ n: number }>(sql`
    select length(embedding) / ${Float32Array.BYTES_PER_ELEMENT} as n from chunks
    where project_id in (select id from projects) and embedding_space = ${space} limit 1`)
  return row?.n ?? null
}
