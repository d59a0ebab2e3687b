import { and, asc, eq, isNotNull, isNull, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { CallRecording } from '../../calls/schemas.ts'
import type { Ingest } from '../../calls/writing/ingest.ts'
import type { Core } from '../../core/core.ts'
import { callDetails, calls, projects, recordingFetches, recordings } from '../../db/schema.ts'
import { preparedQueries } from '../../db/store.ts'
import { AppError, forbidden, notFound } from '../../errors.ts'
import type { Recordings } from '../recordings.ts'
import { notKept } from '../recordings.ts'
import { expiryOf, SealedAddresses } from './sealed-addresses.ts'

/** How many failed ones a request tries again. */
const triedAgainMax = 10_000

/** Half of all that are fetched at once. */
const fetchesOfProjectMax = 2
/** How many of all may be of the past. */
const pastFetchesMax = 2
/** Added to the time of a call whose recording is deleted nobody knows when: it comes after those that are told. */
const untoldRank = 1e14

/** A recording to fetch. */
export interface FetchRequest {
  /** The source whose event names it; null if a request does. */
  sourceId: string | null
  url?: string
  urlExpiresAt?: number
  reference?: string
  /** Whether the call is of the platform's history, and when the platform deletes its recording. */
  isHistory?: boolean
  goneAt?: number | undefined
}

/** A recording whose turn it is. */
export interface Due {
  seq: number
  projectId: number
  id: string
  sourceId: string | null
  /** The address in the event, unless it has expired; without a source the call's `recordingUrl`. */
  address: string | null
  urlExpiresAt: number | null
  reference: string | null
  since: number
  attempts: number
  /** Why the last attempt failed. */
  reason: string | null
  isHistory: boolean
}

interface FetchQueueParts {
  ingest: Pick<Ingest, 'setRecording'>
  recordings: Pick<Recordings, 'isUnwanted'>
  /** Whether recordings can be kept here at all. */
  canKeep: boolean
}

const detailAt = (path: string) => sql<string | null>`json_extract(${callDetails.details}, ${path})`

const queries = preparedQueries((db) => ({
  byCall: db
    .select({ seq: calls.seq, fetch: recordingFetches, recordingSeq: recordings.seq })
    .from(calls)
    .leftJoin(recordings, eq(recordings.seq, calls.seq))
    .leftJoin(recordingFetches, eq(recordingFetches.seq, calls.seq))
    .where(and(eq(calls.projectId, sql.placeholder('projectId')), eq(calls.id, sql.placeholder('id'))))
    .prepare(),
  nextDueAt: db
    .select({ dueAt: recordingFetches.dueAt })
    .from(recordingFetches)
    .where(isNotNull(recordingFetches.dueAt))
    .orderBy(asc(recordingFetches.dueAt))
    .limit(1)
    .prepare(),
}))

/** The recordings that wait to be fetched, and those that could not be. The state of their calls follows. */
export class FetchQueue {
  readonly #parts: Core & FetchQueueParts
  readonly #addresses: SealedAddresses

  constructor(core: Core, parts: FetchQueueParts) {
    this.#parts = { ...core, ...parts }
    this.#addresses = new SealedAddresses(core.linkSecret)
  }

  /**
   * Queues a recording, if its project keeps recordings and this one is neither kept nor was deleted. For one that waits
   * already, only the address is renewed. Returns whether it is new in the queue.
   */
  async enqueue(projectId: number, id: string, recording: FetchRequest): Promise<boolean> {
    const { canKeep, settingsOf, store, now } = this.#parts
    if (!canKeep || (await settingsOf(projectId)).recordings === 'off') return false
    const { read } = store(projectId)
    const row = await queries(read).byCall.get({ projectId, id })
    if (!row || row.recordingSeq !== null) return false
    if (row.fetch) await this.#renew(row.fetch, recording)
    if (row.fetch || (await this.#parts.recordings.isUnwanted(projectId, id))) return false
    const { sourceId, reference = null, isHistory = false, goneAt = null } = recording
    const { url, urlExpiresAt } = this.#sealed(recording)
    const isFree = sql`not exists (select 1 from ${recordings} where seq = ${row.seq})`
    await this.#set(projectId, id, waitingState(null), isFree, (call) => [
      sql`
        insert into ${recordingFetches} (seq, project_id, source_id, url, url_expires_at, reference, since, due_at,
          past_rank)
        select seq, project_id, ${sourceId}, ${url}, ${urlExpiresAt}, ${reference}, ${now()}, ${now()},
          iif(${isHistory ? 1 : 0}, coalesce(${goneAt}, created_at + ${untoldRank}), null)
        from ${calls} where seq = ${call} on conflict (seq) do nothing`,
    ])
    return true
  }

  /** Returns when the next one is due; null if none waits. */
  async nextDueAt(): Promise<number | null> {
    return (await queries(this.#parts.read).nextDueAt.get())?.dueAt ?? null
  }

  /**
   * The next one that is due. One of a project without a fetch under way comes first. A project has only some at once,
   * so that servers that send slowly do not keep all others waiting. Those of the past come last, the soonest gone
   * first, and leave room for those that are new.
   */
  async next(inFlight: readonly Pick<Due, 'seq' | 'projectId' | 'isHistory'>[]): Promise<Due | null> {
    const ids = inFlight.map(({ projectId }) => projectId)
    const past = inFlight.filter(({ isHistory }) => isHistory).map(({ projectId }) => projectId)
    const hasRoom = past.length < pastFetchesMax
    const mayStart = or(
      isNull(recordingFetches.pastRank),
      hasRoom ? notInArray(recordingFetches.projectId, past) : undefined,
    )
    const due = await this.#first(and(notInArray(recordingFetches.projectId, ids), mayStart))
    if (due || inFlight.length === 0) return due
    const full = ids.filter((id) => ids.filter((other) => other === id).length >= fetchesOfProjectMax)
    const seqs = inFlight.map(({ seq }) => seq)
    return await this.#first(
      and(notInArray(recordingFetches.seq, seqs), notInArray(recordingFetches.projectId, full), mayStart),
    )
  }

  /** Holds as long as the recording waits. */
  isWaiting({ seq, since }: Pick<Due, 'seq' | 'since'>): SQL {
    return sql`exists (
      select 1 from ${recordingFetches} where seq = ${seq} and since = ${since} and due_at is not null)`
  }

  /** Notes a failed attempt. @param dueAt when to try again */
  async postpone(due: Due, dueAt: number, reason: string): Promise<void> {
    const { write, now } = this.#parts
    const { projectId, id, seq, urlExpiresAt } = due
    const isOver = urlExpiresAt !== null && urlExpiresAt <= now()
    // The address is used, or forgotten, when it expires.
    const next = isOver || urlExpiresAt === null ? dueAt : Math.min(dueAt, urlExpiresAt)
    const attempt = sql`update ${recordingFetches} set attempts = attempts + 1, due_at = ${next},
      url = iif(url_expires_at <= ${now()}, null, url) where seq = ${seq} and ${this.isWaiting(due)}`
    if (reason === due.reason) await write.run(attempt)
    else await this.#set(projectId, id, waitingState(reason), this.isWaiting(due), () => [attempt])
  }

  /** Stops trying until somebody asks for it. */
  async giveUp(due: Due, reason: string): Promise<void> {
    const state: CallRecording = { ...notKept, state: 'failed', reason }
    await this.#set(due.projectId, due.id, state, this.isWaiting(due), (call) => [
      sql`update ${recordingFetches} set url = null, url_expires_at = null, due_at = null where seq = ${call}`,
    ])
  }

  /**
   * Tries again what has failed: one call's recording, or the first ones of the project.
   * @returns how many
   * @throws not_found unless the call's recording has failed; forbidden if the project does not keep recordings
   */
  async tryAgain(projectId: number, id?: string): Promise<{ queued: number }> {
    const { settingsOf, now } = this.#parts
    const rows = await this.#failed(projectId, id)
    if (id !== undefined && rows.length === 0) throw notFound('The recording of this call has not failed.')
    if ((await settingsOf(projectId)).recordings === 'off')
      throw forbidden('This project does not keep recordings. An owner can change that in its settings.')
    for (const { seq, callId } of rows) {
      const hasFailed = sql`exists (select 1 from ${recordingFetches} where seq = ${seq} and due_at is null)`
      await this.#set(projectId, callId, waitingState(null), hasFailed, (call) => [
        sql`update ${recordingFetches} set since = ${now()}, attempts = 0, due_at = ${now()} where seq = ${call}`,
      ])
    }
    return { queued: rows.length }
  }

  async #failed(projectId: number, id: string | undefined) {
    const isWanted = id === undefined ? undefined : eq(calls.id, id)
    return await this.#parts
      .store(projectId)
      .read.select({ seq: recordingFetches.seq, callId: calls.id })
      .from(recordingFetches)
      .innerJoin(calls, eq(calls.seq, recordingFetches.seq))
      .where(and(eq(recordingFetches.projectId, projectId), isNull(recordingFetches.dueAt), isWanted))
      .orderBy(asc(recordingFetches.seq))
      .limit(triedAgainMax)
  }

  async #first(isChosen = sql`true`): Promise<Due | null> {
    const { read, now } = this.#parts
    // By its index alone, since there may be tens of thousands of the past.
    const [turn] = await read.all<{ seq: number }>(sql`
      select seq from ${recordingFetches} indexed by recording_fetches_turn where due_at <= ${now()} and ${isChosen}
        and project_id not in (select id from ${projects} where deleted_at is not null)
      order by past_rank, due_at limit 1`)
    if (!turn) return null
    const [next] = await read
      .select({
        row: recordingFetches,
        id: calls.id,
        recordingUrl: detailAt('$.recordingUrl'),
        reason: detailAt('$.recording.reason'),
      })
      .from(recordingFetches)
      .innerJoin(calls, eq(calls.seq, recordingFetches.seq))
      .leftJoin(callDetails, eq(callDetails.seq, recordingFetches.seq))
      .where(eq(recordingFetches.seq, turn.seq))
    if (!next) return null
    const { row, id, recordingUrl, reason } = next
    const isOver = row.urlExpiresAt !== null && row.urlExpiresAt <= now()
    const address = row.url && !isOver ? this.#addresses.open(row.url) : null
    const isHistory = row.pastRank !== null
    return { ...row, id, reason, isHistory, address: row.sourceId === null ? recordingUrl : address }
  }

  async #renew(waits: typeof recordingFetches.$inferSelect, recording: FetchRequest): Promise<void> {
    const { seq, dueAt, sourceId } = waits
    if (dueAt === null || recording.url === undefined || recording.sourceId !== sourceId) return
    await this.#parts.write
      .update(recordingFetches)
      .set(this.#sealed(recording))
      .where(and(eq(recordingFetches.seq, seq), isNotNull(recordingFetches.dueAt)))
  }

  /** What a request names is in the call itself. */
  #sealed({ sourceId, url, urlExpiresAt }: FetchRequest): {
    url: Buffer | null
    urlExpiresAt: number | null
  } {
    if (sourceId === null || url === undefined) return { url: null, urlExpiresAt: null }
    return { url: this.#addresses.seal(url), urlExpiresAt: urlExpiresAt ?? expiryOf(url) }
  }

  /** Sets the state of a recording together with its row, unless the call is gone or the requirement does not hold. */
  async #set(
    projectId: number,
    id: string,
    state: CallRecording,
    condition: SQL,
    statements: (call: SQL) => SQL[],
  ): Promise<void> {
    const requirement = { condition, otherwise: () => new Overtaken() }
    const write = { beside: { requirement, statements }, audited: { actions: [] } }
    try {
      await this.#parts.ingest.setRecording(projectId, id, { recording: state }, write)
    } catch (error) {
      const isGone = error instanceof AppError && ['not_found', 'call_was_deleted'].includes(error.code)
      if (!isGone && !(error instanceof Overtaken)) throw error
    }
  }
}

function waitingState(reason: string | null): CallRecording {
  return { ...notKept, state: 'waiting', reason }
}

/** Somebody else has changed the recording meanwhile: what they wrote stays. */
class Overtaken extends AppError {
  constructor() {
    super('unavailable', 'Service unavailable')
  }
}
