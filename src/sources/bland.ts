import { toIso } from '../text/instant.ts'
import { jsonOf } from '../validation.ts'
import {
  agentOf,
  Conversation,
  engagementOf,
  positive,
  roleOf,
  secondsBetween,
  updateOf,
  withoutUnknown,
} from './call-fields.ts'
import type { CallHistory, Platform, SourceUpdate } from './event.ts'
import { type Fields, isObject, listIn, placeAfter, withQuery } from './fields.ts'
import { isHmac } from './signature.ts'

// https://docs.bland.ai/tutorials/post-call-webhooks, https://docs.bland.ai/tutorials/webhook-signing

const unanswered = new Set(['voicemail', 'no-answer'])

export const bland: Platform = {
  /** The signature has no time, so a copy of a request stays genuine. A copy changes nothing. */
  isSigned({ headers, body }, secret) {
    const signatures = [headers.get('x-webhook-signature')]
    // Bland's sample code signs the body after parsing and serializing it.
    const isOf = (signed: Uint8Array | string) => isHmac({ key: secret, parts: [signed], signatures })
    return isOf(body) || isOf(rewritten(body))
  },

  read(event) {
    const hasEnded = ['transcripts', 'call_length', 'completed', 'event_type'].some((name) => event.has(name))
    if (hasEnded) return readEnd(event)
    return event.has('category') ? updateOf(idOf(event), { status: 'live' }, {}) : null
  },

  attached(event) {
    return [event.ownMembers('metadata')]
  },

  // https://docs.bland.ai/api-v1/get/calls-id-recording
  recording: {
    api: 'https://api.bland.ai',
    recordingIn(event) {
      const url = event.address('recording_url')
      return url === undefined ? null : { url }
    },
    request: ({ id }, apiKey) => ({
      path: `/v1/calls/${encodeURIComponent(id)}/recording`,
      headers: { authorization: apiKey },
    }),
  },
}

/**
 * The list lacks words and whole numbers, so each call is asked for. A cursor is the place of the page's first call.
 * https://docs.bland.ai/api-v1/get/calls
 */
export const blandHistory: CallHistory = {
  api: 'https://api.bland.ai',
  headers: (apiKey) => ({ authorization: apiKey }),
  pageSize: 100,
  atOnce: 4,
  idName: 'call_id',
  page: ({ span: { from, to }, cursor, pageSize: limit }) => ({
    path: withQuery('/v1/calls', {
      start_date: toIso(from),
      end_date: toIso(to),
      ascending: 'true',
      sort_by: 'created_at',
      limit,
      from: cursor ?? 0,
    }),
  }),
  read(answer, asked) {
    const items = listIn(answer, 'calls')
    return { items, next: placeAfter(items, asked) }
  },
  totalIn: (answer) => answer.number('total_count'),
  startedAt: (call) => call.time('created_at'),
  fateOf: (call) => (call.boolean('completed') ? 'ended' : 'live'),
  more: (call) => ({ path: `/v1/calls/${encodeURIComponent(call.required('call_id'))}` }),
  eventOf: (_, call) => (isObject(call.data) ? call.data : call),
}
/** Returns an empty text for a body that is not JSON. */
function rewritten(body: Uint8Array): string {
  const value = jsonOf(new TextDecoder().decode(body))
  return value === undefined ? '' : JSON.stringify(value)
}

function readEnd(event: Fields): SourceUpdate {
  const startedAt = event.time('started_at') ?? event.time('created_at')
  const minutes = positive(event.number('call_length'))
  const duration =
    positive(event.number('corrected_duration')) ?? (minutes === undefined ? undefined : minutes * 60)
  const conversation = readConversation(event, startedAt)
  const answeredBy = event.text('answered_by') ?? ''
  const own = event.own('analysis')
  const isLater = event.has('event_type')
  return updateOf(
    idOf(event),
    {
      status: 'completed',
      duration,
      summary: event.text('summary'),
      endedReason: readEndedReason(event, answeredBy),
      callerNumber: event.phoneNumber('from'),
      calledNumber: event.phoneNumber('to'),
      // Later events do not repeat who spoke.
      isEngaged: engagementOf(!isLater && unanswered.has(answeredBy)),
      callAnalysis: isObject(own) ? own : undefined,
      // The transcript of a later event may be of the operator, after a transfer.
      transcript: isLater ? undefined : conversation.transcript,
      createdAt: startedAt,
      occurredAt:
        startedAt === undefined
          ? undefined
          : startedAt + Math.round((duration ?? 0) * 1_000) + (isLater ? 1 : 0),
    },
    {
      agent: agentOf(event.text('pathway_id'), undefined),
      direction: directionOf(event.boolean('inbound')),
      recordingUrl: event.openUrl('recording_url'),
      costUsd: event.number('price'),
      timeline: isLater ? undefined : conversation.timeline,
      metadata: withoutUnknown({ dispositionTag: event.text('disposition_tag') }),
    },
  )
}

function idOf(event: Fields): string {
  return event.text('call_id') ?? event.text('c_id') ?? event.required('call_id')
}

function directionOf(isInbound: boolean | undefined): 'inbound' | 'outbound' | undefined {
  return isInbound === undefined ? undefined : isInbound ? 'inbound' : 'outbound'
}

function readEndedReason(event: Fields, answeredBy: string): string | undefined {
  const status = event.text('status')
  return (
    event.text('error_message') ??
    (status === 'completed' ? undefined : status) ??
    (unanswered.has(answeredBy) ? answeredBy : undefined) ??
    event.text('call_ended_by')
  )
}

function readConversation(event: Fields, startedAt: number | undefined): Conversation {
  const conversation = new Conversation()
  const entries = event
    .list('transcripts')
    .map((entry) => ({ entry, at: entry.time('created_at') ?? 0, id: entry.number('id') ?? 0 }))
    .sort((a, b) => a.at - b.at || a.id - b.id)
  for (const { entry, at } of entries) {
    const role = roleOf(entry.text('user'))
    const atSeconds = startedAt === undefined || at === 0 ? undefined : (at - startedAt) / 1_000
    if (role) conversation.say(role, entry.text('text'), atSeconds)
  }
  const target = event.phoneNumber('transferred_to')
  if (target) conversation.use('transfer', target, secondsBetween(startedAt, event.time('transferred_at')))
  return conversation
}
