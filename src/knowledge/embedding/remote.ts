import { chunkerVersion } from '../chunking/chunk.ts'
import { Circuit, type CircuitOptions } from './circuit.ts'
import type { Embedder, EmbeddingKind } from './embedder.ts'
import { RequestFailure } from './failures.ts'
import { type EmbeddingFormat, type EmbeddingServer, embeddingServer } from './formats.ts'
import { type ModelTraits, prepareInput, traitsOf, traitsOfName } from './models.ts'
import { readVectors } from './pooling.ts'

export interface RemoteOptions extends Partial<CircuitOptions> {
  format: EmbeddingFormat
  /** Model id on the Hugging Face hub, such as `BAAI/bge-small-en-v1.5`, or the server's name for it with `openai`. */
  model: string
  /** URL of an endpoint or a server; null for Hugging Face's hosted service. */
  endpoint: string | null
  token: string | null
  /** The vectors' length where it is known; otherwise the first answer tells it. */
  dimensions?: number | null
  fetch?: typeof fetch
  /** How long one request may take; queries also end with the caller's signal. */
  timeoutMs?: number
  /** Called with the outcome of every request. `error` names what went wrong, never a text or the token. */
  observe?: (outcome: { durationMs: number; texts: number; error: string | null }) => void
}

const batchTextsMax = 32
const batchTextsFirst = 8
const requestsMin = 2
const requestsMax = 8
/** An answer that takes less than this share of the time limit doubles the number of texts. */
const quickShare = 0.25

/**
 * Embeds on a server, by Hugging Face's feature-extraction task or in OpenAI's format. Every answer is checked: `embed`
 * gives good vectors or throws an EmbeddingError. Throws when the model's id or the endpoint is not valid.
 */
export class RemoteEmbedder implements Embedder {
  readonly space: string
  readonly destination: string
  readonly isLexical = false
  readonly #traits: ModelTraits
  readonly #server: EmbeddingServer
  readonly #circuit: Circuit
  readonly #batchSize: BatchSize
  readonly #atOnce = new RequestsAtOnce()
  readonly #observe: RemoteOptions['observe']
  #dimensions: number | null

  constructor(options: RemoteOptions) {
    const {
      format,
      model,
      timeoutMs = 15_000,
      concurrency = requestsMax,
      restMs = 10_000,
      retryDelayMsMin = 250,
    } = options
    this.space = spaceOf(format, model)
    this.#traits = traits[format](model)
    this.#server = embeddingServer({ ...options, fetch: options.fetch ?? fetch, timeoutMs })
    this.destination = this.#server.destination
    this.#circuit = new Circuit({ concurrency, restMs, retryDelayMsMin })
    this.#batchSize = new BatchSize({ max: batchTextsMax, timeoutMs })
    this.#observe = options.observe
    this.#dimensions = options.dimensions ?? null
  }

  get dimensions(): number | null {
    return this.#dimensions
  }

  get batchTextsMax(): number {
    return this.#batchSize.texts
  }

