import { setTimeout as sleep } from 'node:timers/promises'
import { InferenceClient, InferenceClientProviderApiError } from '@huggingface/inference'
import { bulkhead, CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen, isBrokenCircuitError } from 'cockatiel'
import { chunkerVersion } from '../chunks'
import { type Embedder, EmbeddingError, type EmbeddingKind } from './embedder'

export interface HuggingFaceOptions {
  /** Model id on the Hugging Face hub, such as `BAAI/bge-small-en-v1.5`. */
  model: string
  /** URL of a dedicated endpoint or a text-embeddings-inference server; null for the hosted service. */
  endpoint: string | null
  token: string | null
  /** What the vectors' length must be; needed only for models that are not in our table. */
  dimensions?: number | null
  fetch?: typeof fetch
  /** How long one request may take; queries also end with the caller's signal. */
  timeoutMs?: number
  /** How many requests for documents run at once; queries do not wait for them. */
  concurrency?: number
  /** Told the outcome of every request; `error` names what went wrong, never a text or the token. */
  observe?: (outcome: { durationMs: number; texts: number; error: string | null }) => void
  /** The first wait before a retry; doubled and jittered. */
  retryDelayMsMin?: number
  /** How long nothing is sent after `failuresInRowMax` failures. */
  restMs?: number
}

const batchTextsMax = 32
const retriesMax = 2
/** Longer waits are left to the caller, who schedules them. */
const waitMsMax = 2_000
/** The longest that we keep silent because the provider asked for it. */
const silenceMsMax = 60_000
const failuresInRowMax = 5
const queriesAtOnceMax = 16
const requestsWaitingMax = 256
const dimensionsMax = 8_192
/** 32 token-level answers of 512 tokens x 384 numbers are some 75 MB of JSON. */
const answerBytesMax = 96 * 1024 * 1024

/**
 * Embeds by Hugging Face's feature-extraction task. Throws when the model id or the endpoint cannot be one;
 * once built, whatever happens is vectors that were checked or an EmbeddingError.
 */
export function createHuggingFaceEmbedder(options: HuggingFaceOptions): Embedder {
  return new HuggingFaceEmbedder(options)
}

class HuggingFaceEmbedder implements Embedder {
  readonly space: string
  readonly destination: string
  readonly batchTextsMax = batchTextsMax
  private readonly traits: ModelTraits
  private readonly url: string
  private readonly client: InferenceClient
  private readonly fetch: typeof fetch
  private readonly timeoutMs: number
  private readonly retryDelayMsMin: number
  private readonly restMs: number
  private readonly observe: NonNullable<HuggingFaceOptions['observe']>
  private readonly slots: Record<EmbeddingKind, ReturnType<typeof bulkhead>>
  private readonly breaker: ReturnType<typeof circuitBreaker>
  private learntDimensions: number | null
  /** Nothing is sent before this time, by the provider's wish or because it failed too often. */
  private silentUntil = 0

  constructor(options: HuggingFaceOptions) {
    const traits = traitsOf(options.model)
    this.traits = traits
    this.url = options.endpoint === null ? hostedUrl(options.model) : endpointUrl(options.endpoint)
    this.destination = shownUrl(this.url)
    this.space = [
      'huggingface',
      options.model,
      `main/${traits.prefixes}/${traits.pooling}/normalised`,
      `chunks-v${chunkerVersion}`,
    ].join(':')
    this.client = new InferenceClient(options.token ?? undefined)
    this.fetch = options.fetch ?? fetch
    this.timeoutMs = options.timeoutMs ?? 15_000
    this.retryDelayMsMin = options.retryDelayMsMin ?? 250
    this.restMs = options.restMs ?? 10_000
    this.observe = options.observe ?? (() => {})
    this.learntDimensions = options.dimensions ?? traits.dimensions
    this.slots = {
      document: bulkhead(options.concurrency ?? 4, requestsWaitingMax),
      query: bulkhead(queriesAtOnceMax, requestsWaitingMax),
    }
    // A cancelled trial says nothing about the provider, and must not close the circuit.
    const trial = () => this.breaker.state === CircuitState.HalfOpen
    this.breaker = circuitBreaker(
      handleWhen((error) => error instanceof RequestFailure && (error.isOutage || (error.isCancelled && trial()))),
      { halfOpenAfter: this.restMs, breaker: new ConsecutiveBreaker(failuresInRowMax) },
    )
  }

