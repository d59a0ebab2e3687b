import { AppError, type FieldError, invalidRequest } from '../../errors.ts'
import { readInstant } from '../../text/instant.ts'
import type { StoredCall } from '../call-head.ts'
import { mergeDetails, noDetails, type OwnDetails } from '../details.ts'
import { toDocument, withUpdatedAt } from '../document.ts'
import { type Call, type CallChange, metadataBytesMax, type Turn, transcriptTurnsMax } from '../schemas.ts'
import { replaces } from './late-events.ts'
import { metadataPart, type PartCounts, type Redactions, sumOf } from './redaction.ts'

/** How often an arrival is noted: an entry of an index for each would cost more than to complete calls a minute later. */
export const heardEveryMs = 60_000
const mergedFields = [
  'duration',
  'summary',
  'evaluation',
  'endedReason',
  'callerNumber',
  'calledNumber',
  'callAnalysis',
  'transcript',
] as const

interface MergeOptions {
  /** Details that the service sets. */
  own?: OwnDetails | undefined
  /** Whether the call ended earlier than now. */
  isImport?: boolean | undefined
  /** Whether the change has arrived from outside. A person's review does not tell whether a call goes on. */
  isHeard?: boolean
  /** What was redacted in the change. */
  redactions?: Redactions | undefined
}

/**
 * The call after a change. Pure and idempotent. Among events with `occurredAt`, the newest determines each field that
 * it sets, in whatever order events arrive. An older event fills only empty fields; `isEngaged` is empty until a
 * request sets it. The first request with `createdAt` sets it.
 * @param stored null for a new call
 * @param now milliseconds since 1970
 * @throws invalid_request; transcript_gap if `appendTranscript` does not continue the stored transcript
 */
export function mergeCall(
  stored: StoredCall | null,
  id: string,
  change: CallChange,
  now: number,
  { own, isImport = false, isHeard = true, redactions = {} }: MergeOptions = {},
): StoredCall {
  const times = checkChange(id, change)
  const before = stored ?? newCall(id, now)
  const { isLate, occurredAt, updatedAt } = eventTimes(times, before.occurredAt)
  const call = { ...before.call }
  const counted: PartCounts = before.redactions === null ? {} : JSON.parse(before.redactions)
  let isEndedBySilence = call.status === 'completed' && before.heardAt !== null

  for (const field of mergedFields) {
    const value = change[field]
    const isOurs = field === 'endedReason' && isEndedBySilence
    if (!replaces(value, isOurs ? null : call[field], isLate)) continue
    Object.assign(call, { [field]: value })
    if (isOurs) isEndedBySilence = false
    if (isCounted(field)) counted[field] = redactions[field] ?? {}
  }
  // A stored false does not tell whether a request has set it, so that is stored as well.
  if (change.isEngaged !== undefined && !(isLate && before.engagementSaid)) call.isEngaged = change.isEngaged
  if (before.createdOnArrival && times.createdAt !== null)
    call.createdAt = new Date(times.createdAt).toISOString()
  // A call never becomes live again, so even a late event may complete it.
  if (change.status === 'completed') call.status = 'completed'
  if (change.transcript) call.transcript = call.transcript.map(onlyTurn)
  // Appended turns carry their own order in `at`, so lateness does not matter to them.
  if (change.appendTranscript) {
    const added = continueTranscript(call.transcript, change.appendTranscript, redactions.sent)
    counted.transcript = sumOf([
      counted.transcript ?? {},
      ...(redactions.appended ?? []).slice(call.transcript.length - change.appendTranscript.at),
    ])
    call.transcript = added
  }

  const metadata = mergeMetadata(before.metadata, change, isLate, counted, redactions)
  const beside = mergeDetails(
    before,
    change.details,
    own,
    isLate,
    counted,
    redactions,
    call.transcript.length,
  )
  // Made only once: for a long call it takes tens of milliseconds.
  const document = toDocument(call)
  const isSameBeside = metadata === before.metadata && beside.details === before.details
  const isChanged = !stored || !isSameBeside || document !== stored.document
  if (updatedAt !== null || isChanged) call.updatedAt = new Date(updatedAt ?? now).toISOString()
  return {
    call,
    document: withUpdatedAt(document, call.updatedAt),
    occurredAt,
    createdOnArrival: before.createdOnArrival && times.createdAt === null,
    engagementSaid: before.engagementSaid || change.isEngaged !== undefined,
    completedAt: completionOf(call, before.completedAt ?? times.occurredAt ?? (isImport ? null : now)),
    heardAt:
      isEndedBySilence || !isHeard ? before.heardAt : call.status === 'live' ? heard(before, now) : null,
    metadata,
    ...beside,
  }
}

