import {
  agentOf,
  Conversation,
  type EventCosts,
  type EventUsage,
  engagementOf,
  isRecorded,
  latencyOf,
  medianOf,
  numbersOf,
  roleOf,
  sumOfKnown,
  updateOf,
  withoutUnknown,
} from './call-fields.ts'
import type { CallHistory, Platform, SourceOptions, SourceUpdate } from './event.ts'
import { cursorIn, type Fields, isObject, listIn, withQuery } from './fields.ts'
import { isHmac, isRecent, readDigits } from './signature.ts'

// https://elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks

// The last retry comes some 40 minutes after the first attempt, perhaps with its time. A replay changes nothing.
const window = { pastMs: 3_600_000 }
const signatureForm = /^t=(\d+),v0=([0-9a-f]+)$/i
const transferred = /^transfer_to_\w+_success$/
const machines = new Set(['voicemail', 'busy', 'no_answer', 'failed'])

export const elevenlabs: Platform = {
  isSigned({ headers, body, now }, secret) {
    const [, time, signature] = signatureForm.exec(headers.get('elevenlabs-signature') ?? '') ?? []
    const isOnTime = isRecent(readDigits(time, 1_000), now, window)
    return isOnTime && isHmac({ key: secret, parts: [`${time}.`, body], signatures: [signature] })
  },

  read(event, options) {
    const type = event.text('type')
    if (type === 'post_call_audio') return null
    if (type === 'call_initiation_failure') return readFailure(event)
    // Some event names are undocumented, so any event with a conversation is read as a call.
    const data = event.object('data')
    const hasConversation = data.has('conversation_id') && data.has('transcript')
    return type === 'post_call_transcription' || hasConversation ? readCall(event, data, options) : null
  },

  attached(event) {
    const initiation = event.object('data').object('conversation_initiation_client_data')
    return [initiation.ownMembers('dynamic_variables', /^(?!system__|secret__)/)]
  },

  // https://elevenlabs.io/docs/api-reference/conversations/get-audio
  recording: {
    api: 'https://api.elevenlabs.io',
    recordingIn(event, options) {
      const isCall = event.text('type') !== 'call_initiation_failure'
      return isCall && isRecorded(event.object('data').boolean('has_audio'), options) ? {} : null
    },
    request: ({ id }, apiKey) => ({
      path: `/v1/convai/conversations/${encodeURIComponent(id)}/audio`,
      headers: { 'xi-api-key': apiKey },
    }),
  },
}

/**
 * The list lacks words and numbers, so each conversation is asked for. Times are in seconds.
 * https://elevenlabs.io/docs/api-reference/conversations/list
 */
export const elevenlabsHistory: CallHistory = {
  api: 'https://api.elevenlabs.io',
  headers: (apiKey) => ({ 'xi-api-key': apiKey }),
  pageSize: 100,
  // The smallest plan allows so many: https://help.elevenlabs.io/hc/en-us/articles/19571824571921
  atOnce: 2,
  idName: 'conversation_id',
  page: ({ span, cursor, pageSize }) => ({
    path: withQuery('/v1/convai/conversations', {
      page_size: pageSize,
      sort_direction: 'asc',
      call_start_after_unix: Math.floor(span.from / 1_000),
      call_start_before_unix: Math.ceil(span.to / 1_000),
      cursor,
    }),
  }),
  read: (answer) => ({
    items: listIn(answer, 'conversations'),
    next: cursorIn(answer, ['has_more', 'next_cursor']),
  }),
  startedAt: (summary) => summary.time('start_time_unix_secs'),
  fateOf(summary, data) {
    const metadata = data.object('metadata')
    const way =
      summary.text('conversation_initiation_source') ?? metadata.text('conversation_initiation_source') ?? ''
    if (otherWays.has(way) || metadata.boolean('text_only')) return 'notVoice'
    return ['done', 'failed'].includes(summary.text('status') ?? '') ? 'ended' : 'live'
  },
  more: (summary) => ({
    path: `/v1/convai/conversations/${encodeURIComponent(summary.required('conversation_id'))}`,
  }),
  eventOf(_, data) {
    const metadata = isObject(data.metadata) ? data.metadata : {}
    const event_timestamp = Number(metadata.start_time_unix_secs) + Number(metadata.call_duration_secs ?? 0)
    return {
      type: 'post_call_transcription',
      data,
      ...(Number.isFinite(event_timestamp) && { event_timestamp }),
    }
  },
  recordingGoneAt: (data) =>
    data.object('metadata').object('deletion_settings').time('deletion_time_unix_secs'),
}
const otherWays = new Set(['whatsapp', 'sms', 'twilio_sms', 'subagent_tool', 'template_preview'])

