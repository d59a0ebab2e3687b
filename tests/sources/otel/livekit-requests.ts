import { createHmac } from 'node:crypto'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { livekitHistory, livekitSession, requestOf } from './spans.ts'

// What an agent of LiveKit sends to LIVEKIT_OBSERVABILITY_URL, made by hand.

export const jobId = 'AJ_1'
export const apiKey = 'APItest'
export const apiSecret = 'a-secret-of-livekit'
export const startSeconds = 1_700_000_000

/** A JWT as LiveKit's SDK signs it. */
export function tokenOf(claims: object = {}, { secret = apiSecret, alg = 'HS256' } = {}): string {
  const seconds = Math.floor(Date.now() / 1_000)
  const all = { iss: apiKey, nbf: seconds, exp: seconds + 21_600, observability: { write: true }, ...claims }
  const signed = [{ alg, typ: 'JWT' }, all].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = createHmac('sha256', secret).update(signed.join('.')).digest('base64url')
  return [...signed, signature].join('.')
}

/** A request to the receiver. */
export interface Sent {
  way: string
  type: string
  body: Uint8Array<ArrayBuffer>
}

/** The numbers and kinds of the members of a message. */
type Shape = { [name: string]: [number, 'text' | 'id' | 'time' | 'double' | 'bool' | 'int' | Shape] }

const anyValue: Shape = {
  stringValue: [1, 'text'],
  boolValue: [2, 'bool'],
  intValue: [3, 'int'],
  doubleValue: [4, 'double'],
}
const keyValue: Shape = { key: [1, 'text'], value: [2, anyValue] }
anyValue.arrayValue = [5, { values: [1, anyValue] }]
anyValue.kvlistValue = [6, { values: [1, keyValue] }]
const span: Shape = {
  traceId: [1, 'id'],
  spanId: [2, 'id'],
  parentSpanId: [4, 'id'],
  name: [5, 'text'],
  startTimeUnixNano: [7, 'time'],
  endTimeUnixNano: [8, 'time'],
  attributes: [9, keyValue],
  events: [11, { name: [2, 'text'], attributes: [3, keyValue] }],
}
const record: Shape = { timeUnixNano: [1, 'time'], body: [5, anyValue], attributes: [6, keyValue] }
const scope: Shape = { name: [1, 'text'] }
const traces: Shape = {
  resourceSpans: [
    1,
    {
      resource: [1, { attributes: [1, keyValue] }],
      scopeSpans: [2, { scope: [1, scope], spans: [2, span] }],
    },
  ],
}
const logs: Shape = { resourceLogs: [1, { scopeLogs: [2, { scope: [1, scope], logRecords: [2, record] }] }] }
const header: Shape = {
  room_id: [1, 'text'],
  job_id: [8, 'text'],
  redaction_enabled: [10, 'bool'],
  session_summary: [11, 'text'],
}

/** OTLP/JSON in protobuf. */
function encode(value: object, shape: Shape): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter()
  for (const [name, member] of Object.entries(value)) {
    const [number, kind] = shape[name] ?? []
    if (number === undefined || kind === undefined) continue
    for (const each of Array.isArray(member) ? member : [member]) {
      if (typeof kind === 'object') writer.tag(number, WireType.LengthDelimited).bytes(encode(each, kind))
      else if (kind === 'text') writer.tag(number, WireType.LengthDelimited).string(each)
      else if (kind === 'id') writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(each, 'hex'))
      else if (kind === 'time') writer.tag(number, WireType.Bit64).fixed64(each)
      else if (kind === 'double') writer.tag(number, WireType.Bit64).double(each)
      else if (kind === 'bool') writer.tag(number, WireType.Varint).bool(each)
      else writer.tag(number, WireType.Varint).int64(each)
    }
  }
  return writer.finish()
}

/** The spans of the session of spans.ts, each as a request. */
export function spansOfSession(ofJob = jobId): Sent[] {
  return livekitSession.map((each) => {
    const attributes = { ...each.attributes, job_id: ofJob }
    const request = requestOf([{ ...each, attributes }], '5b8efff798038103d269b633813fc60c')
    return { way: 'traces/otlp', type: 'application/x-protobuf', body: encode(request, traces) }
  })
}

function wireOf(value: unknown): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(wireOf) } }
  if (typeof value === 'object' && value !== null) return { kvlistValue: { values: wireMapOf(value) } }
  if (typeof value === 'number') return { doubleValue: value }
  return typeof value === 'boolean' ? { boolValue: value } : { stringValue: String(value) }
}

function wireMapOf(values: object) {
  return Object.entries(values).map(([key, value]) => ({ key, value: wireOf(value) }))
}

/** A log of the session. */
export function logOf(
  scopeName: string,
  body: string,
  attributes: object,
  { atSeconds = 65, job_id = jobId }: { atSeconds?: number; job_id?: string } = {},
): Sent {
  const timeUnixNano = `${startSeconds + Math.floor(atSeconds)}${String(Math.round((atSeconds % 1) * 1e9)).padStart(9, '0')}`
  const all = wireMapOf({ ...attributes, room_id: 'RM_1', job_id })
  const logRecords = [{ timeUnixNano, body: { stringValue: body }, attributes: all }]
  const request = { resourceLogs: [{ scopeLogs: [{ scope: { name: scopeName }, logRecords }] }] }
  return { way: 'logs/otlp', type: 'application/x-protobuf', body: encode(request, logs) }
}

