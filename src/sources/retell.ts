import {
  agentOf,
  Conversation,
  engagementOf,
  isoTime,
  positive,
  roleOf,
  secondsBetween,
  updateOf,
  withoutUnknown,
} from './call-fields.ts'
import type { CallHistory, Platform, SourceDetails, SourceOptions, SourceUpdate } from './event.ts'
import { cursorIn, type Fields, isObject, listIn } from './fields.ts'
import { isHmac, isRecent, readDigits } from './signature.ts'

// https://docs.retellai.com/features/webhook-overview, https://docs.retellai.com/features/secure-webhook

const signatureForm = /^v=(\d+),d=([0-9a-f]+)$/i
const liveEvents = [
  'call_started',
  'transcript_updated',
  'transfer_started',
  'transfer_bridged',
  'transfer_cancelled',
]
const machines = new Set(['voicemail_reached', 'ivr_reached', 'dial_busy', 'dial_no_answer', 'dial_failed'])

export const retell: Platform = {
  isSigned({ headers, body, now }, secret) {
    const [, time, signature] = signatureForm.exec(headers.get('x-retell-signature') ?? '') ?? []
    return (
      isRecent(readDigits(time, 1), now) &&
      isHmac({ key: secret, parts: [body, time ?? ''], signatures: [signature] })
    )
  },

  read(event, options) {
    const name = event.text('event') ?? ''
    if (liveEvents.includes(name)) return readLive(name, event, options)
    if (name === 'call_ended' || name === 'call_analyzed') return readEnd(name, event, options)
    return null
  },

  attached(event) {
    const call = event.object('call')
    return [call.ownMembers('retell_llm_dynamic_variables'), call.ownMembers('metadata')]
  },

  /** Retell asks before the call starts. An empty answer changes nothing. */
  answer(event) {
    return event.plain('event') === 'call_inbound' ? { call_inbound: {} } : null
  },

  // https://docs.retellai.com/api-references/get-call
  recording: {
    api: 'https://api.retellai.com',
    recordingIn(event) {
      const url = recordingOf(event.object('call'))
      return url === undefined ? null : { url }
    },
    request: ({ id }, apiKey) => ({
      path: `/v2/get-call/${encodeURIComponent(id)}`,
      headers: { authorization: `Bearer ${apiKey}` },
    }),
    addressIn: recordingOf,
  },
}

/** The recording without personal data comes first, then the one with a channel for each side. */
function recordingOf(call: Fields): string | undefined {
  return (
    call.address('scrubbed_recording_multi_channel_url') ??
    call.address('scrubbed_recording_url') ??
    call.address('recording_multi_channel_url') ??
    call.address('recording_url')
  )
}

/**
 * The list lacks the words, so each call is asked for.
 * https://docs.retellai.com/api-references/list-calls, https://docs.retellai.com/api-references/get-call
 */
export const retellHistory: CallHistory = {
  api: 'https://api.retellai.com',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  pageSize: 100,
  atOnce: 4,
  idName: 'call_id',
  page: ({ span: { from, to }, cursor, pageSize: limit }) => ({
    path: '/v3/list-calls',
    body: {
      filter_criteria: { start_timestamp: { type: 'range', op: 'bt', value: [from, to] } },
      sort_order: 'ascending',
      limit,
      ...(cursor === null ? { include_total: true } : { pagination_key: cursor }),
    },
  }),
  read: (answer) => ({
    items: listIn(answer, 'items'),
    next: cursorIn(answer, ['has_more', 'pagination_key']),
  }),
  totalIn: (answer) => answer.number('total'),
  startedAt: (call) => call.time('start_timestamp'),
  fateOf: (call) => (endStates.has(call.text('call_status') ?? '') ? 'ended' : 'live'),
  more: (call) => ({ path: `/v2/get-call/${encodeURIComponent(call.required('call_id'))}` }),
  eventOf: (_, call) => ({ event: isObject(call.call_analysis) ? 'call_analyzed' : 'call_ended', call }),
}
const endStates = new Set(['ended', 'error', 'not_connected'])

function readLive(name: string, event: Fields, options: SourceOptions): SourceUpdate {
  const { id, change, details, startedAt } = readCommon(event.object('call'))
  if (name !== 'transcript_updated') {
    // Transfers have no time, and tell only that the call goes on.
    const occurredAt = name === 'call_started' ? change.createdAt : undefined
    return updateOf(id, { ...change, status: 'live', occurredAt }, details)
  }
  const { conversation, endSeconds } = readConversation(event, options)
  // Without a time, a late snapshot would replace the whole conversation.
  const occurredAt =
    startedAt === undefined || endSeconds === undefined ? undefined : startedAt + endSeconds * 1_000
  const transcript = isoTime(occurredAt) === undefined ? undefined : conversation.transcript
  return updateOf(id, { ...change, status: 'live', transcript, occurredAt }, details)
}

