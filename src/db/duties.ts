import { Rounds } from './rounds.ts'

const retryMs = 2_000

type Duty = () => Promise<unknown>

/** Work that is to be done once, however often it fails before. What fails holds up nothing else. */
export class Duties {
  readonly #onFailure: (error: unknown) => void
  readonly #rounds: Rounds
  #failed: Duty[] = []

  /** @param onFailure told of each failure; the duty is tried again */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure
    this.#rounds = new Rounds({
      work: () => this.#tryAgain(),
      delayMs: retryMs,
      retryMs,
      onFailure,
    })
  }

  /** Resolves when it was tried, whether or not it has to be again. Never fails. */
  async attempt(duty: Duty): Promise<void> {
    if (this.#rounds.isClosed) return
    try {
      await duty()
    } catch (error) {
      this.#onFailure(error)
      this.#failed.push(duty)
      this.#rounds.schedule()
    }
  }

  /** Finishes what is under way; what is left is for the next start. */
  async close(): Promise<void> {
    await this.#rounds.close()
  }

  async #tryAgain(): Promise<boolean> {
    const duties = this.#failed
    this.#failed = []
    for (const duty of duties) await this.attempt(duty)
    return this.#failed.length > 0
  }
}