const tags = ['lk.success', 'lk.judge.accuracy:pass', 'language:en', 'appointment:booked']
const usage = [
  {
    type: 'llm_usage',
    provider: 'fake',
    model: 'fake-1',
    input_tokens: 40,
    output_tokens: 12,
    input_cached_tokens: 8,
    input_cache_creation_tokens: 2,
    input_audio_tokens: 4,
    output_audio_tokens: 3,
  },
  { type: 'tts_usage', provider: 'fake', model: 'voice-1', characters_count: 46, audio_duration: 4.25 },
  { type: 'stt_usage', provider: 'fake', model: 'ears-1', audio_duration: 58 },
  { type: 'eot_usage', provider: 'fake', model: 'turns-1', total_requests: 3 },
]
/** When each item of the history began, in seconds of the session. */
const starts = [0.5, 3, 4.25, 5.5, 8, 8.5]

interface Item {
  id: string
  type: string
  created_at: number
  role?: string
  content?: string[]
  [name: string]: unknown
}

const items: Item[] = [
  { id: 'item_a', type: 'agent_handoff', new_agent_id: 'ada', created_at: startSeconds },
  { id: 'item_b', type: 'agent_config_update', instructions: 'never-store-this', created_at: startSeconds },
  { id: 'item_c', type: 'message', role: 'system', content: ['never-store-this'], created_at: startSeconds },
  ...livekitHistory.map(([role, text], at) => ({
    id: `item_${at}`,
    type: 'message',
    role,
    content: [text],
    interrupted: at === 5,
    created_at: startSeconds + (starts[at] ?? 0),
    ...(at === 3 && { metrics: { e2e_latency: 0.875, llm_node_ttft: 0.25 } }),
  })),
]

/** The report of the session in logs, as LiveKit's SDK sends it after the session's end. */
export function logsOfSession(): Sent[] {
  const report = {
    'session.options': { max_tool_steps: 3, endpointing: { min_delay: 0.5, mode: null } },
    'session.report_timestamp': startSeconds + 65,
    'session.tags': tags,
    agent_name: '',
    usage,
  }
  const chat = items.map(({ type, ...item }) => {
    const { created_at, ...rest } = item
    const parts = rest.content ? { content: rest.content.map((text) => ({ text })) } : {}
    const role = rest.role ? { role: rest.role.toUpperCase() } : {}
    const map = { ...rest, ...parts, ...role, created_at: new Date(created_at * 1_000).toISOString() }
    return logOf(
      'chat_history',
      'chat item',
      { 'chat.item': { [type]: map } },
      { atSeconds: created_at - startSeconds },
    )
  })
  const evaluation = {
    name: 'accuracy',
    verdict: 'pass',
    reasoning: 'All is right.',
    instructions: 'never-store-this',
  }
  const tag = { name: 'appointment:booked', metadata: { slot: 'never-store-this' } }
  return [
    logOf('chat_history', 'session report', report, { atSeconds: 0 }),
    ...chat,
    logOf('evaluations', 'evaluation', { evaluation }),
    logOf('evaluations', 'tag', { tag }, { atSeconds: 60 }),
    logOf('evaluations', 'outcome', { outcome: { outcome: 'success', reason: 'She knows the hours.' } }),
  ]
}

interface Upload {
  redaction?: boolean
  audio?: Uint8Array
  history?: string
  header?: object
}

/** The upload of the session's history and recording. */
export function uploadOf({ redaction = false, audio, history, header: given = {} }: Upload = {}): Sent {
  const session_summary = JSON.stringify({
    timestamp: startSeconds + 65,
    duration_ms: 65_000,
    close_reason: 'CR_PARTICIPANT_DISCONNECTED',
    agent_name: '',
    tags,
    usage,
    audio_recording_path: '/never-store-this',
  })
  const head = { room_id: 'RM_1', job_id: jobId, redaction_enabled: redaction, session_summary, ...given }
  return formOf([
    ['header', 'application/protobuf', encode(head, header)],
    ['chat_history', 'application/json', Buffer.from(history ?? JSON.stringify({ items }))],
    ...(audio ? ([['audio', 'audio/ogg', audio]] as const) : []),
  ])
}

export function formOf(parts: readonly (readonly [name: string, type: string, bytes: Uint8Array])[]): Sent {
  const boundary = '242d832398c7486380b2fcb2369b5ff3'
  const chunks = parts.flatMap(([name, type, bytes]) => [
    Buffer.from(
      `--${boundary}\r\nContent-Type: ${type}\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.bin"\r\n` +
        `Content-Length: ${bytes.byteLength}\r\n\r\n`,
    ),
    bytes,
    Buffer.from('\r\n'),
  ])
  const body = new Uint8Array(Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]))
  return { way: 'recordings', type: `multipart/form-data; boundary=${boundary}`, body }
}
