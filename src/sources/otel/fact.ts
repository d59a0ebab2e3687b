import { keptNumber, type RedactionSettings, type RedactText } from '../../redaction/settings.ts'
import type { Work } from '../../threads/time-slices.ts'
import type { SourceUpdate } from '../event.ts'

/** A span as exported by a framework. Times are in milliseconds since 1970. */
export interface Span {
  traceId: string
  spanId: string
  parentSpanId: string
  scope: string
  /** The resource's `service.name`. */
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
  /** The id of its parent span. */
  parent: string
  values: Readonly<Record<string, string | number | boolean>>
}

/** All that is kept of a session, by the id of the span or of the tool call. */
export type Facts = Readonly<Record<string, Fact>>

/** A framework for voice agents whose sessions can be read from its spans. */
export interface Framework {
  /** The scopes of its spans. */
  readonly scopes: readonly string[]
  /** What to keep of a span; empty if it tells nothing about the call. */
  factsOf(span: Span): Facts
  /**
   * What is known about the call; null as long as no fact shows that there is one.
   * @param session `isOver` if no span has arrived for a long time
   */
  read(facts: Facts, session: { traceId: string; isOver: boolean }): SourceUpdate | null
}

/** The attributes to keep: our name for each, and its names in spans. The first one that a span has counts. */
export type Kept = Readonly<Record<string, readonly string[]>>

/** Attributes that users may set on any span, since neither framework has them. */
const ofEverySpan: Kept = {
  callId: ['callbook.call.id'],
  callerNumber: ['callbook.caller_number'],
  calledNumber: ['callbook.called_number'],
  direction: ['callbook.direction'],
}
const textCharsMax = 65_536
/** Our names of attributes with phone numbers, and of those with ids, which are not redacted. */
const numbers = ['callerNumber', 'calledNumber', 'person', 'own']
const ids = ['callId', 'id', 'calls', 'job', 'room', 'sipRule', 'sipCall']

/** A span reduced to the attributes that are kept. */
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

/** A text that the database returns unchanged: no lone surrogates, no U+0000. */
export function storable(text: string): string {
  return text.slice(0, textCharsMax).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Facts redacted by the project's settings. */
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

/** The facts sorted by time. */
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
