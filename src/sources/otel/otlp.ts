import { setImmediate } from 'node:timers/promises'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { FieldFault, Fields, instantMax, isObject } from '../fields.ts'
import { type AttributeValue, isUserAttribute, type Span } from './kept-span.ts'

// https://opentelemetry.io/docs/specs/otlp and github.com/open-telemetry/opentelemetry-proto

/** Spans that are read before other requests get a turn. */
const spansPerSliceMax = 500
/** Before the names of attributes that users set on spans of their own. */
const ownPrefix = 'callbook.'
/** Entries of all lists of a request or a span. Bounded because an entry of two bytes takes some hundred when decoded. */
const entriesMax = 200_000

/** A field of a protobuf message: its name in OTLP/JSON, and how to read it. */
interface Member {
  name: string
  type: WireType
  isList?: boolean
  read(reader: BinaryReader, budget: Budget): unknown
}

/** How many list entries may still be decoded. */
interface Budget {
  entries: number
}

/** The fields of a message by number. Others are skipped. */
type Message = Readonly<Record<number, Member>>

const { LengthDelimited, Bit64, Varint } = WireType
const text = (name: string): Member => ({ name, type: LengthDelimited, read: (reader) => reader.string() })
const id = (name: string): Member => ({
  name,
  type: LengthDelimited,
  read: (reader) => Buffer.from(reader.bytes()).toString('hex'),
})
const time = (name: string): Member => ({ name, type: Bit64, read: (reader) => Number(reader.fixed64()) })
const one = (name: string, message: Message): Member => ({
  name,
  type: LengthDelimited,
  read: (reader, budget) => decode(reader.bytes(), message, budget),
})
const list = (name: string, message: Message): Member => ({ ...one(name, message), isList: true })

const keyValue: Message = {
  1: text('key'),
  2: one('value', {
    1: text('stringValue'),
    2: { name: 'boolValue', type: Varint, read: (reader) => reader.bool() },
    3: { name: 'intValue', type: Varint, read: (reader) => Number(reader.int64()) },
    4: { name: 'doubleValue', type: Bit64, read: (reader) => reader.double() },
  }),
}
const spanMessage: Message = {
  1: id('traceId'),
  2: id('spanId'),
  4: id('parentSpanId'),
  5: text('name'),
  7: time('startTimeUnixNano'),
  8: time('endTimeUnixNano'),
  9: list('attributes', keyValue),
  11: list('events', { 2: text('name'), 3: list('attributes', keyValue) }),
}
const exportRequest: Message = {
  1: list('resourceSpans', {
    1: one('resource', { 1: list('attributes', keyValue) }),
    2: list('scopeSpans', {
      1: one('scope', { 1: text('name') }),
      // Each span is decoded later, so that other requests get a turn in between.
      2: { name: 'spans', type: LengthDelimited, isList: true, read: (reader) => reader.bytes() },
    }),
  }),
}

/** Decodes a protobuf request into the form of OTLP/JSON; each span is still bytes. @throws FieldFault */
export function decodeRequest(bytes: Uint8Array): unknown {
  return decodeOrFault(bytes, exportRequest)
}

/** Decodes a protobuf span into the form of OTLP/JSON. @throws FieldFault */
export function decodeSpan(bytes: Uint8Array): Record<string, unknown> {
  return decodeOrFault(bytes, spanMessage)
}

function decodeOrFault(bytes: Uint8Array, message: Message): Record<string, unknown> {
  try {
    return decode(bytes, message, { entries: entriesMax })
  } catch (error) {
    if (error instanceof FieldFault) throw error
    // The decoder's message only names a byte position, which does not help the reader.
    throw new FieldFault('body', 'must be an ExportTraceServiceRequest in protobuf')
  }
}

function decode(bytes: Uint8Array, message: Message, budget: Budget): Record<string, unknown> {
  const reader = new BinaryReader(bytes)
  const value: Record<string, unknown> = {}
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    const member = message[number]
    if (member?.type !== type) {
      reader.skip(type, number)
      continue
    }
    if (member.isList && --budget.entries < 0)
      throw new FieldFault('body', `must have at most ${entriesMax} entries in its lists`)
    const read = member.read(reader, budget)
    if (!member.isList) value[member.name] = read
    else if (Array.isArray(value[member.name])) (value[member.name] as unknown[]).push(read)
    else value[member.name] = [read]
  }
  return value
}

/** An ExportTraceServiceResponse; empty if no span was refused. */
export function encodeResponse({ rejectedSpans, errorMessage }: PartialSuccess): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter()
  if (rejectedSpans === 0) return writer.finish()
  writer.tag(1, LengthDelimited).fork()
  writer.tag(1, Varint).int64(rejectedSpans).tag(2, LengthDelimited).string(errorMessage)
  return writer.join().finish()
}

/** A google.rpc.Status. */
export function encodeStatus(message: string): Uint8Array<ArrayBuffer> {
  return new BinaryWriter().tag(2, LengthDelimited).string(message).finish()
}

