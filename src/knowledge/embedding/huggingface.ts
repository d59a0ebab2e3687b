import { setTimeout as sleep } from 'node:timers/promises'
import {
  InferenceClient,
  InferenceClientProviderApiError,
  InferenceClientProviderOutputError,
} from '@huggingface/inference'
import {
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  isBrokenCircuitError,
  isBulkheadRejectedError,
} from 'cockatiel'
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
const retryAfterMsMax = 86_400_000
const failuresInRowMax = 5
/** When to come back while another request tries whether the provider works again. */
const trialMs = 1_000
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
  /** By the provider's wish nothing is sent before this time, on the clock of `performance.now()`. */
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
      handleWhen(
        (error) => error instanceof RequestFailure && (error.isTransient || (error.isCancelled && trial())),
      ),
      { halfOpenAfter: this.restMs, breaker: new ConsecutiveBreaker(failuresInRowMax) },
    )
  }

  get dimensions(): number | null {
    return this.learntDimensions
  }

  async embed(texts: readonly string[], kind: EmbeddingKind, signal: AbortSignal): Promise<Float32Array[]> {
    const batches: string[][] = []
    for (let from = 0; from < texts.length; from += batchTextsMax) {
      batches.push(
        texts.slice(from, from + batchTextsMax).map((text) => prepareText(text, kind, this.traits)),
      )
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

  private async embedBatch(
    texts: string[],
    kind: EmbeddingKind,
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
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
        if (!(error instanceof RequestFailure) || signal.aborted || retries === retriesMax) throw error
        // Documents have time to wait for others' trouble to pass; a query is better answered without a vector.
        if (!error.isTransient && !(error.kind === 'resting' && kind === 'document')) throw error
        const waitMs = (error.retryAfterMs ?? 0) + jitter(this.retryDelayMsMin * 2 ** retries)
        if (waitMs > waitMsMax) throw error
        await sleep(waitMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** Waits for a free slot; leaves the queue at once when the caller gives up. */
  private whenFree<T>(kind: EmbeddingKind, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = () => reject(new RequestFailure('cancelled'))
      if (signal.aborted) return cancel()
      signal.addEventListener('abort', cancel, { once: true })
      const done = this.slots[kind].execute(() => this.unlessSilent(work), signal)
      done.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel))
    })
  }

  private async unlessSilent<T>(work: () => Promise<T>): Promise<T> {
    const restMs = this.silentUntil - performance.now()
    if (restMs > 0) throw new RequestFailure('resting', { retryAfterMs: Math.ceil(restMs) })
    // One trial at a time; cockatiel would let the others wait for its outcome, however long that takes.
    if (this.breaker.state === CircuitState.HalfOpen) {
      throw new RequestFailure('resting', { retryAfterMs: trialMs })
    }
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
    const seen: Seen = { response: null, isTooLong: false }
    const { fetch } = this
    const watchedFetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      // Texts go to the destination that was announced, and nowhere else.
      seen.response = await fetch(input, { ...init, redirect: 'manual' })
      return withBodyLimit(seen.response, seen)
    }
    try {
      // With `endpointUrl` the client does not look up providers, some of which serve other vectors of the same model.
      const args = { endpointUrl: this.url, inputs: texts, normalize: true, truncate: true }
      return await this.client.featureExtraction(args, {
        signal: AbortSignal.any([signal, timeout]),
        fetch: Object.assign(watchedFetch, { preconnect: fetch.preconnect }),
        // By default the client repeats a request that got 503, at once and for ever.
        retry_on_error: false,
      })
    } catch (error) {
      if (signal.aborted) throw new RequestFailure('cancelled')
      if (timeout.aborted) throw new RequestFailure('timeout', { detail: `${this.timeoutMs} ms` })
      throw failureOf(error, seen)
    }
  }
}

interface Seen {
  response: Response | null
  isTooLong: boolean
}

function withBodyLimit(response: Response, seen: Seen): Response {
  let bytes = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes <= answerBytesMax) return controller.enqueue(chunk)
      seen.isTooLong = true
      controller.error(new Error('The answer is too long'))
    },
  })
  const { status, headers } = response
  return response.body ? new Response(response.body.pipeThrough(limit), { status, headers }) : response
}

