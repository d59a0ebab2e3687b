import type { Price } from '../../db/schema.ts'
import { AppError, type FieldError, invalidRequest } from '../../errors.ts'
import { readInstant } from '../../text/instant.ts'
import type { StoredCall } from '../call-head.ts'
import { priced } from '../costs/priced.ts'
import { toDocument, withUpdatedAt } from '../document.ts'
import {
  type Call,
  type CallChange,
  metadataBytesMax,
  type Turn,
  transcriptTurnsMax,
  type Usage,
} from '../schemas.ts'
import { append } from './append.ts'
import { derive, readMarks, toDerived, withoutDerived } from './derive.ts'
import { fill, readAnalysis, withoutFills } from './fills.ts'
import {
  isMetadataTooLarge,
  mergeDetails,
  metadataField,
  metadataOf,
  type OwnDetails,
  replaces,
} from './merge-details.ts'
import { type PartCounts, type Redactions, sumOf } from './redaction.ts'

/** How often an arrival is noted: an entry of an index for each would cost more than to complete calls a minute later. */
export const heardEveryMs = 60_000
/** Fields with rules of their own, in `mergeCall`. */
type OtherField =
  | 'id'
  | 'status'
  | 'isEngaged'
  | 'appendTranscript'
  | 'appendTimeline'
  | 'createdAt'
  | 'updatedAt'
  | 'occurredAt'
  | 'metadata'
  | 'details'
/** Fields that a change replaces. A field in neither list does not compile. */
type MergedFields<Change> = Record<Exclude<keyof Change, OtherField>, true>
const mergedFields = {
  duration: true,
  summary: true,
  evaluation: true,
  endedReason: true,
  callerNumber: true,
  calledNumber: true,
  callAnalysis: true,
  transcript: true,
} as const satisfies MergedFields<CallChange>

interface MergeOptions {
  /** Details that the service sets. */
  own?: OwnDetails | undefined
  /** Whether the call ended earlier than now. */
  isImport?: boolean | undefined
  /** Whether the change has arrived from outside. A person's review does not tell whether a call goes on. */
  isHeard?: boolean
  /** What was redacted in the change. */
  redactions?: Redactions | undefined
  /** What models cost; null where nothing is to be computed. */
  prices?: readonly Price[] | null
  /** Whether a cost that was computed is computed again. */
  isRepriced?: boolean
}

/**
 * The call after a change. Pure and idempotent. Among events with `occurredAt`, the newest determines each field that
 * it sets, in whatever order events arrive. An older event fills only empty fields; `isEngaged` is empty until a
 * request sets it. The first request with `createdAt` sets it.
 * @param storedCall null for a new call
 * @param now milliseconds since 1970
 * @throws invalid_request; transcript_gap if `appendTranscript` does not continue the stored transcript
 */
