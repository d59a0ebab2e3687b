import { toIso } from '../text/instant.ts'
import { agentOf, Conversation, isRecorded, secondsBetween, updateOf } from './call-fields.ts'
import type { CallHistory, Platform } from './event.ts'
import { cursorOfNext, type Fields, listIn, withQuery } from './fields.ts'
import { isHmac, isRecent } from './signature.ts'

// https://docs.ultravox.ai/webhooks

// Ultravox retries for hours, and does not document whether retries are signed anew. A replay changes nothing.
const window = { pastMs: 43_200_000, futureMs: 60_000 }
const statuses = new Map<string, 'live' | 'completed'>([
  ['call.started', 'live'],
  ['call.joined', 'live'],
  ['call.ended', 'completed'],
  ['call.billed', 'completed'],
])

/** Events have no transcript, only the API does. Numbers come from the call's metadata, where users put them. */
export const ultravox: Platform = {
  isSigned({ headers, body, now }, secret) {
    const time = headers.get('x-ultravox-webhook-timestamp') ?? ''
    // One signature for each active secret.
    const signatures = headers.get('x-ultravox-webhook-signature')?.split(/ *, */) ?? []
    return isRecent(Date.parse(time), now, window) && isHmac({ key: secret, parts: [body, time], signatures })
  },

  read(event) {
    const name = event.text('event') ?? ''
    const status = statuses.get(name)
    if (!status) return null
    const call = event.object('call')
    const [created, joined, ended] = [call.time('created'), call.time('joined'), call.time('ended')]
    const metadata = call.object('metadata')
    const times: Record<string, number | undefined> = {
      'call.started': created,
      'call.joined': joined,
      'call.ended': ended,
      'call.billed': ended === undefined ? undefined : ended + 1,
    }
    const conversation = call.has('messages') ? readMessages(call.list('messages')) : undefined
    const dialled = outgoingOf(call.object('medium'))
    return updateOf(
      call.required('callId'),
      {
        status,
        duration: secondsBetween(joined, ended),
        summary: call.text('summary') ?? call.text('shortSummary'),
        endedReason: call.text('endReason'),
        callerNumber: metadata.phoneNumber('callerNumber') ?? dialled?.phoneNumber('from'),
        calledNumber: metadata.phoneNumber('calledNumber') ?? dialled?.phoneNumber('to'),
        transcript: conversation?.transcript,
        createdAt: created,
        occurredAt: times[name],
      },
      {
        agent: agentOf(
          call.text('agentId') ?? call.object('agent').text('agentId'),
          call.object('agent').text('name'),
        ),
        direction: dialled && 'outbound',
        timeline: conversation?.timeline,
      },
    )
  },

  attached(event) {
    return [event.object('call').ownMembers('metadata')]
  },

  // https://docs.ultravox.ai/api-reference/calls/calls-recording-get
  recording: {
    api: 'https://api.ultravox.ai',
    recordingIn(event, options) {
      const call = event.object('call')
      const wasHeld = call.has('joined') && call.has('ended')
      return wasHeld && isRecorded(call.boolean('recordingEnabled'), options) ? {} : null
    },
    request: ({ id }, apiKey) => ({
      path: `/api/calls/${encodeURIComponent(id)}/recording`,
      headers: { 'x-api-key': apiKey },
    }),
  },
}

/** The messages of a call are asked for. https://docs.ultravox.ai/api-reference/calls/calls-list */
export const ultravoxHistory: CallHistory = {
  api: 'https://api.ultravox.ai',
  headers: (apiKey) => ({ 'x-api-key': apiKey }),
  pageSize: 100,
  atOnce: 4,
  idName: 'callId',
  page: ({ span: { from, to }, cursor, pageSize }) => ({
    path: withQuery('/api/calls', { fromDate: toIso(from), toDate: toIso(to), pageSize, cursor }),
  }),
  read: (answer) => ({ items: listIn(answer, 'results'), next: cursorOfNext(answer) }),
  totalIn: (answer) => answer.number('total'),
  startedAt: (call) => call.time('created'),
  fateOf(call) {
    if (call.text('billingStatus') === 'BILLING_STATUS_FREE_CONSOLE') return 'test'
    return call.has('ended') ? 'ended' : 'live'
  },
  more(call, cursor) {
    const id = encodeURIComponent(call.required('callId'))
    return { path: withQuery(`/api/calls/${id}/messages`, { mode: 'in_call', cursor }) }
  },
  morePages: { list: 'results', nextIn: cursorOfNext },
  eventOf: (call, { results }) => ({
    event: call.billedDuration ? 'call.billed' : 'call.ended',
    call: { ...call, messages: results },
  }),
}

const roles = new Map<string, 'user' | 'assistant'>([
  ['MESSAGE_ROLE_USER', 'user'],
  ['MESSAGE_ROLE_AGENT', 'assistant'],
])
const tools = new Map<string, 'tool_call' | 'tool_result'>([
  ['MESSAGE_ROLE_TOOL_CALL', 'tool_call'],
  ['MESSAGE_ROLE_TOOL_RESULT', 'tool_result'],
])

/** Times are texts such as `1.5s`, from when the caller joined. */
function readMessages(messages: Fields[]): Conversation {
  const conversation = new Conversation()
  for (const message of messages) {
    const name = message.text('role') ?? ''
    const seconds = Number.parseFloat(message.object('wallClockTimespan').text('start') ?? '')
    const atSeconds = Number.isNaN(seconds) ? undefined : seconds
    const [role, tool] = [roles.get(name), tools.get(name)]
    if (role) conversation.say(role, message.text('text'), atSeconds)
    if (tool) conversation.use(tool, message.text('toolName'), atSeconds)
  }
  return conversation
}

/** Who was called by whom, in a call that the agent made. */
function outgoingOf(medium: Fields): Fields | undefined {
  const carrier = ['twilio', 'telnyx', 'plivo'].find((name) => medium.object(name).has('outgoing'))
  return carrier === undefined ? undefined : medium.object(carrier).object('outgoing')
}
