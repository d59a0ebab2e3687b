interface RoundsOptions {
  /** One round; true when there is more to do already. */
  work: () => Promise<boolean>
  /** How long a round waits for more to do, so that what comes close together is done together. */
  delayMs: number
  retryMs: number
  onFailure: (error: unknown) => void
}

/** Work in the background: one round at a time, soon after it is asked for, and again when it failed. */
export class Rounds {
  readonly #options: RoundsOptions
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #closing = new AbortController()
  #run: Promise<void> | undefined
  /** Asked for since the last round began, which may have seen too little. */
  #isWanted = false

  constructor(options: RoundsOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.signal.aborted
  }

  /** Aborted by `close`; work that breaks off then throws its reason. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  schedule(): void {
    this.#isWanted = true
    this.#startIn(this.#options.delayMs)
  }

  /** Resolves when the round that is under way now has ended. */
  async idle(): Promise<void> {
    await this.#run
  }

  /** Waits until what is under way has ended or broken off, and starts nothing any more. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The work was broken off'))
    clearTimeout(this.#timer)
    await this.#run
  }

  #startIn(delayMs: number): void {
    if (this.#timer || this.isClosed) return
    this.#timer = setTimeout(() => {
      this.#run = this.#round()
    }, delayMs)
  }

  async #round(): Promise<void> {
    const { work, delayMs, retryMs, onFailure } = this.#options
    let nextInMs: number | null
    this.#isWanted = false
    try {
      nextInMs = (await work()) || this.#isWanted ? delayMs : null
    } catch (error) {
      if (error !== this.signal.reason) onFailure(error)
      nextInMs = retryMs
    }
    this.#timer = undefined
    if (nextInMs !== null) this.#startIn(nextInMs)
  }
}
