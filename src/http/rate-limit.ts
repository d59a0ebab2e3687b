import { LRUCache } from 'lru-cache'

interface Bucket {
  /** Requests not yet leaked away, between 0 and the limit. */
  level: number
  atMs: number
}

const windowSeconds = 60
const windowMs = windowSeconds * 1000
// Beyond this number, the least recently used key is forgotten, which gives it at most one minute's requests.
const keysMax = 10_000
// Keeps a rounding error from refusing a request that came exactly on time.
const tolerance = 1e-6

/**
 * A leaky bucket for each key: `perMinute` requests at once, and `perMinute` a minute from then on (the generic cell
 * rate algorithm, ITU-T I.371), so that nobody waits for a window to end. Refused requests do not count.
 */
export class RateLimiter {
  readonly #perMinute: number
  readonly #now: () => number
  readonly #buckets = new LRUCache<string, Bucket>({ max: keysMax })

  /** @param options.perMinute at least 1 @param options.now milliseconds */
  constructor({ perMinute, now }: { perMinute: number; now: () => number }) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Counts one request of the key, or refuses it. */
  take(keyId: string) {
    const nowMs = this.#now()
    const leaked = this.#levelAt(keyId, nowMs)
    const isAllowed = leaked + 1 <= this.#perMinute + tolerance
    const level = isAllowed ? leaked + 1 : leaked
    this.#buckets.set(keyId, { level, atMs: nowMs })

    const remaining = Math.max(0, Math.floor(this.#perMinute - level + tolerance))
    const excess = level - (this.#perMinute - remaining - 1)
    const resetSeconds = Math.max(1, Math.ceil((excess * windowSeconds) / this.#perMinute - tolerance))
    return {
      allowed: isAllowed,
      /** For `Retry-After` of a refusal: whole seconds, at least 1. */
      retryAfterSeconds: isAllowed ? undefined : resetSeconds,
      /** For allowed and refused answers alike. */
      headers: {
        'RateLimit-Policy': `"default";q=${this.#perMinute};w=${windowSeconds}`,
        // draft-ietf-httpapi-ratelimit-headers-11: `t` is how long no more than `r` can be used.
        RateLimit: `"default";r=${remaining};t=${resetSeconds}`,
      },
    }
  }

  #levelAt(keyId: string, nowMs: number): number {
    const bucket = this.#buckets.get(keyId)
    if (bucket === undefined) return 0
    // If the clock was set back, nothing leaks this once.
    const elapsedMs = Math.max(0, nowMs - bucket.atMs)
    return Math.max(0, bucket.level - (elapsedMs * this.#perMinute) / windowMs)
  }
}
