import { bulkhead } from 'cockatiel'
import { Thread } from '../../threads/thread.ts'
import type { AudioApi } from './audio-worker.ts'
import type { EncryptedAudio } from './encrypted-audio.ts'
import type { AudioLength } from './length.ts'

const idleMs = 30_000
const waitingMax = 1_000

const limitsDefault = {
  /** How long an upload waits for the length of its recording. */
  probeWithinMs: 5_000,
  /** Enough for two days of Opus. */
  peaksWithinMs: 300_000,
}

/**
 * Reads recordings in worker threads, which are ended when a file takes too long: one for lengths, which uploads wait
 * for, and one for peaks, which take seconds. Each reads one recording at a time.
 */
export class AudioThreads {
  readonly #prober = new AudioThread('The reader of lengths')
  readonly #peaker = new AudioThread('The reader of peaks')
  readonly #limits: typeof limitsDefault

  constructor(limits: Partial<typeof limitsDefault> = {}) {
    this.#limits = { ...limitsDefault, ...limits }
  }

  /** What the recording says of itself, where it says so. */
  async probe(audio: EncryptedAudio): Promise<AudioLength> {
    try {
      return await this.#prober.run(this.#limits.probeWithinMs, (thread) => thread.ask('probe', audio))
    } catch {
      // A recording plays without its length being known.
      return { durationSeconds: null, channels: null }
    }
  }

  /**
   * The waveform as `Peaks.toBytes` has it; empty if it cannot be computed.
   * @throws Error if the file cannot be read, and when the threads are closed
   */
  async peaks(audio: EncryptedAudio): Promise<Uint8Array> {
    try {
      return await this.#peaker.run(this.#limits.peaksWithinMs, (thread) => thread.ask('peaks', audio))
    } catch (error) {
      if (error instanceof TooSlow) return new Uint8Array()
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#prober.close(), this.#peaker.close()])
  }
}

class TooSlow extends Error {}

class AudioThread {
  readonly #thread: Thread<AudioApi, null>
  readonly #slots = bulkhead(1, waitingMax)

  constructor(name: string) {
    const script = new URL('./audio-worker.ts', import.meta.url)
    this.#thread = new Thread({ script, name, data: () => null, idleMs })
  }

  /** @throws TooSlow, and what the worker throws */
  async run<Value>(
    withinMs: number,
    ask: (thread: Thread<AudioApi, null>) => Promise<Value>,
  ): Promise<Value> {
    // Waiting counts, too, since others may send one slow file after the other.
    const deadline = performance.now() + withinMs
    return await this.#slots.execute(async () => {
      const leftMs = deadline - performance.now()
      if (leftMs < 0) throw new TooSlow('It takes too long')
      const timer = setTimeout(() => this.#thread.terminate(new TooSlow('It takes too long')), leftMs)
      try {
        return await ask(this.#thread)
      } finally {
        clearTimeout(timer)
      }
    })
  }

  async close(): Promise<void> {
    this.#thread.terminate(new Error('The recordings are closed'))
    await this.#thread.close()
  }
}
