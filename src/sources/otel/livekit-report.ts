import type { Work } from '../../threads/time-slices.ts'
import { jsonOf } from '../../validation.ts'
import { FieldFault, instantMax, isObject } from '../fields.ts'
import type { AttributeValue, Span } from './kept-span.ts'
import { RequestDecoder } from './protobuf.ts'
import { callIdOf } from './session-update.ts'

// What LiveKit's SDK sends at the end of a session beside its spans: livekit-agents/livekit/agents/telemetry/traces.py
// and voice/report.py in github.com/livekit/agents. Each part becomes a span of the session, so that the parts and the
// spans may arrive in any order.

/** The scopes of a report's logs. Those of other scopes are the agent's own, and are not read. */
const reportScopes: readonly unknown[] = ['chat_history', 'evaluations']
/** The items of a history that are kept: no instructions. */
const itemTypes: readonly unknown[] = ['message', 'function_call', 'function_call_output', 'agent_handoff']
export const usageTypes: readonly string[] = ['llm_usage', 'tts_usage', 'stt_usage']
const jobIdCharsMax = 128
const levelsMax = 10

type Members = Readonly<Record<string, unknown>>

/** What the upload of a recording says of its session. */
export interface RecordingHeader {
  jobId: string
  callId: string
  /** Whether the receiver is to redact, which sound cannot be. */
  isRedacted: boolean
  /** The report, without the history. */
  spans: Span[]
}

/** The parts of a report in a protobuf request for logs. @throws FieldFault if it is malformed */
export function* spansOfLogs(bytes: Uint8Array): Work<Span[]> {
  const spans: Span[] = []
  const decoder = new RequestDecoder()
  const { resourceLogs } = yield* decoder.logs(bytes)
  for (const ofResource of membersIn(resourceLogs)) {
    for (const { scope, logRecords } of membersIn(ofResource.scopeLogs)) {
      yield
      if (!reportScopes.includes(isObject(scope) && scope.name)) continue
      for (const record of listOf(logRecords)) {
        yield
        if (record instanceof Uint8Array) spans.push(...spansOfLog(decoder.log(record)))
      }
    }
  }
  return spans
}

/** @throws FieldFault if it is malformed, or names no job */
export function readHeader(bytes: Uint8Array): RecordingHeader {
  const { jobId, roomId, isRedacted, summary } = new RequestDecoder().recordingHeader(bytes)
  if (!isJobId(jobId)) throw new FieldFault('header.job_id', 'is required')
  const report = parse('header.session_summary', typeof summary === 'string' ? summary : '{}')
  const endMs = millisOf(report.timestamp)
  const spans: Span[] =
    endMs === undefined ? [] : spansOfSummary(jobId, { ...report, room_id: roomId }, endMs)
  return { jobId, callId: callIdOf(jobId), isRedacted: isRedacted === true, spans }
}

/** The items of `chat_history`. @throws FieldFault if it is malformed */
export function spansOfHistory(jobId: string, bytes: Uint8Array): Span[] {
  const { items } = parse('chat_history', Buffer.from(bytes).toString())
  return membersIn(items).flatMap((item) => itemSpan(jobId, item))
}

/** A span of the job that it names, instead of its trace; nothing of spans that name none. */
export function spansOfJob(span: Span): Span[] {
  const jobId = span.attributes.get('job_id')
  if (!isJobId(jobId)) return []
  const [attributes, userAttributes] = [new Map(span.attributes), new Map(span.userAttributes)]
  // The upload of the recording knows no other id of the call than its job's.
  for (const each of [attributes, userAttributes]) each.delete('callbook.call.id')
  return [{ ...span, traceId: jobId, attributes, userAttributes }]
}

function spansOfLog(log: Members): Span[] {
  const attributes = mapOf(log.attributes)
  const { job_id: jobId, usage } = attributes
  const atMs = Number(log.timeUnixNano) / 1_000_000
  if (!isJobId(jobId) || !isTime(atMs)) return []
  const of = (name: string): Members => (isObject(attributes[name]) ? attributes[name] : {})
  switch (isObject(log.body) && log.body.stringValue) {
    case 'session report': {
      const endMs = millisOf(attributes['session.report_timestamp']) ?? atMs
      return [
        spanOf(jobId, 'session_report', 'report', [atMs, endMs], attributes),
        ...usageSpans(jobId, endMs, usage),
        ...tagSpans(jobId, endMs, attributes['session.tags']),
      ]
    }
    case 'chat item': {
      const [[type, item] = ['', {}]] = Object.entries(of('chat.item'))
      return isObject(item) ? itemSpan(jobId, { ...item, type }) : []
    }
    case 'evaluation':
      return [
        spanOf(jobId, 'evaluation', `evaluation ${of('evaluation').name}`, [atMs, atMs], of('evaluation')),
      ]
    case 'tag':
      return tagSpans(jobId, atMs, [of('tag').name])
    case 'outcome':
      return [spanOf(jobId, 'outcome', 'outcome', [atMs, atMs], of('outcome'))]
    default:
      return []
  }
}

