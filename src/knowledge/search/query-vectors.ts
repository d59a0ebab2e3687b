import { LRUCache } from 'lru-cache'
import { type Embedder, EmbeddingError } from '../embedding/embedder.ts'

const cachedVectorsMax = 2_000
/** Queries embedded at once. With more of them, the last one would take longer than an agent can wait. */
const underWayMax = 64
const embeddingMsMax = 10_000

/**
 * Vectors of queries. A project's searches for the same query share one embedding. It goes on when a search is answered
 * without it, and is cached for the next search. Projects share nothing: a fast answer would tell what another one asked.
 */
export class QueryVectors {
  readonly #embedder: Embedder
  readonly #vectors = new LRUCache<string, Float32Array, string>({
    max: cachedVectorsMax,
    fetchMethod: (_, __, { context: query }) => this.#embed(query),
    ignoreFetchAbort: true,
  })
  readonly #closing = new AbortController()
  #underWay = 0

  constructor(embedder: Embedder) {
    this.#embedder = embedder
  }

  /** @throws EmbeddingError when the query cannot be embedded now */
  async of(projectId: number, query: string): Promise<Float32Array> {
    const context = query.normalize('NFC')
    const vector = await this.#vectors.fetch(`${projectId} ${context}`, { context })
    if (!vector) throw new EmbeddingError('The embedder answered no vector')
    return vector
  }

  /** Aborts the requests in flight. */
  close(): void {
    this.#closing.abort(new Error('The service is closing'))
  }

  async #embed(query: string): Promise<Float32Array | undefined> {
    if (this.#underWay >= underWayMax) throw new EmbeddingError('Too many queries are being embedded')
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(embeddingMsMax)])
    this.#underWay++
    try {
      const [vector] = await this.#embedder.embed([query], 'query', signal)
      return vector
    } finally {
      this.#underWay--
    }
  }
}
