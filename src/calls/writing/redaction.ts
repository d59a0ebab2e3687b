import { type RedactionCounts, type RedactionKind, redactionKinds } from '../../redaction/kinds.ts'
import { redactStrings } from '../../redaction/redact-strings.ts'
import { keptNumber, type RedactionSettings, type RedactText } from '../../redaction/settings.ts'
import type { Work } from '../../threads/time-slices.ts'
import type { CallChange, CallDetailsUpdate, TimelineEntry, Turn } from '../schemas.ts'

/**
 * The number of redactions in each part of a call, so that replacing a part replaces its count. A part is a field or a
 * member of the details. Each key of metadata is one, since metadata is merged by key. `imported` is what an export told.
 */
export type PartCounts = Record<string, RedactionCounts>

/** The redactions of a change. */
export interface Redactions {
  parts: PartCounts
  turns?: AppendedItems<Turn>
  entries?: AppendedItems<TimelineEntry>
}

/** What is appended to a list. */
interface AppendedItems<Item> {
  /** For each item, since a repeated request may have only some that are new. */
  counts: RedactionCounts[]
  /** The items before redaction, to compare with those that were stored before redaction was enabled. Never stored. */
  unredacted: readonly Item[]
}

interface Redaction {
  settings: RedactionSettings
  redact: RedactText
  redactions: Redactions
}

/** What becomes of a member before it is stored: its strings are redacted, it is a phone number, or it is kept. */
type Rule<Value> = 'redact' | 'number' | 'keep' | ((value: Value, redaction: Redaction) => Work<Value>)
/** Without a rule for each member, this does not compile: nobody can forget to redact a new one. */
type Rules<Members> = { readonly [Name in keyof Members]-?: Rule<NonNullable<Members[Name]>> }

/** Ids of agents stay, so that calls are found by them. */
const entryRules = {
  atSeconds: 'keep',
  kind: 'keep',
  turn: 'keep',
  name: 'redact',
  text: 'redact',
  interrupted: 'keep',
  agentId: 'keep',
  latencyMs: 'keep',
} as const satisfies Rules<TimelineEntry>

const turnRules = { role: 'keep', content: 'redact' } as const satisfies Rules<Turn>

const callRules = {
  id: 'keep',
  status: 'keep',
  duration: 'keep',
  summary: 'redact',
  evaluation: 'keep',
  endedReason: 'keep',
  callerNumber: 'number',
  calledNumber: 'number',
  isEngaged: 'keep',
  callAnalysis: 'redact',
  transcript: redactEach<Turn>('transcript', turnRules),
  appendTranscript: redactTurns,
  appendTimeline: redactEntries,
  createdAt: 'keep',
  updatedAt: 'keep',
  occurredAt: 'keep',
  metadata: redactMetadata,
  details: (details, redaction) => redactMembers(details, detailRules, redaction),
} as const satisfies Rules<CallChange>

const detailRules = {
  agent: 'keep',
  direction: 'keep',
  recordingUrl: 'keep',
  costUsd: 'keep',
  latencyMs: 'keep',
  costParts: 'redact',
  usage: 'redact',
  timeline: redactEach<TimelineEntry>('timeline', entryRules),
  metadata: redactMetadata,
} as const satisfies Rules<CallDetailsUpdate>

/** The change as it may be stored. Comes before any comparing, merging or writing. */
export function* redactChange(
  change: CallChange,
  settings: RedactionSettings,
  redact: RedactText,
): Work<{ change: CallChange; redactions: Redactions }> {
  const redactions: Redactions = { parts: {} }
  return { change: yield* redactMembers(change, callRules, { settings, redact, redactions }), redactions }
}

/** Leaves out what has no rule. @param counts where to count; by default, each member is a part of its own */
function* redactMembers<Members extends object>(
  members: Members,
  rules: Rules<Members>,
  redaction: Redaction,
  counts?: RedactionCounts,
): Work<Members> {
  yield
  const entries: [string, unknown][] = []
  for (const name of Object.keys(rules) as (keyof Members & string)[]) {
    const value = members[name]
    const rule = rules[name]
    if (value === undefined) continue
    if (!value || rule === 'keep') entries.push([name, value])
    else if (rule === 'number') entries.push([name, keptNumber(String(value), redaction.settings)])
    else if (rule === 'redact')
      entries.push([name, yield* redactInto(counts ?? partOf(name, redaction), value, redaction)])
    else entries.push([name, yield* rule(value, redaction)])
  }
  // Each member has a rule, so none of those that the type names is missing.
  return Object.fromEntries(entries) as Members
}

function redactInto<Value>(counts: RedactionCounts, value: Value, { redact }: Redaction): Work<Value> {
  return redactStrings(value, (text, label) => redact(text, label, counts))
}

function partOf(part: string, { redactions: { parts } }: Redaction): RedactionCounts {
  const counts: RedactionCounts = {}
  parts[part] = counts
  return counts
}

/** Redacts each of a part's objects by the same rules. */
function redactEach<Item extends object>(part: string, rules: Rules<Item>) {
  return function* (items: Item[], redaction: Redaction): Work<Item[]> {
    const counts = partOf(part, redaction)
    const redactedItems: Item[] = []
    for (const item of items) redactedItems.push(yield* redactMembers(item, rules, redaction, counts))
    return redactedItems
  }
}

function* redactTurns({ at, turns }: { at: number; turns: Turn[] }, redaction: Redaction) {
  const { items, counts } = yield* redactItems(turns, turnRules, redaction)
  redaction.redactions.turns = { counts, unredacted: turns }
  return { at, turns: items }
}

function* redactEntries({ at, entries }: { at: number; entries: TimelineEntry[] }, redaction: Redaction) {
  const { items, counts } = yield* redactItems(entries, entryRules, redaction)
  redaction.redactions.entries = { counts, unredacted: entries }
  return { at, entries: items }
}

/** Redacts what is appended to a list, counting for each item. */
function* redactItems<Item extends object>(
  sent: readonly Item[],
  rules: Rules<Item>,
  redaction: Redaction,
): Work<{ items: Item[]; counts: RedactionCounts[] }> {
  const items: Item[] = []
  const counts: RedactionCounts[] = []
  for (const item of sent) {
    const ofItem: RedactionCounts = {}
    items.push(yield* redactMembers(item, rules, redaction, ofItem))
    counts.push(ofItem)
  }
  return { items, counts }
}

function* redactMetadata(
  metadata: Record<string, unknown>,
  redaction: Redaction,
): Work<Record<string, unknown>> {
  const members: [string, unknown][] = []
  for (const [key, value] of Object.entries(metadata)) {
    const part = yield* redactInto(partOf(metadataPart(key), redaction), { [key]: value }, redaction)
    members.push(...Object.entries(part))
  }
  return Object.fromEntries(members)
}

export function metadataPart(key: string): string {
  return `metadata.${key}`
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
  const entries = redactionKinds.flatMap((kind) => {
    const count = counts?.[kind]
    return Number.isSafeInteger(count) ? [[kind, count]] : []
  })
  return Object.fromEntries(entries)
}

/** The counts as they are stored; null if there are none. */
export function toPartsText(counts: PartCounts): string | null {
  const some = Object.entries(counts).filter(([, count]) => Object.keys(count).length > 0)
  return some.length > 0
    ? JSON.stringify(Object.fromEntries(some.sort(([a], [b]) => (a < b ? -1 : 1))))
    : null
}
