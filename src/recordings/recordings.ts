import { and, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { AuditAction } from '../audit/actions.ts'
import type { Holds } from '../calls/keeping/holds.ts'
import type { CallRecording } from '../calls/schemas.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import { erasing } from '../db/erasing.ts'
import type { Requirement } from '../db/requirements.ts'
import {
  calls,
  erasures,
  keys,
  type Muting,
  projects,
  recordingFetches,
  recordings,
  soundDue,
} from '../db/schema.ts'
import { preparedQueries } from '../db/store.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { AppError, callIsOnHold, callNotFound, callWasDeleted, forbidden, unavailable } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { Turns } from '../threads/turns.ts'
import { type Arrived, receive } from './arrival.ts'
import type { Draft, RecordingFiles } from './files.ts'
import { damagedRecording, decryptRange, frameBytes, storedBytesOf } from './frames.ts'
import { type Link, LinkTokens } from './links.ts'
import type { KeptRecording } from './schemas.ts'

/** When holds or the recording change meanwhile so often, the answer is 503. */
const attemptsMax = 5
const linkSecondsDefault = 300
const tagChars = 32
const partBytes = 4 * frameBytes

type Row = typeof recordings.$inferSelect

/** The fields of a recording that is not kept. */
export const notKept: Omit<CallRecording, 'state'> = {
  reason: null,
  contentType: null,
  bytes: null,
  durationSeconds: null,
  channels: null,
  keptAt: null,
  mutedSeconds: null,
  muted: null,
}

export interface Write {
  /** Written together with the state, or not at all. @param call selects the call's row number */
  beside: { requirement?: Requirement; statements(call: SQL): SQL[]; isDeletion?: boolean }
  /** Left out where the call may be created. */
  audited?: { by?: ActedBy | undefined; actions: readonly AuditAction[] }
}

interface RecordingsParts {
  /** Null where nodes share no folder. */
  files: RecordingFiles | null
  ingest: Pick<Ingest, 'setRecording'>
  holds: Pick<Holds, 'among'>
  /** What can be told of a recording; null for what cannot. Never fails. */
  probe(projectId: number, arrival: Arrived): Promise<Pick<Row, 'durationSeconds' | 'channels'>>
  /** Called when a recording is kept. */
  onKept: () => void
  erasure: Pick<Erasure, 'schedule'>
}

/** A recording that is open: read it to the end, or close it. */
export interface OpenRecording {
  id: string
  contentType: string
  bytes: number
  /** Its ETag, without quotes. */
  tag: string
  /** Bytes from `start` to `end`, exclusive, in parts. */
  read(start: number, end: number): AsyncGenerator<Buffer>
  close(): Promise<void>
}

const queries = preparedQueries((db) => ({
  byCall: db
    .select({ seq: calls.seq, recording: recordings })
    .from(calls)
    .leftJoin(recordings, eq(recordings.seq, calls.seq))
    .where(and(eq(calls.projectId, sql.placeholder('projectId')), eq(calls.id, sql.placeholder('id'))))
    .prepare(),
  byLink: db
    .select({ id: calls.id, recording: recordings })
    .from(recordings)
    .innerJoin(calls, eq(calls.seq, recordings.seq))
    .innerJoin(projects, and(eq(projects.id, recordings.projectId), isNull(projects.deletedAt)))
    .innerJoin(keys, and(eq(keys.projectId, projects.id), isNull(keys.revokedAt)))
    .where(
      and(
        eq(recordings.file, sql.placeholder('file')),
        isNull(recordings.waitingSince),
        eq(keys.id, sql.placeholder('keyId')),
        or(isNull(keys.expiresAt), gt(keys.expiresAt, sql.placeholder('now'))),
      ),
    )
    .prepare(),
  byFile: db
    .select({ id: calls.id })
    .from(recordings)
    .innerJoin(calls, eq(calls.seq, recordings.seq))
    .where(eq(recordings.file, sql.placeholder('file')))
    .prepare(),
  deleted: db
    .select({ at: erasures.requestedAt })
    .from(erasures)
    .where(
      and(
        eq(erasures.projectId, sql.placeholder('projectId')),
        eq(erasures.kind, sql.placeholder('kind')),
        eq(erasures.idHash, sql.placeholder('hash')),
      ),
    )
    .prepare(),
}))

/** The recordings of calls: keep, open, delete. */
export class Recordings {
  readonly #parts: Core & RecordingsParts
  readonly #tokens: LinkTokens
  readonly #turns = { uploads: new Turns(), downloads: new Turns() }

  constructor(core: Core, parts: RecordingsParts) {
    this.#parts = { ...core, ...parts }
    this.#tokens = new LinkTokens(core.linkSecret)
  }

  /**
   * Keeps a recording that somebody sends, in place of any other one of its call; committed and durable when it returns.
   * Creates an unknown call.
   * @throws forbidden if the project redacts and does not keep recordings; call_was_deleted; call_on_hold if it would
   * replace another one; unavailable where nothing is kept; what `receive` throws
   */
  async upload(
    projectId: number,
    id: string,
    parts: AsyncIterable<Uint8Array>,
  ): Promise<{ recording: KeptRecording; isNew: boolean }> {
    const { redact, recordings: fetching } = await this.#parts.settingsOf(projectId)
    if (redact.length > 0 && fetching === 'off') throw redacts()
    if (await this.#wasDeleted(projectId, 'call', id)) throw callWasDeleted()
    return await this.#keep(projectId, id, parts)
  }

  /**
   * The same for what the service has fetched, or a session has sent, for a call that is there.
   * @param isWanted keeps it only if this holds when it is written
   * @throws not_found; unavailable if it is not wanted; as `upload`
   */
  async keep(
    projectId: number,
    id: string,
    parts: AsyncIterable<Uint8Array>,
    isWanted: SQL = sql`true`,
  ): Promise<void> {
    await this.#keep(projectId, id, parts, { audited: { actions: [] }, isWanted })
  }

  /** Whether a recording of the call was deleted, replaced or has expired: then none is fetched again. */
  async isUnwanted(projectId: number, id: string): Promise<boolean> {
    return await this.#wasDeleted(projectId, 'recording', id)
  }

  /** @throws not_found */
  async open(projectId: number, id: string): Promise<OpenRecording> {
    return await this.#open(id, await this.#servedRowOf(projectId, id))
  }

  /** What a player draws; null until it is computed. @throws not_found */
  async peaks(projectId: number, id: string): Promise<Uint8Array | null> {
    return (await this.#servedRowOf(projectId, id)).peaks
  }

  /**
   * Measures the sound of a call, or of all of the project, again in the background.
   * @returns how many
   * @throws not_found unless the call has a recording
   */
  async measureAgain(projectId: number, id?: string): Promise<{ queued: number }> {
    const seq = id === undefined ? null : (await this.#rowOf(projectId, id)).seq
    const rows = await this.#parts.write
      .update(recordings)
      .set({ soundDue: soundDue.again })
      .where(and(eq(recordings.projectId, projectId), seq === null ? undefined : eq(recordings.seq, seq)))
      .returning({ seq: recordings.seq })
    return { queued: rows.length }
  }

  /** A token that opens this very recording for a time, as long as the key is valid. @throws not_found */
  async link(
    projectId: number,
    id: string,
    {
      keyId,
      expiresInSeconds = linkSecondsDefault,
    }: { keyId: string; expiresInSeconds?: number | undefined },
  ): Promise<{ token: string; expiresAt: string }> {
    const { file } = await this.#servedRowOf(projectId, id)
    const expiresAt = this.#parts.now() + expiresInSeconds * 1_000
    const token = this.#tokens.make({ file, keyId, expiresAt })
    return { token, expiresAt: new Date(expiresAt).toISOString() }
  }

  /** @param enter called with the link's key before its file is opened @throws not_found, and what `enter` throws */
  async openLink(token: string, enter: (keyId: string) => void): Promise<OpenRecording> {
    const link = this.#tokens.read(token)
    if (!link || link.expiresAt <= this.#parts.now()) throw noRecording()
    const { id, recording } = await this.#linked(link)
    enter(link.keyId)
    return await this.#open(id, recording)
  }

  /** Whether what a link has opened may be played on. It may last longer than the link. @throws not_found */
  async checkLink(token: string): Promise<void> {
    const link = this.#tokens.read(token)
    if (link) await this.#linked(link)
  }

  /** The bytes of all recordings, by the public id of their project. */
  async bytesKept(): Promise<{ project: string; bytes: number }[]> {
    return await this.#parts.read
      .select({ project: projects.publicId, bytes: sql<number>`sum(bytes)` })
      .from(recordings)
      .innerJoin(projects, eq(projects.id, recordings.projectId))
      .groupBy(recordings.projectId)
  }

  /** The id of the call whose recording is in this file; null if it was replaced or deleted. */
  async callIdOf(file: string): Promise<string | null> {
    return (await queries(this.#parts.read).byFile.get({ file }))?.id ?? null
  }

  /** How many recordings a project has, and their bytes. */
  async usage(projectId: number): Promise<{ recordings: number; bytes: number }> {
    const { readForConsole } = this.#parts.store(projectId)
    const [row] = await readForConsole
      .select({ recordings: sql<number>`count(*)`, bytes: sql<number>`coalesce(sum(bytes), 0)` })
      .from(recordings)
      .where(eq(recordings.projectId, projectId))
    return row ?? { recordings: 0, bytes: 0 }
  }

  /** Deletes a recording for good; the call stays. @throws not_found, call_on_hold */
  async delete(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; deleted: true }> {
    await this.#remove(projectId, id, { state: 'none' }, { by, actions: ['recording_deleted'] })
    return { id, deleted: true }
  }

  /**
   * The same at the end of its retention, which its state says.
   * @param entry of the audit trail, right after the deletion
   * @throws not_found, call_on_hold
   */
  async expire(projectId: number, id: string, entry: SQL): Promise<void> {
    await this.#remove(projectId, id, { state: 'expired' }, { actions: [] }, { entry })
  }

  /**
   * Deletes a recording that cannot be made silent where its call is redacted.
   * @param isAsSeen does nothing unless this holds
   * @throws not_found, call_on_hold; unavailable unless it holds
   */
  async refuse(projectId: number, id: string, reason: string, isAsSeen: SQL): Promise<void> {
    const audited = { actions: ['recording_deleted' as const] }
    await this.#remove(projectId, id, { state: 'failed', reason }, audited, { isAsSeen })
  }

  /** Serves a recording from now on. @param muting what is silent in it @param isAsSeen as in `refuse` */
  async serve(row: Row, id: string, muting: Muting, isAsSeen: SQL): Promise<void> {
    const served = { ...row, muting, waitingSince: null }
    await this.#setServed(served, id, isAsSeen, [
      sql`update ${recordings} set waiting_since = null, muting = ${textOf(muting)} where file = ${row.file}`,
    ])
  }

  /** Stops serving a recording that cannot be muted, and may not be deleted. @param isAsSeen as in `refuse` */
  async withhold(row: Row, id: string, isAsSeen: SQL): Promise<void> {
    const waitingSince = row.waitingSince ?? this.#parts.now()
    await this.#setServed({ ...row, waitingSince }, id, isAsSeen, [
      sql`update ${recordings} set waiting_since = ${waitingSince}, sound_due = null where file = ${row.file}`,
    ])
  }

  async #setServed(row: Row, id: string, condition: SQL, statements: SQL[]): Promise<void> {
    const requirement = { condition, otherwise: () => new HasChanged() }
    await this.#parts.ingest.setRecording(
      row.projectId,
      id,
      { recording: toState(row) },
      { beside: { requirement, statements: () => statements }, audited: { actions: [] } },
    )
  }

  /**
   * Replaces a recording by a copy in which more is silent, and destroys the key of the replaced one.
   * @param copy in a finished draft
   * @param isAsSeen as in `refuse`
   */
  async replace(row: Row, id: string, copy: MutedCopy, isAsSeen: SQL): Promise<void> {
    const { files, ingest, erasure, now, onKept } = this.#parts
    if (!files) throw notKeptHere()
    const { draft, key, bytes, muting } = copy
    const next = { ...row, file: draft.name, key, bytes, muting, waitingSince: null, keptAt: now() }
    try {
      await ingest.setRecording(
        row.projectId,
        id,
        { recording: toState(next) },
        {
          beside: {
            requirement: { condition: isAsSeen, otherwise: () => new HasChanged() },
            statements: (call) => this.#put(row.projectId, id, call, next),
          },
          audited: { actions: [] },
        },
      )
      await files.keep(draft.name)
    } catch (error) {
      await this.#settle(draft, files)
      throw error
    }
    erasure.schedule(row.projectId)
    onKept()
  }

  /** Tells the length of a recording, which was not known when it arrived; not of one that is gone meanwhile. */
  async setLength(row: Row, length: Pick<Row, 'durationSeconds' | 'channels'>): Promise<void> {
    const { read, ingest } = this.#parts
    const call = await queries(read).byFile.get({ file: row.file })
    if (!call) return
    const condition = sql`exists (select 1 from ${recordings} where file = ${row.file})`
    const { durationSeconds, channels } = length
    await ingest.setRecording(
      row.projectId,
      call.id,
      { recording: toState({ ...row, ...length }) },
      {
        beside: {
          requirement: { condition, otherwise: () => new HasChanged() },
          statements: () => [
            sql`update ${recordings} set duration_seconds = ${durationSeconds}, channels = ${channels} where file = ${row.file}`,
          ],
        },
        audited: { actions: [] },
      },
    )
  }

  async #keep(
    projectId: number,
    id: string,
    parts: AsyncIterable<Uint8Array>,
    terms: Terms = {},
  ): Promise<{ recording: KeptRecording; isNew: boolean }> {
    const { files, config, probe } = this.#parts
    if (!files) throw notKeptHere()
    const limits = { files, bytesMax: config.recordingBytesMax, turns: this.#turns.uploads }
    const arrival = await receive(parts, limits)
    try {
      const properties = await probe(projectId, arrival)
      return await this.#commit(projectId, id, { arrival, properties, terms, files })
    } catch (error) {
      await this.#settle(arrival.draft, files)
      throw error
    }
  }

  /** Keeps a draft if its row was committed before an error, as when the writer ends before it answers. */
  async #settle(draft: Draft, files: RecordingFiles): Promise<void> {
    const isNamed = await this.#isNamed(draft.name).catch(() => null)
    // What cannot be known or moved now, the next start knows and moves.
    if (isNamed === false) await draft.discard()
    else if (isNamed) await files.keep(draft.name).catch(() => undefined)
  }

  async #commit(
    projectId: number,
    id: string,
    { arrival, properties, terms, files }: Commit,
    attempt = 1,
  ): Promise<{ recording: KeptRecording; isNew: boolean }> {
    const { ingest, now, erasure, onKept, log, settingsOf } = this.#parts
    const { draft, key, contentType, bytes, sha256 } = arrival
    const { seq = null, recording: before = null } = (await this.#find(projectId, id)) ?? {}
    const isSame = before?.sha256 === sha256
    if (isSame && (await isThere(files, before))) {
      await draft.discard()
      return { recording: toKept(id, before), isNew: false }
    }
    const isAsSeen = sql`(
      select file from ${recordings} join ${calls} using (seq) where calls.project_id = ${projectId} and id = ${id}
    ) is ${before?.file ?? null}`
    const { audited, isWanted = sql`true` } = terms
    const { isHeld, requirement } = await this.#holdsOn(projectId, seq, sql`${isAsSeen} and (${isWanted})`)
    if (isHeld && before && !isSame) throw callIsOnHold()
    const keptAt = now()
    const isMuted = (await settingsOf(projectId)).recordings === 'mute'
    const served = { waitingSince: isMuted ? keptAt : null, muting: null }
    const row = { contentType, bytes, sha256, ...properties, file: draft.name, key, keptAt, ...served }
    const beside = { requirement, statements: (call: SQL) => this.#put(projectId, id, call, row) }
    try {
      await ingest.setRecording(
        projectId,
        id,
        { recording: toState(row) },
        { beside, ...(audited && { audited }) },
      )
    } catch (error) {
      if (!(error instanceof HasChanged) || attempt === attemptsMax) throw error
      return await this.#commit(projectId, id, { arrival, properties, terms, files }, attempt + 1)
    }
    try {
      await files.keep(draft.name)
    } catch (error) {
      // The row names it wherever it is, and the next start moves it.
      log.error({ error }, 'A recording was not moved')
      if (!(await isThere(files, row))) throw unavailable('The recording was lost. Send it again.', 1)
    }
    if (before) erasure.schedule(projectId)
    onKept()
    return { recording: toKept(id, row), isNew: !before }
  }

  async #remove(
    projectId: number,
    id: string,
    state: Pick<CallRecording, 'state'> & Partial<CallRecording>,
    audited: Write['audited'],
    { entry, isAsSeen }: { entry?: SQL; isAsSeen?: SQL } = {},
    attempt = 1,
  ): Promise<void> {
    const { ingest, erasure } = this.#parts
    const { seq, recording } = (await this.#find(projectId, id)) ?? { seq: null, recording: null }
    if (seq === null) throw callNotFound()
    if (!recording) throw noRecording()
    const { isHeld, requirement } = await this.#holdsOn(projectId, seq, isAsSeen)
    if (isHeld) throw callIsOnHold()
    const beside = {
      requirement,
      isDeletion: true,
      statements: (call: SQL) => [
        this.#ledger(projectId, id, call),
        // Before the row goes, so that even a server that keeps deleted pages keeps no key.
        sql`update ${recordings} set key = zeroblob(32) where seq = ${call}`,
        sql`delete from ${recordingFetches} where seq = ${call}`,
        sql`delete from ${recordings} where seq = ${call}`,
        ...(entry ? [entry] : []),
      ],
    }
    try {
      await ingest.setRecording(projectId, id, { recording: { ...notKept, ...state } }, { beside, audited })
    } catch (error) {
      if (!(error instanceof HasChanged) || attempt === attemptsMax) throw error
      return await this.#remove(projectId, id, state, audited, { entry, isAsSeen }, attempt + 1)
    }
    erasure.schedule(projectId)
  }

  /** A trigger notes the file of a row that is replaced. */
  #put(
    projectId: number,
    id: string,
    call: SQL,
    row: Omit<Row, 'seq' | 'projectId' | 'peaks' | 'speech' | 'soundDue'>,
  ): SQL[] {
    return [
      this.#ledger(projectId, id, call),
      sql`
        insert into ${recordings}
          (seq, project_id, file, key, content_type, bytes, sha256, duration_seconds, channels, kept_at, sound_due,
            waiting_since, muting)
        select seq, project_id, ${row.file}, ${row.key}, ${row.contentType}, ${row.bytes}, ${row.sha256},
          ${row.durationSeconds}, ${row.channels}, ${row.keptAt}, ${soundDue.arrived}, ${row.waitingSince},
          ${textOf(row.muting)}
        from ${calls} where seq = ${call}
        on conflict (seq) do update set file = excluded.file, key = excluded.key,
          content_type = excluded.content_type, bytes = excluded.bytes, sha256 = excluded.sha256,
          duration_seconds = excluded.duration_seconds, channels = excluded.channels, kept_at = excluded.kept_at,
          peaks = null, speech = null, sound_due = excluded.sound_due, waiting_since = excluded.waiting_since,
          muting = excluded.muting`,
      sql`delete from ${recordingFetches} where seq = ${call}`,
    ]
  }

  /** Requests the erasure of the recording that is there. */
  #ledger(projectId: number, id: string, call: SQL): SQL {
    const isThere = sql`exists (select 1 from ${recordings} where seq = ${call})`
    return erasing(this.#parts, { projectId, kind: 'recording', id }, isThere)
  }

  /** Whether the call is on hold, and what must still be so when something is written, also by `others`. */
  async #holdsOn(projectId: number, seq: number | null, others = sql`true`) {
    const { store, holds } = this.#parts
    const { seqs, isAsSeen } = await holds.among(store(projectId).read, projectId, sql`select ${seq} as seq`)
    const condition = sql`(${isAsSeen.condition}) and (${others})`
    const requirement = { condition, otherwise: () => new HasChanged() }
    return { isHeld: seq !== null && seqs.has(seq), requirement }
  }

  async #find(projectId: number, id: string) {
    return await queries(this.#parts.store(projectId).read).byCall.get({ projectId, id })
  }

  /** @throws not_found */
  async #rowOf(projectId: number, id: string): Promise<Row> {
    const row = await this.#find(projectId, id)
    if (!row) throw callNotFound()
    if (!row.recording) throw noRecording()
    return row.recording
  }

  /** @throws not_found, also while nobody may hear it */
  async #servedRowOf(projectId: number, id: string): Promise<Row> {
    const row = await this.#rowOf(projectId, id)
    if (row.waitingSince !== null) throw noRecording()
    return row
  }

  /** @throws not_found */
  async #linked(link: Link) {
    const { read, now } = this.#parts
    const row = await queries(read).byLink.get({ ...link, now: now() })
    if (!row) throw noRecording()
    return row
  }

  async #isNamed(file: string): Promise<boolean> {
    return (await this.callIdOf(file)) !== null
  }

  async #open(id: string, row: Row): Promise<OpenRecording> {
    const { file, key, contentType, bytes } = row
    const openFile = await this.#parts.files?.open(file)
    if (!openFile) throw noRecording()
    const { close } = openFile
    if ((await openFile.bytes()) !== storedBytesOf(bytes)) {
      await close()
      throw damagedRecording()
    }
    const { downloads } = this.#turns
    const isNamed = () => this.#isNamed(file)
    const parts = async function* (start: number, end: number) {
      try {
        for (let at = start; at < end; ) {
          const until = Math.min(end, Math.floor(at / frameBytes) * frameBytes + partBytes)
          await downloads.next()
          // A slow listener may outlast the recording.
          if (at > start && !(await isNamed())) throw noRecording()
          yield await decryptRange({ key, bytes, read: openFile.read }, at, until)
          at = until
        }
      } finally {
        await close()
      }
    }
    return { id, contentType, bytes, tag: tagOf(row), read: parts, close }
  }

  async #wasDeleted(projectId: number, kind: 'call' | 'recording', id: string): Promise<boolean> {
    const { store, recordHash } = this.#parts
    const hash = recordHash(projectId, kind, id)
    return (await queries(store(projectId).read).deleted.get({ projectId, kind, hash })) !== undefined
  }
}

