import { keptNumber, type RedactionSettings, type RedactText } from '../../redaction/settings.ts'
import type { Work } from '../../threads/time-slices.ts'
import type { SourceUpdate } from '../event.ts'

/** A span as a framework has exported it. Times are in milliseconds since 1970. */
export interface Span {
  traceId: string
  spanId: string
  parentSpanId: string
  scope: string
  /** `service.name` of its resource. */
  service: string | undefined
  name: string
  startMs: number
  endMs: number
  attributes: ReadonlyMap<string, string | number | boolean>
  events: readonly Pick<Span, 'name' | 'attributes'>[]
}

/** What is kept of a span: only what the mapping to a call needs. */
export interface Fact {
  name: string
  startMs: number
  endMs: number
  /** The span that it is a part of. */
  parent: string
  values: Readonly<Record<string, string | number | boolean>>
}

/** All that is kept of a session, by the id of the span or of the tool's call. */
export type Facts = Readonly<Record<string, Fact>>

/** A framework for voice agents whose sessions can be read from its spans. */
export interface Framework {
  /** The scopes of its spans. */
  readonly scopes: readonly string[]
  /** What to keep of a span; empty for one that says nothing of the call. */
  factsOf(span: Span): Facts
  /**
   * What is known of the call; null while nothing says that there is one.
   * @param session `isOver` when it has said nothing for long
   */
  read(facts: Facts, session: { traceId: string; isOver: boolean }): SourceUpdate | null
}

/** What the mapping calls an attribute, and its names; the first one that the span has counts. */
export type Kept = Readonly<Record<string, readonly string[]>>

/** What users may put on any span, since neither framework knows it. */
const ofEverySpan: Kept = {
  callId: ['callbook.call.id'],
  callerNumber: ['callbook.caller_number'],
  calledNumber: ['callbook.called_number'],
  direction: ['callbook.direction'],
}
const textCharsMax = 65_536
/** What the mapping calls phone numbers, and what it calls ids, which stay as they are. */
const numbers = ['callerNumber', 'calledNumber', 'person', 'own']
const ids = ['callId', 'id', 'job', 'room', 'sipRule', 'sipCall']

/** The span with the kept ones of its attributes. */
export function toFact(span: Span, kept: Kept): Fact {
  const values: Record<string, string | number | boolean> = {}
  for (const [ours, names] of Object.entries({ ...ofEverySpan, ...kept })) {
    const name = names.find((each) => (span.attributes.get(each) ?? '') !== '')
    const value = name === undefined ? undefined : span.attributes.get(name)
    if (value !== undefined) values[ours] = typeof value === 'string' ? storable(value) : value
  }
  const { name, startMs, endMs, parentSpanId: parent } = span
  return { name, startMs, endMs, parent, values }
}

/** A text that comes back from the database as it was. */
export function storable(text: string): string {
  return text.slice(0, textCharsMax).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** The facts without what the project does not store. */
export function* redactFacts(
  facts: Facts,
  settings: RedactionSettings,
  redact: RedactText,
): Work<Record<string, Fact>> {
  const redacted: Record<string, Fact> = {}
  for (const [key, fact] of Object.entries(facts)) {
    const values: Record<string, Fact['values'][string]> = {}
    for (const [name, value] of Object.entries(fact.values)) {
      if (typeof value !== 'string' || ids.includes(name)) values[name] = value
      else if (numbers.includes(name)) values[name] = keptNumber(value, settings) ?? ''
      else values[name] = yield* redact(value, name, {})
    }
    redacted[key] = { ...fact, values }
  }
  return redacted
}

/** A fact with its key. */
export interface KeyedFact extends Fact {
  key: string
}

/** In the order of their times, whatever order they came in. */
export function inOrder(facts: Facts): KeyedFact[] {
  return Object.entries(facts)
    .map(([key, fact]) => ({ ...fact, key }))
    .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs || (a.key < b.key ? -1 : 1))
}

export function textOf({ values }: Fact, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value.trim() || undefined : undefined
}

export function numberOf({ values }: Fact, name: string): number | undefined {
  const value = values[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
