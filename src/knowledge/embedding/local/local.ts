import { Thread } from '../../../threads/thread.ts'
import { chunkerVersion } from '../../chunking/chunk.ts'
import { type Embedder, EmbeddingError, type EmbeddingKind } from '../embedder.ts'
import { prepareInput, traitsOf } from '../models.ts'
import { unlessAborted } from '../unless-aborted.ts'
import type { LocalModel } from './model-folder.ts'
import type { LoadedModel, ModelApi, ModelProgress, ModelWorkerData } from './model-worker.ts'

const closeWithinMs = 5_000

interface LocalEmbedderOptions {
  /** The model's id or the name of its folder, which determines its prefixes. */
  name: string
  model: LocalModel
  /** The URL of the module `@huggingface/transformers`. */
  library: string
  /** Called with the outcome of every text. `error` names what went wrong, never a text. */
  observe?: (outcome: { durationMs: number; texts: number; error: string | null }) => void
}

/** Runs a model in a worker thread, one text at a time. */
export class LocalEmbedder implements Embedder {
  readonly space: string
  readonly destination: string
  readonly isLexical = false
  readonly batchTextsMax = 16
  readonly batchesAtOnce = 1
  readonly #observe: LocalEmbedderOptions['observe']
  readonly #traits: ReturnType<typeof traitsOf>
  readonly #model: LoadedModel
  readonly #thread: ReturnType<typeof openThread>
  #documents: Promise<unknown> = Promise.resolve()
  #dimensions: number | null = null

  constructor({ name, model, library, observe }: LocalEmbedderOptions) {
    // The tokenizer cuts at the model's own limit.
    this.#traits = { ...traitsOf(name), tokensMax: null }
    const { folder, digest, pooling } = model
    const way = pooling ?? this.#traits.pooling
    this.#model = { folder, pooling: way }
    this.space = `local:${digest}/${this.#traits.prefixes}/${way}/normalised:chunks-v${chunkerVersion}`
    this.destination = `this process (local, ${name})`
    this.#thread = openThread(library)
    this.#observe = observe
  }

  get dimensions(): number | null {
    return this.#dimensions
  }

  /** Loads the model, so that the first query does not wait for it. @throws when it cannot be loaded */
  async load(): Promise<void> {
    this.#dimensions = (await this.#thread.ask('embed', ' ', this.#model)).length
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    const cancelled = () => new EmbeddingError('Embedding was cancelled', { cause: signal.reason })
    const embedOne = async (text: string) => {
      if (signal.aborted) throw cancelled()
      return await this.#embedOne(prepareInput(text, kind, this.#traits))
    }
    const vectors = texts.map((text) =>
      kind === 'query' ? embedOne(text) : this.#afterDocuments(() => embedOne(text)),
    )
    return await unlessAborted(Promise.all(vectors), signal, cancelled)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  /** The thread has one document at a time, so that a query waits for no other. */
  #afterDocuments(embed: () => Promise<Float32Array>): Promise<Float32Array> {
    const vector = this.#documents.then(embed)
    this.#documents = vector.catch(() => null)
    return vector
  }

  async #embedOne(text: string): Promise<Float32Array> {
    const startedAt = performance.now()
    const report = (error: string | null) =>
      this.#observe?.({ durationMs: performance.now() - startedAt, texts: 1, error })
    try {
      const vector = await this.#thread.ask('embed', text, this.#model)
      this.#dimensions ??= vector.length
      if (vector.length !== this.#dimensions || !vector.every(Number.isFinite))
        throw new Error('It made a vector that is not one of its dimensions')
      report(null)
      return vector
    } catch (cause) {
      const message = 'The embedding model failed'
      report(message)
      throw new EmbeddingError(message, { mayBeText: true, cause })
    }
  }
}

/** Downloads a model into its folder below `cacheDir`. @throws when it cannot be downloaded or loaded */
export async function downloadModel(options: {
  model: string
  library: string
  hub: string
  cacheDir: string
  onProgress: (progress: ModelProgress) => void
}): Promise<void> {
  const { model, library, hub, cacheDir, onProgress } = options
  const thread = openThread(library, onProgress)
  await thread.ask('download', model, hub, cacheDir).finally(() => thread.close())
}

function openThread(library: string, onEvent?: (progress: ModelProgress) => void) {
  return new Thread<ModelApi, ModelWorkerData, ModelProgress>({
    script: new URL('./model-worker.ts', import.meta.url),
    name: 'The embedding model',
    data: () => ({ library }),
    closeWithinMs,
    ...(onEvent ? { onEvent } : {}),
  })
}
