import type { SourceDetails, SourceTurn, TimelineEntry } from '../event.ts'
import { type Fact, type KeyedFact, numberOf, textOf } from './fact.ts'

const turnsMax = 10_000
const timelineEntriesMax = 20_000
const nameCharsMax = 200
const modelsMax = 20
const interruptedTurnsMax = 1_000

interface Event {
  atMs: number
  kind: TimelineEntry['kind']
  /** Who spoke; undefined unless it is a turn. */
  role?: SourceTurn['role']
  name?: string | undefined
  text?: string | undefined
  wasInterrupted?: boolean
}

/** Collects what was said and done in a call, in any order. */
export class Said {
  readonly #events: Event[] = []

  say(atMs: number, role: SourceTurn['role'], text: string | undefined, wasInterrupted = false): void {
    if (text) this.#events.push({ atMs, kind: 'turn', role, text, wasInterrupted })
  }

  add(event: Omit<Event, 'role'>): void {
    this.#events.push(event)
  }

  /** Sorts by time. @param startMs when the call started */
  inOrder(startMs: number) {
    const transcript: SourceTurn[] = []
    const interruptedTurns: number[] = []
    const timeline: TimelineEntry[] = []
    for (const { atMs, kind, role, name, text, wasInterrupted } of this.#events.sort(byTime)) {
      if (timeline.length >= timelineEntriesMax || (role && transcript.length >= turnsMax)) continue
      const atSeconds = Math.max(0, Math.round((atMs - startMs) * 1_000) / 1_000_000)
      const said = role && text ? { role, content: text } : null
      const turn = said ? transcript.length : null
      const entry = { atSeconds, kind, turn, name: cut(name), text: said ? null : (text ?? null) }
      timeline.push(entry)
      if (wasInterrupted && turn !== null && interruptedTurns.length < interruptedTurnsMax)
        interruptedTurns.push(turn)
      if (said) transcript.push(said)
    }
    return { transcript, timeline, interruptedTurns }
  }

  get hasUserTurn(): boolean {
    return this.#events.some(({ role }) => role === 'user')
  }
}

function byTime(a: Event, b: Event): number {
  return a.atMs - b.atMs
}

function cut(name: string | undefined): string | null {
  return name === undefined ? null : name.slice(0, nameCharsMax).toWellFormed()
}

/** A name or an id, cut to its maximum length. */
export function nameOf(fact: Fact, name: string): string | undefined {
  return cut(textOf(fact, name)) ?? undefined
}

/** The median of a value that the facts have in seconds, in milliseconds. */
export function medianMs(facts: readonly Fact[], name: string): number | undefined {
  const seconds = facts.flatMap((fact) => numberOf(fact, name) ?? []).sort((a, b) => a - b)
  const middle = seconds.length / 2
  const [low, high] = [seconds[Math.ceil(middle) - 1], seconds[Math.floor(middle)]]
  if (low === undefined || high === undefined || low < 0) return undefined
  return Math.round((low + high) * 500_000) / 1_000
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

/** What users have set on the spans of a call. */
export function ownWords(facts: readonly KeyedFact[]) {
  const first = (name: string) => {
    for (const fact of facts) {
      const text = textOf(fact, name)
      if (text !== undefined) return text
    }
    return undefined
  }
  return {
    id: first('callId'),
    callerNumber: first('callerNumber'),
    calledNumber: first('calledNumber'),
    direction: directions.find((each) => each === first('direction')),
  }
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