/** Spans that are refused, and not worth a retry. */
export interface PartialSuccess {
  rejectedSpans: number
  /** Empty if none are refused. */
  errorMessage: string
}

/** Values that `Fields` treats as a missing object. */
function isNothing(value: unknown): boolean {
  return value === null || value === ''
}

/**
 * The spans of these scopes, and those of others with attributes of users. Other requests get a turn in between.
 * @throws FieldFault for a malformed request
 */
export async function spansOf(
  body: unknown,
  scopes: ReadonlySet<string>,
): Promise<{ spans: Span[] } & PartialSuccess> {
  const spans: Span[] = []
  const answer = { spans, rejectedSpans: 0, errorMessage: '' }
  if (isNothing(body)) throw new FieldFault('body', 'must be an object')
  const request = Fields.of(body)
  const sent = request.own('resourceSpans')
  if (Array.isArray(sent) && sent.some(isNothing))
    throw new FieldFault('resourceSpans', 'must be an array of objects')
  for (const ofResource of request.list('resourceSpans')) {
    const resource = attributesOf(ofResource.object('resource').own('attributes'))
    const service = resource.get('service.name')
    const ofFramework = {
      service: typeof service === 'string' ? service : undefined,
      userAttributes: new Map([...resource].filter(([name]) => isUserAttribute(name))),
    }
    for (const ofScope of ofResource.list('scopeSpans')) {
      const scope = ofScope.object('scope').text('name') ?? ''
      const isFramework = scopes.has(scope)
      let count = 0
      for (const sent of spansIn(ofScope)) {
        if (++count % spansPerSliceMax === 0) await setImmediate()
        if (!isFramework && !mayHaveUserAttributes(sent)) continue
        const fields = sent instanceof Uint8Array ? Fields.of(decodeSpan(sent)) : sent
        const span = toSpan(fields, scope, isFramework ? ofFramework : ofOtherScope)
        if (span) spans.push(span)
        else if (isFramework) answer.rejectedSpans++
      }
    }
  }
  if (answer.rejectedSpans > 0)
    answer.errorMessage = 'A span needs traceId, spanId, name, startTimeUnixNano and endTimeUnixNano.'
  return answer
}

const ofOtherScope = { service: undefined, userAttributes: new Map<string, AttributeValue>() }

/** The spans, in protobuf each still as bytes. */
function spansIn(ofScope: Fields): readonly (Fields | Uint8Array)[] {
  const spans = ofScope.own('spans')
  return Array.isArray(spans) && spans[0] instanceof Uint8Array ? spans : ofScope.list('spans')
}

/** Checks a span of another scope without decoding it, since there may be very many. */
function mayHaveUserAttributes(span: Fields | Uint8Array): boolean {
  if (span instanceof Uint8Array)
    return Buffer.from(span.buffer, span.byteOffset, span.byteLength).includes(ownPrefix)
  return [...attributesOf(span.own('attributes')).keys()].some(isUserAttribute)
}

/** Null if a required field is missing. */
function toSpan(fields: Fields, scope: string, of: Pick<Span, 'service' | 'userAttributes'>): Span | null {
  const [traceId, spanId] = [hexOf(fields, 'traceId', 32), hexOf(fields, 'spanId', 16)]
  const [startMs, endMs] = [msOf(fields, 'startTimeUnixNano'), msOf(fields, 'endTimeUnixNano')]
  const name = fields.text('name')
  if (!traceId || !spanId || !name || startMs === null || endMs === null) return null
  return {
    traceId,
    spanId,
    parentSpanId: hexOf(fields, 'parentSpanId', 16) ?? '',
    scope,
    ...of,
    name,
    startMs,
    endMs,
    attributes: attributesOf(fields.own('attributes')),
    events: fields.list('events').map((event) => ({
      name: event.text('name') ?? '',
      attributes: attributesOf(event.own('attributes')),
    })),
  }
}

/** An id in hex; null if it is missing, malformed or all zeros. */
function hexOf(fields: Fields, name: string, digits: number): string | null {
  const hex = fields.text(name)?.toLowerCase() ?? ''
  return hex.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(hex) ? hex : null
}

/** Nanoseconds to milliseconds. A double is exact to a quarter of a microsecond here. */
function msOf(fields: Fields, name: string): number | null {
  const ms = (fields.number(name) ?? 0) / 1_000_000
  return ms > 0 && ms <= instantMax ? ms : null
}

/** The attributes by key, without lists and maps, which no framework's spans use. */
function attributesOf(list: unknown): Map<string, AttributeValue> {
  const attributes = new Map<string, AttributeValue>()
  if (!Array.isArray(list)) return attributes
  for (const entry of list) {
    if (!isObject(entry) || typeof entry.key !== 'string' || !isObject(entry.value)) continue
    const { stringValue, boolValue, intValue, doubleValue } = entry.value
    const value = stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      attributes.set(entry.key, value)
  }
  return attributes
}