/** What can go wrong with one request, told without a word of what was sent or received. */
const failureSentences = {
  cancelled: 'Embedding was cancelled',
  resting: 'The embedding provider failed or asked us to wait, and gets no request for now',
  crowded: 'Too many requests wait for the embedding provider',
  timeout: 'The embedding provider did not answer in time',
  network: 'The embedding provider cannot be reached',
  redirect: 'The embedding provider redirects to another address, which texts are not sent to',
  unauthorized: 'The embedding provider refused the token',
  unknown: 'The embedding provider does not know the model or the path',
  tooLarge: 'The embedding provider takes fewer or shorter texts at a time',
  tooLong: 'The embedding provider sent a longer answer than vectors can be',
  limited: 'The embedding provider limits the rate of requests',
  rejected: 'The embedding provider rejected the request',
  failed: 'The embedding provider failed',
  unreadable: 'The embedding provider sent an answer that breaks off or is not JSON',
  malformed: 'The embedding provider sent something that is not one vector for each text',
  count: 'The embedding provider sent a wrong number of vectors',
  dimension: 'The embedding provider sent vectors of a wrong dimension',
  number: 'The embedding provider sent a vector with an entry that is not a finite number',
  zero: 'The embedding provider sent a vector without a direction',
  padded: 'The embedding provider sent token vectors that may include padding',
} as const

type FailureKind = keyof typeof failureSentences

class RequestFailure extends EmbeddingError {
  readonly kind: FailureKind

  constructor(
    kind: FailureKind,
    options: { detail?: string | number | null; retryAfterMs?: number | undefined } = {},
  ) {
    const { detail, retryAfterMs } = options
    const sentence = failureSentences[kind]
    // No cause: the client's errors carry the request's body, which is the texts.
    super(detail ? `${sentence} (${detail})` : sentence, retryAfterMs === undefined ? {} : { retryAfterMs })
    this.kind = kind
  }

  get isCancelled(): boolean {
    return this.kind === 'cancelled'
  }

  /** Whether it speaks against the provider's state, not the request: it may well work later. */
  get isTransient(): boolean {
    return ['timeout', 'network', 'limited', 'failed', 'unreadable'].includes(this.kind)
  }

  /** Whether half of the texts may work where all of them did not. */
  get isBatchAtFault(): boolean {
    return ['tooLarge', 'tooLong', 'padded'].includes(this.kind)
  }
}

function failureOf(error: unknown, seen: Seen): RequestFailure {
  const { response } = seen
  if (response === null) return new RequestFailure('network', { detail: networkCode(error) })
  if (seen.isTooLong) return new RequestFailure('tooLong')
  if (response.ok) {
    return new RequestFailure(
      error instanceof InferenceClientProviderOutputError ? 'malformed' : 'unreadable',
    )
  }
  const retryAfterMs = retryAfter(response.headers.get('retry-after'), Date.now()) ?? loadingTime(error)
  return new RequestFailure(kindOfStatus(response.status), { detail: response.status, retryAfterMs })
}

/** As text-embeddings-inference uses them: 413 for any limit, 424 for a failing model, 429 for a full queue. */
function kindOfStatus(status: number): FailureKind {
  if (status < 400) return 'redirect'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404 || status === 405 || status === 410) return 'unknown'
  if (status === 413) return 'tooLarge'
  if (status === 429) return 'limited'
  return status >= 500 || status === 424 || status === 408 ? 'failed' : 'rejected'
}

/** `ECONNREFUSED` or the like, from wherever the runtime keeps it. */
function networkCode(error: unknown): string | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Za-z_]{1,60}$/.test(at.code)) return at.code
  }
  return null
}

/** Milliseconds by `Retry-After`, seconds or an HTTP date (RFC 9110, section 10.2.3). */
function retryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+(?:\.\d+)?$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), retryAfterMsMax) : undefined
}

/** The hosted service says of a model that is being loaded how many seconds it will take. */
function loadingTime(error: unknown): number | undefined {
  if (!(error instanceof InferenceClientProviderApiError)) return undefined
  const { body } = error.httpResponse
  if (typeof body !== 'object' || body === null || !('estimated_time' in body)) return undefined
  const seconds = body.estimated_time
  if (typeof seconds !== 'number' || !(seconds >= 0)) return undefined
  return Math.min(Math.ceil(seconds * 1_000), retryAfterMsMax)
}

/** Between a half of it and all of it, so that clients do not come back all at once. */
function jitter(ms: number): number {
  return ms / 2 + (Math.random() * ms) / 2
}

function toEmbeddingError(error: unknown): EmbeddingError {
  if (error instanceof EmbeddingError) return error
  if (isBulkheadRejectedError(error)) return new RequestFailure('crowded')
  // Only a mistake of ours gets here. Its message may quote what it stumbled over, so it is not passed on.
  return new EmbeddingError(
    `Embedding failed unexpectedly (${error instanceof Error ? error.name : typeof error})`,
  )
}

