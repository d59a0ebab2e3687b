import {
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  isBrokenCircuitError,
  isBulkheadRejectedError,
} from 'cockatiel'
import type { EmbeddingKind } from './embedder.ts'
import { RequestFailure } from './failures.ts'

const failuresInRowMax = 5
/** When to come back while another request tries whether the provider works again. */
const trialMs = 1_000
/** The longest that we keep silent because the provider asked for it. */
const silenceMsMax = 60_000
const queriesAtOnceMax = 16
const requestsWaitingMax = 256

interface CircuitOptions {
  /** How many requests for documents run at once; queries have slots of their own. */
  concurrency: number
  /** How long nothing is sent after `failuresInRowMax` failures. */
  restMs: number
}

/** Decides when a request may be sent: limits how many run at once, and rests while the provider is in trouble. */
export class Circuit {
  private readonly restMs: number
  private readonly slots: Record<EmbeddingKind, ReturnType<typeof bulkhead>>
  private readonly breaker: ReturnType<typeof circuitBreaker>
  /** By the provider's wish nothing is sent before this time, on the clock of `performance.now()`. */
  private silentUntil = 0

  constructor({ concurrency, restMs }: CircuitOptions) {
    this.restMs = restMs
    this.slots = {
      document: bulkhead(concurrency, requestsWaitingMax),
      query: bulkhead(queriesAtOnceMax, requestsWaitingMax),
    }
    // A cancelled trial says nothing about the provider, and must not close the circuit.
    const isCancelledTrial = (failure: RequestFailure) => failure.kind === 'cancelled' && this.isOnTrial
    const counts = (error: unknown) =>
      error instanceof RequestFailure && (error.isTransient || isCancelledTrial(error))
    this.breaker = circuitBreaker(handleWhen(counts), {
      halfOpenAfter: restMs,
      breaker: new ConsecutiveBreaker(failuresInRowMax),
    })
  }

  /** Waits for a free slot; leaves the queue at once when the caller gives up. Throws RequestFailure. */
  run<T>(kind: EmbeddingKind, signal: AbortSignal, request: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = () => reject(new RequestFailure('cancelled'))
      if (signal.aborted) return cancel()
      signal.addEventListener('abort', cancel, { once: true })
      const done = this.slots[kind].execute(() => this.unlessResting(request), signal)
      const fail = (error: unknown) =>
        reject(isBulkheadRejectedError(error) ? new RequestFailure('crowded') : error)
      done.then(resolve, fail).finally(() => signal.removeEventListener('abort', cancel))
    })
  }

  private async unlessResting<T>(request: () => Promise<T>): Promise<T> {
    const silentMs = this.silentUntil - performance.now()
    if (silentMs > 0) throw new RequestFailure('resting', { retryAfterMs: Math.ceil(silentMs) })
    // One trial at a time; cockatiel would let the others wait for its outcome, however long that takes.
    if (this.isOnTrial) throw new RequestFailure('resting', { retryAfterMs: trialMs })
    try {
      return await this.breaker.execute(request)
    } catch (error) {
      if (isBrokenCircuitError(error)) throw new RequestFailure('resting', { retryAfterMs: this.restMs })
      if (error instanceof RequestFailure) this.keepSilentFor(error.retryAfterMs ?? 0)
      throw error
    }
  }

  private get isOnTrial(): boolean {
    return this.breaker.state === CircuitState.HalfOpen
  }

  private keepSilentFor(waitMs: number): void {
    if (waitMs <= 0) return
    this.silentUntil = Math.max(this.silentUntil, performance.now() + Math.min(waitMs, silenceMsMax))
  }
}
