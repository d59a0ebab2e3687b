import { setTimeout as sleep } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import type { Ingest } from '../../calls/writing/ingest.ts'
import type { Core } from '../../core/core.ts'
import type { Job } from '../../core/jobs.ts'
import { erasing } from '../../db/erasing.ts'
import { KeyedMutex } from '../../db/keyed-mutex.ts'
import { callSessions, calls, erasures, projects } from '../../db/schema.ts'
import { inSlices } from '../../db/slices.ts'
import type { Erasure } from '../../erasure/erasure.ts'
import { AppError } from '../../errors.ts'
import { interimRedactor, isRedacting } from '../../redaction/settings.ts'
import { TimeSlices, type Work } from '../../threads/time-slices.ts'
import type { CallFields, SourceDetails, SourceUpdate } from '../event.ts'
import {
  type Framework,
  type KeptSpan,
  type KeptSpans,
  redactSpans,
  type Span,
  textOf,
  userSpansOf,
} from './kept-span.ts'
import { livekit } from './livekit.ts'
import { pipecat } from './pipecat.ts'
import type { PartialSuccess } from './protobuf.ts'
import { callIdOf } from './session-update.ts'

/** A session without spans for this long is completed: a killed process never reports the end. */
const silentMsMax = 30 * 60_000
const pollMs = 60_000
const retryMs = 5_000
const sessionsPerSliceMax = 100
/** How many spans of a session are kept. Those that end it have room left for them. */
const spansMax = 5_000
const lastSpansMax = 100
/** A shorter request is read at once: it has fewer fields than take a few milliseconds. */
const largeBytesMin = 65_536
/** How much of a request's sessions is read and written at once. A larger session is a slice of its own. */
const bytesPerSliceMax = 8_388_608
/** What each session counts at least. */
const sessionBytesMin = bytesPerSliceMax / sessionsPerSliceMax
/** Each write reads all that is stored, so that of a large session waits for other requests: a millisecond each 4 KiB. */
const storedBytesPerWaitMs = 4_096
const waitMsMax = 1_000

const frameworks: Readonly<Record<string, Framework>> = { livekit, pipecat }
export const scopes: ReadonlySet<string> = new Set(
  Object.values(frameworks).flatMap((framework) => framework.scopes),
)

interface Input {
  id: string
  change: CallFields & { details: SourceDetails }
  own: { source: string }
}

interface SessionsParts {
  erasure: Pick<Erasure, 'schedule'>
  /** Writes calls in one transaction. The result of a call that cannot be written is an error. */
  ingest: Pick<Ingest, 'putAll'>
}

/** A session as it is stored, with what a request adds. */
interface Session {
  traceId: string
  framework: string
  /** What is kept of this request. */
  extra: Record<string, KeptSpan>
  /** How many spans of this request belong to the session, and how many of them had no room. */
  count: number
  refusals: number
  /** The bytes of what is stored. */
  storedBytes: number
  spans: KeptSpans
  isOver: boolean
  update: SourceUpdate | null
  /** Whether another request has written all of it. */
  isWritten: boolean
}

interface Row {
  traceId: string
  framework: string
  spans: string
  bytes: number
  dueAt: number | null
}

/** What is stored of a new session. */
const noRow = { framework: '', spans: '{}', bytes: 0, dueAt: Number.MAX_SAFE_INTEGER }

/**
 * Builds calls from the spans of voice sessions. Spans arrive when they end, in any order and with repeats. They are kept,
 * so that each request can write everything known about the call.
 */
export class CallSessions {
  readonly #parts: Core & SessionsParts
  readonly #mutex = new KeyedMutex()
  /** What requests add to each session that no write has begun with. */
  readonly #waiting = new Map<string, readonly Session[]>()
  readonly #slices = new TimeSlices()
  readonly #job: Job

