import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { FieldFault } from '../fields.ts'

// https://opentelemetry.io/docs/specs/otlp and github.com/open-telemetry/opentelemetry-proto

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
