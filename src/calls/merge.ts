import { AppError, type FieldError, invalidRequest } from '../errors.ts'
import { readInstant } from '../text/instant.ts'
import type { StoredCall } from './call-head.ts'
import { mergeDetails, noDetails, type OwnDetails } from './details.ts'
import { toDocument, withUpdatedAt } from './document.ts'
import { replaces } from './late-events.ts'
import { type PartCounts, type Redactions, sumOf } from './redaction.ts'
import { type Call, type CallChange, metadataBytesMax, type Turn, transcriptTurnsMax } from './schemas.ts'

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
  /** What the service itself says of the call. */
  own?: OwnDetails | undefined
  /** Whether the change tells of a call that ended earlier, rather than now. */
  isImport?: boolean | undefined
  /** What was replaced in the change. */
  redactions?: Redactions | undefined
}

/**
 * The call after a change. Pure: the same change twice gives the same call. Among events with `occurredAt`, the newest
 * decides each field that it sets, in whatever order they arrive. An older event fills only fields that are still
 * empty; `isEngaged` is until a request has named it. The first request that names `createdAt` sets it.
 * @param stored null when the call is new.
 * @param now milliseconds since 1970.
 * @throws invalid_request; transcript_gap when `appendTranscript` does not continue what is stored.
 */
export function mergeCall(
  stored: StoredCall | null,
  id: string,
  change: CallChange,
  now: number,
  { own, isImport = false, redactions = {} }: MergeOptions = {},
): StoredCall {
  const times = checkChange(id, change)
  const before = stored ?? newCall(id, now)
  const { isLate, occurredAt, updatedAt } = eventTimes(times, before.occurredAt)
  const call = { ...before.call }
  const counted: PartCounts = before.redactions === null ? {} : JSON.parse(before.redactions)

  for (const field of mergedFields) {
    const value = change[field]
    if (!replaces(value, call[field], isLate)) continue
    Object.assign(call, { [field]: value })
    if (isCounted(field)) counted[field] = redactions[field] ?? {}
  }
  // False is no sign that nothing was said, so what was said is remembered.
  if (change.isEngaged !== undefined && !(isLate && before.engagementSaid)) call.isEngaged = change.isEngaged
  if (before.createdOnArrival && times.createdAt !== null)
    call.createdAt = new Date(times.createdAt).toISOString()
  // Completion is a fact that no order of events undoes, so a late event may still bring it.
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

  const isMetadataMerged = mergesMetadata(before.metadata, metadataOf(change), isLate)
  const metadata = isMetadataMerged ? jsonOf(metadataOf(change)) : before.metadata
  if (isMetadataMerged) counted.metadata = redactions.metadata ?? {}
  const beside = mergeDetails(
    before,
    change.details,
    own,
    isLate,
    counted,
    redactions,
    call.transcript.length,
  )
  // Once only: the document of a long call takes tens of milliseconds.
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
    metadata,
    ...beside,
  }
}

/**
 * What the times of a change mean for a call whose newest event was at `newestAt`. A given `updatedAt` is kept, so that
 * importing an export loses nothing; a change without one happened now.
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
 * When a call became completed; null while it is live. @param at null for an imported call, which ended when it says
 */
function completionOf({ status, createdAt, duration }: Call, at: number | null): number | null {
  if (status === 'live') return null
  const start = Date.parse(createdAt)
  // Not before its start, so that an index by `createdAt` finds all calls that were completed before a time.
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
    metadata: null,
    ...noDetails,
  }
}

/**
 * What the schema cannot say: fields that must fit each other, sizes, days that exist.
 * @throws invalid_request
 */
export function checkChange(id: string, change: CallChange) {
  const { times, errors } = readChange(change)
  if (change.id !== undefined && change.id !== id) {
    errors.push({ field: 'id', message: 'must equal the id in the path' })
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return times
}

/** What is wrong with a change, whatever the call, beyond what the schema can say. */
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
  if (metadata && Buffer.byteLength(JSON.stringify(metadata)) > metadataBytesMax) {
    const field = change.metadata ? 'metadata' : 'details.metadata'
    errors.push({ field, message: `must be at most ${metadataBytesMax} bytes of JSON` })
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

function mergesMetadata(before: string | null, given: CallChange['metadata'], isLate: boolean): boolean {
  return given !== undefined && !(isLate && (given === null || (before !== null && before !== '{}')))
}

function jsonOf(given: CallChange['metadata']): string | null {
  return given ? JSON.stringify(given) : null
}

function isCounted(field: (typeof mergedFields)[number]) {
  return field === 'summary' || field === 'callAnalysis' || field === 'transcript'
}