  constructor(core: Core, parts: SessionsParts) {
    this.#parts = { ...core, ...parts }
    this.#job = core.jobs.add({
      name: 'sessions',
      run: ({ signal }) => this.#completeSilent(signal),
      everyMs: pollMs,
      retryMs,
      retryMsMax: pollMs,
      failure: 'Completing silent sessions failed',
    })
  }

  /** Completes every session that is due now. */
  finish(): Promise<void> {
    return this.#job.now()
  }

  /** Reads a request in turns with others. Of a sender's large ones, one is read at a time. */
  async read<Result>(sender: string, { byteLength }: Uint8Array, work: Work<Result>): Promise<Result> {
    if (byteLength < largeBytesMin) return await this.#slices.run(work)
    return await this.#mutex.run(new Set([sender]), () => this.#slices.run(work))
  }

  /**
   * Keeps spans and merges them into calls; committed when it returns. Repeated spans change nothing.
   * @throws unavailable, when the client should repeat the request
   */
  async take(projectId: number, spans: readonly Span[]): Promise<PartialSuccess> {
    const sessions = await this.#slices.run(sessionsIn(spans))
    if (sessions.size === 0) return { rejectedSpans: 0, errorMessage: '' }
    const settings = await this.#parts.settingsOf(projectId)
    if (isRedacting(settings)) {
      const redact = await interimRedactor(settings)
      for (const session of sessions.values())
        session.extra = await this.#slices.run(redactSpans(session.extra, settings, redact))
    }
    const bytes = await this.#bytesOf(projectId, [...sessions.keys()])
    for (const session of sessions.values()) {
      const name = nameOf(projectId, session.traceId)
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), session])
    }
    return await this.#mutex.run(namesOf(projectId, sessions.keys()), async () => {
      const answer = { rejectedSpans: 0, errorMessage: '' }
      const own = [...sessions.values()].filter(({ isWritten }) => !isWritten)
      if (own.length === 0) return answer
      const largest = [...bytes.values()].reduce((most, each) => Math.max(most, each), 0)
      await sleep(Math.min(largest / storedBytesPerWaitMs, waitMsMax))
      const sessionGroups = own.map((session) => this.#joined(projectId, session))
      const sized = own.map(({ traceId }, at) => [at, sessionBytesMin + (bytes.get(traceId) ?? 0)] as const)
      for (const positions of inSlices(sized, bytesPerSliceMax)) {
        const some = positions.flatMap((at) => own[at] ?? [])
        const all = positions.flatMap((at) => sessionGroups[at] ?? [])
        let refusal = await this.#add(projectId, all)
        // If not all has room, each request is written alone, so that none is refused because of others.
        if (refusal.rejectedSpans > 0 && all.length > some.length) refusal = await this.#add(projectId, some)
        else for (const session of all) session.isWritten = true
        answer.rejectedSpans += refusal.rejectedSpans
        answer.errorMessage ||= refusal.errorMessage
      }
      return answer
    })
  }

  /** Takes a session and what other requests that wait add to it. */
  #joined(projectId: number, session: Session): Session[] {
    const name = nameOf(projectId, session.traceId)
    const waiters = this.#waiting.get(name) ?? []
    this.#waiting.delete(name)
    return [session, ...waiters.filter((other) => other !== session)]
  }

  /** Adds parts to what is stored of their sessions, each of which is read and written once. */
  async #add(projectId: number, parts: readonly Session[]): Promise<PartialSuccess> {
    const sessions = new Map<string, Session>()
    for (const part of parts) addTo(sessions, part)
    const rows = new Map((await this.#read(projectId, [...sessions.keys()])).map((row) => [row.traceId, row]))
    for (const session of sessions.values())
      continueFrom(session, rows.get(session.traceId) ?? noRow, this.#parts.now())
    return await this.#write(projectId, [...sessions.values()])
  }

  /** The size of what is stored of each session. */
  async #bytesOf(projectId: number, traceIds: string[]): Promise<Map<string, number>> {
    const rows = await this.#parts.store(projectId).read.all<{ traceId: string; bytes: number }>(sql`
      select trace_id as traceId, octet_length(spans) as bytes
      from json_each(${JSON.stringify(traceIds)}) cross join ${callSessions}
        on ${callSessions.projectId} = ${projectId} and ${callSessions.traceId} = value`)
    return new Map(rows.map(({ traceId, bytes }) => [traceId, bytes]))
  }

  async #read(projectId: number, traceIds: string[]): Promise<Row[]> {
    const { read } = this.#parts.store(projectId)
    return await read.all<Row>(sql`
      select trace_id as traceId, framework, spans, octet_length(spans) as bytes, due_at as dueAt
      from json_each(${JSON.stringify(traceIds)}) cross join ${callSessions}
        on ${callSessions.projectId} = ${projectId} and ${callSessions.traceId} = value`)
  }

  /** Writes calls first, since spans that their call rejects are not stored. Throws if the request must be repeated. */
  async #write(projectId: number, sessions: Session[]): Promise<PartialSuccess> {
    const { config, ingest } = this.#parts
    const isTooLarge = ({ storedBytes, extra }: Session) =>
      storedBytes + Buffer.byteLength(JSON.stringify(extra)) > config.callBytesMax
    const rejected = new Set(sessions.filter(isTooLarge))
    const accepted = sessions.filter((session) => !rejected.has(session))
    for (const session of accepted) session.update = await this.#slices.run(readUpdate(session))
    const withUpdate = accepted.filter(({ update }) => update !== null)
    const results = await ingest.putAll(projectId, withUpdate.flatMap(toInput))
    let errorMessage =
      rejected.size > 0
        ? `A session has at most ${config.callBytesMax} bytes (CALL_MAX_BYTES).`
        : `A session has at most ${spansMax} spans.`
    for (const [position, session] of withUpdate.entries()) {
      const result = results[position]
      if (!(result instanceof AppError) || result.code === 'call_was_deleted') continue
      if (result.status >= 500) throw result
      rejected.add(session)
      errorMessage = result.detail
    }
    await this.#keep(
      projectId,
      accepted.filter((session) => !rejected.has(session)),
    )
    const rejectedSpans = sessions.reduce(
      (total, session) =>
        total + (rejected.has(session) ? session.count : Math.min(session.count, session.refusals)),
      0,
    )
    return { rejectedSpans, errorMessage: rejectedSpans > 0 ? errorMessage : '' }
  }

  /** Stores spans, except those of deleted calls. The database merges them, since other nodes may add to a session. */
  async #keep(projectId: number, sessions: Session[]): Promise<void> {
    const { store, recordHash, now } = this.#parts
    const rows = sessions.map((session) => ({
      traceId: session.traceId,
      framework: session.framework,
      spans: JSON.stringify(session.extra),
      callId: session.update?.id ?? null,
      hash: recordHash(projectId, 'call', likelyCallId(session)),
    }))
    if (rows.length === 0) return
    const json = JSON.stringify(rows)
    const isDeleted = sql`exists (select 1 from ${erasures} where project_id = ${projectId} and kind = 'call'
      and id_hash = value ->> 'hash')`
    // Does what json_patch does in quadratic time. SQLite takes `value` from the row of the maximum: the new span.
    const mergedSpans = sql`(select json_group_object(key, json(value)) from (select key, value, max(is_new) from (
      select key, value, 0 as is_new from json_each(${callSessions.spans})
      union all select key, value, 1 from json_each(excluded.spans)) group by key))`
    const { write } = store(projectId)
    const areOfDeleted = sql`project_id = ${projectId}
      and trace_id in (select value ->> 'traceId' from json_each(${json}) where ${isDeleted})`
    const { deleted } = await write.batch({
      stored: sql`
        insert into ${callSessions} (project_id, trace_id, framework, call_id, spans, due_at)
        select ${projectId}, value ->> 'traceId', value ->> 'framework', value ->> 'callId', value ->> 'spans',
          ${now() + silentMsMax}
        from json_each(${json}) where not ${isDeleted} and exists (select 1 from ${projects} where id = ${projectId})
        on conflict (project_id, trace_id) do update set spans = ${mergedSpans},
          framework = coalesce(nullif(excluded.framework, ''), framework), call_id = coalesce(excluded.call_id, call_id), due_at = excluded.due_at`,
      ...this.#deleting(projectId, areOfDeleted),
    })
    if (deleted.length > 0) this.#parts.erasure.schedule(projectId)
  }

  /** Deletes sessions that no deletion of a call erases. Their words are erased like a call's. */
  #deleting(projectId: number, condition: SQL) {
    const { write } = this.#parts.store(projectId)
    const record = { projectId, kind: 'sessions', id: '' } as const
    const isAny = sql`exists (select 1 from ${callSessions} where ${condition})`
    return {
      ledger: erasing(this.#parts, record, isAny),
      deleted: write.all(sql`delete from ${callSessions} where ${condition} returning 1`),
    }
  }

  async #completeSilent(signal: AbortSignal): Promise<void> {
    const { read, write, now } = this.#parts
    const isDue = sql`due_at <= ${now()}`
    // On a replica, even a write that changes nothing goes to the primary.
    if ((await read.all(sql`select 1 from ${callSessions} where ${isDue} limit 1`)).length === 0) return
    // Most sessions have reported their end.
    await write.run(sql`
      update ${callSessions} set due_at = null where ${isDue} and exists (select 1 from ${calls}
        where ${calls.projectId} = ${callSessions.projectId} and ${calls.id} = ${callSessions.callId}
        and ${calls.status} = 'completed')`)
    for (;;) {
      signal.throwIfAborted()
      const due = await read.all<{ projectId: number; traceId: string }>(sql`
        select project_id as projectId, trace_id as traceId from ${callSessions}
        where ${isDue} and project_id in (select id from ${projects} where deleted_at is null)
        order by due_at limit ${sessionsPerSliceMax}`)
      for (const { projectId, traceId } of due) await this.#complete(projectId, traceId)
      if (due.length < sessionsPerSliceMax) return
    }
  }

  async #complete(projectId: number, traceId: string): Promise<void> {
    const { now, ingest, store, erasure } = this.#parts
    await this.#mutex.run(namesOf(projectId, [traceId]), async () => {
      const [row] = await this.#read(projectId, [traceId])
      // Spans have arrived meanwhile.
      if (!row || row.dueAt === null || row.dueAt > now()) return
      const session = newSession(traceId, row.framework)
      continueFrom(session, row, now())
      session.update = await this.#slices.run(readUpdate(session))
      for (const result of await ingest.putAll(projectId, toInput(session)))
        if (result instanceof AppError && result.status >= 500) throw result
      const isThis = sql`project_id = ${projectId} and trace_id = ${traceId}`
      // Spans without a call are deleted now: no deletion of a call could ever erase them.
      const { write } = store(projectId)
      if (session.update) {
        await write.run(sql`update ${callSessions} set due_at = null where ${isThis}`)
        return
      }
      await write.batch(this.#deleting(projectId, isThis))
      erasure.schedule(projectId)
    })
  }
}

/** Groups spans by session, without those of which nothing is kept. */
function* sessionsIn(spans: readonly Span[]): Work<Map<string, Session>> {
  const sessions = new Map<string, Session>()
  for (const span of spans) {
    yield
    const match = Object.entries(frameworks).find(([, { scopes }]) => scopes.includes(span.scope))
    const extra = { ...match?.[1].keptOf(span), ...userSpansOf(span) }
    if (Object.keys(extra).length === 0) continue
    addTo(sessions, { ...newSession(span.traceId, match?.[0] ?? ''), extra, count: 1 })
  }
  return sessions
}

/** Adds to a session, which is new if there is none. Of two spans with one key the better stays. */
function addTo(sessions: Map<string, Session>, { traceId, framework, extra, count }: Session): void {
  const session = sessions.get(traceId) ?? newSession(traceId, '')
  session.framework ||= framework
  for (const [key, each] of Object.entries(extra)) {
    const earlier = session.extra[key]
    if (!earlier || isBetter(each, earlier)) session.extra[key] = each
  }
  session.count += count
  sessions.set(traceId, session)
}

function newSession(traceId: string, framework: string): Session {
  const counts = { count: 0, refusals: 0, storedBytes: 0 }
  const state = { spans: {}, isOver: false, update: null, isWritten: false }
  return { traceId, framework, extra: {}, ...counts, ...state }
}

/** Adds what a request has to what is stored. New spans beyond the maximum are refused. */
function continueFrom(
  session: Session,
  { framework, spans, bytes, dueAt }: Omit<Row, 'traceId'>,
  now: number,
): void {
  const all: Record<string, KeptSpan> = JSON.parse(spans)
  const extra: Record<string, KeptSpan> = {}
  session.framework ||= framework
  let total = Object.keys(all).length
  for (const [key, span] of Object.entries(session.extra)) {
    const earlier = Object.hasOwn(all, key) ? all[key] : undefined
    if (earlier && !isBetter(span, earlier)) continue
    if (!earlier && ++total > spansMax + (isLast(session, span) ? lastSpansMax : 0)) session.refusals++
    else all[key] = extra[key] = span
  }
  Object.assign(session, { spans: all, extra, storedBytes: bytes, isOver: dueAt === null || dueAt <= now })
}

function isLast({ framework }: Session, { name }: KeptSpan): boolean {
  return name === 'user' || (frameworks[framework]?.lastSpans.includes(name) ?? false)
}

/**
 * Whether a span replaces another with its key, whichever arrives first. The earlier counts, since a tool is used once;
 * of what users have set, the later, so that they may correct it.
 */
function isBetter(span: KeptSpan, other: KeptSpan): boolean {
  if (span.startMs === other.startMs) return JSON.stringify(span.values) > JSON.stringify(other.values)
  return span.startMs > other.startMs === (span.name === 'user')
}

function* readUpdate({ framework, spans, traceId, isOver }: Session): Work<SourceUpdate | null> {
  const read = frameworks[framework]?.read(spans, { traceId, isOver })
  return read ? yield* read : null
}

/** The id that the call has or will have: even before there is one, it may be that of a deleted call. */
function likelyCallId({ update, spans, traceId }: Session): string {
  if (update) return update.id
  return callIdOf(textOf(spans['callbook.call.id'], 'callbook.call.id') ?? traceId)
}

function toInput({ update, framework }: Session): Input[] {
  if (!update) return []
  const { id, change, details } = update
  return [{ id, change: { ...change, details }, own: { source: framework } }]
}

function namesOf(projectId: number, traceIds: Iterable<string>): Set<string> {
  return new Set([...traceIds].map((traceId) => nameOf(projectId, traceId)))
}

function nameOf(projectId: number, traceId: string): string {
  return `${projectId} ${traceId}`
}