export function mergeCall(
  storedCall: StoredCall | null,
  id: string,
  change: CallChange,
  now: number,
  options: MergeOptions = {},
): StoredCall {
  const { own, isImport = false, isHeard = true, redactions = { parts: {} }, prices = null } = options
  const times = checkChange(id, change)
  const before = storedCall ?? newCall(id, now)
  const { isLate, occurredAt, updatedAt } = eventTimes(times, before.occurredAt)
  const analysis = readAnalysis(before.analysis)
  const marks = readMarks(before.derived)
  // What an analysis has filled, and what was derived, counts as empty.
  const call = withoutDerived(withoutFills(before.call, analysis), marks)
  const partCounts: PartCounts = before.redactions === null ? {} : JSON.parse(before.redactions)
  let isEndedBySilence = call.status === 'completed' && before.heardAt !== null

  for (const field of Object.keys(mergedFields) as (keyof typeof mergedFields)[]) {
    const value = change[field]
    const isOurs = field === 'endedReason' && isEndedBySilence
    if (!replaces(value, isOurs ? null : call[field], isLate)) continue
    Object.assign(call, { [field]: value })
    if (isOurs) isEndedBySilence = false
    partCounts[field] = redactions.parts[field] ?? {}
  }
  // A stored false does not tell whether a request has set it, so that is stored as well.
  if (change.isEngaged !== undefined && !(isLate && before.engagementStated))
    call.isEngaged = change.isEngaged
  if (before.createdOnArrival && times.createdAt !== null)
    call.createdAt = new Date(times.createdAt).toISOString()
  // A call never becomes live again, so even a late event may complete it.
  if (change.status === 'completed') call.status = 'completed'
  if (change.duration !== undefined && !isLate)
    marks.saidZero = change.duration === 0 && call.status === 'completed'
  if (change.transcript) call.transcript = call.transcript.map(onlyTurn)
  // Appended turns carry their own order in `at`, so lateness does not matter to them.
  if (change.appendTranscript) {
    const { at, turns } = change.appendTranscript
    const { counts = [], unredacted } = redactions.turns ?? {}
    const transcript = append(call.transcript, { at, items: turns.map(onlyTurn), unredacted }, turnRules)
    const newCounts = counts.slice(call.transcript.length - at)
    partCounts.transcript = sumOf([partCounts.transcript ?? {}, ...newCounts])
    call.transcript = transcript
  }

  const { transcript } = call
  const merged = mergeDetails(before, { change, own, isLate, partCounts, redactions, transcript })
  const createdOnArrival = before.createdOnArrival && times.createdAt === null
  const engagementStated = before.engagementStated || change.isEngaged !== undefined
  if (before.call.status === 'live' && call.status === 'completed') marks.namedEnd = times.occurredAt !== null
  const endedAt = earliestEnd(
    before,
    marks.namedEnd && change.status === 'completed' ? times.occurredAt : null,
  )
  const endAt = marks.namedEnd && !createdOnArrival ? endedAt : null
  const derived = derive(call, marks, { ...merged, engagementStated, endAt })
  const beside = priced(
    { ...merged, details: derived.details, latencyMs: derived.latencyMs },
    { before: storedCall, call: derived.call, prices, isAgain: options.isRepriced ?? false },
  )
  // Made only once: for a long call it takes tens of milliseconds.
  const filled = fill(derived.call, own?.analysis ?? analysis)
  const document = toDocument(filled.call)
  const isSameBeside = beside.metadata === before.metadata && beside.details === before.details
  const isChanged =
    !storedCall || !isSameBeside || document !== storedCall.document || filled.stored !== storedCall.analysis
  if (updatedAt !== null || isChanged) filled.call.updatedAt = new Date(updatedAt ?? now).toISOString()
  return {
    call: filled.call,
    document: withUpdatedAt(document, filled.call.updatedAt),
    analysis: filled.stored,
    occurredAt,
    createdOnArrival,
    engagementStated,
    derived: toDerived(derived.marks),
    completedAt: completionOf(derived.call, endedAt ?? times.occurredAt ?? (isImport ? null : now)),
    heardAt:
      isEndedBySilence || !isHeard ? before.heardAt : call.status === 'live' ? heardAtOf(before, now) : null,
    ...beside,
  }
}

/** Of several requests that say when the call was completed, the earliest counts, in whatever order they arrive. */
function earliestEnd({ completedAt }: Pick<StoredCall, 'completedAt'>, named: number | null): number | null {
  return completedAt === null || named === null ? (completedAt ?? named) : Math.min(completedAt, named)
}

/** When something was last heard of a call of which something has arrived, to the minute. */
export function heardAtOf({ heardAt }: { heardAt: number | null }, now: number): number {
  return heardAt === null || Math.abs(now - heardAt) >= heardEveryMs ? now : heardAt
}

/**
 * The call after it was completed because nothing was heard of it. `heardAt` marks the reason as ours, so that any later
 * event replaces it; a reason that the platform has given stays.
 */
export function endSilently(
  before: StoredCall,
  now: number,
  prices: readonly Price[] | null = null,
): StoredCall {
  const { endedReason } = before.call
  const updatedAt = new Date(now).toISOString()
  const ended: Call = {
    ...before.call,
    status: 'completed',
    endedReason: endedReason ?? 'silence',
    updatedAt,
  }
  const { call, details, latencyMs, marks } = derive(ended, readMarks(before.derived), {
    ...before,
    endAt: null,
  })
  return {
    ...before,
    call,
    ...priced({ details, costUsd: before.costUsd }, { before, call, prices }),
    latencyMs,
    derived: toDerived(marks),
    document: toDocument(call),
    completedAt: completionOf(call, now),
    heardAt: endedReason === null ? before.heardAt : null,
  }
}

