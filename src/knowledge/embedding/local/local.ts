import { Thread } from '../../../threads/thread.ts'
import { chunkerVersion } from '../../chunking/chunk.ts'
import { type Embedder, EmbeddingError, type EmbeddingKind } from '../embedder.ts'
import { prepareInput, traitsOf } from '../models.ts'
import { unlessAborted } from '../unless-aborted.ts'
import type { LocalModel } from './model-files.ts'
import type { ModelApi, ModelWorkerData } from './model-worker.ts'

const batchTextsMax = 16
const closeWithinMs = 5_000
/** After so many queries in a row, one document is embedded, so that queries cannot hold up documents forever. */
const queriesInRowMax = 8

interface LocalEmbedderOptions {
  /** The model's id or the name of its folder, which determines its prefixes. */
  name: string
  model: LocalModel
  /** The URL of the module `@huggingface/transformers`. */
  library: string
  /** Called with the outcome of every text. `error` names what went wrong, never a text. */
  observe?: (outcome: { durationMs: number; texts: number; error: string | null }) => void
}

/** Runs a model in a worker thread, one text at a time. Queries go before documents. */
export class LocalEmbedder implements Embedder {
  readonly space: string
  readonly destination: string
  readonly isLexical = false
  readonly batchTextsMax = batchTextsMax
  readonly batchesAtOnce = 1
  readonly #options: LocalEmbedderOptions
  readonly #traits: ReturnType<typeof traitsOf>
  readonly #thread: Thread<ModelApi, ModelWorkerData>
  readonly #waiting: Record<EmbeddingKind, (() => Promise<void>)[]> = { query: [], document: [] }
  #queriesInRow = 0
  #isRunning = false
  #dimensions: number | null = null

  constructor(options: LocalEmbedderOptions) {
    this.#options = options
    const { name, model, library } = options
    this.#traits = traitsOf(name)
    const { folder, digest, pooling = null } = model
    const way = pooling ?? this.#traits.pooling
    this.space = `local:${digest}/${this.#traits.prefixes}/${way}/normalised:chunks-v${chunkerVersion}`
    this.destination = `this process (local, ${name})`
    this.#thread = new Thread({
      script: new URL('./model-worker.ts', import.meta.url),
      name: 'The embedding model',
      data: () => ({ library, folder, pooling: way }),
      closeWithinMs,
    })
  }

  get dimensions(): number | null {
    return this.#dimensions
  }

  /** Loads the model, so that the first query does not wait for it. @throws when it cannot be loaded */
  async load(): Promise<void> {
    this.#dimensions = await this.#thread.ask('load')
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    if (signal.aborted) throw cancelled(signal)
    // The tokenizer cuts at the model's own limit.
    const traits = { ...this.#traits, tokensMax: null }
    const inputs = texts.map((text) => prepareInput(text, kind, traits))
    const vectors = inputs.map((text) => this.#enqueue(text, kind, signal))
    return await unlessAborted(Promise.all(vectors), signal, () => cancelled(signal))
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #enqueue(text: string, kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      this.#waiting[kind].push(() => this.#embedOne(text, signal).then(resolve, reject))
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    for (let next = this.#next(); next; next = this.#next()) await next()
    this.#isRunning = false
  }

  #next(): (() => Promise<void>) | undefined {
    const { query, document } = this.#waiting
    const isQuery = query.length > 0 && (this.#queriesInRow < queriesInRowMax || document.length === 0)
    this.#queriesInRow = isQuery ? this.#queriesInRow + 1 : 0
    return (isQuery ? query : document).shift()
  }

  async #embedOne(text: string, signal: AbortSignal): Promise<Float32Array> {
    if (signal.aborted) throw cancelled(signal)
    const startedAt = performance.now()
    const report = (error: string | null) =>
      this.#options.observe?.({ durationMs: performance.now() - startedAt, texts: 1, error })
    try {
      const vector = this.#checked(await this.#thread.ask('embed', text))
      report(null)
      return vector
    } catch (error) {
      const failure = error instanceof EmbeddingError ? error : failed(error)
      report(failure.message)
      throw failure
    }
  }

  #checked(vector: Float32Array): Float32Array {
    this.#dimensions ??= vector.length
    if (vector.length === this.#dimensions && vector.every(Number.isFinite)) return vector
    throw new EmbeddingError('The embedding model made a vector that is not one of its dimensions', {
      mayBeText: true,
    })
  }
}

function failed(cause: unknown): EmbeddingError {
  return new EmbeddingError('The embedding model failed', { mayBeText: true, cause })
}

function cancelled({ reason }: AbortSignal): EmbeddingError {
  return new EmbeddingError('Embedding was cancelled', { cause: reason })
}
