import { InferenceClientProviderApiError, InferenceClientProviderOutputError } from '@huggingface/inference'
import { EmbeddingError } from './embedder.ts'

const retryAfterMsMax = 86_400_000

/** Why one request brought no vectors, told without a word of what was sent or received. */
export class RequestFailure extends EmbeddingError {
  readonly kind: FailureKind

  constructor(
    kind: FailureKind,
    options: { detail?: string | number | null; retryAfterMs?: number | undefined } = {},
  ) {
    const { detail, retryAfterMs } = options
    const sentence = failureSentences[kind]
    const mayBeText = !failuresOfNoText.includes(kind)
    // No cause: the client's errors carry the request's body, which is the texts.
    super(detail ? `${sentence} (${detail})` : sentence, { retryAfterMs, mayBeText })
    this.kind = kind
  }

  /** Whether it speaks against the provider's state, not the request: it may well work later. */
  get isTransient(): boolean {
    return ['timeout', 'network', 'limited', 'away', 'failed', 'unreadable'].includes(this.kind)
  }

  /** Whether half of the texts may work where all of them did not. */
  get isBatchAtFault(): boolean {
    return ['tooLarge', 'tooLong', 'padded', 'timeout'].includes(this.kind)
  }
}

/** What was seen of an answer: the client's own errors do not tell. */
export interface SeenAnswer {
  response: Response | null
  isTooLong: boolean
}

/** By what was seen of the answer, and the client's error. */
export function failureOf(error: unknown, seen: SeenAnswer): RequestFailure {
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

/** What leaves the embedder, whatever was thrown in it. */
export function toEmbeddingError(error: unknown): EmbeddingError {
  if (error instanceof EmbeddingError) return error
  // Only a mistake of ours gets here. Its message may quote what it stumbled over, so it is not passed on.
  return new EmbeddingError(
    `Embedding failed unexpectedly (${error instanceof Error ? error.name : typeof error})`,
    { mayBeText: true },
  )
}

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
  away: 'The embedding provider cannot answer for now',
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

/** What says something of the provider or the way to it only: other texts would have fared no better. */
const failuresOfNoText: FailureKind[] = [
  'cancelled',
  'resting',
  'crowded',
  'network',
  'redirect',
  'unauthorized',
  'unknown',
  'limited',
  'away',
  'dimension',
]

/** As text-embeddings-inference uses them: 413 for any limit, 424 for a failing model, 429 for a full queue. */
function kindOfStatus(status: number): FailureKind {
  if (status < 400) return 'redirect'
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404 || status === 405 || status === 410) return 'unknown'
  if (status === 413) return 'tooLarge'
  if (status === 429) return 'limited'
  if (status === 408 || (status >= 502 && status <= 504)) return 'away'
  return status >= 500 || status === 424 ? 'failed' : 'rejected'
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
