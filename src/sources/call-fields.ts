import {
  type CallFields,
  type CostPart,
  type SourceDetails,
  type SourceOptions,
  type SourceTurn,
  type SourceUpdate,
  type TimelineEntry,
  type TurnLatency,
  type Usage,
  usageCounts,
} from './event.ts'
import { type Fields, instantMax } from './fields.ts'

const turnsMax = 10_000
const timelineEntriesMax = 2 * turnsMax
/** What is read of a tool's arguments or result; less is kept: see src/calls/writing/ingest.ts. */
const toolCharsMax = 65_536
/** Of all tools of a call together. */
const toolsCharsMax = 4_194_304
const costEntriesMax = 50
const nameCharsMax = 200
const success = new Set(['true', 'passed', 'success', 'successful'])
const fail = new Set(['false', 'failed', 'failure'])
/** What platforms call who speaks. Others are tools, or people to whom the call was transferred. */
const roles = new Map<string | undefined, SourceTurn['role']>([
  ['user', 'user'],
  ['agent', 'assistant'],
  ['assistant', 'assistant'],
  ['bot', 'assistant'],
])

/** The fields of a call as an event has them: times in milliseconds since 1970, and the platform's own evaluation. */
export type EventCallFields = Known<
  Omit<CallFields, 'createdAt' | 'occurredAt' | 'evaluation'> & {
    createdAt?: number
    occurredAt?: number
    evaluation?: unknown
  }
>

/** What an event tells of costs: as much as is known of each part, and of each use of a model. */
export interface EventCosts {
  costParts?: readonly Partial<Known<CostPart>>[]
  usage?: readonly EventUsage[]
}
export type EventUsage = Partial<Known<Usage>> & Pick<Usage, 'kind'>
export type EventDetails = Partial<Known<Omit<SourceDetails, keyof EventCosts>>> & EventCosts

/** An update without its unknown members, among which are negative costs and latencies, and a duration of 0. */
export function updateOf(id: string, fields: EventCallFields, details: EventDetails): SourceUpdate {
  const change = {
    ...fields,
    duration: positive(fields.duration),
    evaluation: evaluationOf(fields.evaluation),
    createdAt: isoTime(fields.createdAt),
    occurredAt: isoTime(fields.occurredAt),
  }
  const [costUsd, latencyMs] = [notNegative(details.costUsd), notNegative(details.latencyMs)]
  const costs = { costParts: costPartsOf(details.costParts), usage: usageOf(details.usage) }
  const detailsOfCall = withoutUnknown({ ...details, costUsd, latencyMs, ...costs })
  return { id, change: withoutUnknown(change), details: detailsOfCall }
}

/** Kinds by the names of platforms' products; the first that matches counts. */
const costKinds = [
  [/vapi|platform|assistant|engine/i, 'platform'],
  [/stt|asr|transcri|speech.to/i, 'stt'],
  [/tts|speech|voice(?!mail|.?cancel)/i, 'tts'],
  [/analysis|insight/i, 'analysis'],
  [/llm|model|gpt|claude|gemini|inference/i, 'llm'],
  [/transport|telephony|trunk|sip|call-control/i, 'telephony'],
] as const

export function costKindOf(name = '') {
  return costKinds.find(([words]) => words.test(name))?.[1]
}

/** Returns the parts that have a name and a cost. */
function costPartsOf(parts: EventCosts['costParts'] = []): CostPart[] {
  const entries = parts.flatMap(({ name, usd = -1, ...of }) => {
    const part = { name: cut(name ?? ''), usd, kind: costKindOf(name), ...modelOf(of) }
    return name === undefined || usd < 0 ? [] : [withoutUnknown(part)]
  })
  return entries.slice(0, costEntriesMax)
}

/** The sums of each kind, provider and model. */
function usageOf(entries: EventCosts['usage'] = []): Usage[] {
  const sums = new Map<string, Usage>()
  for (const entry of entries) {
    const model: Usage = withoutUnknown({ kind: entry.kind, ...modelOf(entry) })
    const key = JSON.stringify(model)
    for (const name of usageCounts) {
      const count = entry[name] ?? -1
      if (count < 0 || count > Number.MAX_SAFE_INTEGER) continue
      const { [name]: before = 0, ...sum } = sums.get(key) ?? model
      sums.set(key, { ...sum, [name]: Math.round((before + count) * 1_000) / 1_000 })
    }
  }
  return [...sums.values()].slice(0, costEntriesMax)
}

