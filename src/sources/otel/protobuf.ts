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

/** Bytes that are decoded later, so that other requests get a turn in between, or never. */
const later = (name: string): Member => ({
  name,
  type: LengthDelimited,
  isList: true,
  read: (reader) => reader.bytes(),
})

const scalars: Message = {
  1: text('stringValue'),
  2: { name: 'boolValue', type: Varint, read: (reader) => reader.bool() },
  3: { name: 'intValue', type: Varint, read: (reader) => Number(reader.int64()) },
  4: { name: 'doubleValue', type: Bit64, read: (reader) => reader.double() },
}
const keyValue: Message = { 1: text('key'), 2: one('value', scalars) }
/** A value that may be a list or a map, which those of spans never are. */
const anyValue: Message = {
  ...scalars,
  5: nested('arrayValue', () => ({ 1: list('values', anyValue) })),
  6: nested('kvlistValue', () => ({ 1: list('values', anyKeyValue) })),
}
const anyKeyValue: Message = { 1: text('key'), 2: one('value', anyValue) }
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
      2: later('spans'),
    }),
  }),
}
const logMessage: Message = {
  1: time('timeUnixNano'),
  5: one('body', { 1: text('stringValue') }),
  6: list('attributes', anyKeyValue),
}
/** livekit_metrics.proto in github.com/livekit/protocol. */
const recordingHeader: Message = {
  1: text('roomId'),
  8: text('jobId'),
  10: { name: 'isRedacted', type: Varint, read: (reader) => reader.bool() },
  11: text('summary'),
}
const logsRequest: Message = {
  1: list('resourceLogs', {
    2: list('scopeLogs', { 1: one('scope', { 1: text('name') }), 2: later('logRecords') }),
  }),
}

/** A message that holds itself. */
function nested(name: string, message: () => Message): Member {
  return {
    name,
    type: WireType.LengthDelimited,
    read: (reader, budget) => decode(reader.bytes(), message(), budget),
  }
}

/** Decodes a protobuf request into the form of OTLP/JSON; each span is still bytes. @throws FieldFault */
export function decodeRequest(bytes: Uint8Array): unknown {
  return decodeOrFault(bytes, exportRequest)
}

/** Decodes a protobuf span into the form of OTLP/JSON. @throws FieldFault */
export function decodeSpan(bytes: Uint8Array): Record<string, unknown> {
  return decodeOrFault(bytes, spanMessage)
}

/** Decodes a protobuf request for logs into the form of OTLP/JSON; each record is still bytes. @throws FieldFault */
export function decodeLogsRequest(bytes: Uint8Array): Record<string, unknown> {
  return decodeOrFault(bytes, logsRequest, 'an ExportLogsServiceRequest')
}

/** Decodes a protobuf log record into the form of OTLP/JSON. @throws FieldFault */
export function decodeLog(bytes: Uint8Array): Record<string, unknown> {
  return decodeOrFault(bytes, logMessage, 'an ExportLogsServiceRequest')
}

/** Decodes the header of a recording of LiveKit's. @throws FieldFault */
export function decodeRecordingHeader(bytes: Uint8Array): Record<string, unknown> {
  return decodeOrFault(bytes, recordingHeader, 'a MetricsRecordingHeader')
}

function decodeOrFault(
  bytes: Uint8Array,
  message: Message,
  expected = 'an ExportTraceServiceRequest',
): Record<string, unknown> {
  try {
    return decode(bytes, message, { entries: entriesMax })
  } catch (error) {
    if (error instanceof FieldFault) throw error
    // The decoder's message only names a byte position, which does not help the reader.
    throw new FieldFault('body', `must be ${expected} in protobuf`)
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

/** A google.rpc.Status. @param retrySeconds when to retry, as its google.rpc.RetryInfo */
export function encodeStatus(message: string, retrySeconds?: number): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter().tag(2, LengthDelimited).string(message)
  if (retrySeconds === undefined) return writer.finish()
  const delay = new BinaryWriter().tag(1, Varint).int64(Math.ceil(retrySeconds)).finish()
  const info = new BinaryWriter().tag(1, LengthDelimited).bytes(delay).finish()
  writer.tag(3, LengthDelimited).fork()
  writer.tag(1, LengthDelimited).string('type.googleapis.com/google.rpc.RetryInfo')
  return writer.tag(2, LengthDelimited).bytes(info).join().finish()
}

/** Spans that are refused, and not worth a retry. */
export interface PartialSuccess {
  rejectedSpans: number
  /** Empty if none are refused. */
  errorMessage: string
}
