import { boundedWaitMs, retryAfter } from '../../text/retry-after.ts'
import { valueAt } from '../../validation.ts'
import { EmbeddingError } from './embedder.ts'

interface FailureOptions {
  /** What exactly was wrong. Never anything that was sent or received, since it is logged. */
  detail?: string | number | null
  retryAfterMs?: number | undefined
}

/**
 * What else follows from a failure: `transient`: the provider is in trouble, so the same request may work later; `batch`:
 * half of the texts may work; `text`: one of the texts may be the reason, so others may still be embedded.
 */
type Trait = 'transient' | 'batch' | 'text'

const kinds = {
  cancelled: ['Embedding was cancelled'],
  resting: ['The embedding provider failed or asked us to wait, so it gets no requests for now'],
  crowded: ['Too many requests are waiting for the embedding provider'],
  timeout: ['The embedding provider did not answer in time', 'transient', 'batch', 'text'],
  network: ['The embedding provider cannot be reached', 'transient'],
  redirect: ['The embedding provider redirects to another address, and texts are not sent there'],
  unauthorized: ['The embedding provider refused the token'],
  unknown: ['The embedding provider does not know the model or the path'],
  tooLarge: ['The embedding provider accepts only fewer or shorter texts at a time', 'batch', 'text'],
  tooLong: ['The embedding provider sent an answer that is longer than vectors can be', 'batch', 'text'],
  limited: ['The embedding provider limits the rate of requests', 'transient'],
  away: ['The embedding provider cannot answer right now', 'transient'],
  rejected: ['The embedding provider rejected the request', 'text'],
  failed: ['The embedding provider failed', 'transient', 'text'],
  unreadable: ['The embedding provider sent an answer that is truncated or not JSON', 'transient', 'text'],
  malformed: ['The embedding provider sent something that is not one vector for each text', 'text'],
  dimension: ['The embedding provider sent vectors with the wrong dimension'],
  padded: ['The embedding provider sent token vectors that may include padding', 'batch', 'text'],
} as const satisfies Record<string, readonly [message: string, ...traits: Trait[]]>

type FailureKind = keyof typeof kinds

/** Why a request returned no vectors. */
export class RequestFailure extends EmbeddingError {
  readonly kind: FailureKind
  readonly isTransient: boolean
  readonly isBatchAtFault: boolean

  constructor(kind: FailureKind, { detail, retryAfterMs }: FailureOptions = {}) {
    const [message, ...traits]: readonly [string, ...Trait[]] = kinds[kind]
    // No cause: the client's errors carry the request's body, which is the texts.
    super(detail ? `${message} (${detail})` : message, { retryAfterMs, mayBeText: traits.includes('text') })
    this.kind = kind
    this.isTransient = traits.includes('transient')
    this.isBatchAtFault = traits.includes('batch')
  }
}

/** The failure that an answer with an error status stands for. */
export async function failureOf(response: Response): Promise<RequestFailure> {
  const { status, headers } = response
  const text = await response.text()
  const retryAfterMs = retryAfter(headers.get('retry-after'), Date.now()) ?? loadingMs(text)
  const isTooLong = [400, 422, 500].includes(status) && saysTooLong.test(text.slice(0, reasonCharsMax))
  return new RequestFailure(isTooLong ? 'tooLarge' : kindOfStatus(status), { detail: status, retryAfterMs })
}

/** What vLLM, llama.cpp, Ollama and OpenAI say of texts that are too long or too many, where others answer 413. */
const saysTooLong = /too (long|large|many)|maximum context|context (length|size)|larger than|at most/i
const reasonCharsMax = 500

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

/** While it loads a model, the hosted service answers how many seconds that will take. */
function loadingMs(text: string): number | undefined {
  const seconds = valueAt(parsed(text), 'estimated_time')
  return typeof seconds === 'number' ? boundedWaitMs(seconds * 1_000) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // If the body is not JSON, the status has to do.
    return null
  }
}
