const retryFactor = 2
const retryMsDefault = 1_000

interface BackgroundOptions {
  /**
   * One run. It may resolve to the milliseconds until the next run; otherwise `everyMs` counts.
   * A run that stops because `signal` is aborted throws the signal's reason.
   */
  work: (signal: AbortSignal) => Promise<number | null> | Promise<void>
  /** How long after a run the next one begins. Without it, the next call of `soon` begins one. */
  everyMs?: number
  /** How long `soon` waits, so that requests close together share a run; not at all by default. */
  delayMs?: number
  /** The delay after a failed run, by default a second; it doubles with each further failure. */
  retryMs?: number
  retryMsMax?: number
  /** Called after each failed run. The work is tried again. */
  onFailure: (error: unknown) => void
}

/** A job that runs in the background: one run at a time, debounced, and again with backoff when it fails. */
export class Background {
  readonly #options: BackgroundOptions
  readonly #closing = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the next run is due, by `performance.now()`. */
  #dueAt = Number.POSITIVE_INFINITY
  /** After a failure, `soon` starts nothing before this time. */
  #notBefore = 0
  #retryMs: number
  #running: Promise<void> | null = null
  #queued: Promise<void> | null = null

  constructor(options: BackgroundOptions) {
    this.#options = options
    this.#retryMs = options.retryMs ?? retryMsDefault
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  /** Asks for a run within `delayMs`. During a run it asks for another. */
  soon(delayMs = this.#options.delayMs ?? 0): void {
    const dueAt = Math.max(performance.now() + delayMs, this.#notBefore)
    if (dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    if (!this.#running) this.#setTimer()
  }

  /** A run that starts after this call; calls before it starts share it. Rejects when the run fails. */
  now(): Promise<void> {
    this.#queued ??= this.#runNext()
    return this.#queued
  }

  /** Resolves when no run is under way, nor one that `now` has asked for. */
  async idle(): Promise<void> {
    while (this.#queued || this.#running) await (this.#queued ?? this.#running)?.catch(() => undefined)
  }

  /** Aborts the run that is under way, waits for its end, and starts no other. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The work was aborted'))
    clearTimeout(this.#timer)
    await this.idle()
  }

  async #runNext(): Promise<void> {
    do await this.#running?.catch(() => undefined)
    while (this.#running)
    // `now` has set it during the await above.
    this.#queued = null
    this.#closing.signal.throwIfAborted()
    this.#running = this.#run()
    return this.#running
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#notBefore = 0
    const { work, everyMs = null, retryMs = retryMsDefault, retryMsMax = retryMs, onFailure } = this.#options
    try {
      const againMs = (await work(this.#closing.signal)) ?? everyMs
      this.#retryMs = retryMs
      if (againMs !== null) this.soon(againMs)
    } catch (error) {
      // After `close`, the failure is that of the abort.
      if (!this.isClosed) onFailure(error)
      this.#notBefore = performance.now() + this.#retryMs
      this.#dueAt = this.#notBefore
      this.#retryMs = Math.min(this.#retryMs * retryFactor, retryMsMax)
      throw error
    } finally {
      this.#running = null
      this.#setTimer()
    }
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    if (this.isClosed || this.#dueAt === Number.POSITIVE_INFINITY) return
    // Failures go to `onFailure`, and the next run is scheduled by then.
    const run = () => void this.now().catch(() => undefined)
    this.#timer = setTimeout(run, Math.max(0, this.#dueAt - performance.now()))
    this.#timer.unref()
  }
}