interface Terms {
  audited?: Write['audited']
  /** A condition that must hold. */
  isWanted?: SQL
}

/** A copy of a recording. */
export interface MutedCopy {
  draft: Draft
  key: Buffer
  bytes: number
  muting: Muting
}

interface Commit {
  arrival: Arrived
  properties: Pick<Row, 'durationSeconds' | 'channels'>
  terms: Terms
  files: RecordingFiles
}

type Sound = Pick<Row, 'contentType' | 'bytes' | 'sha256' | 'durationSeconds' | 'channels'>
const untilMuted = 'What is redacted in its call is made silent in it first, once the call is completed.'

function toKept(id: string, { contentType, bytes, durationSeconds, channels, sha256 }: Sound): KeptRecording {
  return { id, contentType, bytes, durationSeconds, channels, sha256 }
}

function toState(row: Sound & Pick<Row, 'keptAt' | 'waitingSince' | 'muting'>): CallRecording {
  const { contentType, bytes, durationSeconds, channels, keptAt, waitingSince, muting } = row
  if (waitingSince !== null) return { ...notKept, state: 'waiting', reason: untilMuted }
  const muted = muting?.spans ?? []
  return {
    state: 'kept',
    reason: null,
    contentType,
    bytes,
    durationSeconds,
    channels,
    keptAt: new Date(keptAt).toISOString(),
    mutedSeconds: Math.round(muted.reduce((sum, [from, to]) => sum + to - from, 0) * 100) / 100,
    muted,
  }
}

