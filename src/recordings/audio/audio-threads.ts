import type { Span } from '../../calls/sound/figures.ts'
import { FairQueue } from '../../threads/fair-queue.ts'
import { Thread } from '../../threads/thread.ts'
import type { AudioApi, AudioPeaks } from './audio-worker.ts'
import type { AudioLength, EncryptedAudio } from './encrypted-audio.ts'

const unknown: AudioLength = { durationSeconds: null, channels: null }
const idleMs = 30_000
const waitingMax = 1_000

const limitsDefault = {
  /** How long an upload waits for the length of its recording. */
  probeWithinMs: 5_000,
  /** Enough for two days of Opus. */
  peaksWithinMs: 400_000,
}

/**
 * Reads recordings in worker threads, which are ended when a file takes too long: one for lengths, which uploads wait
 * for, one for peaks, which take seconds, and one that mutes. Each reads one recording at a time, and projects take turns.
 */
export class AudioThreads {
  readonly #prober = new AudioThread<AudioLength>('The reader of lengths')
  readonly #peaker = new AudioThread<AudioPeaks>('The reader of peaks')
  readonly #muter = new AudioThread<number | null>('The muting of recordings')
  readonly #limits: typeof limitsDefault

  constructor(limits: Partial<typeof limitsDefault> = {}) {
    this.#limits = { ...limitsDefault, ...limits }
  }

  /** What the recording says of itself, where it says so. */
  async probe(projectId: number, audio: EncryptedAudio): Promise<AudioLength> {
    const { probeWithinMs } = this.#limits
    try {
      return await this.#prober.run(projectId, audio, probeWithinMs, (thread) => thread.ask('probe', audio))
    } catch {
      // A recording plays without its length being known, and its length is read again with its peaks.
      return unknown
    }
  }

  /**
   * The waveform, empty if it cannot be computed, who speaks when, and the length.
   * @throws Error if the file cannot be read, and when the threads are closed
   */
  async peaks(projectId: number, audio: EncryptedAudio): Promise<AudioPeaks> {
    const { peaksWithinMs } = this.#limits
    try {
      return await this.#peaker.run(projectId, audio, peaksWithinMs, (thread) => thread.ask('peaks', audio))
    } catch (error) {
      if (error instanceof TooSlow) return { peaks: new Uint8Array(), speech: 'long', length: unknown }
      throw error
    }
  }

  /**
   * Writes a copy that is silent within the spans to an empty file.
   * @returns the length of the copy; null if the recording cannot be muted
   * @throws Error if a file cannot be read or written, and when the threads are closed
   */
  async mute(
    projectId: number,
    audio: EncryptedAudio,
    spans: readonly Span[],
    copy: Pick<EncryptedAudio, 'path' | 'key'>,
  ): Promise<number | null> {
    const { peaksWithinMs } = this.#limits
    try {
      return await this.#muter.run(projectId, audio, peaksWithinMs, (thread) =>
        thread.ask('mute', audio, spans, copy),
      )
    } catch (error) {
      if (error instanceof TooSlow) return null
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#prober.close(), this.#peaker.close(), this.#muter.close()])
  }
}

class TooSlow extends Error {}

class AudioThread<Value> {
  readonly #thread: Thread<AudioApi, null>
  readonly #queue = new FairQueue<Value>(waitingMax)

  constructor(name: string) {
    const script = new URL('./audio-worker.ts', import.meta.url)
    this.#thread = new Thread({ script, name, data: () => null, idleMs })
  }

  /** @throws TooSlow, what the worker throws, and Error if too many of the project's recordings wait */
  async run(
    projectId: number,
    { path }: EncryptedAudio,
    withinMs: number,
    ask: (thread: Thread<AudioApi, null>) => Promise<Value>,
  ): Promise<Value> {
    // Waiting counts, too, since others may send one slow file after the other.
    const deadline = performance.now() + withinMs
    return await this.#queue.do(projectId, path, async () => {
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
