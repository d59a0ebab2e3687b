import type { Core } from '../../core/core.ts'
import type { Embedder } from './embedder.ts'
import { unlessAborted } from './unless-aborted.ts'

/** Requests that wait for vectors at once. The texts of further ones are embedded after they are stored. */
const requestsMax = 200

/** Embeds texts before they are stored, for a limited time. */
export class EarlyEmbedder {
  readonly #parts: Core & { embedder: Embedder }
  readonly #closing = new AbortController()
  #underWay = 0

  constructor(core: Core, parts: { embedder: Embedder }) {
    this.#parts = { ...core, ...parts }
  }

  /** The embedding space of the vectors. */
  get space(): string {
    return this.#parts.embedder.space
  }

  /** @returns the vectors, by text, that have arrived when `timeoutMs` is over or the embedder has failed */
  async embed(texts: readonly string[], timeoutMs: number): Promise<Map<string, Float32Array>> {
    const vectors = new Map<string, Float32Array>()
    if (this.#underWay >= requestsMax || timeoutMs <= 0) return vectors
    this.#underWay++
    const stop = new AbortController()
    const late = AbortSignal.timeout(Math.ceil(timeoutMs))
    const signal = AbortSignal.any([this.#closing.signal, late, stop.signal])
    try {
      await unlessAborted(this.#embedAll(texts, vectors, signal), signal, () => signal.reason)
    } catch (error) {
      // The caller stores its texts without vectors, and the indexer tries again.
      if (!this.#closing.signal.aborted)
        this.#parts.log.warn({ error, texts: texts.length - vectors.size }, 'Texts were not embedded yet')
    } finally {
      stop.abort()
      this.#underWay--
    }
    // A copy: what arrives later must not change it.
    return new Map(vectors)
  }

  /** Aborts the requests in flight. */
  close(): void {
    this.#closing.abort(new Error('The service is closing'))
  }

  async #embedAll(
    texts: readonly string[],
    vectors: Map<string, Float32Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const { embedder } = this.#parts
    const queue = [...texts]
    const embedSome = async () => {
      while (queue.length > 0 && !signal.aborted) {
        const batch = queue.splice(0, embedder.batchTextsMax)
        const batchVectors = await embedder.embed(batch, 'document', signal)
        for (const [at, vector] of batchVectors.entries()) vectors.set(batch[at] ?? '', vector)
      }
    }
    await Promise.all(Array.from({ length: embedder.batchesAtOnce }, embedSome))
  }
}
