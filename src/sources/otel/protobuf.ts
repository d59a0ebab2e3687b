import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { limits } from '../../limits.ts'
import { finished, type Work } from '../../threads/time-slices.ts'
import { FieldFault } from '../fields.ts'

// https://opentelemetry.io/docs/specs/otlp and github.com/open-telemetry/opentelemetry-proto

/** Fields of a request, and of one of its spans or records. Each takes time, also if it is skipped or overwritten. */
const fieldsMax = limits.telemetryFields.most
const spanFieldsMax = limits.spanFields.most
/** How many fields a span or a record counts beside its own, since an empty one takes as long as that. */
const fieldsOfEmpty = 10
/** After how many fields other requests may get a turn. */
const fieldsAtOnce = 1_000

/** A field of a protobuf message: its name in OTLP/JSON, and how to read it or the message that it is. */
type Member = { name: string; type: WireType; isList?: boolean } & (
  | { read(reader: BinaryReader): unknown }
  | { message(): Message }
)

/** How many fields may still be decoded. */
interface Budget {
  fields: number
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
const one = (name: string, message: Message): Member => nested(name, () => message)
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

/** A message that may hold itself. */
function nested(name: string, message: () => Message): Member {
  return { name, type: WireType.LengthDelimited, message }
}

/** Decodes a request into the form of OTLP/JSON. The fields of all its spans or records count together. */
export class RequestDecoder {
  readonly #budget: Budget = { fields: fieldsMax }

  /** Decodes a request for traces; each span is still bytes. @throws FieldFault */
  traces(bytes: Uint8Array): Work<Record<string, unknown>> {
    return decodeOrFault(bytes, exportRequest, this.#budget)
  }

  /** Decodes a request for logs; each record is still bytes. @throws FieldFault */
  logs(bytes: Uint8Array): Work<Record<string, unknown>> {
    return decodeOrFault(bytes, logsRequest, this.#budget, 'an ExportLogsServiceRequest')
  }

  /** @throws FieldFault */
  span(bytes: Uint8Array): Record<string, unknown> {
    return this.#part(bytes, spanMessage)
  }

  /** @throws FieldFault */
  log(bytes: Uint8Array): Record<string, unknown> {
    return this.#part(bytes, logMessage, 'an ExportLogsServiceRequest')
  }

  /** Decodes the header of a recording of LiveKit's. @throws FieldFault */
  recordingHeader(bytes: Uint8Array): Record<string, unknown> {
    return this.#part(bytes, recordingHeader, 'a MetricsRecordingHeader')
  }

  #part(bytes: Uint8Array, message: Message, expected?: string): Record<string, unknown> {
    spend(this.#budget, fieldsOfEmpty)
    const fields = Math.min(this.#budget.fields, spanFieldsMax)
    const budget = { fields }
    const value = finished(decodeOrFault(bytes, message, budget, expected))
    this.#budget.fields -= fields - budget.fields
    return value
  }
}

function* decodeOrFault(
  bytes: Uint8Array,
  message: Message,
  budget: Budget,
  expected = 'an ExportTraceServiceRequest',
): Work<Record<string, unknown>> {
  try {
    return yield* decode(new BinaryReader(bytes), bytes.byteLength, message, budget)
  } catch (error) {
    if (error instanceof FieldFault) throw error
    // The decoder's message only names a byte position, which does not help the reader.
    throw new FieldFault('body', `must be ${expected} in protobuf`)
  }
}

function* decode(
  reader: BinaryReader,
  end: number,
  message: Message,
  budget: Budget,
): Work<Record<string, unknown>> {
  const value: Record<string, unknown> = {}
  while (reader.pos < end) {
    spend(budget, 1)
    if (budget.fields % fieldsAtOnce === 0) yield
    const [number, type] = reader.tag()
    const member = message[number]
    if (member?.type !== type) {
      // OTLP has no groups, whose fields would not count.
      if (type === WireType.StartGroup) throw new Error('a group')
      reader.skip(type, number)
      continue
    }
    const read =
      'read' in member
        ? member.read(reader)
        : yield* decode(reader, reader.uint32() + reader.pos, member.message(), budget)
    if (!member.isList) value[member.name] = read
    else if (Array.isArray(value[member.name])) (value[member.name] as unknown[]).push(read)
    else value[member.name] = [read]
  }
  if (reader.pos !== end) throw new Error('a message ends after the one that holds it')
  return value
}

/** @throws FieldFault */
function spend(budget: Budget, fields: number): void {
  budget.fields -= fields
  if (budget.fields >= 0) return
  const message = `must have at most ${fieldsMax} fields, and ${spanFieldsMax} in a span or a record`
  throw new FieldFault('body', message)
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
