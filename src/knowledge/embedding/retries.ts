import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddingKind } from './embedder.ts'
import { RequestFailure } from './failures.ts'

const retriesMax = 2
/** Longer waits are left to the caller, who schedules them. */
const waitMsMax = 2_000

interface RetryOptions {
  kind: EmbeddingKind
  signal: AbortSignal
  /** How many texts the request holds. */
  texts: number
  /** The first wait; doubled each time, jittered, and added to what the provider asks for. */
  delayMsMin: number
}

/** Repeats a request while that may help and the wait is short; throws its last RequestFailure. */
export async function withRetries<T>(request: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { kind, signal, texts, delayMsMin } = options
  for (let retries = 0; ; retries++) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof RequestFailure) || signal.aborted || retries === retriesMax) throw error
      // Half of them may work, and sooner than all of them once more.
      if (error.isBatchAtFault && texts > 1) throw error
      // Documents have time to wait for others' trouble to pass; a query is better answered without a vector.
      if (!error.isTransient && !(error.kind === 'resting' && kind === 'document')) throw error
      const waitMs = (error.retryAfterMs ?? 0) + jitter(delayMsMin * 2 ** retries)
      if (waitMs > waitMsMax) throw error
      // An abort ends the wait; the next try then says that it was cancelled.
      await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Between a half of it and all of it, so that clients do not come back all at once. */
function jitter(ms: number): number {
  return ms / 2 + (Math.random() * ms) / 2
}
