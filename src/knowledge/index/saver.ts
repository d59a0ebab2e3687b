const delayMsMin = 2_000
const delayMsMax = 10_000
const retryMsMax = 300_000

/**
 * Decides when to save: some time after the last change, sooner or later under constant change, or now; less and less
 * often while that fails.
 */
export class Saver {
  readonly #save: () => Promise<void>
  readonly #onError: (error: unknown) => void
  #delayMs = delayMsMin
  #timer: ReturnType<typeof setTimeout> | undefined
  #changedSince: number | null = null
  #running: Promise<void> | null = null
  #queued: Promise<void> | null = null
  #isClosed = false

  /** @param onError is told of saves that nobody waits for; they are tried again. */
  constructor(save: () => Promise<void>, onError: (error: unknown) => void) {
    this.#save = save
    this.#onError = onError
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  soon(): void {
    if (this.#isClosed) return
    const now = performance.now()
    this.#changedSince ??= now
    // Late enough: the timer that is set goes off however many changes follow.
    if (now > this.#changedSince + Math.max(0, delayMsMax - this.#delayMs)) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#inBackground(), this.#delayMs)
  }

  /** A save that starts after this call; callers that come before it starts share it. */
  now(): Promise<void> {
    this.#queued ??= this.#afterRunning()
    return this.#queued
  }

  /** Resolves when no save is running. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running.catch(() => undefined)
  }

  /** No more saves of its own accord. */
  stop(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #afterRunning(): Promise<void> {
    await this.idle()
    this.#queued = null
    clearTimeout(this.#timer)
    this.#changedSince = null
    this.#running = this.#saveOnce().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async #saveOnce(): Promise<void> {
    await this.#save()
    this.#delayMs = delayMsMin
  }

  #inBackground(): void {
    this.now().catch((error) => {
      this.#onError(error)
      this.#delayMs = Math.min(retryMsMax, this.#delayMs * 2)
      this.soon()
    })
  }
}