/** Not under the key of the report that comes as a log, which has other times. */
function spansOfSummary(jobId: string, report: Members, endMs: number): Span[] {
  const { duration_ms: durationMs, close_reason, room_id, agent_name, usage, tags } = report
  const startMs = endMs - (typeof durationMs === 'number' && durationMs > 0 ? durationMs : 0)
  const values = { job_id: jobId, room_id, agent_name, reason: reasonOf(close_reason) }
  return [
    spanOf(jobId, 'session_report', 'summary', [startMs, endMs], values),
    ...usageSpans(jobId, endMs, usage),
    ...tagSpans(jobId, endMs, tags),
  ]
}

/** The reason in the words of the spans: `CR_USER_INITIATED` is `user_initiated`. */
function reasonOf(reason: unknown): string | undefined {
  if (typeof reason !== 'string' || reason === 'CR_UNKNOWN') return undefined
  return reason === 'CR_COMPLETED' ? 'task_completed' : reason.replace(/^CR_/, '').toLowerCase()
}

function usageSpans(jobId: string, atMs: number, usage: unknown): Span[] {
  return membersIn(usage)
    .filter(({ type }) => usageTypes.includes(String(type)))
    .map(({ type, ...values }) =>
      spanOf(jobId, `${type}`, `${type} ${values.provider} ${values.model}`, [atMs, atMs], values),
    )
}

function tagSpans(jobId: string, atMs: number, tags: unknown): Span[] {
  const names = listOf(tags).filter((name) => typeof name === 'string')
  return names.map((name) => spanOf(jobId, 'tag', `tag ${name}`, [atMs, atMs], { name }))
}

/** An item of the history, from a log or from `chat_history`. */
function itemSpan(jobId: string, item: Members): Span[] {
  const { id, type, content, created_at, metrics } = item
  const role = typeof item.role === 'string' ? item.role.toLowerCase() : ''
  if (!itemTypes.includes(type) || ['system', 'developer'].includes(role)) return []
  const metricMembers: Members = isObject(metrics) ? metrics : {}
  const atMs = millisOf(metricMembers.started_speaking_at) ?? millisOf(created_at)
  if (typeof id !== 'string' || atMs === undefined) return []
  const texts = listOf(content).map((part) => (isObject(part) ? part.text : part))
  const text = texts.filter((part) => typeof part === 'string').join('\n')
  const values = { ...metricMembers, ...item, text, role }
  return [spanOf(jobId, 'chat_item', `chat ${id}`, [atMs, atMs], values)]
}

function spanOf(
  jobId: string,
  name: string,
  spanId: string,
  [startMs, endMs]: [number, number],
  values: Members,
): Span {
  const attributes = Object.entries(values).filter((entry): entry is [string, AttributeValue] =>
    ['string', 'number', 'boolean'].includes(typeof entry[1]),
  )
  return {
    traceId: jobId,
    spanId: spanId.slice(0, 256),
    parentSpanId: '',
    scope: 'livekit-agents',
    service: undefined,
    userAttributes: new Map(),
    name,
    startMs,
    endMs,
    attributes: new Map(attributes),
    events: [],
  }
}

/** A time as seconds since 1970 or, in logs, as ISO 8601; in milliseconds. */
function millisOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : Number(time ?? Number.NaN) * 1_000
  return isTime(ms) ? ms : undefined
}

function isTime(ms: number): boolean {
  return ms > 0 && ms <= instantMax
}

function isJobId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= jobIdCharsMax
}

/** The attributes in the form of OTLP/JSON as an object. @param levels of lists and maps; deeper values are left out */
function mapOf(attributes: unknown, levels = levelsMax): Record<string, unknown> {
  return Object.fromEntries(membersIn(attributes).map(({ key, value }) => [key, plain(value, levels)]))
}

function plain(value: unknown, levels: number): unknown {
  if (!isObject(value) || levels === 0) return undefined
  const { arrayValue, kvlistValue } = value
  if (isObject(kvlistValue)) return mapOf(kvlistValue.values, levels - 1)
  if (isObject(arrayValue)) return listOf(arrayValue.values).map((each) => plain(each, levels - 1))
  return Object.values(value)[0]
}

/** @throws FieldFault unless it is a JSON object */
function parse(field: string, json: string): Members {
  const value = jsonOf(json)
  if (isObject(value)) return value
  throw new FieldFault(field, 'must be a JSON object')
}

function membersIn(list: unknown): Members[] {
  return listOf(list).filter(isObject)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
