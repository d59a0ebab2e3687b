import {
  agentOf,
  Conversation,
  isRecorded,
  latencyOf,
  roleOf,
  secondsBetween,
  updateOf,
} from './call-fields.ts'
import type { CallHistory, Platform } from './event.ts'
import { type Fields, isObject, listIn, withQuery } from './fields.ts'
import { isSecret } from './signature.ts'

// https://docs.cartesia.ai/agents/webhooks, https://docs.cartesia.ai/api-reference/agents/calls/get-call

const statuses = new Map<string, 'live' | 'completed'>([
  ['call_started', 'live'],
  ['call_turn', 'live'],
  ['call_completed', 'completed'],
  ['call_failed', 'completed'],
  ['post_call_analysis', 'completed'],
])

/** Events of single turns do not tell their position, so only the transcript at the end is used. */
export const cartesia: Platform = {
  hasSecret(headers, secret) {
    return isSecret(headers.get('x-webhook-secret'), secret)
  },

  read(event) {
    const name = event.text('type') ?? event.text('event') ?? ''
    const status = statuses.get(name)
    if (!status) return null
    const call = event.object('call')
    const [startedAt, endedAt] = [call.time('start_time'), call.time('end_time')]
    const hasEnded = name === 'call_completed' || name === 'call_failed'
    const phone = call.object('telephony_params')
    // Without a direction, it is not clear whose number is which.
    const direction = directions.find((each) => each === phone.text('direction'))
    const conversation = readConversation(hasEnded ? call.list('transcript') : [])
    const analysed = endedAt === undefined ? undefined : endedAt + 1
    return updateOf(
      event.text('call_id') ?? call.text('id') ?? event.required('call_id'),
      {
        status,
        duration: secondsBetween(startedAt, endedAt),
        summary: event.object('analysis').text('summary') ?? call.text('summary'),
        endedReason: event.text('end_reason') ?? call.text('end_reason') ?? call.text('error_message'),
        callerNumber: direction && phone.phoneNumber('from'),
        calledNumber: direction && phone.phoneNumber('to'),
        transcript: conversation.transcript,
        createdAt: startedAt,
        occurredAt: hasEnded ? endedAt : status === 'live' ? startedAt : analysed,
      },
      {
        agent: agentOf(
          event.text('agent_id') ?? call.text('agent_id'),
          call.text('agent_name'),
          call.plain('deployment_version_id') ?? call.plain('deployment_id'),
        ),
        direction,
        timeline: conversation.timeline,
      },
    )
  },

  attached(event) {
    return [event.object('call').ownMembers('metadata')]
  },

  // https://docs.cartesia.ai/api-reference/agents/calls/download-audio
  recording: {
    api: 'https://api.cartesia.ai',
    recordingIn(event, options) {
      const hasEnded = event.text('type') === 'call_completed' || event.text('event') === 'call_completed'
      return hasEnded && isRecorded(undefined, options) ? {} : null
    },
    request: ({ id }, apiKey) => ({
      path: `/agents/calls/${encodeURIComponent(id)}/audio`,
      headers: headersOf(apiKey),
    }),
  },
}

/** The newest first, for one agent and without a filter of time. https://docs.cartesia.ai/api-reference/agents/calls/list-calls */
export const cartesiaHistory: CallHistory = {
  api: 'https://api.cartesia.ai',
  headers: headersOf,
  pageSize: 100,
  atOnce: 4,
  // Those before the first call of the span have none of it.
  hasEmptyPages: true,
  idName: 'id',
  agents: {
    page: () => ({ path: '/agents' }),
    read(answer) {
      const some = listIn(answer, 'summaries')
      return {
        ids: some.flatMap((each) => (isObject(each) && typeof each.id === 'string' ? each.id : [])),
        next: null,
      }
    },
  },
  page: ({ agent, cursor, pageSize: limit }) => ({
    path: withQuery('/agents/calls', {
      agent_id: agent,
      expand: 'transcript',
      limit,
      starting_after: cursor,
    }),
  }),
  read(answer, { span: { from, to } }) {
    const all = listIn(answer, 'data')
    // What has no time is in the span, so that its fault is told.
    const timeOf = (call: unknown) => Date.parse(isObject(call) ? `${call.start_time}` : '')
    const items = all.filter((call) => !(timeOf(call) < from || timeOf(call) >= to))
    const ids = all.flatMap((call) => (isObject(call) && typeof call.id === 'string' ? call.id : []))
    return { items, next: timeOf(all.at(-1)) < from ? null : (ids.at(-1) ?? null) }
  },
  startedAt: (call) => call.time('start_time'),
  fateOf(call) {
    if (call.has('redacted_at')) return 'deletedThere'
    const status = call.text('status') ?? 'active'
    // Without a start there was no call.
    if (status === 'cancelled' && !call.has('start_time')) return 'unmatched'
    return status === 'active' ? 'live' : 'ended'
  },
  eventOf: (call) => ({ type: call.status === 'completed' ? 'call_completed' : 'call_failed', call }),
}
const directions = ['inbound', 'outbound'] as const

function headersOf(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, 'cartesia-version': '2026-03-01' }
}

function readConversation(turns: Fields[]): Conversation {
  const conversation = new Conversation()
  for (const turn of turns) {
    const role = roleOf(turn.text('role'))
    const [start, end] = [turn.number('start_timestamp'), turn.number('end_timestamp')]
    const interrupted = turn.boolean('was_interrupted') ?? turn.text('end_reason') === 'interrupted'
    const latencyMs = latencyOf({ voice: turn.number('tts_ttfb') }, 1_000)
    if (role) conversation.say(role, turn.text('text'), start, { interrupted, latencyMs })
    for (const call of turn.list('tool_calls')) conversation.use('tool_call', call.text('name'), end ?? start)
  }
  return conversation
}
