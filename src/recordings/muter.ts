import { eq, type SQL, sql } from 'drizzle-orm'
import { readStored } from '../calls/details.ts'
import type { Speech } from '../calls/sound/figures.ts'
import { areWithin, joined, type RedactedSpans, redactedSpans } from '../calls/sound/redacted-spans.ts'
import { readStoredCalls } from '../calls/writing/stored-calls.ts'
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
  async mute(row: Row, speech: Speech): Promise<boolean> {
    const { settingsOf, store, read } = this.#parts
    const { projectId, file, waitingSince, muting } = row
    const isSent = waitingSince === null && muting === null
    if (isSent && (await settingsOf(projectId)).recordings !== 'mute') return true
    const { id } = (await queries(read).callOfFile.get({ file })) ?? {}
    const found =
      id === undefined ? undefined : (await readStoredCalls(store(projectId).read, projectId, [id])).get(id)
    if (id === undefined || !found) throw new Error('The call was deleted')
    const { stored, changeSeq } = found
    const isAsSeen = sql`exists (select 1 from ${recordings} join ${calls} using (seq)
      where file = ${file} and ${calls.changeSeq} = ${changeSeq})`
    try {
      if (stored.call.status === 'live') return await this.#wait(row, id, isAsSeen)
      const { timeline } = readStored(stored.details)
      const { transcript } = stored.call
      const wanted = redactedSpans(speech, { timeline, transcript }, muting?.alignment ?? null)
      return await this.#make(row, id, wanted, isAsSeen)
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

  async #make(row: Row, id: string, wanted: RedactedSpans | string, isAsSeen: SQL): Promise<boolean> {
    const { recordings } = this.#parts
    const { projectId, waitingSince } = row
    const before = row.muting?.spans ?? []
    if (typeof wanted === 'string') {
      await recordings.refuse(projectId, id, notMuted(wanted), isAsSeen)
      return false
    }
    const { alignment } = wanted
    if (!areWithin(wanted.spans, before)) {
      await this.#replace(row, id, { spans: joined([...before, ...wanted.spans]), alignment }, isAsSeen)
      return false
    }
    if (waitingSince !== null) await recordings.serve(row, id, { spans: before, alignment }, isAsSeen)
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