function modelOf({ provider = '', model = '' }: Partial<Known<CostPart>>) {
  const nameOf = (text: string) => (text === 'unknown' ? '' : cut(text))
  return { provider: nameOf(provider), model: nameOf(model) }
}

/** The sum of the numbers that are known; undefined if none is. */
export function sumOfKnown(...numbers: (number | undefined)[]): number | undefined {
  const present = numbers.filter((number) => number !== undefined)
  return present.length === 0 ? undefined : present.reduce((sum, number) => sum + number)
}

function notNegative(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 ? value : undefined
}

/** Members may be undefined. */
export type Known<Members> = { [Name in keyof Members]: Members[Name] | undefined }

/** Whether there is a recording, of a platform whose events do not give its address. Unless they say so, the API may. */
export function isRecorded(hasRecording: boolean | undefined, { apiKey }: SourceOptions): boolean {
  return hasRecording ?? apiKey !== undefined
}

/** Leaves out undefined, and texts, lists and objects that are empty. */
export function withoutUnknown<Members extends object>(members: Known<Members>): Members {
  const entries = Object.entries(members).filter(([, value]) => {
    if (value === undefined || value === '') return false
    return typeof value !== 'object' || value === null || Object.keys(value).length > 0
  })
  return Object.fromEntries(entries) as Members
}

/** An ISO 8601 time; undefined if it is out of range, as the end after an absurd duration may be. */
export function isoTime(ms: number | undefined): string | undefined {
  return ms !== undefined && ms >= 0 && ms <= instantMax ? new Date(ms).toISOString() : undefined
}

/** The seconds between two times in milliseconds; undefined unless both are known and in order. */
export function secondsBetween(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined || to <= from ? undefined : (to - from) / 1_000
}

/** Undefined for 0, with which platforms mean unknown. */
export function positive(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds > 0 ? seconds : undefined
}

export function roleOf(speaker: string | undefined): SourceTurn['role'] | undefined {
  return roles.get(speaker)
}

/** `success`, `fail`, or the text of another rubric. */
function evaluationOf(value: unknown): string | undefined {
  if (!['string', 'boolean', 'number'].includes(typeof value)) return undefined
  const text = String(value).trim()
  const word = text.toLowerCase()
  if (word === '' || word === 'unknown') return undefined
  return success.has(word) ? 'success' : fail.has(word) ? 'fail' : text
}

/** Without what is not known, which the same agent keeps. @param version a text or a number */
export function agentOf(id?: string, name?: string, version?: unknown): SourceDetails['agent'] {
  const agentKey = id ?? name
  if (agentKey === undefined) return undefined
  const isKnown = typeof version === 'string' || typeof version === 'number'
  return withoutUnknown({
    id: cut(agentKey),
    name: name && cut(name),
    version: isKnown ? cut(`${version}`.trim()) : undefined,
  })
}

/** Who called whom. @param numbers of the person and of the agent */
export function numbersOf(
  direction: SourceDetails['direction'],
  { person, own }: { person: string | undefined; own: string | undefined },
): { callerNumber: string | undefined; calledNumber: string | undefined } {
  if (direction === 'inbound') return { callerNumber: person, calledNumber: own }
  if (direction === 'outbound') return { callerNumber: own, calledNumber: person }
  return { callerNumber: undefined, calledNumber: undefined }
}

/** Latency parts in milliseconds, without unknown ones. @param unitMs the unit of the given numbers */
export function latencyOf(parts: Known<TurnLatency>, unitMs = 1): TurnLatency {
  const entries = Object.entries(parts).flatMap(([name, value]) => {
    const ms = value === undefined ? Number.NaN : Math.round(value * unitMs * 1_000) / 1_000
    return ms >= 0 && ms < Number.POSITIVE_INFINITY ? [[name, ms]] : []
  })
  return Object.fromEntries(entries)
}

