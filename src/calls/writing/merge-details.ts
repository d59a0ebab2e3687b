import type { Static } from '@sinclair/typebox'
import { type SoundMarks, soundFigures } from '../../db/schema.ts'
import { AppError, invalidRequest } from '../../errors.ts'
import type { StoredCall } from '../call-head.ts'
import { readStored, type StoredDetails, soundIn, toStored } from '../details.ts'
import { marksOf } from '../review/review.ts'
import {
  type Agent,
  type CallChange,
  type CallDetailsUpdate,
  type CallRecording,
  type CallSound,
  CostPart,
  costKinds,
  metadataBytesMax,
  type Review,
  type TimelineEntry,
  type Turn,
  TurnLatency,
  timelineEntriesMax,
  Usage,
} from '../schemas.ts'
import { soundOf } from '../sound/call-sound.ts'
import { readSpeechBytes } from '../sound/speech-bytes.ts'
import { append } from './append.ts'
import { readMarks } from './derive.ts'
import type { CallAnalysis } from './fills.ts'
import {
  metadataPart,
  type PartCounts,
  type Redactions,
  readCounts,
  sumOf,
  toPartsText,
} from './redaction.ts'

/** Details that only the service sets, never a request. */
export type OwnDetails = Partial<
  Pick<StoredDetails, 'source' | 'redacted' | 'recording' | 'costSource' | 'costMissing'>
> & {
  analysis?: CallAnalysis
  /** The review, or a function that makes it from the stored one and the number of turns. */
  review?: Review | null | undefined | ((stored: Review | null, turns: number) => Review | null)
  /** What is heard in the recording, of which the sound is told. */
  speech?: { bytes: Buffer; callerChannel: number | null }
}

/** What a call has beside its thirteen fields: details and metadata as JSON text, and the columns that derive from them. */
type BesideCall = Pick<
  StoredCall,
  | 'details'
  | 'source'
  | 'agentId'
  | 'review'
  | 'recording'
  | 'sound'
  | 'costUsd'
  | 'latencyMs'
  | 'redactions'
  | 'metadata'
>

interface DetailsChange {
  change: CallChange
  own: OwnDetails | undefined
  isLate: boolean
  /** Redactions in the other parts of the call, as it is now. */
  partCounts: PartCounts
  /** Redactions in the change. */
  redactions: Redactions
  /** The turns that the call has now. */
  transcript: Turn[]
}

/**
 * The details and the metadata after a change. Each member of details that is sent replaces the stored one; metadata is
 * merged by key. A latency that was derived is left to `derive`. @throws invalid_request for too much metadata
 */
export function mergeDetails(
  before: BesideCall & Pick<StoredCall, 'derived'>,
  merging: DetailsChange,
): BesideCall {
  const { change, own, isLate, partCounts, redactions, transcript } = merging
  const metadata = mergeMetadata(before.metadata, merging)
  const isLatencyDerived = readMarks(before.derived).latencyMs
  if (!change.details && !change.appendTimeline && !own && toPartsText(partCounts) === before.redactions) {
    const { details, source, agentId, review, recording, sound, costUsd, redactions } = before
    const latencyMs = isLatencyDerived ? null : before.latencyMs
    return { details, source, agentId, review, recording, sound, costUsd, latencyMs, redactions, metadata }
  }
  const { costMissing: _, ...stored } = readStored(before.details)
  const details: StoredDetails = stored
  // What was computed counts as empty: a platform that says it wins, and `priced` computes it again.
  if (details.costSource === 'computed') Object.assign(details, { costUsd: null, costSource: null })
  if (isLatencyDerived) details.latencyMs = null
  const { redacted: imported, analysis, speech, ...ofService } = own ?? {}
  const review =
    typeof ofService.review === 'function'
      ? ofService.review(details.review, transcript.length)
      : ofService.review
  const { agent, ...update } = membersOf(change.details ?? {})
  details.agent = mergeAgent(details.agent, agent, isLate)
  const sound = ofService.recording && soundBeside(details, ofService.recording)
  const set = { ...update, ...ofService, review, sound, analysis: analysis?.brief }
  for (const [name, value] of Object.entries(set)) {
    if (!replaces(value, details[name as keyof StoredDetails], isLate)) continue
    Object.assign(details, { [name]: value })
    partCounts[name] = redactions.parts[name] ?? {}
  }
  if (change.appendTimeline) {
    const { at, entries } = change.appendTimeline
    const { counts = [], unredacted } = redactions.entries ?? {}
    const appended = { at, items: entries.map(toEntry), unredacted: unredacted?.map(toEntry) }
    const timeline = append(details.timeline, appended, entryRules)
    partCounts.timeline = sumOf([partCounts.timeline ?? {}, ...counts.slice(details.timeline.length - at)])
    details.timeline = timeline
  }
  if (speech) {
    const { timeline } = details
    details.sound = soundOf(readSpeechBytes(speech.bytes), {
      ...speech,
      timeline,
      transcript,
      muted: details.recording.muted,
    })
  }
  if (analysis) partCounts.analysis = analysis.redacted
  if (imported !== undefined) partCounts.imported = readCounts(imported)
  const redactionCounts = sumOf(Object.values(partCounts))
  details.redacted = Object.keys(redactionCounts).length > 0 ? redactionCounts : null
  return {
    details: toStored(details),
    source: details.source,
    agentId: details.agent?.id ?? details.timeline.find((entry) => entry.agentId)?.agentId ?? null,
    review: marksOf(details.review),
    recording: details.recording.state === 'none' ? null : details.recording.state,
    sound: details.sound.state === 'none' ? null : soundMarksOf(details.sound),
    costUsd: details.costUsd,
    latencyMs: details.latencyMs,
    redactions: toPartsText(partCounts),
    metadata,
  }
}

