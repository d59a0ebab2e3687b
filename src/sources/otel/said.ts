import type { SourceDetails, SourceTurn, TimelineEntry, TurnLatency } from '../event.ts'
import { cut, latencyOf, medianOf, timelineEntriesMax, turnsMax, withoutUnknown } from '../facts.ts'
import { type Fact, type Facts, numberOf, textOf, toldMetadata } from './fact.ts'

const modelsMax = 20
/** How much metadata users may tell, so that it fits beside that of others. */
const toldMetadataBytesMax = 49_152

interface Event extends Circumstances {
  atMs: number
  kind: TimelineEntry['kind']
  /** Who spoke; undefined unless it is a turn. */
  role?: SourceTurn['role']
  name?: string | undefined
  text?: string | undefined
}

interface Circumstances {
  interrupted?: boolean
  agentId?: string | undefined
  latencyMs?: TurnLatency | undefined
}

/** Collects what was said and done in a call, in any order. */
export class Said {
  readonly #events: Event[] = []

  say(atMs: number, role: SourceTurn['role'], text: string | undefined, how: Circumstances = {}): void {
    if (text) this.#events.push({ atMs, kind: 'turn', role, text, ...how })
  }

  add(event: Omit<Event, 'role'>): void {
    this.#events.push(event)
  }

  /** Sorts by time. @param startMs when the call started */
  inOrder(startMs: number) {
    const transcript: SourceTurn[] = []
    const timeline: TimelineEntry[] = []
    for (const { atMs, kind, role, name, text, ...how } of this.#events.sort(byTime)) {
      if (timeline.length >= timelineEntriesMax || (role && transcript.length >= turnsMax)) continue
      const atSeconds = Math.max(0, Math.round((atMs - startMs) * 1_000) / 1_000_000)
      const said = role && text ? { role, content: text } : null
      const turn = said ? transcript.length : null
      timeline.push({
        ...{ atSeconds, kind, turn, name: name ?? null, text: said ? null : (text ?? null) },
        ...withoutUnknown(how),
      })
      if (said) transcript.push(said)
    }
    return { transcript, timeline }
  }
}

function byTime(a: Event, b: Event): number {
  return a.atMs - b.atMs
}

/** A name or an id, cut to its maximum length. */
export function nameOf(fact: Fact, name: string): string | undefined {
  const text = textOf(fact, name)
  return text && cut(text)
}

/** The median of a value that the facts have in seconds, in milliseconds. */
export function medianMs(facts: readonly Fact[], name: string): number | undefined {
  return latencyOf({ total: medianOf(facts.flatMap((fact) => numberOf(fact, name) ?? [])) }, 1_000).total
}

/** In seconds, to the millisecond; undefined unless positive. */
export function durationOf(startMs: number, endMs: number): number | undefined {
  const seconds = Math.round(endMs - startMs) / 1_000
  return seconds > 0 ? seconds : undefined
}

/** The tokens and models of model requests. */
export function usageOf(requests: readonly Fact[]) {
  const sum = (name: string) =>
    requests.reduce((total, request) => total + Math.max(0, numberOf(request, name) ?? 0), 0) || undefined
  const models = new Set(requests.flatMap((request) => nameOf(request, 'model') ?? []))
  models.delete('unknown')
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    models: [...models].sort().slice(0, modelsMax),
  }
}

/** What users have told about the call: see `toldFactsOf`. */
export function toldIn(facts: Facts) {
  const told = (name: string) => facts[`callbook.${name}`]
  const cost = told('cost_usd')?.values.cost ?? ''
  const costUsd = typeof cost === 'boolean' || cost === '' ? Number.NaN : Number(cost)
  return {
    id: textOf(told('call.id'), 'callId'),
    callerNumber: textOf(told('caller_number'), 'callerNumber'),
    calledNumber: textOf(told('called_number'), 'calledNumber'),
    direction: directions.find((each) => each === textOf(told('direction'), 'direction')),
    agent: textOf(told('agent'), 'agent'),
    costUsd: Number.isFinite(costUsd) && costUsd >= 0 ? costUsd : undefined,
    metadata: toldMetadataIn(facts),
  }
}

function toldMetadataIn(facts: Facts): Record<string, unknown> {
  let bytes = 0
  const members = Object.entries(facts)
    .filter(([key]) => key.startsWith(toldMetadata))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { values }]) => [key.slice(toldMetadata.length), values.text] as const)
    .filter((member) => {
      bytes += Buffer.byteLength(JSON.stringify(member))
      return bytes <= toldMetadataBytesMax
    })
  return Object.fromEntries(members)
}

const directions: NonNullable<SourceDetails['direction']>[] = ['inbound', 'outbound', 'web']

/** A valid call id: other characters become `_`. */
export function callIdOf(text: string): string {
  const id = text.slice(0, 128).replace(/[^A-Za-z0-9._:-]/g, '_')
  return /^\.{0,2}$/.test(id) ? `_${id}` : id
}

/** The text of a result that is a JSON string; other results stay as they are. */
export function unquoted(json: string | undefined): string | undefined {
  if (!json?.startsWith('"')) return json
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : json
  } catch {
    // Plain text that begins with a quotation mark.
    return json
  }
}
