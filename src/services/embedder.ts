import { sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import type { OpenDatabase } from '../db/open.ts'
import type { TextThreads } from '../knowledge/chunking/text-threads.ts'
import { createBuiltinEmbedder } from '../knowledge/embedding/builtin.ts'
import type { Embedder } from '../knowledge/embedding/embedder.ts'
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
      return await openHuggingFaceEmbedder(parts)
    default:
      // A provider that the configuration knows and this list does not is a type error.
      throw new Error(`No embedder for the provider ${provider satisfies never}`)
  }
}

async function openHuggingFaceEmbedder({ config, metrics, database }: EmbedderParts): Promise<Embedder> {
  // Loaded only when it is used: Hugging Face's client is large.
  const { HuggingFaceEmbedder, spaceOf } = await import('../knowledge/embedding/huggingface.ts')
  const { model, endpoint, token } = config.embedding
  return new HuggingFaceEmbedder({
    model,
    endpoint,
    token,
    dimensions: await dimensionsInRows(database, spaceOf(model)),
    observe: (outcome) => metrics.observeEmbedding(outcome),
  })
}

async function dimensionsInRows({ read }: OpenDatabase, space: string): Promise<number | null> {
  const [row] = await read.all<{ n: number }>(sql`
    select length(embedding) / ${Float32Array.BYTES_PER_ELEMENT} as n from chunks
    where project_id in (select id from projects) and embedding_space = ${space} limit 1`)
  return row?.n ?? null
}
