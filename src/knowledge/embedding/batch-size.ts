/** An answer within this share of the time limit leaves room for twice as many texts. */
const quickShare = 0.25

/**
 * How many texts a request holds: half as many after one that was not answered in time, twice as many after one
 * that was answered quickly. A model on a slow CPU takes minutes for what a hosted one answers at once.
 */
export class BatchSize {
  readonly #max: number
  readonly #timeoutMs: number
  #texts: number

  constructor({ max, timeoutMs }: { max: number; timeoutMs: number }) {
    this.#max = max
    this.#timeoutMs = timeoutMs
    this.#texts = max
  }

  get texts(): number {
    return this.#texts
  }

  timedOut(sent: number): void {
    // By what was sent: of several requests under way, each says the same.
    this.#texts = Math.max(1, Math.min(this.#texts, sent >> 1))
  }

  answered(sent: number, durationMs: number): void {
    const isFull = sent >= this.#texts
    if (isFull && durationMs < this.#timeoutMs * quickShare)
      this.#texts = Math.min(this.#max, this.#texts * 2)
  }
}
