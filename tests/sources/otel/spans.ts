import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { RequestDecoder } from '../../../src/sources/otel/protobuf.ts'
import { finished } from '../../../src/threads/time-slices.ts'
import fc from '../../support/fast-check.ts'

type Value = string | number | boolean

/** A span of a test: times in seconds from the start of the session. */
export interface TestSpan {
  scope: string
  name: string
  id: string
  parent?: string
  from: number
  to: number
  attributes?: Record<string, Value>
  events?: { name: string; attributes: Record<string, Value> }[]
  service?: string
  /** Attributes of its resource. */
  resource?: Record<string, Value>
}

const startSeconds = 1_700_000_000

function wireValueOf(value: Value): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function attributesOf(attributes: Record<string, Value> = {}) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: wireValueOf(value) }))
}

function nanoseconds(seconds: number): string {
  return `${startSeconds + Math.floor(seconds)}${String(Math.round((seconds % 1) * 1e9)).padStart(9, '0')}`
}

/** Spans of one trace as a request in OTLP/JSON. */
export function requestOf(spans: readonly TestSpan[], traceId: string): object {
  return {
    resourceSpans: spans.map(({ scope, name, id, parent, from, to, attributes, events = [], ...of }) => ({
      resource: {
        attributes: attributesOf({ ...of.resource, ...(of.service ? { 'service.name': of.service } : {}) }),
      },
      scopeSpans: [
        {
          scope: { name: scope },
          spans: [
            {
              traceId,
              spanId: hex(id),
              parentSpanId: parent ? hex(parent) : '',
              name,
              kind: 1,
              startTimeUnixNano: nanoseconds(from),
              endTimeUnixNano: nanoseconds(to),
              attributes: attributesOf(attributes),
              events: events.map((event) => ({
                timeUnixNano: nanoseconds(from),
                name: event.name,
                attributes: attributesOf(event.attributes),
              })),
              status: {},
            },
          ],
        },
      ],
    })),
  }
}

/** A span's id from a name that people can read. */
function hex(id: string): string {
  return Buffer.from(id.padEnd(8, '.').slice(0, 8)).toString('hex')
}

const lk = (span: Omit<TestSpan, 'scope'>): TestSpan => ({ scope: 'livekit-agents', ...span })
const secret = 'never-store-this'

/** A session with a greeting, words before a tool, an interruption, a transfer and a typed message. */
export const livekitSession: TestSpan[] = [
  lk({ name: 'session_start', id: 'start', parent: 'session', from: 0, to: 0.1 }),
  lk({ name: 'agent_speaking', id: 'speak1', parent: 'turn1', from: 0.5, to: 2 }),
  lk({
    name: 'agent_turn',
    id: 'turn1',
    parent: 'session',
    from: 0.1,
    to: 2,
    attributes: { 'lk.pii.response.text': 'Hello, this is Ada.', 'gen_ai.agent.name': 'ada' },
  }),
  lk({
    name: 'user_turn',
    id: 'user1',
    parent: 'session',
    from: 3,
    to: 4.5,
    attributes: {
      'lk.pii.user_transcript': 'When do you open?',
      'lk.transcription_delay': 0.2,
      'lk.end_of_turn_delay': 0.5,
    },
  }),
  lk({
    name: 'llm_request',
    id: 'request1',
    parent: 'node1',
    from: 4.2,
    to: 4.5,
    attributes: {
      'gen_ai.request.model': 'fake-1',
      'gen_ai.usage.input_tokens': 40,
      'gen_ai.usage.output_tokens': 12,
      'gen_ai.system_instructions': secret,
      'gen_ai.input.messages': secret,
      'gen_ai.tool.definitions': secret,
    },
  }),
  lk({
    name: 'llm_node',
    id: 'node1',
    parent: 'turn2',
    from: 4.2,
    to: 4.5,
    attributes: {
      'lk.pii.response.text': 'Let me check.',
      'lk.pii.response.function_calls': JSON.stringify([{ call_id: 'call_1', arguments: '{}' }]),
      'lk.response.ttft': 0.3,
      'lk.pii.chat_ctx': secret,
    },
  }),
  lk({ name: 'agent_speaking', id: 'speak2', parent: 'turn2', from: 4.3, to: 5 }),
  lk({
    name: 'function_tool',
    id: 'tool1',
    parent: 'turn2',
    from: 4.6,
    to: 4.9,
    attributes: {
      'gen_ai.tool.name': 'hours',
      'gen_ai.tool.call.id': 'call_1',
      'gen_ai.tool.call.arguments': '{"day":"monday"}',
      'gen_ai.tool.call.result': '"nine"',
      'gen_ai.tool.description': secret,
    },
  }),
  lk({
    name: 'llm_node',
    id: 'node2',
    parent: 'turn2',
    from: 5,
    to: 5.2,
    attributes: { 'lk.pii.response.text': 'At nine.', 'lk.pii.response.function_calls': '[]' },
  }),
  lk({
    name: 'tts_node',
    id: 'voice1',
    parent: 'turn2',
    from: 5.1,
    to: 5.4,
    attributes: { 'lk.response.ttfb': 0.2 },
  }),
  lk({
    name: 'agent_turn',
    id: 'turn2',
    parent: 'session',
    from: 4.2,
    to: 7,
    attributes: {
      'lk.pii.user_input': 'When do you open?',
      'lk.pii.response.text': 'At nine.',
      'lk.generation_count': 2,
      'lk.e2e_latency': 0.9,
      'lk.interrupted': false,
      'gen_ai.agent.name': 'ada',
    },
  }),
  lk({
    name: 'update_agent',
    id: 'update1',
    parent: 'session',
    from: 7.5,
    to: 7.6,
    attributes: { 'lk.previous_agent_label': 'ada', 'lk.agent_label': 'billing' },
  }),
  lk({
    name: 'agent_turn',
    id: 'turn3',
    parent: 'session',
    from: 8,
    to: 9,
    attributes: {
      'lk.pii.user_input': 'And on Sunday?',
      'lk.pii.response.text': 'On Sunday we',
      'lk.e2e_latency': 0.5,
      'lk.interrupted': true,
      'gen_ai.agent.name': 'billing',
    },
  }),
  lk({
    name: 'user_turn',
    id: 'user2',
    parent: 'session',
    from: 8.8,
    to: 9.5,
    attributes: { 'lk.pii.user_transcript': '' },
  }),
  lk({ name: 'eou_wait', id: 'wait1', parent: 'user2', from: 9, to: 9.5 }),
  lk({
    name: 'session_close',
    id: 'close',
    parent: 'session',
    from: 62.5,
    to: 64.5,
    attributes: { 'lk.close_reason': 'participant_disconnected' },
  }),
  lk({
    name: 'agent_session',
    id: 'session',
    parent: 'job',
    from: 0,
    to: 64.5,
    attributes: {
      'lk.job_id': 'AJ_1',
      'lk.agent_name': '',
      'lk.sip.callID': 'SCL_1',
      'lk.sip.ruleID': 'SDR_1',
      'lk.sip.trunkPhoneNumber': '+15550100002',
      'lk.pii.sip.phoneNumber': '+15550100001',
      'lk.sip.h.x-secret': secret,
    },
    events: [
      {
        name: 'participant_linked',
        attributes: { 'lk.participant_kind': 'PARTICIPANT_KIND_SIP', 'lk.pii.participant_identity': secret },
      },
    ],
  }),
]

