import { eq, type SQL, sql } from 'drizzle-orm'
import type { readMuting } from '../calls/sound/redacted-spans.ts'
import type { Core } from '../core/core.ts'
import { calls, type Muting, recordings } from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { AudioThreads } from './audio/audio-threads.ts'
import type { RecordingFiles } from './files.ts'
import { newKey } from './frames.ts'
import { HasChanged, type Recordings } from './recordings.ts'

const waitsMsMax = 86_400_000
const notMuted = (reason: string) => `What is redacted in its call could not be made silent: ${reason}.`

type Row = typeof recordings.$inferSelect

interface MuterParts {
  files: RecordingFiles | null
  audio: Pick<AudioThreads, 'mute'>
  readMuting: typeof readMuting
  recordings: Pick<Recordings, 'serve' | 'replace' | 'refuse'>
}

const queries = preparedQueries((db) => ({
  callOfFile: db
    .select({ id: calls.id })
    .from(recordings)
    .innerJoin(calls, eq(calls.seq, recordings.seq))
    .where(eq(recordings.file, sql.placeholder('file')))
    .prepare(),
}))

/**
 * Makes silent, in both channels, the turns of a recording in which something is redacted. Nobody may hear the recording
 * before; the key of the file as it was sent is destroyed. A recording that cannot be muted is deleted.
 */
export class Muter {
  readonly #parts: Core & MuterParts

  constructor(core: Core, parts: MuterParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Whether the recording is as it is to be heard. If not, there is another one now, or none, or it waits. */
  async mute(row: Row, speech: Buffer): Promise<boolean> {
    const { settingsOf, store, read } = this.#parts
    const { projectId, file, waitingSince, muting } = row
    const isSent = waitingSince === null && muting === null
    if (isSent && (await settingsOf(projectId)).recordings !== 'mute') return true
    const { id } = (await queries(read).callOfFile.get({ file })) ?? {}
    const call =
      id === undefined
        ? null
        : await this.#parts.readMuting(store(projectId).read, { projectId, id }, speech, muting)
    if (id === undefined || !call) throw new Error('The call was deleted')
    const isAsSeen = sql`exists (select 1 from ${recordings} join ${calls} using (seq)
      where file = ${file} and ${calls.changeSeq} = ${call.changeSeq})`
    try {
      if (call.isLive) return await this.#wait(row, id, isAsSeen)
      return await this.#make(row, id, call.muting, isAsSeen)
    } catch (error) {
      // It is looked at once more.
      if (error instanceof HasChanged) return false
      if (!(error instanceof AppError) || error.code !== 'call_on_hold') throw error
      await this.#postpone(file)
      return false
    }
  }

  async #wait({ projectId, file, waitingSince }: Row, id: string, isAsSeen: SQL): Promise<false> {
    const { recordings, now } = this.#parts
    const isOver = waitingSince !== null && waitingSince < now() - waitsMsMax
    if (isOver) await recordings.refuse(projectId, id, notMuted('its call did not end'), isAsSeen)
    else await this.#postpone(file)
    return false
  }

  async #make(row: Row, id: string, muting: Muting | string, isAsSeen: SQL): Promise<boolean> {
    const { recordings } = this.#parts
    if (typeof muting === 'string') {
      await recordings.refuse(row.projectId, id, notMuted(muting), isAsSeen)
      return false
    }
    if (JSON.stringify(muting.spans) !== JSON.stringify(row.muting?.spans ?? [])) {
      await this.#replace(row, id, muting, isAsSeen)
      return false
    }
    if (row.waitingSince !== null) await recordings.serve(row, id, muting, isAsSeen)
    return true
  }

  async #replace(row: Row, id: string, muting: Muting, isAsSeen: SQL): Promise<void> {
    const { files, audio, recordings } = this.#parts
    const { projectId, file, key, bytes, contentType } = row
    const local = await files?.local(file)
    const copyKey = newKey()
    if (!files || !local)
      return await recordings.refuse(projectId, id, notMuted('its file is lost'), isAsSeen)
    const draft = await files.create()
    const copy = { path: draft.path, key: copyKey }
    const copyBytes = await audio
      .mute(projectId, { path: local.path, key, bytes, contentType }, muting.spans, copy)
      .finally(local.release)
      .catch(async (error) => {
        await draft.discard()
        throw error
      })
    if (copyBytes === null) {
      await draft.discard()
      return await recordings.refuse(projectId, id, notMuted('this format'), isAsSeen)
    }
    await draft.finish()
    await recordings.replace(row, id, { draft, key: copyKey, bytes: copyBytes, muting }, isAsSeen)
  }

  /** Until its call changes, and a day at most: see `RecordingExpiry`. */
  async #postpone(file: string): Promise<void> {
    await this.#parts.write.update(recordings).set({ soundDue: null }).where(eq(recordings.file, file))
  }
}
