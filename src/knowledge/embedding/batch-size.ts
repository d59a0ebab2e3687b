/** An answer that takes less than this share of the time limit doubles the size. */
const quickShare = 0.25

/**
 * How many texts a request holds. A timeout halves the number, a quick answer doubles it: a model on a slow CPU takes
 * minutes for what a hosted one answers at once.
 */
export class BatchSize {
  readonly #limits: { max: number; timeoutMs: number }
  #texts: number

  constructor(limits: { max: number; timeoutMs: number }) {
    this.#limits = limits
    this.#texts = limits.max
  }

  get texts(): number {
    return this.#texts
  }

  timedOut(sent: number): void {
    // Half of what was sent, so that several timed-out requests of one size halve it only once.
    this.#texts = Math.max(1, Math.min(this.#texts, sent >> 1))
  }

  answered(sent: number, durationMs: number): void {
    const isFull = sent >= this.#texts
    if (isFull && durationMs < this.#limits.timeoutMs * quickShare)
      this.#texts = Math.min(this.#limits.max, this.#texts * 2)
  }
}