/** When something was last heard of a call of which something has arrived, to the minute. */
export function heard({ heardAt }: { heardAt: number | null }, now: number): number {
  return heardAt === null || Math.abs(now - heardAt) >= heardEveryMs ? now : heardAt
}

/**
 * The call after it was completed because nothing was heard of it. `heardAt` marks the reason as ours, so that any later
 * event replaces it; a reason that the platform has given stays.
 */
export function endSilently(stored: StoredCall, now: number): StoredCall {
  const { endedReason } = stored.call
  const updatedAt = new Date(now).toISOString()
  const call: Call = { ...stored.call, status: 'completed', endedReason: endedReason ?? 'silence', updatedAt }
  return {
    ...stored,
    call,
    document: toDocument(call),
    completedAt: completionOf(call, now),
    heardAt: endedReason === null ? stored.heardAt : null,
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
    engagementSaid: false,
    completedAt: null,
    heardAt: null,
    metadata: null,
    ...noDetails,
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
  if (change.metadata !== undefined && change.details?.metadata !== undefined) {
    errors.push({ field: 'details.metadata', message: 'cannot come together with metadata' })
  }
  const metadata = metadataOf(change)
  if (metadata && isTooLarge(JSON.stringify(metadata))) {
    errors.push({
      field: metadataField(change),
      message: `must be at most ${metadataBytesMax} bytes of JSON`,
    })
  }
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

/** @param sent the turns before they were redacted */
function continueTranscript(
  stored: Turn[],
  append: { at: number; turns: Turn[] },
  sent: readonly Turn[] = append.turns,
): Turn[] {
  if (append.at > stored.length) {
    throw gap(`The stored transcript has ${stored.length} turns, so turn ${append.at} cannot follow yet.`)
  }
  const known = stored.slice(append.at, append.at + append.turns.length)
  const differs = known.findIndex(
    ({ role, content }, i) =>
      role !== append.turns[i]?.role ||
      (content !== append.turns[i]?.content && content !== sent[i]?.content),
  )
  if (differs >= 0) throw gap(`Turn ${append.at + differs} is stored with another role or content.`)
  const transcript = stored.concat(append.turns.slice(known.length).map(onlyTurn))
  if (transcript.length > transcriptTurnsMax) {
    const message = `would make a transcript of more than ${transcriptTurnsMax} turns`
    throw invalidRequest([{ field: 'appendTranscript.turns', message }])
  }
  return transcript
}

function gap(detail: string): AppError {
  return new AppError('transcript_gap', 'Transcript does not continue', { detail })
}

function metadataOf({ metadata, details }: CallChange): CallChange['metadata'] {
  return metadata === undefined ? details?.metadata : metadata
}

function metadataField({ metadata }: CallChange): string {
  return metadata === undefined ? 'details.metadata' : 'metadata'
}

function isTooLarge(metadata: string): boolean {
  return Buffer.byteLength(metadata) > metadataBytesMax
}

/** Metadata is merged by key, so that several senders keep each other's. A late event only adds keys. */
function mergeMetadata(
  stored: string | null,
  change: CallChange,
  isLate: boolean,
  counted: PartCounts,
  redactions: Redactions,
): string | null {
  const given = metadataOf(change)
  if (given === undefined || (given === null && isLate)) return stored
  const merged = new Map<string, unknown>(Object.entries(JSON.parse(stored ?? '{}')))
  const changed = given ?? Object.fromEntries([...merged.keys()].map((key) => [key, null]))
  for (const [key, value] of Object.entries(changed)) {
    if (isLate && merged.has(key)) continue
    counted[metadataPart(key)] = redactions[metadataPart(key)] ?? {}
    if (value === null) merged.delete(key)
    else merged.set(key, value)
  }
  if (given === null) return null
  const metadata = JSON.stringify(Object.fromEntries(merged))
  if (!isTooLarge(metadata)) return metadata
  const message = `would make metadata of more than ${metadataBytesMax} bytes of JSON`
  throw invalidRequest([{ field: metadataField(change), message }])
}

function isCounted(field: (typeof mergedFields)[number]) {
  return field === 'summary' || field === 'callAnalysis' || field === 'transcript'
}
