import { and, asc, desc, eq, gt, notInArray, type SQL, sql } from 'drizzle-orm'
import type { Speech } from '../calls/sound/figures.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import type { Job, Turn } from '../core/jobs.ts'
import { calls, projects, recordings, soundDue, sources } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import type { AudioThreads } from './audio/audio-threads.ts'
import type { AudioLength } from './audio/encrypted-audio.ts'
import type { RecordingFiles } from './files.ts'
import { HasChanged } from './recordings.ts'

const delayMs = 100
/** Calls are completed, and recordings marked to be measured again, also by other processes. */
const commitMs = 1_000
const retryMs = 60_000
const failuresMax = 100
/** A bucket or a disk may be back by then. */
const retryFailedMs = 600_000
const ofFigures: (number | null)[] = [soundDue.figures, soundDue.decoded]

type Row = typeof recordings.$inferSelect

interface PeaksBacklogParts {
  files: RecordingFiles | null
  audio: Pick<AudioThreads, 'peaks'>
  ingest: Pick<Ingest, 'setRecording'>
  toSpeechBytes: (speech: Speech) => Buffer
  /** Makes silent what is redacted: see `Muter`. */
  mute: (row: Row, speech: Buffer) => Promise<SQL | null>
  /** Tells a length that was not known when the recording arrived. */
  onMeasured: (row: Row, length: AudioLength) => Promise<void>
}

const queries = preparedQueries((db) => ({
  callOfFile: db
    .select({
      id: calls.id,
      callerChannel: sql<number | null>`coalesce((
        select cast(options ->> 'callerChannel' as integer) from ${sources}
        where ${sources.projectId} = ${calls.projectId} and ${sources.platform} = ${calls.source}
          and options ->> 'callerChannel' is not null
        order by ${sources.createdAt} desc limit 1), ${projects.callerChannel})`,
    })
    .from(recordings)
    .innerJoin(calls, eq(calls.seq, recordings.seq))
    .innerJoin(projects, eq(projects.id, recordings.projectId))
    .where(eq(recordings.file, sql.placeholder('file')))
    .prepare(),
}))

/** Computes what players draw and measures the sound, one recording at a time, once for each; projects take turns. */
export class PeaksBacklog {
  readonly #parts: Core & PeaksBacklogParts
  readonly #job: Job
  readonly #failed = new Set<string>()
  #retryAt = 0
  /** Whose turn it was last. */
  #lastProjectId = 0

  constructor(core: Core, parts: PeaksBacklogParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'peaks',
      run: (turn) => this.#run(turn),
      delayMs,
      commitMs,
      everyMs: retryMs,
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
    const { files, log, now } = this.#parts
    if (now() >= this.#retryAt) {
      this.#failed.clear()
      this.#retryAt = now() + retryFailedMs
    }
    while (files) {
      const row = await this.#next()
      if (!row || !(await isMine())) return
      this.#lastProjectId = row.projectId
      const { speech } = row
      const isHeard = speech !== null && ofFigures.includes(row.soundDue)
      await (isHeard ? this.#hear(row, speech) : this.#compute(row, files)).catch(async (error) => {
        // Its call has changed meanwhile, or it was replaced or deleted.
        if (error instanceof HasChanged || !(await this.#isKept(row))) return
        if (!signal.aborted) log.warn({ error }, 'The waveform of a recording could not be computed')
        // The others need not wait for it. So many fail only because of what they have in common, such as the bucket.
        if (this.#failed.size === failuresMax) this.#failed.clear()
        else return void this.#failed.add(row.file)
        throw error
      })
    }
  }

  /** The most urgent one of the project whose turn it is, or else of any. */
  async #next(): Promise<Row | undefined> {
    const isLeft = notInArray(recordings.file, [...this.#failed])
    for (const due of Object.values(soundDue))
      for (const isTurn of [gt(recordings.projectId, this.#lastProjectId), undefined]) {
        const [row] = await this.#parts.read
          .select()
          .from(recordings)
          .where(and(eq(recordings.soundDue, due), isTurn, isLeft))
          .orderBy(
            asc(recordings.projectId),
            due === soundDue.again ? desc(recordings.seq) : asc(recordings.seq),
          )
          .limit(1)
        if (row) return row
      }
    return undefined
  }

  async #isKept({ file }: Row): Promise<boolean> {
    return (await queries(this.#parts.read).callOfFile.get({ file })) !== undefined
  }

  async #compute(row: Row, files: RecordingFiles): Promise<void> {
    const { write, audio, toSpeechBytes, onMeasured } = this.#parts
    const { projectId, file, key, bytes, contentType } = row
    const local = await files.local(file)
    // Deleted meanwhile, or lost: an empty waveform, so that it is not tried for ever.
    const { peaks, speech, length } = local
      ? await audio.peaks(projectId, { path: local.path, key, bytes, contentType }).finally(local.release)
      : { peaks: new Uint8Array(), speech: 'damaged' as const, length: null }
    if (row.durationSeconds === null && length && length.durationSeconds !== null)
      await onMeasured(row, length)
    // A live call is measured when it is completed.
    const isLive = sql`(select status from ${calls} where ${calls.seq} = ${recordings.seq}) = 'live'`
    // What is served as it was sent stays so until its call changes.
    const isSent = row.waitingSince === null && row.muting === null
    const due = sql`iif(${isLive}, null, ${isSent ? soundDue.decoded : soundDue.figures})`
    await write
      .update(recordings)
      .set({ peaks: Buffer.from(peaks), speech: toSpeechBytes(speech), soundDue: due })
      .where(eq(recordings.file, file))
  }

  async #hear(row: Row, speech: Buffer): Promise<void> {
    const isAsSeen = await this.#parts.mute(row, speech)
    if (isAsSeen) await this.#measure(row, speech, isAsSeen)
  }

  /** Makes the figures of a sound, as its call is now. */
  async #measure({ projectId, file }: Row, speech: Buffer, condition: SQL): Promise<void> {
    const { read, ingest } = this.#parts
    const call = await queries(read).callOfFile.get({ file })
    if (!call) throw new Error('The call was deleted')
    const { id, callerChannel } = call
    await ingest.setRecording(
      projectId,
      id,
      { speech: { bytes: speech, callerChannel } },
      {
        beside: {
          requirement: { condition, otherwise: () => new HasChanged() },
          statements: () => [sql`update ${recordings} set sound_due = null where file = ${file}`],
        },
        audited: { actions: [] },
      },
    )
  }
}
