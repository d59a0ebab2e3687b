import { type RedactionCounts, type RedactionKind, redactionKinds } from '../../redaction/kinds.ts'
import { redactStrings } from '../../redaction/redact-strings.ts'
import { keptNumber, type RedactionSettings, type RedactText } from '../../redaction/settings.ts'
import type { Work } from '../../threads/time-slices.ts'
import type { CallChange, TimelineEntry, Turn } from '../schemas.ts'

type Part = 'summary' | 'callAnalysis' | 'transcript' | 'timeline' | 'imported'
/** Each key is a part of its own, since metadata is merged by key. */
type MetadataPart = `metadata.${string}`

/**
 * The number of redactions in each part of a call, so that replacing a part replaces its count. For an imported call,
 * the export tells the count.
 */
export type PartCounts = Partial<Record<Part, RedactionCounts>> & Record<MetadataPart, RedactionCounts>

/** The redactions of a change. */
export interface Redactions extends PartCounts {
  /** For each turn to append, since a repeated request may have only some that are new. */
  appended?: RedactionCounts[]
  /** The turns before redaction, to compare with turns that were stored before redaction was enabled. Never stored. */
  sent?: readonly Turn[]
}

/** The change as it may be stored. Comes before any comparing, merging or writing. */
export function* redactChange(
  change: CallChange,
  settings: RedactionSettings,
  redact: RedactText,
): Work<{ change: CallChange; redactions: Redactions }> {
  const redactions: Redactions = {}
  const redacted = <Value>(part: Part | MetadataPart, value: Value): Work<Value> => {
    const counts: RedactionCounts = {}
    redactions[part] = counts
    return redactStrings(value, (text, label) => redact(text, label, counts))
  }
  const { summary, callAnalysis, transcript, appendTranscript, metadata, details } = change
  const next = { ...change, ...keptNumbers(change, settings) }
  if (summary) next.summary = yield* redacted('summary', summary)
  if (callAnalysis) next.callAnalysis = yield* redacted('callAnalysis', callAnalysis)
  const redactedMetadata = function* (members: Record<string, unknown>) {
    const redactedMembers: [string, unknown][] = []
    for (const [key, value] of Object.entries(members))
      redactedMembers.push(...Object.entries(yield* redacted(metadataPart(key), { [key]: value })))
    return Object.fromEntries(redactedMembers)
  }
  if (metadata) next.metadata = yield* redactedMetadata(metadata)
  if (details) next.details = { ...details }
  if (next.details?.metadata) next.details.metadata = yield* redactedMetadata(next.details.metadata)
  if (next.details?.timeline) {
    redactions.timeline = {}
    next.details.timeline = yield* redactTimeline(next.details.timeline, redact, redactions.timeline)
  }
  if (transcript) {
    const turns = yield* redactTurns(transcript, redact)
    redactions.transcript = sumOf(turns.counts)
    next.transcript = turns.redacted
  }
  if (appendTranscript) {
    const turns = yield* redactTurns(appendTranscript.turns, redact)
    redactions.appended = turns.counts
    redactions.sent = appendTranscript.turns
    next.appendTranscript = { ...appendTranscript, turns: turns.redacted }
  }
  return { change: next, redactions }
}

export function metadataPart(key: string): MetadataPart {
  return `metadata.${key}`
}

function keptNumbers(change: CallChange, settings: RedactionSettings): Partial<CallChange> {
  const kept: Partial<CallChange> = {}
  for (const side of ['callerNumber', 'calledNumber'] as const) {
    if (change[side]) kept[side] = keptNumber(change[side], settings)
  }
  return kept
}

function* redactTurns(turns: readonly Turn[], redact: RedactText) {
  const redacted: Turn[] = []
  const counts: RedactionCounts[] = []
  for (const { role, content } of turns) {
    yield
    const inTurn: RedactionCounts = {}
    redacted.push({ role, content: yield* redact(content, '', inTurn) })
    counts.push(inTurn)
  }
  return { redacted, counts }
}

/** Redacts what people and tools said. Ids of agents stay, so that calls are found by them. */
function* redactTimeline(timeline: readonly TimelineEntry[], redact: RedactText, counts: RedactionCounts) {
  const redacted: TimelineEntry[] = []
  for (const { name, text, ...entry } of timeline) {
    yield
    redacted.push({
      ...entry,
      name: name && (yield* redact(name, '', counts)),
      text: text && (yield* redact(text, '', counts)),
    })
  }
  return redacted
}

/** Adds up the counts of parts or turns. */
export function sumOf(counts: Iterable<RedactionCounts>): RedactionCounts {
  const sum: RedactionCounts = {}
  for (const each of counts) {
    for (const [kind, count] of Object.entries(each) as [RedactionKind, number][]) {
      sum[kind] = (sum[kind] ?? 0) + count
    }
  }
  return sum
}

/** Reads the counts of an export. */
export function readCounts(counts: Readonly<Record<string, unknown>> | null): RedactionCounts {
  const known = redactionKinds.flatMap((kind) => {
    const count = counts?.[kind]
    return Number.isSafeInteger(count) ? [[kind, count]] : []
  })
  return Object.fromEntries(known)
}

/** The counts as they are stored; null if there are none. */
export function toPartsText(counts: PartCounts): string | null {
  const some = Object.entries(counts).filter(([, count]) => Object.keys(count).length > 0)
  return some.length > 0
    ? JSON.stringify(Object.fromEntries(some.sort(([a], [b]) => (a < b ? -1 : 1))))
    : null
}