function readCall(event: Fields, data: Fields, options: SourceOptions): SourceUpdate {
  const [metadata, analysis] = [data.object('metadata'), data.object('analysis')]
  const phone = metadata.object('phone_call')
  const conversation = readConversation(data.list('transcript'), options)
  return updateOf(
    data.required('conversation_id'),
    {
      status: 'completed',
      duration: metadata.number('call_duration_secs'),
      summary: analysis.text('transcript_summary'),
      evaluation: analysis.plain('call_successful'),
      endedReason: metadata.text('termination_reason') ?? metadata.object('error').text('reason'),
      ...readNumbers(data, phone),
      isEngaged: engagementOf(machines.has(phone.text('call_result') ?? '')),
      callAnalysis: readAnalysis(analysis),
      transcript: conversation.transcript,
      createdAt: metadata.time('start_time_unix_secs'),
      occurredAt: event.time('event_timestamp'),
    },
    {
      agent: agentOf(data.text('agent_id'), data.text('agent_name'), data.plain('version_id')),
      direction: directionOf(phone),
      costUsd: metadata.number('cost_fiat'),
      ...readCosts(metadata.object('charging')),
      latencyMs: medianOf(conversation.timeline.flatMap(({ latencyMs }) => latencyMs?.total ?? [])),
      timeline: conversation.timeline,
    },
  )
}

/** Prices are in dollars; costs and charges are in credits. What was begun and thrown away has no price. */
function readCosts(charging: Fields): EventCosts {
  const models = charging.object('llm_usage').object('irreversible_generation').object('model_usage')
  const [tts, asr] = [charging.object('tts_usage'), charging.object('asr_usage')]
  const ofModel = (model: string): EventUsage => {
    const tokens = (name: string) => models.object(model).object(name).number('tokens')
    const [cachedTokens, cacheWriteTokens] = [tokens('input_cache_read'), tokens('input_cache_write')]
    const inputTokens = sumOfKnown(tokens('input'), cachedTokens, cacheWriteTokens)
    const outputTokens = tokens('output_total')
    return { kind: 'llm', model, inputTokens, cachedTokens, cacheWriteTokens, outputTokens }
  }
  const speech = {
    characters: tts.number('total_characters'),
    seconds: tts.number('total_audio_output_seconds'),
  }
  const prices = ['llm', 'platform'].map((name) => ({ name, usd: charging.number(`${name}_price`) }))
  const ofVoice: EventUsage = { kind: 'tts', model: tts.text('primary_tts_model'), ...speech }
  const seconds = asr.number('total_audio_input_seconds')
  return {
    costParts: prices,
    usage: [...models.names.map(ofModel), ofVoice, { kind: 'stt', model: asr.text('asr_model'), seconds }],
  }
}

/** A call that was busy or not answered. */
function readFailure(event: Fields): SourceUpdate {
  const data = event.object('data')
  const body = data.object('metadata').object('body')
  return updateOf(
    data.required('conversation_id'),
    {
      status: 'completed',
      endedReason: data.text('failure_reason'),
      isEngaged: false,
      callerNumber: body.phoneNumber('from_number') ?? body.phoneNumber('From'),
      calledNumber: body.phoneNumber('to_number') ?? body.phoneNumber('To'),
      occurredAt: event.time('event_timestamp'),
    },
    { agent: agentOf(data.text('agent_id'), data.text('agent_name'), data.plain('version_id')) },
  )
}