/** Checks everything about an answer and brings each vector to unit length. */
function readVectors(
  answer: unknown,
  count: number,
  traits: ModelTraits,
  dimensions: number | null,
): Float32Array[] {
  if (!Array.isArray(answer)) throw new RequestFailure('malformed')
  // One text, and its vector not in a list of one.
  const rows: unknown[] = count === 1 && typeof answer[0] === 'number' ? [answer] : answer
  if (rows.length !== count)
    throw new RequestFailure('count', { detail: `${rows.length} for ${count} texts` })
  if (traits.pooling === 'mean' && mayBePadded(rows)) throw new RequestFailure('padded')
  const vectors = rows.map((row) => unitVector(pool(row, traits.pooling)))
  const expected = dimensions ?? vectors[0]?.length ?? 0
  for (const { length } of vectors) {
    const fits = length === expected && length > 0 && length <= dimensionsMax
    if (!fits) throw new RequestFailure('dimension', { detail: `${length} instead of ${expected}` })
  }
  return vectors
}

/**
 * Texts of one batch are padded to the longest by some servers, and the mean would count the padding. Where
 * all texts have as many token vectors, they are asked for again one by one, which leaves nothing to pad.
 */
function mayBePadded(rows: unknown[]): boolean {
  if (rows.length < 2) return false
  const first = rows[0]
  if (!Array.isArray(first) || !Array.isArray(first[0])) return false
  return rows.every((row) => Array.isArray(row) && row.length === first.length)
}

function pool(row: unknown, pooling: Pooling): number[] {
  if (!Array.isArray(row) || row.length === 0) throw new RequestFailure('malformed')
  if (!Array.isArray(row[0])) return numbers(row)
  const tokens = row.map(numbers)
  const [first = []] = tokens
  if (pooling === 'cls') return first
  const sums = new Array<number>(first.length).fill(0)
  for (const token of tokens) {
    if (token.length !== first.length) throw new RequestFailure('malformed')
    for (const [index, value] of token.entries()) sums[index] = (sums[index] ?? 0) + value
  }
  return sums
}

function numbers(row: unknown): number[] {
  if (!Array.isArray(row)) throw new RequestFailure('malformed')
  if (!row.every((entry) => Number.isFinite(entry))) throw new RequestFailure('number')
  return row
}

function unitVector(values: number[]): Float32Array {
  let squares = 0
  for (const value of values) squares += value * value
  const norm = Math.sqrt(squares)
  if (!Number.isFinite(norm)) throw new RequestFailure('number')
  if (norm < 1e-12) throw new RequestFailure('zero')
  return Float32Array.from(values, (value) => value / norm)
}

type Pooling = 'mean' | 'cls'

interface ModelTraits {
  /** Name of the prefixes, for the embedding space. */
  prefixes: string
  query: string
  document: string
  /** How token vectors become one, should the server leave that to us. */
  pooling: Pooling
  /** What the model reads of a text; null where we do not know. */
  tokensMax: number | null
  dimensions: number | null
}

const bgeQuery = 'Represent this sentence for searching relevant passages: '