/** The sound beside another recording. Its figures outlast it, since they hold no words. */
function soundBeside({ recording, sound }: StoredDetails, { state, keptAt }: CallRecording): CallSound {
  if (keptAt === recording.keptAt) return sound
  if (state === 'kept') return soundIn('waiting')
  return sound.state === 'waiting' ? soundIn('none') : sound
}

/** What the head keeps of it. */
function soundMarksOf(sound: CallSound): SoundMarks {
  const { state, reason } = sound
  if (state !== 'measured') return { state, reason }
  return { state, reason, ...Object.fromEntries(soundFigures.map((name) => [name, sound[name]])) }
}

/** The members that a request may set, in stored form, and who says the cost. Metadata is merged by key. */
function membersOf(update: CallDetailsUpdate) {
  const { agent, direction, recordingUrl, costUsd, latencyMs, costParts, usage, timeline } = update
  return {
    agent,
    direction,
    recordingUrl,
    costUsd,
    latencyMs,
    costParts: costParts === null ? null : costParts?.map(toCostPart),
    usage: usage === null ? null : usage?.map((entry) => whole(Usage.properties, entry)),
    costSource: costUsd === undefined ? undefined : costUsd === null ? null : 'platform',
    timeline: timeline === null ? [] : timeline?.map(toEntry),
  } satisfies UpdateMembers<CallDetailsUpdate & Pick<OwnDetails, 'costSource'>>
}

/** A timeline's entry as it is stored. */
function toEntry({ atSeconds, kind, turn, name, text, interrupted, agentId, latencyMs }: TimelineEntry) {
  return {
    atSeconds,
    kind,
    turn: turn ?? null,
    name: name ?? null,
    text: text ?? null,
    interrupted: interrupted ?? false,
    agentId: agentId ?? null,
    latencyMs: latencyMs ? whole(TurnLatency.properties, latencyMs) : null,
  } satisfies Required<TimelineEntry>
}

const entryRules: Parameters<typeof append<TimelineEntry>>[2] = {
  noun: 'entry',
  isSame: (stored, sent) => JSON.stringify(stored) === JSON.stringify(sent),
  gap: (detail) => new AppError('timeline_gap', 'Timeline does not continue', { detail }),
  itemsMax: timelineEntriesMax,
  field: 'appendTimeline.entries',
}

function toCostPart(part: Static<typeof CostPart>) {
  const kind = costKinds.find((each) => each === part.kind) ?? 'other'
  return { ...whole(CostPart.properties, part), kind }
}

/** What an update leaves out stays that of the same agent. A late one only fills what is empty. */
function mergeAgent(storedAgent: Agent | null, agent: Agent | null | undefined, isLate: boolean) {
  const sameAgent = agent && agent.id === storedAgent?.id ? storedAgent : null
  if (!sameAgent && !replaces(agent, storedAgent, isLate)) return storedAgent
  if (!agent) return null
  const memberOf = (name: 'name' | 'version') => {
    const before = sameAgent?.[name] ?? null
    return agent[name] === undefined || (isLate && before !== null) ? before : agent[name]
  }
  return { id: agent.id, name: memberOf('name'), version: memberOf('version') }
}

/** Without each member of an update, this does not compile: none that a request sends is dropped. */
type UpdateMembers<Update> = Record<Exclude<keyof Update, 'metadata'>, unknown>

/** Returns all members of a schema in its order; absent ones are null. */
function whole(properties: object, members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, members[name] ?? null]))
}

/**
 * Whether a field of a change replaces the stored one. A late event, older than the newest merged one, only fills empty
 * fields.
 */
export function replaces(value: unknown, before: unknown, isLate: boolean): boolean {
  return value !== undefined && !(isLate && (isEmpty(value) || !isEmpty(before)))
}

/** Whether a late event may fill the field. A duration of 0 means unknown. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === '' || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.keys(value).length === 0
}

export function metadataOf({ metadata, details }: CallChange): CallChange['metadata'] {
  return metadata === undefined ? details?.metadata : metadata
}

export function metadataField({ metadata }: CallChange): string {
  return metadata === undefined ? 'details.metadata' : 'metadata'
}

export function isMetadataTooLarge(metadata: string): boolean {
  return Buffer.byteLength(metadata) > metadataBytesMax
}

/** Metadata is merged by key, so that several senders keep each other's. A late event only adds keys. */
function mergeMetadata(
  before: string | null,
  { change, isLate, partCounts, redactions }: DetailsChange,
): string | null {
  const update = metadataOf(change)
  if (update === undefined || (update === null && isLate)) return before
  const members = new Map<string, unknown>(Object.entries(JSON.parse(before ?? '{}')))
  const changes = update ?? Object.fromEntries([...members.keys()].map((key) => [key, null]))
  for (const [key, value] of Object.entries(changes)) {
    if (isLate && members.has(key)) continue
    partCounts[metadataPart(key)] = redactions.parts[metadataPart(key)] ?? {}
    if (value === null) members.delete(key)
    else members.set(key, value)
  }
  if (update === null) return null
  const metadata = JSON.stringify(Object.fromEntries(members))
  if (!isMetadataTooLarge(metadata)) return metadata
  const message = `would make metadata of more than ${metadataBytesMax} bytes of JSON`
  throw invalidRequest([{ field: metadataField(change), message }])
}
