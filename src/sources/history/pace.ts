import { setTimeout as sleep } from 'node:timers/promises'

/** Spreads requests, so that no second has more of them than the rate says. */
export class Pace {
  /** Requests a second. */
  rate: number
  /** When the next request may be sent, by `performance.now()`. */
  #nextAt = 0

  constructor(rate: number) {
    this.rate = rate
  }

  /** Resolves when a request may be sent. */
  async turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      const waitMs = this.#nextAt - performance.now()
      if (waitMs <= 0) break
      await sleep(waitMs, null, { signal })
    }
    const spaceMs = 1_000 / this.rate
    // One that was late lets the next one be on time, but no two follow each other at once.
    this.#nextAt = Math.max(this.#nextAt, performance.now() - spaceMs / 2) + spaceMs
  }

  /** Holds back all requests that have not been sent. */
  hold(ms: number): void {
    this.#nextAt = Math.max(this.#nextAt, performance.now() + ms)
  }
}

/** Does something for each, some at once; the first failure ends it. */
export async function forEachAtOnce<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  const rest = items.values()
  const workers = Array.from({ length: atOnce }, async () => {
    // They share the iterator, so each item is taken once.
    for (const item of rest) await work(item, either)
  })
  try {
    await Promise.all(workers)
  } finally {
    ending.abort()
    await Promise.allSettled(workers)
  }
}