function textOf(muting: Muting | null): string | null {
  return muting && JSON.stringify(muting)
}

/** A muted copy has the digest of what was sent, but other bytes: its file tells them apart. */
function tagOf({ sha256, file, muting }: Row): string {
  return muting === null ? sha256.slice(0, tagChars) : file
}

/** Whether the file has the length that it should have. */
async function isThere(
  files: RecordingFiles,
  { file, bytes }: Pick<Row, 'file' | 'bytes'>,
): Promise<boolean> {
  const openFile = await files.open(file)
  const storedBytes = await openFile?.bytes().finally(openFile.close)
  return storedBytes === storedBytesOf(bytes)
}

/** Nothing was written: whoever writes looks at the call again. */
export class HasChanged extends AppError {
  constructor() {
    super('unavailable', 'Service unavailable', {
      detail: 'A hold or another recording just arrived. Nothing was changed. Try again.',
      retryAfterSeconds: 1,
    })
  }
}

function noRecording(): AppError {
  return new AppError('not_found', 'Recording not found', {
    detail: 'There is no recording here. It may have been deleted, or the link may be void.',
  })
}

function redacts(): AppError {
  return forbidden(
    'This project redacts what it stores, and keeps no recordings. An owner can have them kept, silent where something is redacted: Settings → Privacy.',
  )
}

function notKeptHere(): AppError {
  return unavailable(
    'Nodes on one remote database share no folder, so they keep recordings only in a bucket: set RECORDINGS_URL.',
    60,
  )
}
