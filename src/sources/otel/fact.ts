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
  /** Those of the resource: see `userFactsOf`. */
  userAttributes: ReadonlyMap<string, AttributeValue>
  name: string
  startMs: number
  endMs: number
  attributes: ReadonlyMap<string, AttributeValue>
  events: readonly Pick<Span, 'name' | 'attributes'>[]
}

export type AttributeValue = string | number | boolean

/** What is kept of a span: only what the mapping to a call needs. */
export interface Fact {
  name: string
  startMs: number
  endMs: number
  /** The id of its parent span. */
  parent: string
  values: Readonly<Record<string, AttributeValue>>
}

/** All that is kept of a session, by the id of the span or of the tool call. */
export type Facts = Readonly<Record<string, Fact>>

/** A framework for voice agents whose sessions can be read from its spans. */
export interface Framework {
  /** The scopes of its spans. */
  readonly scopes: readonly string[]
  /** The names of the spans that end a session. */
  readonly lastSpans: readonly string[]
  /** What to keep of a span; empty if it tells nothing about the call. */
  factsOf(span: Span): Facts
  /**
   * What is known about the call; null as long as no fact shows that there is one.
   * @param session `isOver` if no span has arrived for a long time
   */
  read(facts: Facts, session: { traceId: string; isOver: boolean }): Work<SourceUpdate | null>
}

/** The attributes to keep: our name for each, and its names in spans. The first one that a span has counts. */
export type Kept = Readonly<Record<string, readonly string[]>>

/** Before the key of a member of the call's metadata. */
export const metadataPrefix = 'callbook.metadata.'
/** Attributes that users set on a resource or on any span, since neither framework has them. */
const userAttribute =
  /^callbook\.(call\.id|caller_number|called_number|direction|agent|cost_usd|metadata\..+)$/s
const metadataKeyCharsMax = 200
const textCharsMax = 65_536
/** The names of values that are phone numbers, and of ids, which are not redacted. */
const numbers = ['callbook.caller_number', 'callbook.called_number', 'person', 'own']
const ids = ['callbook.call.id', 'id', 'calls', 'job', 'room', 'sipRule', 'sipCall']

/** A span reduced to the attributes that are kept. */
export function toFact(span: Span, kept: Kept): Fact {
  const values: Record<string, AttributeValue> = {}
  for (const [ours, names] of Object.entries(kept)) {
    const name = names.find((each) => (span.attributes.get(each) ?? '') !== '')
    const value = name === undefined ? undefined : span.attributes.get(name)
    if (value !== undefined) values[ours] = typeof value === 'string' ? storable(value) : value
  }
  const { name, startMs, endMs, parentSpanId: parent } = span
  return { name, startMs, endMs, parent, values }
}

/** Whether users set it, to tell something about the call. */
export function isUserAttribute(name: string): boolean {
  return userAttribute.test(name)
}

/** What users have set, each a fact of its own: a processor may set it on every span. Spans overrule the resource. */
export function userFactsOf({ attributes, userAttributes, startMs, endMs }: Span): Record<string, Fact> {
  const facts: Record<string, Fact> = {}
  const add = ([key, value]: [string, AttributeValue], times: Pick<Fact, 'startMs' | 'endMs'>) => {
    if (!isUserAttribute(key) || value === '') return
    const name = storable(key).slice(0, metadataPrefix.length + metadataKeyCharsMax)
    const values = { [name]: typeof value === 'string' ? storable(value) : value }
    facts[name] = { name: 'user', ...times, parent: '', values }
  }
  for (const entry of userAttributes) add(entry, { startMs: 0, endMs: 0 })
  for (const entry of attributes) add(entry, { startMs, endMs })
  return facts
}

/** A text that the database returns unchanged, trimmed: no lone surrogates, no U+0000. */
export function storable(text: string): string {
  return text.slice(0, textCharsMax).toWellFormed().replaceAll('\0', '\uFFFD').trim()
}

/** Facts redacted by the project's settings. */
export function* redactFacts(
  facts: Facts,
  settings: RedactionSettings,
  redact: RedactText,
): Work<Record<string, Fact>> {
  const redacted: Record<string, Fact> = {}
  for (const [key, fact] of Object.entries(facts)) {
    const values: Record<string, AttributeValue> = {}
    for (const [name, value] of Object.entries(fact.values)) {
      if (typeof value !== 'string' || ids.includes(name)) values[name] = value
      else if (numbers.includes(name)) values[name] = keptNumber(value, settings) ?? ''
      else {
        // Our own names give no context: a `text` is nothing to send to a phone.
        const label = name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : ''
        values[name] = yield* redact(value, label, {})
      }
    }
    redacted[key] = { ...fact, values }
  }
  return redacted
}

/** A fact with its key. */
export interface KeyedFact extends Fact {
  key: string
}

/** The facts sorted by time, without what users have set. */
export function inOrder(facts: Facts): KeyedFact[] {
  return Object.entries(facts)
    .filter(([, { name }]) => name !== 'user')
    .map(([key, fact]) => ({ ...fact, key }))
    .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs || (a.key < b.key ? -1 : 1))
}

/** The facts of each parent span, in the same order. */
export function byParent(facts: readonly KeyedFact[]): Map<string, KeyedFact[]> {
  const children = new Map<string, KeyedFact[]>()
  for (const fact of facts) {
    const siblings = children.get(fact.parent)
    if (siblings) siblings.push(fact)
    else children.set(fact.parent, [fact])
  }
  return children
}

export function textOf(fact: Fact | undefined, name: string): string | undefined {
  const value = fact?.values[name]
  return typeof value === 'string' ? value || undefined : undefined
}

export function numberOf(fact: Fact | undefined, name: string): number | undefined {
  const value = fact?.values[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
