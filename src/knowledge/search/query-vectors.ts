import { LRUCache } from 'lru-cache'
import { type Embedder, EmbeddingError } from '../embedding/embedder.ts'

const cachedVectorsMax = 2_000
/** Queries under way at once: of more, the last would wait longer than an agent can. */
const underWayMax = 64
/** How long a query's vector is waited for when the search that asked for it has been answered without. */
const embeddingMsMax = 10_000

/**
 * Vectors of queries: kept for the next time, asked for once however many want the same one at a time. An
 * embedding is not given up when its search is: it is there when the same question is asked again.
 */
export class QueryVectors {
  readonly #embedder: Embedder
  readonly #cached = new LRUCache<string, Float32Array>({ max: cachedVectorsMax })
  readonly #underWay = new Map<string, Promise<Float32Array>>()
  readonly #closing = new AbortController()

  constructor(embedder: Embedder) {
    this.#embedder = embedder
  }

  /** @throws EmbeddingError when the query cannot be embedded now. */
  async of(query: string): Promise<Float32Array> {
    const key = query.normalize('NFC')
    const cached = this.#cached.get(key)
    if (cached) return cached
    const underWay = this.#underWay.get(key)
    if (underWay) return underWay
    if (this.#underWay.size >= underWayMax) throw new EmbeddingError('Too many queries are being embedded')
    const embedding = this.#embed(key).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, embedding)
    return embedding
  }

  /** Gives up what is still under way. */
  close(): void {
    this.#closing.abort(new Error('The service is closing'))
  }

  async #embed(query: string): Promise<Float32Array> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(embeddingMsMax)])
    const [vector] = await this.#embedder.embed([query], 'query', signal)
    if (!vector) throw new EmbeddingError('The embedder answered no vector')
    this.#cached.set(query, vector)
    return vector
  }
}
