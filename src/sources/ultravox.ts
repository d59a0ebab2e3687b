import { agentOf, isRecorded, secondsBetween, updateOf } from './call-fields.ts'
import type { Platform } from './event.ts'
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

/** Events have no transcript. Numbers come from the call's metadata, where users put them. */
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
    return updateOf(
      call.required('callId'),
      {
        status,
        duration: secondsBetween(joined, ended),
        summary: call.text('summary') ?? call.text('shortSummary'),
        endedReason: call.text('endReason'),
        callerNumber: metadata.phoneNumber('callerNumber'),
        calledNumber: metadata.phoneNumber('calledNumber'),
        createdAt: created,
        occurredAt: times[name],
      },
      { agent: agentOf(call.text('agentId'), undefined) },
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