/** By the model cards and their `1_Pooling/config.json`; the first that matches. */
const families: readonly (Omit<ModelTraits, 'dimensions'> & { matches: RegExp })[] = [
  {
    matches: /bge-(small|base|large)-en/,
    prefixes: 'bge-en',
    query: bgeQuery,
    document: '',
    pooling: 'cls',
    tokensMax: 512,
  },
  {
    matches: /bge-(small|base|large)-zh/,
    prefixes: 'bge-zh',
    query: '为这个句子生成表示以用于检索相关文章：',
    document: '',
    pooling: 'cls',
    tokensMax: 512,
  },
  { matches: /bge-m3/, prefixes: 'none', query: '', document: '', pooling: 'cls', tokensMax: 8_192 },
  {
    matches: /(^|\/)(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?$/,
    prefixes: 'e5',
    query: 'query: ',
    document: 'passage: ',
    pooling: 'mean',
    tokensMax: 512,
  },
  {
    matches: /mxbai-embed-large-v1/,
    prefixes: 'bge-en',
    query: bgeQuery,
    document: '',
    pooling: 'cls',
    tokensMax: 512,
  },
  {
    matches: /snowflake-arctic-embed-[ml](-v2\.0)$/,
    prefixes: 'query',
    query: 'query: ',
    document: '',
    pooling: 'cls',
    tokensMax: 8_192,
  },
  {
    matches: /snowflake-arctic-embed-(xs|s|m|l)(-v1\.5)?$/,
    prefixes: 'bge-en',
    query: bgeQuery,
    document: '',
    pooling: 'cls',
    tokensMax: 512,
  },
  {
    matches: /nomic-embed-text-v1/,
    prefixes: 'nomic',
    query: 'search_query: ',
    document: 'search_document: ',
    pooling: 'mean',
    tokensMax: 8_192,
  },
  {
    matches: /gte-(base|large)-en-v1\.5/,
    prefixes: 'none',
    query: '',
    document: '',
    pooling: 'cls',
    tokensMax: 8_192,
  },
  {
    matches: /(^|\/)gte-(small|base|large)$/,
    prefixes: 'none',
    query: '',
    document: '',
    pooling: 'mean',
    tokensMax: 512,
  },
  {
    matches: /(^|\/)(all|multi-qa|paraphrase)-/,
    prefixes: 'none',
    query: '',
    document: '',
    pooling: 'mean',
    tokensMax: 512,
  },
  { matches: /./, prefixes: 'none', query: '', document: '', pooling: 'mean', tokensMax: null },
]

const knownDimensions: readonly [dimensions: number, models: readonly string[]][] = [
  [384, ['baai/bge-small-en', 'baai/bge-small-en-v1.5', 'intfloat/e5-small', 'intfloat/e5-small-v2']],
  [384, ['intfloat/multilingual-e5-small', 'thenlper/gte-small', 'snowflake/snowflake-arctic-embed-xs']],
  [384, ['snowflake/snowflake-arctic-embed-s', 'sentence-transformers/all-minilm-l6-v2']],
  [384, ['sentence-transformers/all-minilm-l12-v2', 'sentence-transformers/multi-qa-minilm-l6-cos-v1']],
  [384, ['sentence-transformers/paraphrase-multilingual-minilm-l12-v2']],
  [512, ['baai/bge-small-zh-v1.5']],
  [768, ['baai/bge-base-en', 'baai/bge-base-en-v1.5', 'baai/bge-base-zh-v1.5', 'intfloat/e5-base']],
  [768, ['intfloat/e5-base-v2', 'intfloat/multilingual-e5-base', 'thenlper/gte-base']],
  [
    768,
    ['alibaba-nlp/gte-base-en-v1.5', 'snowflake/snowflake-arctic-embed-m', 'nomic-ai/nomic-embed-text-v1'],
  ],
  [768, ['snowflake/snowflake-arctic-embed-m-v1.5', 'snowflake/snowflake-arctic-embed-m-v2.0']],
  [768, ['nomic-ai/nomic-embed-text-v1.5', 'sentence-transformers/all-mpnet-base-v2']],
  [768, ['sentence-transformers/multi-qa-mpnet-base-dot-v1']],
  [1_024, ['baai/bge-large-en', 'baai/bge-large-en-v1.5', 'baai/bge-large-zh-v1.5', 'baai/bge-m3']],
  [
    1_024,
    ['intfloat/e5-large', 'intfloat/e5-large-v2', 'intfloat/multilingual-e5-large', 'thenlper/gte-large'],
  ],
  [1_024, ['alibaba-nlp/gte-large-en-v1.5', 'mixedbread-ai/mxbai-embed-large-v1']],
  [1_024, ['snowflake/snowflake-arctic-embed-l', 'snowflake/snowflake-arctic-embed-l-v2.0']],
]

function traitsOf(model: string): ModelTraits {
  if (!/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)?$/.test(model))
    throw new Error(`"${model}" is not the id of a Hugging Face model`)
  const id = model.toLowerCase()
  const family = families.find(({ matches }) => matches.test(id))
  if (!family) throw new Error(`"${model}" is not the id of a Hugging Face model`)
  const dimensions = knownDimensions.find(([, models]) => models.includes(id))?.[0] ?? null
  const { prefixes, query, document, pooling, tokensMax } = family
  return { prefixes, query, document, pooling, tokensMax, dimensions }
}

function hostedUrl(model: string): string {
  return `https://router.huggingface.co/hf-inference/models/${model}/pipeline/feature-extraction`
}

function endpointUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('The embedding endpoint must be an http or https URL')
  }
  return url.href
}

/** Without user, password and query, which may be secrets. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** What is sent for a text: prefixed, without lone surrogates (JSON parsers refuse them), never empty. */
function prepareText(text: string, kind: EmbeddingKind, traits: ModelTraits): string {
  const prefixed = (kind === 'query' ? traits.query : traits.document) + text.toWellFormed()
  const sent = traits.tokensMax === null ? prefixed : truncate(prefixed, traits.tokensMax - 2)
  return sent === '' ? ' ' : sent
}

/**
 * Cuts a text after about as many tokens, for servers that fail rather than truncate. An estimate on the safe
 * side for prose: a word piece has four letters; digits, marks and other scripts' characters count one each.
 */
function truncate(text: string, tokensMax: number): string {
  if (text.length <= tokensMax) return text
  let tokens = 0
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
    letters = isLetter ? letters + 1 : 0
    if (isLetter ? letters % 4 === 1 : code > 0x20) tokens++
    if (tokens > tokensMax)
      return text
        .slice(0, at)
        .toWellFormed()
        .replace(/\ufffd$/, '')
  }
  return text
}
