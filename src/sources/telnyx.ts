import {
  agentOf,
  Conversation,
  type EventCallFields,
  type EventDetails,
  secondsBetween,
  updateOf,
  withoutUnknown,
} from './call-fields.ts'
import type { Platform, SourceOptions } from './event.ts'
import { type Fields, isObject } from './fields.ts'
import { isEd25519, isRecent, readDigits } from './signature.ts'

// https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks

const directions = new Map<string | undefined, 'inbound' | 'outbound'>([
  ['incoming', 'inbound'],
  ['outgoing', 'outbound'],
])

/**
 * Only events of an AI gather have a transcript. Each leg becomes a call, even one without an assistant: only later
 * events tell, and events arrive in any order. The option `summaryInsight` names the insight that is the summary.
 */
export const telnyx: Platform = {
  /** @param secret the account's public key */
  isSigned({ headers, body, now }, secret) {
    const time = headers.get('telnyx-timestamp')
    const signed = Buffer.concat([Buffer.from(`${time}|`), body])
    const isOnTime = isRecent(readDigits(time, 1_000), now)
    return isOnTime && isEd25519(secret, signed, headers.get('telnyx-signature-ed25519'))
  },

  read(event, options) {
    const data = event.object('data')
    const payload = data.object('payload')
    const name = data.text('event_type') ?? ''
    const read = Object.hasOwn(events, name) ? events[name] : undefined
    if (!read) return null
    const occurredAt = data.time('occurred_at')
    const { change, details = {} } = read(payload, occurredAt, options)
    const common = {
      callerNumber: payload.phoneNumber('from'),
      calledNumber: payload.phoneNumber('to'),
      createdAt: payload.time('start_time'),
      occurredAt,
    }
    const agent = agentOf(payload.text('assistant_id'), undefined)
    return updateOf(payload.required('call_leg_id'), { ...common, ...change }, { agent, ...details })
  },

  /** Telnyx asks before the conversation starts. The answer sets no variables. */
  answer(event) {
    const isQuestion = event.object('data').plain('event_type') === 'assistant.initialization'
    return isQuestion ? { dynamic_variables: {} } : null
  },

  // https://developers.telnyx.com/api-reference/callbacks/call-recording-saved
  recording: {
    api: 'https://api.telnyx.com',
    recordingIn(event) {
      const data = event.object('data')
      if (data.text('event_type') !== 'call.recording.saved') return null
      const payload = data.object('payload')
      return withoutUnknown({
        url: addressOf(payload.object('recording_urls')),
        reference: payload.text('recording_id'),
      })
    },
    request: ({ id, reference }, apiKey) => ({
      path: `/v2/recordings/${encodeURIComponent(reference ?? id)}`,
      headers: { authorization: `Bearer ${apiKey}` },
    }),
    addressIn: (answer) => addressOf(answer.object('data').object('download_urls')),
  },
}

function addressOf(urls: Fields): string | undefined {
  return urls.address('wav') ?? urls.address('mp3')
}

type Read = (
  payload: Fields,
  occurredAt: number | undefined,
  options: SourceOptions,
) => { change: EventCallFields; details?: EventDetails }

/** For events whose fields no other event has: without a time, they make no other event count as late. */
const timeless = { occurredAt: undefined }

const events: Record<string, Read> = {
  'call.initiated': (payload) => ({
    change: { status: 'live' },
    details: { direction: directions.get(payload.text('direction')) },
  }),
  'call.answered': () => ({ change: { status: 'live' } }),
  'call.conversation.created': () => ({ change: { status: 'live' } }),
  'call.conversation.ended': (payload) => ({
    change: {
      status: 'completed',
      duration: payload.number('duration_sec'),
      endedReason: payload.text('reason'),
    },
  }),
  'call.hangup': (payload, occurredAt) => {
    const startedAt = payload.time('start_time')
    const change: EventCallFields = {
      status: 'completed',
      duration: secondsBetween(startedAt, occurredAt),
      endedReason: payload.text('hangup_cause'),
    }
    // Dated at the start, so that it only fills in what `call.conversation.ended` leaves open.
    return {
      change: startedAt === undefined ? change : { ...change, occurredAt: startedAt },
      details: { metadata: withoutUnknown({ hangupSource: payload.text('hangup_source') }) },
    }
  },
  'call.recording.saved': () => ({ change: timeless }),
  'call.conversation.start_failed': (payload) => ({
    change: timeless,
    details: { metadata: withoutUnknown({ startFailure: payload.text('reason') }) },
  }),
  'call.ai_gather.message_history_updated': readGather,
  'call.ai_gather.ended': readGather,
  'call.conversation_insights.generated': (payload, _, { summaryInsight }) => ({
    change: { ...readInsights(payload.list('results'), summaryInsight), ...timeless },
  }),
  'call.cost': (payload) => ({
    change: timeless,
    details: {
      costUsd:
        (payload.text('currency') ?? currencyOf(payload)) === 'USD'
          ? payload.number('total_cost')
          : undefined,
      costParts: payload.list('cost_parts').map((part) => ({
        name: part.text('call_part'),
        usd: part.text('currency') === 'USD' ? part.number('cost') : undefined,
      })),
    },
  }),
}

/** The only events with what was said. */
function readGather(payload: Fields): { change: EventCallFields } {
  const conversation = new Conversation()
  for (const message of payload.list('message_history')) {
    const role = message.text('role')
    if (role === 'user' || role === 'assistant') conversation.say(role, message.text('content'))
  }
  const { transcript } = conversation
  return { change: { status: 'live', transcript } }
}

function currencyOf(payload: Fields): string | undefined {
  return payload.list('cost_parts')[0]?.text('currency')
}

function readInsights(results: Fields[], summaryInsight: string | undefined): EventCallFields {
  const entries: [string, unknown][] = []
  let summary: string | undefined
  for (const insight of results) {
    const [id, result] = [insight.text('insight_id'), insight.own('result')]
    if (id === summaryInsight && typeof result === 'string') summary = result
    else if (isObject(result)) entries.push(...Object.entries(result))
    else if (id !== undefined && result !== undefined) entries.push([id, result])
  }
  return { summary, callAnalysis: Object.fromEntries(entries) }
}
