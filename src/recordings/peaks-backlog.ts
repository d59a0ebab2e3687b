import { and, eq, isNull, notInArray } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import { recordings } from '../db/schema.ts'
import type { AudioThreads } from './audio/audio-threads.ts'
import type { RecordingFiles } from './files.ts'

const delayMs = 100
const retryMs = 60_000
const failuresMax = 100

interface PeaksBacklogParts {
  files: RecordingFiles | null
  audio: Pick<AudioThreads, 'peaks'>
}

/** Computes what players draw, one recording at a time, once for each. */
export class PeaksBacklog {
  readonly #options: Core & PeaksBacklogParts
  readonly #job: Job
  readonly #failed = new Set<string>()

  constructor(core: Core, parts: PeaksBacklogParts) {
    this.#options = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'peaks',
      run: (turn) => this.#run(turn),
      delayMs,
      retryMs,
      failure: 'The waveform of a recording could not be computed',
      level: 'warn',
    })
  }

  /** Call it when a recording is kept. */
  schedule(): void {
    this.#job.soon()
  }

  /** Resolves when nothing is being computed. */
  idle(): Promise<void> {
    return this.#job.idle()
  }

  async #run({ signal, isMine }: Turn): Promise<void> {
    const { read, files, log } = this.#options
    while (files && (await isMine())) {
      const isLeft = notInArray(recordings.file, [...this.#failed])
      const [row] = await read
        .select()
        .from(recordings)
        .where(and(isNull(recordings.peaks), isLeft))
        .limit(1)
      if (!row) return
      await this.#compute(row, files).catch((error) => {
        if (!signal.aborted) log.warn({ error }, 'The waveform of a recording could not be computed')
        // The others need not wait for it. So many fail only because of what they have in common, such as the bucket.
        if (this.#failed.size === failuresMax) this.#failed.clear()
        else return void this.#failed.add(row.file)
        throw error
      })
    }
  }

  async #compute(
    { seq, file, key, bytes, contentType }: typeof recordings.$inferSelect,
    files: RecordingFiles,
  ): Promise<void> {
    const { write, audio } = this.#options
    const local = await files.local(file)
    // Deleted meanwhile, or lost: an empty waveform, so that it is not tried for ever.
    const peaks = local
      ? await audio.peaks({ path: local.path, key, bytes, contentType }).finally(local.release)
      : new Uint8Array()
    const isSame = and(eq(recordings.seq, seq), eq(recordings.file, file))
    await write
      .update(recordings)
      .set({ peaks: Buffer.from(peaks) })
      .where(isSame)
  }
}