/**
 * The times of a change, for a call whose newest event was at `newestAt`. A given `updatedAt` is kept, so that
 * importing an export loses nothing. A change without one happened now.
 */
export function eventTimes(times: ReturnType<typeof checkChange>, newestAt: number | null) {
  const isLate = times.occurredAt !== null && newestAt !== null && times.occurredAt < newestAt
  return {
    isLate,
    occurredAt: isLate ? newestAt : (times.occurredAt ?? newestAt),
    updatedAt: isLate ? null : times.updatedAt,
  }
}

/**
 * When a call became completed; null while it is live. @param at null for an imported call, which was completed at its
 * end
 */
function completionOf({ status, createdAt, duration }: Call, at: number | null): number | null {
  if (status === 'live') return null
  const start = Date.parse(createdAt)
  // Not before its start: an index by `createdAt` must find all calls completed before a time.
  return Math.round(Math.max(start, at ?? start + duration * 1_000))
}

function newCall(id: string, now: number): Omit<StoredCall, 'document'> {
  const time = new Date(now).toISOString()
  return {
    call: {
      id,
      status: 'live',
      duration: 0,
      summary: null,
      evaluation: null,
      endedReason: null,
      callerNumber: null,
      calledNumber: null,
      isEngaged: false,
      callAnalysis: null,
      transcript: [],
      createdAt: time,
      updatedAt: time,
    },
    occurredAt: null,
    createdOnArrival: true,
    engagementStated: false,
    derived: 0,
    completedAt: null,
    heardAt: null,
    details: null,
    source: null,
    agentId: null,
    review: null,
    recording: null,
    sound: null,
    costUsd: null,
    latencyMs: null,
    redactions: null,
    metadata: null,
    analysis: null,
  }
}

/** Checks what the schema cannot: fields that depend on each other, sizes, dates that exist. @throws invalid_request */
export function checkChange(id: string, change: CallChange) {
  const { times, errors } = readChange(change)
  if (change.id !== undefined && change.id !== id) {
    errors.push({ field: 'id', message: 'must equal the id in the path' })
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return times
}

/** The errors in a change that the schema cannot find, whatever the stored call is. */
export function changeErrors(change: CallChange): FieldError[] {
  return readChange(change).errors
}

function readChange(change: CallChange) {
  const errors: FieldError[] = []
  if (change.transcript && change.appendTranscript) {
    errors.push({ field: 'appendTranscript', message: 'cannot come together with transcript' })
  }
  if (change.appendTimeline && change.details?.timeline !== undefined) {
    errors.push({ field: 'appendTimeline', message: 'cannot come together with details.timeline' })
  }
  if (change.metadata !== undefined && change.details?.metadata !== undefined) {
    errors.push({ field: 'details.metadata', message: 'cannot come together with metadata' })
  }
  const metadata = metadataOf(change)
  if (metadata && isMetadataTooLarge(JSON.stringify(metadata))) {
    errors.push({
      field: metadataField(change),
      message: `must be at most ${metadataBytesMax} bytes of JSON`,
    })
  }
  const modelOf = ({ kind, provider = null, model = null }: Usage) => JSON.stringify([kind, provider, model])
  const models = change.details?.usage?.map(modelOf) ?? []
  const again = models.findIndex((name, at) => models.indexOf(name) < at)
  if (again >= 0)
    errors.push({ field: `details.usage.${again}`, message: 'has the kind, provider and model of another' })
  const read = (field: 'createdAt' | 'updatedAt' | 'occurredAt'): number | null => {
    const text = change[field]
    if (text === undefined || text === null) return null
    const time = readInstant(text)
    if (time === null) errors.push({ field, message: 'must be a time that exists, from 1970 to 9999' })
    return time
  }
  const times = {
    createdAt: read('createdAt'),
    updatedAt: read('updatedAt'),
    occurredAt: read('occurredAt'),
  }
  return { times, errors }
}

export function onlyTurn({ role, content }: Turn): Turn {
  return { role, content }
}

const turnRules: Parameters<typeof append<Turn>>[2] = {
  noun: 'turn',
  isSame: (stored, sent) => stored.role === sent?.role && stored.content === sent.content,
  gap: (detail) => new AppError('transcript_gap', 'Transcript does not continue', { detail }),
  itemsMax: transcriptTurnsMax,
  field: 'appendTranscript.turns',
}
