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
  /** Attributes of the resource, and its version: see `userSpansOf`. */
  userAttributes: ReadonlyMap<string, AttributeValue>
  name: string
  startMs: number
  endMs: number
  attributes: ReadonlyMap<string, AttributeValue>
  events: readonly Pick<Span, 'name' | 'attributes'>[]
}

export type AttributeValue = string | number | boolean

/** What is kept of a span: only what the mapping to a call needs. */
export interface KeptSpan {
  name: string
  startMs: number
  endMs: number
  /** The id of its parent span. */
  parent: string
  values: Readonly<Record<string, AttributeValue>>
}

/** All that is kept of a session, by the id of the span or of the tool call. */
export type KeptSpans = Readonly<Record<string, KeptSpan>>

/** A framework for voice agents whose sessions can be read from its spans. */
export interface Framework {
  /** The scopes of its spans. */
  readonly scopes: readonly string[]
  /** The names of the spans that end a session. */
  readonly lastSpans: readonly string[]
  /** What to keep of a span; empty if it tells nothing about the call. */
  keptOf(span: Span): KeptSpans
  /**
   * What is known about the call; null as long as no span shows that there is one.
   * @param session `isOver` if no span has arrived for a long time
   */
  read(spans: KeptSpans, session: { traceId: string; isOver: boolean }): Work<SourceUpdate | null>
}

const usageNames = (...names: string[]) => names.flatMap((name) => [`gen_ai.usage.${name}`, name])
/** What spans, and the parts of LiveKit's report, tell of the use of a model. */
export const modelUsage: KeptAttributes = {
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'provider'],
  model: ['gen_ai.request.model', 'model'],
  inputTokens: usageNames('input_tokens'),
  cachedTokens: usageNames('cache_read.input_tokens', 'input_cached_tokens'),
  cacheWriteTokens: usageNames('cache_creation.input_tokens', 'input_cache_creation_tokens'),
  audioInputTokens: usageNames('input_audio_tokens', 'audio.input_tokens'),
  outputTokens: usageNames('output_tokens'),
  audioOutputTokens: usageNames('output_audio_tokens', 'audio.output_tokens'),
  characters: ['metrics.character_count', 'characters_count'],
  seconds: ['metrics.audio_seconds', 'audio_duration'],
}

/** The attributes to keep: our name for each, and its names in spans. The first one that a span has counts. */
export type KeptAttributes = Readonly<Record<string, readonly string[]>>

/** Prefix of the key of a member of the call's metadata. */
export const metadataPrefix = 'callbook.metadata.'
/** Attributes that users set on a resource or on any span, since neither framework has them. */
const userAttribute =
  /^callbook\.(call\.id|caller_number|called_number|direction|agent|agent_version|cost_usd|metadata\..+)$/s
const metadataKeyCharsMax = 200
const textCharsMax = 65_536
/** The names of values that are phone numbers, and of ids, which are not redacted. */
const numbers = ['callbook.caller_number', 'callbook.called_number', 'person', 'own']
const ids = ['callbook.call.id', 'id', 'calls', 'job', 'room', 'sipRule', 'sipCall']
const versions = ['callbook.agent_version', 'version']

/** A span reduced to the attributes that are kept. */
export function keptSpan(span: Span, attributes: KeptAttributes): KeptSpan {
  const values: Record<string, AttributeValue> = {}
  const attributeOf = (name: string) => span.attributes.get(name) ?? span.userAttributes.get(name) ?? ''
  for (const [ours, names] of Object.entries(attributes)) {
    const name = names.find((each) => attributeOf(each) !== '')
    const value = name === undefined ? undefined : attributeOf(name)
    if (value !== undefined) values[ours] = typeof value === 'string' ? storable(value) : value
  }
  const { name, startMs, endMs, parentSpanId: parent } = span
  return { name, startMs, endMs, parent, values }
}

/** Whether users set it, to tell something about the call. */
export function isUserAttribute(name: string): boolean {
  return userAttribute.test(name)
}

/** What users have set, each as a span: a processor may set it on every span. Spans overrule the resource. */
export function userSpansOf({ attributes, userAttributes, startMs, endMs }: Span): Record<string, KeptSpan> {
  const spans: Record<string, KeptSpan> = {}
  const add = ([key, value]: [string, AttributeValue], times: Pick<KeptSpan, 'startMs' | 'endMs'>) => {
    if (!isUserAttribute(key) || value === '') return
    const name = storable(key).slice(0, metadataPrefix.length + metadataKeyCharsMax)
    const values = { [name]: typeof value === 'string' ? storable(value) : value }
    spans[name] = { name: 'user', ...times, parent: '', values }
  }
  for (const entry of userAttributes) add(entry, { startMs: 0, endMs: 0 })
  for (const entry of attributes) add(entry, { startMs, endMs })
  return spans
}

/** A text that the database returns unchanged, trimmed: no lone surrogates, no U+0000. */
export function storable(text: string): string {
  return text.slice(0, textCharsMax).toWellFormed().replaceAll('\0', '\uFFFD').trim()
}

/** Kept spans, redacted by the project's settings. */
export function* redactSpans(
  spans: KeptSpans,
  settings: RedactionSettings,
  redact: RedactText,
): Work<Record<string, KeptSpan>> {
  const redactedSpans: Record<string, KeptSpan> = {}
  for (const [key, span] of Object.entries(spans)) {
    const values: Record<string, AttributeValue> = {}
    for (const [name, value] of Object.entries(span.values)) {
      if (typeof value !== 'string' || [...ids, ...versions].includes(name)) values[name] = value
      else if (numbers.includes(name)) values[name] = keptNumber(value, settings) ?? ''
      else {
        // Our own names give no context: a `text` is nothing to send to a phone.
        const label = name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : ''
        values[name] = yield* redact(value, label, {})
      }
    }
    redactedSpans[key] = { ...span, values }
  }
  return redactedSpans
}

/** A kept span with its key. */
export interface KeyedSpan extends KeptSpan {
  key: string
}

/** The spans sorted by time, without what users have set. */
export function inOrder(spans: KeptSpans): KeyedSpan[] {
  return Object.entries(spans)
    .filter(([, { name }]) => name !== 'user')
    .map(([key, span]) => ({ ...span, key }))
    .sort((a, b) => a.startMs - b.startMs || a.endMs - b.endMs || (a.key < b.key ? -1 : 1))
}

/** The spans of each parent, in the same order. */
export function byParent(spans: readonly KeyedSpan[]): Map<string, KeyedSpan[]> {
  const children = new Map<string, KeyedSpan[]>()
  for (const span of spans) {
    const siblings = children.get(span.parent)
    if (siblings) siblings.push(span)
    else children.set(span.parent, [span])
  }
  return children
}

export function textOf(span: KeptSpan | undefined, name: string): string | undefined {
  const value = span?.values[name]
  return typeof value === 'string' ? value || undefined : undefined
}

export function numberOf(span: KeptSpan | undefined, name: string): number | undefined {
  const value = span?.values[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
