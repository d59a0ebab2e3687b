import { jsonOf } from '../validation.ts'
import { agentOf, isRecorded, numbersOf, positive, readLabelled, updateOf } from './call-fields.ts'
import type { Platform } from './event.ts'
import { type Fields, isObject } from './fields.ts'
import { isHmac } from './signature.ts'

// https://docs.synthflow.ai/webhooks, https://docs.synthflow.ai/webhooks-security

const speakers = { bot: 'assistant', human: 'user' } as const

/** No event tells who called, so the option `direction` does: `inbound` unless it is `outbound`. */
export const synthflow: Platform = {
  /** Only the call's id is signed, so anyone who knows one signature can send any body for that call. */
  isSigned({ headers, body }, secret) {
    const signature = headers.get('synthflow-signature') ?? headers.get('http-synthflow-signature')
    const id = callIdOf(body)
    return id !== null && isHmac({ key: secret, parts: [id], signatures: [signature], encoding: 'base64' })
  },

  read(event, options) {
    const call = event.object('call')
    const direction = options.direction === 'outbound' ? 'outbound' : 'inbound'
    const startedAt = call.time('start_time')
    const duration = positive(call.number('duration'))
    const conversation = readLabelled(call.text('transcript') ?? '', speakers)
    const own = event.own('analysis')
    return updateOf(
      call.required('call_id'),
      {
        status: 'completed',
        duration,
        endedReason: call.text('end_call_reason') ?? event.text('error_message'),
        ...numbersOf(direction, { person: event.object('lead').phoneNumber('phone_number'), own: undefined }),
        callAnalysis: {
          ...(isObject(own) ? own : {}),
          ...readVariables(event.object('collected_variables')),
        },
        transcript: conversation.transcript,
        createdAt: startedAt,
        occurredAt: startedAt === undefined ? undefined : startedAt + Math.round((duration ?? 0) * 1_000),
      },
      {
        agent: agentOf(call.text('model_id'), undefined),
        direction,
        recordingUrl: call.openUrl('recording_url'),
      },
    )
  },

  attached(event) {
    return [event.object('lead').ownMembers('prompt_variables')]
  },

  // https://docs.synthflow.ai/get-call-recording
  recording: {
    api: 'https://api.synthflow.ai',
    recordingIn(event, options) {
      const call = event.object('call')
      const url = call.address('recording_url')
      if (url !== undefined) return { url }
      const wasHeld = positive(call.number('duration')) !== undefined
      return wasHeld && isRecorded(undefined, options) ? {} : null
    },
    request: ({ id }, apiKey) => ({
      path: `/v2/calls/${encodeURIComponent(id)}/recording`,
      headers: { authorization: `Bearer ${apiKey}` },
    }),
  },
}

/** Null also for a body that is not JSON, so it cannot be signed. */
function callIdOf(body: Uint8Array): string | null {
  const value = jsonOf(new TextDecoder().decode(body))
  const call = isObject(value) && isObject(value.call) ? value.call : {}
  return typeof call.call_id === 'string' ? call.call_id : null
}

/** Variables may be nested, as by the agent's id. An object with a `value` is a variable. */
function readVariables(variables: Fields): Record<string, unknown> {
  return Object.fromEntries(variableEntries(variables))
}

function variableEntries(variables: Fields): [string, unknown][] {
  return variables.names.flatMap((name) => {
    const variable = variables.object(name)
    if (!variable.names.includes('value')) return variableEntries(variable)
    return variable.plain('collected') === true ? [[name, variable.own('value') ?? null]] : []
  })
}
