import { agentOf, Conversation, latencyOf, roleOf, secondsBetween, updateOf } from './call-fields.ts'
import type { Platform } from './event.ts'
import type { Fields } from './fields.ts'
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
    const conversation = readConversation(hasEnded ? call.list('transcript') : [])
    const analysed = endedAt === undefined ? undefined : endedAt + 1
    return updateOf(
      event.text('call_id') ?? call.text('id') ?? event.required('call_id'),
      {
        status,
        duration: secondsBetween(startedAt, endedAt),
        summary: event.object('analysis').text('summary') ?? call.text('summary'),
        endedReason: event.text('end_reason') ?? call.text('end_reason'),
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
        timeline: conversation.timeline,
      },
    )
  },

  attached(event) {
    return [event.object('call').ownMembers('metadata')]
  },
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