export function medianOf(values: readonly number[]): number | undefined {
  const ascending = values.toSorted((a, b) => a - b)
  const [low, high] = [ascending[(ascending.length - 1) >> 1], ascending[ascending.length >> 1]]
  return low === undefined || high === undefined ? undefined : (low + high) / 2
}

/** Whether the caller was engaged, of a call that no person answered; otherwise the transcript tells. */
export function engagementOf(isUnanswered: boolean): false | undefined {
  return isUnanswered ? false : undefined
}

/** What is known of an entry beside its time and its name. */
export type EntryDetails = Known<Pick<TimelineEntry, 'interrupted' | 'agentId' | 'latencyMs'>>
/** What can be done in a call beside talking. */
export type DoneKind = 'tool_call' | 'tool_result' | 'transfer'

/** Collects what was said and done in a call, in order. */
export class Conversation {
  readonly transcript: SourceTurn[] = []
  readonly timeline: TimelineEntry[] = []
  /** Characters of what tools received and returned. */
  #toolChars = 0

  /** @param atSeconds from the start of the call */
  say(role: SourceTurn['role'], text: string | undefined, atSeconds?: number, details?: EntryDetails): void {
    const content = text?.trim()
    if (!content || this.transcript.length >= turnsMax) return
    this.#add({ kind: 'turn', turn: this.transcript.length, name: null, text: null }, atSeconds, details)
    this.transcript.push({ role, content })
  }

  /**
   * Adds a tool or a transfer. Platforms leave out `text`, unless `toolText` has it: arguments and results may hold secrets.
   * @param name of the tool, or of whatever the call was transferred to
   */
  use(
    kind: DoneKind,
    name: string | undefined,
    atSeconds: number | undefined,
    { text, ...details }: EntryDetails & { text?: string | undefined } = {},
  ): void {
    this.#add({ kind, turn: null, name: name ? cut(name) : null, text: text ?? null }, atSeconds, details)
  }

  /** What a tool received or returned, from a source that keeps it. Otherwise it is not read: it may hold secrets. */
  toolText({ tools }: SourceOptions, of: Fields, name: string): string | undefined {
    const value = tools === 'keep' ? of.own(name) : undefined
    if (value === undefined) return undefined
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    this.#toolChars += text.length
    // What has no room must not cost the rest of the call.
    if (this.#toolChars > toolsCharsMax) return undefined
    return text.slice(0, toolCharsMax).toWellFormed()
  }

  #add(
    entry: Pick<TimelineEntry, 'kind' | 'turn' | 'name' | 'text'>,
    atSeconds: number | undefined,
    { interrupted, agentId, latencyMs }: EntryDetails = {},
  ): void {
    if (atSeconds === undefined || atSeconds < 0 || this.timeline.length >= timelineEntriesMax) return
    const attributes = withoutUnknown({
      interrupted: interrupted || undefined,
      agentId: agentId ? cut(agentId) : undefined,
      latencyMs,
    })
    this.timeline.push({ atSeconds, ...entry, ...attributes })
  }
}

/** The turns of a text whose lines begin with the speaker. A line without one continues the line before. */
export function readLabelled(text: string, speakers: Readonly<Record<string, SourceTurn['role']>>) {
  const conversation = new Conversation()
  // Not split into lines: a text may have millions of empty ones.
  const labels = new RegExp(`^[ \\t]*(${Object.keys(speakers).join('|')}):`, 'gim')
  let [role, from]: [SourceTurn['role'] | undefined, number] = [undefined, 0]
  for (const { 0: label, 1: speaker = '', index } of text.matchAll(labels)) {
    if (role) conversation.say(role, text.slice(from, index))
    if (conversation.transcript.length >= turnsMax) return conversation
    role = speakers[speaker.toLowerCase()]
    from = index + label.length
  }
  if (role) conversation.say(role, text.slice(from))
  return conversation
}

/** A name or an id, cut to its maximum length. */
export function cut(text: string): string {
  return text.slice(0, nameCharsMax).toWellFormed()
}