function directionOf(phone: Fields): 'inbound' | 'outbound' | undefined {
  const direction = phone.text('direction')
  return direction === 'inbound' || direction === 'outbound' ? direction : undefined
}

function readNumbers(data: Fields, phone: Fields) {
  const direction = directionOf(phone)
  const [person, own] = [phone.phoneNumber('external_number'), phone.phoneNumber('agent_number')]
  if (direction) return numbersOf(direction, { person, own })
  const variables = data.object('conversation_initiation_client_data').object('dynamic_variables')
  return {
    callerNumber: variables.phoneNumber('system__caller_id'),
    calledNumber: variables.phoneNumber('system__called_number'),
  }
}

function readConversation(turns: Fields[], options: SourceOptions): Conversation {
  const conversation = new Conversation()
  /** How long tools have run since the last turn. */
  let toolSeconds: number | undefined
  for (const turn of turns) {
    const role = roleOf(turn.text('role'))
    const atSeconds = turn.number('time_in_call_secs')
    const isBackchannel = turn.plain('ignored_as_backchannel') === true
    const agentId = turn.object('agent_metadata').text('agent_id')
    const text = role && !isBackchannel ? textOf(turn) : undefined
    if (role && text) {
      const latencyMs = latencyOf({ ...readLatency(turn), tool: toolSeconds }, 1_000)
      conversation.say(role, text, atSeconds, {
        interrupted: turn.boolean('interrupted'),
        agentId,
        latencyMs,
      })
      toolSeconds = undefined
    }
    for (const call of turn.list('tool_calls'))
      conversation.use('tool_call', call.text('tool_name'), atSeconds, {
        agentId,
        text: conversation.toolText(options, call, 'params_as_json'),
      })
    for (const result of turn.list('tool_results')) {
      const text = conversation.toolText(options, result, 'result_value')
      conversation.use('tool_result', result.text('tool_name'), atSeconds, { agentId, text })
      const seconds = result.number('tool_latency_secs')
      if (seconds !== undefined) toolSeconds = (toolSeconds ?? 0) + seconds
      const outcome = result.object('result')
      if (transferred.test(outcome.text('result_type') ?? '')) {
        const target = outcome.text('to_agent') ?? outcome.text('transfer_number')
        conversation.use('transfer', target, atSeconds, { agentId })
      }
    }
  }
  return conversation
}

/** Reads seconds. Their names are undocumented: these are in real events. */
function readLatency(turn: Fields) {
  const metrics = turn.object('conversation_turn_metrics').object('metrics')
  const elapsed = (name: string) => metrics.object(name).number('elapsed_time')
  return {
    total: elapsed('convai_ttf_audio_since_silence'),
    endOfTurn: elapsed('convai_turn_silence_before_initiation'),
    transcription: elapsed('convai_turn_asr_latency') ?? elapsed('convai_asr_trailing_service_latency'),
    model: elapsed('convai_llm_service_ttfb'),
    voice: elapsed('convai_tts_service_ttfb'),
  }
}

function textOf(turn: Fields): string | undefined {
  const parts = turn.object('multivoice_message').list('parts')
  return turn.text('message') ?? parts.flatMap((part) => part.text('text') ?? []).join(' ')
}

/** The collected data and, under a name of their own, the results of the criteria. */
function readAnalysis(analysis: Fields): Record<string, unknown> {
  const dataCollection = membersOf(analysis.object('data_collection_results'), 'value')
  const evaluation_criteria_results = membersOf(analysis.object('evaluation_criteria_results'), 'result')
  return withoutUnknown({ ...dataCollection, evaluation_criteria_results })
}

/** One member of each of an object's members, by their names. */
function membersOf(results: Fields, member: 'value' | 'result'): Record<string, unknown> {
  const values = results.names.map((id) => [id, results.object(id).own(member)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}