/** What the framework itself has as the history of that session. */
export const livekitHistory = [
  ['assistant', 'Hello, this is Ada.'],
  ['user', 'When do you open?'],
  ['assistant', 'Let me check.'],
  ['assistant', 'At nine.'],
  ['user', 'And on Sunday?'],
  ['assistant', 'On Sunday we'],
] as const

const pc = (span: Omit<TestSpan, 'scope'> & { scope?: string }): TestSpan => ({
  scope: 'pipecat',
  service: 'front-desk',
  ...span,
  attributes: { ...span.attributes, 'settings.api_key': secret, 'gen_ai.system_instructions': secret },
})
const hours = { id: 'call_1', type: 'function', function: { name: 'hours', arguments: '{"day":"monday"}' } }
const asked = { role: 'assistant', tool_calls: [hours] }
const before = [
  { role: 'system', content: secret },
  { role: 'user', content: 'When do you open?' },
]

/** A session with a greeting, segments of one message, a tool, and the last sentence of a voice only. */
export const pipecatSession: TestSpan[] = [
  pc({
    name: 'tts',
    id: 'tts1',
    parent: 'turn1',
    from: 0.6,
    to: 0.7,
    attributes: { text: 'Hello, this is Ada.' },
  }),
  pc({
    name: 'turn',
    id: 'turn1',
    parent: 'conv',
    from: 0,
    to: 4,
    scope: 'pipecat.turn',
    attributes: { 'turn.number': 1, 'conversation.id': 'CA=1', 'turn.was_interrupted': false },
  }),
  pc({
    name: 'stt',
    id: 'stt1',
    parent: 'turn2',
    from: 3.9,
    to: 4.3,
    // As most services that transcribe have it.
    attributes: { transcript: 'When do', is_final: false },
  }),
  pc({
    name: 'stt',
    id: 'stt2',
    parent: 'turn2',
    from: 4.4,
    to: 4.7,
    attributes: { transcript: 'you open?', is_final: true },
  }),
  pc({
    name: 'llm',
    id: 'llm1',
    parent: 'turn2',
    from: 5,
    to: 5.1,
    attributes: { input: JSON.stringify(before), output: 'Let me check. ', 'gen_ai.usage.input_tokens': 11 },
  }),
  pc({ name: 'tts', id: 'tts2', parent: 'turn2', from: 5.1, to: 5.2, attributes: { text: 'Let me check.' } }),
  pc({
    name: 'llm',
    id: 'llm2',
    parent: 'turn2',
    from: 6,
    to: 6.1,
    attributes: {
      input: JSON.stringify([
        ...before,
        asked,
        { role: 'tool', tool_call_id: 'call_1', content: '{"opens":"09:00"}' },
      ]),
      output: 'We open on Monday. That is at nine.',
      'metrics.ttfb': 0.1,
      'gen_ai.usage.input_tokens': 20,
    },
  }),
  pc({
    name: 'tts',
    id: 'tts3',
    parent: 'turn2',
    from: 6.1,
    to: 6.3,
    attributes: { text: 'That is at nine.' },
  }),
  pc({
    name: 'turn',
    id: 'turn2',
    parent: 'conv',
    from: 4,
    to: 9,
    scope: 'pipecat.turn',
    attributes: {
      'conversation.id': 'CA=1',
      'turn.user_bot_latency_seconds': 0.6,
      'turn.was_interrupted': true,
    },
  }),
  pc({
    name: 'conversation',
    id: 'conv',
    from: 0,
    to: 9.5,
    scope: 'pipecat.turn',
    attributes: {
      'conversation.id': 'CA=1',
      'callbook.caller_number': '+15550100001',
      'callbook.direction': 'inbound',
    },
  }),
]

