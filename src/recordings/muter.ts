import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { readMuting } from '../calls/sound/redacted-spans.ts'
import type { Core } from '../core/core.ts'
import { calls, type Muting, recordings, soundDue } from '../db/schema.ts'
import { AppError } from '../errors.ts'
import type { AudioThreads } from './audio/audio-threads.ts'
import type { RecordingFiles } from './files.ts'
import { newKey } from './frames.ts'
import { HasChanged, type MutedCopy, type Recordings } from './recordings.ts'

const waitsMsMax = 86_400_000
const notMuted = (reason: string) => `What is redacted in its call could not be made silent: ${reason}.`

type Row = typeof recordings.$inferSelect

interface MuterParts {
  files: RecordingFiles | null
  audio: Pick<AudioThreads, 'mute'>
  readMuting: typeof readMuting
  recordings: Pick<Recordings, 'callIdOf' | 'serve' | 'replace' | 'refuse' | 'withhold'>
}

/**
 * Makes silent, in both channels, the turns of a recording in which something is redacted. Nobody may hear the recording
 * before; the key of the file as it was sent is destroyed. A recording that cannot be muted is deleted.
 */
export class Muter {
  readonly #parts: Core & MuterParts

  constructor(core: Core, parts: MuterParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * Silences what must be.
   * @returns what holds as long as the recording is as it is to be heard; null if there is another one now, or none, or
   * if it waits
   */
  async mute(row: Row, speech: Buffer): Promise<SQL | null> {
    const { settingsOf, store, readMuting } = this.#parts
    const { projectId, file, waitingSince, muting } = row
    const isAsSent = waitingSince === null && muting === null
    const isThere = sql`exists (select 1 from ${recordings} where file = ${file})`
    const settings = await settingsOf(projectId)
    if (isAsSent && (settings.recordings !== 'mute' || row.soundDue === soundDue.decoded)) return isThere
    const id = await this.#parts.recordings.callIdOf(file)
    const call =
      id === null ? null : await readMuting(store(projectId).read, { projectId, id }, speech, muting)
    if (id === null || !call) throw new Error('The call was deleted')
    const isAsSeen = sql`exists (select 1 from ${recordings} join ${calls} using (seq)
      where file = ${file} and ${calls.changeSeq} = ${call.changeSeq})`
    try {
      const isReady = call.isLive
        ? await this.#wait(row, id, isAsSeen)
        : await this.#silence(row, id, call.muting, isAsSeen)
      return isReady ? isAsSeen : null
    } catch (error) {
      // Its row is still due, so this is tried again at once.
      if (error instanceof HasChanged) return null
      if (!(error instanceof AppError) || error.code !== 'call_on_hold') throw error
      await this.#parts.recordings.withhold(row, id, isAsSeen)
      return null
    }
  }

  async #wait({ projectId, file, waitingSince }: Row, id: string, isAsSeen: SQL): Promise<false> {
    const { recordings: kept, write, now } = this.#parts
    const isOver = waitingSince !== null && waitingSince < now() - waitsMsMax
    if (isOver) {
      await kept.refuse(projectId, id, notMuted('its call did not end'), isAsSeen)
      return false
    }
    // The end of its call makes it due again.
    await write
      .update(recordings)
      .set({ soundDue: null })
      .where(and(eq(recordings.file, file), isAsSeen))
    return false
  }

  /** Whether nothing was left to be done. */
  async #silence(row: Row, id: string, muting: Muting | string, isAsSeen: SQL): Promise<boolean> {
    const { recordings } = this.#parts
    if (typeof muting === 'string') {
      await recordings.refuse(row.projectId, id, notMuted(muting), isAsSeen)
      return false
    }
    if (JSON.stringify(muting.spans) !== JSON.stringify(row.muting?.spans ?? [])) {
      await this.#replace(row, id, muting, isAsSeen)
      return false
    }
    if (row.waitingSince === null) return true
    await recordings.serve(row, id, muting, isAsSeen)
    return false
  }

  async #replace(row: Row, id: string, muting: Muting, isAsSeen: SQL): Promise<void> {
    const { files, recordings } = this.#parts
    const local = await files?.local(row.file)
    if (!files || !local)
      return await recordings.refuse(row.projectId, id, notMuted('its file is lost'), isAsSeen)
    const copy = await this.#copyOf({ ...row, path: local.path }, muting, files).finally(local.release)
    if (copy === null) await recordings.refuse(row.projectId, id, notMuted('this format'), isAsSeen)
    else await recordings.replace(row, id, copy, isAsSeen)
  }

  /** A copy in a finished draft; null if the recording cannot be muted. */
  async #copyOf(
    audio: Row & { path: string },
    muting: Muting,
    files: RecordingFiles,
  ): Promise<MutedCopy | null> {
    const { projectId, path, key, bytes, contentType } = audio
    const draft = await files.create()
    try {
      const copy = { path: draft.path, key: newKey() }
      const sound = { path, key, bytes, contentType }
      const copyBytes = await this.#parts.audio.mute(projectId, sound, muting.spans, copy)
      if (copyBytes === null) await draft.discard()
      else await draft.finish()
      return copyBytes === null ? null : { draft, key: copy.key, bytes: copyBytes, muting }
    } catch (error) {
      await draft.discard()
      throw error
    }
  }
}