  get batchesAtOnce(): number {
    return this.#atOnce.requests
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    const inputs = texts.map((text) => prepareInput(text, kind, this.#traits))
    const batches: string[][] = []
    const { batchTextsMax: size } = this
    for (let from = 0; from < inputs.length; from += size) batches.push(inputs.slice(from, from + size))
    // The first failure decides the result and cancels this call's other requests.
    const failed = new AbortController()
    const either = AbortSignal.any([signal, failed.signal])
    try {
      const answers = await Promise.all(batches.map((batch) => this.#embedBatch(batch, kind, either)))
      return answers.flat()
    } catch (error) {
      failed.abort()
      throw error
    }
  }

  async #embedBatch(inputs: string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    let isTooLarge = false
    try {
      const startedAt = performance.now()
      const vectors = await this.#circuit.run(kind, signal, () => this.#request(inputs, kind, signal))
      if (kind === 'document') this.#batchSize.noteAnswer(inputs.length, performance.now() - startedAt)
      return vectors
    } catch (error) {
      if (!(error instanceof RequestFailure) || !error.isBatchAtFault || inputs.length === 1) throw error
      if (error.kind === 'timeout') this.#batchSize.noteTimeout(inputs.length)
      isTooLarge = error.kind === 'tooLarge'
    }
    // The server takes fewer or shorter texts at once than were sent.
    const half = Math.ceil(inputs.length / 2)
    const first = await this.#embedBatch(inputs.slice(0, half), kind, signal)
    const vectors = first.concat(await this.#embedBatch(inputs.slice(half), kind, signal))
    // Otherwise one of the texts was too long, however few are sent with it.
    if (isTooLarge) this.#batchSize.noteRefusal(inputs.length)
    return vectors
  }

  async #request(inputs: string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    const startedAt = performance.now()
    const report = (error: string | null) =>
      this.#observe?.({ durationMs: performance.now() - startedAt, texts: inputs.length, error })
    try {
      const answer = await this.#server.request(inputs, signal)
      const expected = { count: inputs.length, pooling: this.#traits.pooling, dimensions: this.#dimensions }
      const vectors = readVectors(answer, expected)
      this.#dimensions ??= vectors[0]?.length ?? null
      report(null)
      if (kind === 'document') this.#atOnce.noteAnswer(inputs, performance.now() - startedAt)
      return vectors
    } catch (error) {
      const failure = error instanceof RequestFailure ? error : new RequestFailure('malformed')
      report(failure.message)
      throw failure
    }
  }
}

/**
 * How many texts a request holds. A timeout halves the number, a quick answer doubles it: a model on a slow CPU takes
 * minutes for what a hosted one answers at once.
 */
class BatchSize {
  readonly #timeoutMs: number
  #max: number
  #texts: number

  constructor({ max, timeoutMs }: { max: number; timeoutMs: number }) {
    this.#timeoutMs = timeoutMs
    this.#max = max
    this.#texts = Math.min(max, batchTextsFirst)
  }

  get texts(): number {
    return this.#texts
  }

  noteTimeout(textCount: number): void {
    // Half of what was sent, so that several timed-out requests of one size halve it only once.
    this.#texts = Math.max(1, Math.min(this.#texts, textCount >> 1))
  }

  /** Notes that the server takes fewer texts at once. */
  noteRefusal(textCount: number): void {
    this.#max = Math.max(1, Math.min(this.#max, textCount >> 1))
    this.#texts = Math.min(this.#texts, this.#max)
  }

  noteAnswer(textCount: number, durationMs: number): void {
    const isFull = textCount >= this.#texts
    if (isFull && durationMs < this.#timeoutMs * quickShare)
      this.#texts = Math.min(this.#max, this.#texts * 2)
  }
}

/**
 * How many requests to send at once: two, so that the server always has the next one, and more as long as they do not
 * queue there. The queue is estimated as TCP Vegas does: what takes longer than the fastest request has waited.
 */
class RequestsAtOnce {
  #requests = requestsMin
  #msPerCharMin = Number.POSITIVE_INFINITY

  get requests(): number {
    return this.#requests
  }

  noteAnswer(inputs: readonly string[], durationMs: number): void {
    const msPerChar = durationMs / inputs.reduce((sum, { length }) => sum + length, 1)
    this.#msPerCharMin = Math.min(this.#msPerCharMin, msPerChar)
    const queueLength = this.#requests * (1 - this.#msPerCharMin / msPerChar)
    // One request in the queue is wanted.
    if (queueLength < 0.5) this.#requests = Math.min(requestsMax, this.#requests + 1)
    else if (queueLength > 1.5) this.#requests = Math.max(requestsMin, this.#requests - 1)
  }
}

/** The embedding space of a model's vectors. Throws if the model's id is not valid. */
export function spaceOf(format: EmbeddingFormat, model: string): string {
  const { prefixes, pooling } = traits[format](model)
  const revision = format === 'huggingface' ? `main/${prefixes}/${pooling}` : prefixes
  return `${format}:${model}:${revision}/normalised:chunks-v${chunkerVersion}`
}

const traits = { huggingface: traitsOf, openai: traitsOfName } satisfies Record<
  EmbeddingFormat,
  (model: string) => ModelTraits
>
