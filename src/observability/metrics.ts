import type { Instruments, WatchedParts } from './instruments.ts'
import { RequestDurations } from './request-durations.ts'

const lagProbeMs = 250

/** Prometheus metrics. Names follow https://prometheus.io/docs/practices/naming. */
export class Metrics {
  readonly #requests = new RequestDurations()
  readonly #watched: Promise<WatchedParts>
  #loading: Promise<Instruments> | undefined
  #lagMsMax = 0
  #probe: ReturnType<typeof setTimeout> | undefined

  /** Adds gauges that each scrape reads from the parts. */
  readonly watch: (parts: WatchedParts) => void

  constructor() {
    // Node 20 has no `Promise.withResolvers`.
    let watch = (_: WatchedParts): void => undefined
    this.#watched = new Promise((resolve) => {
      watch = resolve
    })
    this.watch = watch
  }

  observeRequest(request: { method: string; route: string; status: number; durationMs: number }): void {
    this.#requests.observe(request.method, request.route, request.status, request.durationMs / 1000)
  }

  observeEmbedding({ durationMs, error }: { durationMs: number; error: string | null }): void {
    this.#observe(({ embeddings, embeddingFailures }) => {
      embeddings.observe(durationMs / 1000)
      if (error !== null) embeddingFailures.inc()
    })
  }

  observeSearch({ mode, tookMs, coverage }: { mode: string; tookMs: number; coverage: number | null }): void {
    this.#observe(({ searches, searchCoverage }) => {
      searches.observe({ mode }, tookMs / 1000)
      if (coverage !== null) searchCoverage.observe(coverage)
    })
  }

  /** The Prometheus text format, version 0.0.4. */
  async text(): Promise<string> {
    const instruments = await this.#instruments()
    instruments.lag.set(this.#lagMsMax / 1000)
    this.#lagMsMax = 0
    return this.#requests.text() + (await instruments.text())
  }

  close(): void {
    clearTimeout(this.#probe)
  }

  #observe(observe: (instruments: Instruments) => void): void {
    // If they cannot be loaded, the next scrape fails and says why.
    this.#instruments().then(observe, () => undefined)
  }

  /** Loaded at the first observation or scrape. */
  #instruments(): Promise<Instruments> {
    this.#loading ??= this.#load().catch((error) => {
      this.#loading = undefined
      throw error
    })
    return this.#loading
  }

  async #load(): Promise<Instruments> {
    const [{ Instruments }, parts] = await Promise.all([import('./instruments.ts'), this.#watched])
    return new Instruments(parts)
  }

  /**
   * To be called with each request. A timer is late by the lag; at rest, one that always runs would cost more than
   * anything else. `monitorEventLoopDelay` does not exist on every runtime.
   */
  probeLag(): void {
    if (this.#probe) return
    const dueAt = performance.now() + lagProbeMs
    this.#probe = setTimeout(() => {
      this.#probe = undefined
      this.#lagMsMax = Math.max(this.#lagMsMax, performance.now() - dueAt)
    }, lagProbeMs)
    this.#probe.unref()
  }
}