function readEnd(name: 'call_ended' | 'call_analyzed', event: Fields, options: SourceOptions): SourceUpdate {
  const call = event.object('call')
  const { id, change, details, startedAt } = readCommon(call)
  const endedAt = call.time('end_timestamp')
  const analysis = call.object('call_analysis')
  const { conversation } = readConversation(event, options)
  const endedReason = call.text('disconnection_reason')
  const target = call.text('transfer_destination')
  if (target) conversation.use('transfer', target, secondsBetween(startedAt, endedAt))
  const isMachine = analysis.boolean('in_voicemail') === true || machines.has(endedReason ?? '')
  const isWhole = name === 'call_ended' || conversation.transcript.length > 0
  const own = analysis.own('custom_analysis_data')
  const milliseconds = positive(call.number('duration_ms'))
  const costs = call.object('call_cost')
  return updateOf(
    id,
    {
      ...change,
      status: 'completed',
      duration: milliseconds === undefined ? secondsBetween(startedAt, endedAt) : milliseconds / 1_000,
      summary: analysis.text('call_summary'),
      evaluation: analysis.plain('call_successful'),
      endedReason,
      isEngaged: engagementOf(isWhole && isMachine),
      callAnalysis: isObject(own) ? own : undefined,
      transcript: conversation.transcript,
      // An analysis without a transcript has no time, or the end could count as late and lose to a live snapshot.
      occurredAt:
        isWhole && endedAt !== undefined ? (name === 'call_ended' ? endedAt : endedAt + 1) : undefined,
    },
    {
      ...details,
      recordingUrl: call.openUrl('recording_url'),
      costUsd: inDollars(costs.number('combined_cost')),
      costParts: costs
        .list('product_costs')
        .map((cost) => ({ name: cost.text('product'), usd: inDollars(cost.number('cost')) })),
      latencyMs: call.object('latency').object('e2e').number('p50'),
      timeline: isWhole ? conversation.timeline : undefined,
      metadata: withoutUnknown({
        userSentiment: analysis.text('user_sentiment'),
        inVoicemail: analysis.boolean('in_voicemail'),
      }),
    },
  )
}

function inDollars(cents: number | undefined): number | undefined {
  return cents === undefined ? undefined : cents / 100
}

function readCommon(call: Fields) {
  const startedAt = call.time('start_timestamp')
  const stated = call.text('direction')
  const isPhone = stated === 'inbound' || stated === 'outbound'
  const direction: SourceDetails['direction'] = isPhone
    ? stated
    : call.text('call_type') === 'web_call'
      ? 'web'
      : undefined
  return {
    id: call.required('call_id'),
    startedAt,
    change: {
      callerNumber: call.phoneNumber('from_number'),
      calledNumber: call.phoneNumber('to_number'),
      createdAt: startedAt,
    },
    details: {
      agent: agentOf(call.text('agent_id'), call.text('agent_name'), call.plain('agent_version')),
      direction,
    },
  }
}

/** The conversation, and the second at which its last word ends. */
function readConversation(
  event: Fields,
  options: SourceOptions,
): { conversation: Conversation; endSeconds: number | undefined } {
  const conversation = new Conversation()
  const tools = new Map<string, string | undefined>()
  let endSeconds: number | undefined
  for (const entry of entriesOf(event)) {
    const name = entry.text('role')
    const role = roleOf(name)
    const words = entry.list('words')
    if (role) conversation.say(role, entry.text('content'), words[0]?.number('start'))
    if (name === 'tool_call_invocation' || name === 'tool_call_result') {
      const id = entry.text('tool_call_id') ?? ''
      if (name === 'tool_call_invocation') tools.set(id, entry.text('name'))
      // Often without a time of its own, a tool was called after the words before it.
      const atSeconds = entry.number('time_sec') ?? endSeconds ?? 0
      const isResult = name === 'tool_call_result'
      const text = conversation.toolText(options, entry, isResult ? 'content' : 'arguments')
      conversation.use(isResult ? 'tool_result' : 'tool_call', tools.get(id), atSeconds, { text })
    }
    endSeconds = words.at(-1)?.number('end') ?? endSeconds
  }
  return { conversation, endSeconds }
}

/** The first transcript that there is. The one without personal data comes first, then the one with tool calls. */
function entriesOf(event: Fields): Fields[] {
  const call = event.object('call')
  const names = ['scrubbed_transcript_with_tool_calls', 'transcript_with_tool_calls', 'transcript_object']
  for (const place of [call, event]) {
    for (const name of names) {
      const entries = place.list(name)
      if (entries.length > 0) return entries
    }
  }
  return []
}
