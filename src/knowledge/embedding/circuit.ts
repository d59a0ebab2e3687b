import {
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  isBrokenCircuitError,
  isBulkheadRejectedError,
  retry,
} from 'cockatiel'
import type { EmbeddingKind } from './embedder.ts'
import { RequestFailure } from './failures.ts'
import { unlessAborted } from './unless-aborted.ts'

const failuresInRowMax = 5
const retriesMax = 2
/** The caller waits longer than this itself. */
const retryAfterMsMax = 2_000
/** The delay to report while another request tests whether the provider works again. */
const trialMs = 1_000
/** The longest pause that the provider can ask for. */
const silenceMsMax = 60_000
const queriesAtOnceMax = 16
const requestsWaitingMax = 256

export interface CircuitOptions {
  /** How many requests for documents run at once; queries have slots of their own. */
  concurrency: number
  /** How long to pause after `failuresInRowMax` failures. */
  restMs: number
  /** The first wait before a retry; doubled and jittered. */
  retryDelayMsMin: number
}

/** Decides when a request is sent: limits how many run at once, retries, and rests while the provider is in trouble. */
export class Circuit {
  readonly #options: CircuitOptions
  readonly #slots: Record<EmbeddingKind, ReturnType<typeof bulkhead>>
  readonly #retries: Record<EmbeddingKind, ReturnType<typeof retry>>
  readonly #breaker: ReturnType<typeof circuitBreaker>
  /** The provider asked for silence until this time, on the clock of `performance.now()`. */
  #silentUntil = 0

  constructor(options: CircuitOptions) {
    this.#options = options
    this.#slots = {
      document: bulkhead(options.concurrency, requestsWaitingMax),
      query: bulkhead(queriesAtOnceMax, requestsWaitingMax),
    }
    // Documents can wait until a rest is over; a query is better answered without a vector.
    this.#retries = {
      document: this.#retryWhen((failure) => isRetriable(failure) || failure.kind === 'resting'),
      query: this.#retryWhen(isRetriable),
    }
    // A cancelled trial says nothing about the provider, and must not close the circuit.
    const isCancelledTrial = (failure: RequestFailure) => failure.kind === 'cancelled' && this.#isOnTrial
    const counts = (error: unknown) =>
      error instanceof RequestFailure && (error.isTransient || isCancelledTrial(error))
    this.#breaker = circuitBreaker(handleWhen(counts), {
      halfOpenAfter: options.restMs,
      breaker: new ConsecutiveBreaker(failuresInRowMax),
    })
  }

  /** Waits for a free slot, and repeats the request while that may help. Rejects at once when the signal aborts. */
  async run<T>(kind: EmbeddingKind, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw new RequestFailure('cancelled')
    const inSlot = () => this.#slots[kind].execute(() => this.#unlessResting(request), signal)
    const response = this.#retries[kind].execute(inSlot, signal)
    return unlessAborted(response, signal, () => new RequestFailure('cancelled')).catch((error) => {
      throw isBulkheadRejectedError(error) ? new RequestFailure('crowded') : error
    })
  }

  #retryWhen(isWorthwhile: (failure: RequestFailure) => boolean) {
    const isHandled = (error: unknown) =>
      error instanceof RequestFailure && isWorthwhile(error) && retryAfterOf(error) <= retryAfterMsMax
    const backoff = new DelegateBackoff(({ attempt, result }: { attempt: number; result: object }) => {
      const delayMs = this.#options.retryDelayMsMin * 2 ** (attempt - 1)
      // Jitter, so that clients do not come back all at once.
      return retryAfterOf('error' in result && result.error) + delayMs * (0.5 + Math.random() / 2)
    })
    return retry(handleWhen(isHandled), { maxAttempts: retriesMax, backoff })
  }

  async #unlessResting<T>(request: () => Promise<T>): Promise<T> {
    const silentMs = this.#silentUntil - performance.now()
    if (silentMs > 0) throw new RequestFailure('resting', { retryAfterMs: Math.ceil(silentMs) })
    // One trial at a time; cockatiel would let the others wait for its outcome, however long that takes.
    if (this.#isOnTrial) throw new RequestFailure('resting', { retryAfterMs: trialMs })
    try {
      return await this.#breaker.execute(request)
    } catch (error) {
      if (isBrokenCircuitError(error))
        throw new RequestFailure('resting', { retryAfterMs: this.#options.restMs })
      this.#silentUntil = Math.max(
        this.#silentUntil,
        performance.now() + Math.min(retryAfterOf(error), silenceMsMax),
      )
      throw error
    }
  }

  get #isOnTrial(): boolean {
    return this.#breaker.state === CircuitState.HalfOpen
  }
}

/** Returns false after a timeout: the next try has half of the texts, or is the caller's. */
function isRetriable({ isTransient, kind }: RequestFailure): boolean {
  return isTransient && kind !== 'timeout'
}

function retryAfterOf(error: unknown): number {
  return (error instanceof RequestFailure && error.retryAfterMs) || 0
}