export const pipecatHistory = [
  ['assistant', 'Hello, this is Ada.'],
  ['user', 'When do you open?'],
  ['assistant', 'Let me check.'],
  ['assistant', 'We open on Monday. That is at nine.'],
] as const

const folder = resolve(import.meta.dir, '../../../../shared/data/otel')

/** The spans of a real session, as one request for each; null where the file is not there. */
export function capturedRequests(name: string): object[] | null {
  const file = `${folder}/${name}.jsonl`
  if (!existsSync(file)) return null
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines
    .filter((line) => !line.includes('"path":'))
    .map((line) => {
      const span = JSON.parse(line, (_, value, context?: { source: string }) =>
        // Nanoseconds need more digits than a double has.
        typeof value === 'number' && value > Number.MAX_SAFE_INTEGER ? (context?.source ?? value) : value,
      )
      const scalars = Object.entries(span.attrs as Record<string, unknown>).filter(
        (entry): entry is [string, Value] => typeof entry[1] !== 'object',
      )
      return {
        resourceSpans: [
          {
            resource: { attributes: attributesOf({ 'service.name': span.resource['service.name'] }) },
            scopeSpans: [
              {
                scope: { name: span.scope.split('@')[0] },
                spans: [
                  {
                    traceId: span.trace,
                    spanId: span.span,
                    parentSpanId: span.parent,
                    name: span.name,
                    startTimeUnixNano: span.start,
                    endTimeUnixNano: span.end,
                    attributes: attributesOf(Object.fromEntries(scalars)),
                    events: span.events.map(
                      ([name, , attributes]: [string, number, Record<string, Value>]) => ({
                        name,
                        attributes: attributesOf(attributes),
                      }),
                    ),
                  },
                ],
              },
            ],
          },
        ],
      }
    })
}

/** One protobuf body as it was sent; null where the file is not there. */
export function capturedBody(): Uint8Array<ArrayBuffer> | null {
  const file = `${folder}/one-export.protobuf`
  return existsSync(file) ? new Uint8Array(readFileSync(file)) : null
}

/** A request in protobuf as one in JSON for each of its spans. */
export function split(bytes: Uint8Array): object[] {
  const decoder = new RequestDecoder()
  const request = finished(decoder.traces(bytes))
  const { resourceSpans = [] } = request as { resourceSpans?: { scopeSpans: { spans: Uint8Array[] }[] }[] }
  return resourceSpans.flatMap((ofResource) =>
    ofResource.scopeSpans.flatMap((ofScope) =>
      ofScope.spans.map((span) => ({
        resourceSpans: [{ ...ofResource, scopeSpans: [{ ...ofScope, spans: [decoder.span(span)] }] }],
      })),
    ),
  )
}

/** Requests of the same spans, cut anywhere, in any order, some of them again. */
export function splitAndShuffled(requests: readonly object[]) {
  return fc
    .tuple(
      fc.shuffledSubarray([...requests], { minLength: requests.length }),
      fc.subarray([...requests]),
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }),
    )
    .map(([order, repeated, sizes]) => {
      const all = [...order, ...repeated]
      const batches: object[] = []
      for (let at = 0, batch = 0; at < all.length; batch++) {
        const size = sizes[batch % sizes.length] ?? 1
        batches.push(joined(all.slice(at, at + size)))
        at += size
      }
      return batches
    })
}

/** Requests as one. */
export function joined(requests: readonly object[]): object {
  return {
    resourceSpans: requests.flatMap((request) => (request as { resourceSpans: object[] }).resourceSpans),
  }
}
