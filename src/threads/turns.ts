import { setImmediate } from 'node:timers/promises'

/**
 * Lets many long works of one thread take turns: one step of one of them in each turn of the event loop, so that
 * everything else waits for one step at most.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  /** Resolves when the next step may be done, at once. */
  async next(): Promise<void> {
    this.#last = this.#last.then(() => setImmediate())
    await this.#last
  }
}
