import type { Platform } from './event.ts'
import { agentOf, Conversation, isoTime, secondsBetween, updateOf } from './facts.ts'
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
const roles = new Map<string | undefined, 'user' | 'assistant'>([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['agent', 'assistant'],
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
        isEngaged: conversation.isEngaged(),
        transcript: conversation.transcript,
        createdAt: isoTime(startedAt),
        occurredAt: isoTime(hasEnded ? endedAt : status === 'live' ? startedAt : analysed),
      },
      { agent: agentOf(event.text('agent_id') ?? call.text('agent_id'), undefined) },
    )
  },
}

function readConversation(turns: Fields[]): Conversation {
  const conversation = new Conversation()
  for (const turn of turns) {
    const role = roles.get(turn.text('role'))
    if (role) conversation.say(role, turn.text('text'))
  }
  return conversation
}
