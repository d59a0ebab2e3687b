import { and, eq, gt, isNull, notInArray, type SQL } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import { recordings } from '../db/schema.ts'
import type { AudioThreads } from './audio/audio-threads.ts'
import type { AudioLength } from './audio/encrypted-audio.ts'
import type { RecordingFiles } from './files.ts'

const delayMs = 100
const retryMs = 60_000
const failuresMax = 100

type Row = typeof recordings.$inferSelect

interface PeaksBacklogParts {
  files: RecordingFiles | null
  audio: Pick<AudioThreads, 'peaks'>
  /** Tells a length that was not known when the recording arrived. */
  onMeasured: (row: Row, length: AudioLength) => Promise<void>
}

/** Computes what players draw, one recording at a time, once for each; projects take turns. */
export class PeaksBacklog {
  readonly #parts: Core & PeaksBacklogParts
  readonly #job: Job
  readonly #failed = new Set<string>()
  /** Whose turn it was last. */
  #lastProjectId = 0

  constructor(core: Core, parts: PeaksBacklogParts) {
    this.#parts = { ...core, ...parts }
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
    const { files, log } = this.#parts
    while (files && (await isMine())) {
      const row = (await this.#next(gt(recordings.projectId, this.#lastProjectId))) ?? (await this.#next())
      if (!row) return
      this.#lastProjectId = row.projectId
      await this.#compute(row, files).catch(async (error) => {
        // It was replaced or deleted meanwhile.
        if (!(await this.#isKept(row))) return
        if (!signal.aborted) log.warn({ error }, 'The waveform of a recording could not be computed')
        // The others need not wait for it. So many fail only because of what they have in common, such as the bucket.
        if (this.#failed.size === failuresMax) this.#failed.clear()
        else return void this.#failed.add(row.file)
        throw error
      })
    }
  }

  async #next(isTurn?: SQL): Promise<Row | undefined> {
    const isLeft = notInArray(recordings.file, [...this.#failed])
    const [row] = await this.#parts.read
      .select()
      .from(recordings)
      .where(and(isNull(recordings.peaks), isTurn, isLeft))
      .orderBy(recordings.projectId, recordings.seq)
      .limit(1)
    return row
  }

  async #isKept({ file }: Row): Promise<boolean> {
    const { read } = this.#parts
    return (
      (await read.select({ file: recordings.file }).from(recordings).where(eq(recordings.file, file)))
        .length > 0
    )
  }

  async #compute(row: Row, files: RecordingFiles): Promise<void> {
    const { write, audio, onMeasured } = this.#parts
    const { seq, projectId, file, key, bytes, contentType } = row
    const local = await files.local(file)
    // Deleted meanwhile, or lost: an empty waveform, so that it is not tried for ever.
    const { peaks, length } = local
      ? await audio.peaks(projectId, { path: local.path, key, bytes, contentType }).finally(local.release)
      : { peaks: new Uint8Array(), length: null }
    if (row.durationSeconds === null && length && length.durationSeconds !== null)
      await onMeasured(row, length)
    const isSame = and(eq(recordings.seq, seq), eq(recordings.file, file))
    await write
      .update(recordings)
      .set({ peaks: Buffer.from(peaks) })
      .where(isSame)
  }
}