  get dimensions(): number | null {
    return this.learntDimensions
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    const batches: string[][] = []
    for (let from = 0; from < texts.length; from += batchTextsMax) {
      batches.push(texts.slice(from, from + batchTextsMax).map((text) => prepareText(text, kind, this.traits)))
    }
    // The first failure makes the answer, so what else is under way for this call is ended.
    const failed = new AbortController()
    const either = AbortSignal.any([signal, failed.signal])
    try {
      const answers = await Promise.all(batches.map((batch) => this.embedBatch(batch, kind, either)))
      return answers.flat()
    } catch (error) {
      failed.abort()
      throw toEmbeddingError(error)
    }
  }

  private async embedBatch(texts: string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    try {
      return await this.embedWithRetries(texts, kind, signal)
    } catch (error) {
      if (!(error instanceof RequestFailure) || !error.isBatchAtFault || texts.length === 1) throw error
    }
    // The server takes fewer or shorter texts at a time than we send by default.
    const half = Math.ceil(texts.length / 2)
    const first = await this.embedBatch(texts.slice(0, half), kind, signal)
    return first.concat(await this.embedBatch(texts.slice(half), kind, signal))
  }

  private async embedWithRetries(texts: string[], kind: EmbeddingKind, signal: AbortSignal) {
    for (let retries = 0; ; retries++) {
      try {
        return await this.whenFree(kind, signal, () => this.request(texts, signal))
      } catch (error) {
        const isTransient = error instanceof RequestFailure && error.isTransient && !signal.aborted
        if (!isTransient || retries === retriesMax) throw error
        const waitMs = error.retryAfterMs ?? jitter(this.retryDelayMsMin * 2 ** retries)
        if (waitMs > waitMsMax) throw error
        await sleep(waitMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** Waits for a free slot; leaves the queue at once when the caller gives up. */
  private whenFree<T>(kind: EmbeddingKind, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const cancel = () => reject(new RequestFailure('cancelled'))
    if (signal.aborted) cancel()
    else {
      signal.addEventListener('abort', cancel, { once: true })
      const done = this.slots[kind].execute(() => this.unlessSilent(work), signal)
      done.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel))
    }
    return promise
  }

  private async unlessSilent<T>(work: () => Promise<T>): Promise<T> {
    const restMs = this.silentUntil - performance.now()
    if (restMs > 0) throw new RequestFailure('resting', { retryAfterMs: Math.ceil(restMs) })
    // One trial at a time; cockatiel would let the others wait for its outcome, however long that takes.
    if (this.breaker.state === CircuitState.HalfOpen) throw new RequestFailure('resting', { retryAfterMs: 1_000 })
    try {
      return await this.breaker.execute(work)
    } catch (error) {
      if (isBrokenCircuitError(error)) throw new RequestFailure('resting', { retryAfterMs: this.restMs })
      if (error instanceof RequestFailure) this.keepSilentFor(error.retryAfterMs ?? 0)
      throw error
    }
  }

  private keepSilentFor(waitMs: number): void {
    if (waitMs <= 0) return
    this.silentUntil = Math.max(this.silentUntil, performance.now() + Math.min(waitMs, silenceMsMax))
  }

  private async request(texts: string[], signal: AbortSignal): Promise<Float32Array[]> {
    const startedAt = performance.now()
    let failure: RequestFailure | null = null
    try {
      const answer = await this.send(texts, signal)
      const vectors = readVectors(answer, texts.length, this.traits, this.learntDimensions)
      this.learntDimensions ??= vectors[0]?.length ?? null
      return vectors
    } catch (error) {
      failure = error instanceof RequestFailure ? error : new RequestFailure('malformed')
      throw failure
    } finally {
      this.observe({
        durationMs: performance.now() - startedAt,
        texts: texts.length,
        error: failure?.message ?? null,
      })
    }
  }

  private async send(texts: string[], signal: AbortSignal): Promise<unknown> {
    const timeout = AbortSignal.timeout(this.timeoutMs)
    let response: Response | null = null
    const watchedFetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      // Texts go to the destination that was announced, and nowhere else.
      response = await this.fetch(input, { ...init, redirect: 'manual' })
      return withBodyLimit(response)
    }
    try {
      return await this.client.featureExtraction(
        // With `endpointUrl` the client asks nobody for a provider; the router's own URL is one as well.
        { endpointUrl: this.url, inputs: texts, normalize: true, truncate: true },
        // By default the client repeats a 503 at once and for ever.
        { signal: AbortSignal.any([signal, timeout]), fetch: Object.assign(watchedFetch, this.fetch), retry_on_error: false },
      )
    } catch (error) {
      throw failureOf({ error, response, cancelled: signal.aborted, timedOut: timeout.aborted })
    }
  }
}
