import { jsonOf } from '../validation.ts'
import { agentOf, isRecorded, numbersOf, positive, readLabelled, updateOf } from './call-fields.ts'
import type { CallHistory, Platform } from './event.ts'
import { type Fields, isObject, listIn, placeAfter, withQuery } from './fields.ts'
import { isHmac } from './signature.ts'

// https://docs.synthflow.ai/webhooks, https://docs.synthflow.ai/webhooks-security

const speakers = { bot: 'assistant', human: 'user' } as const

/** No event tells who called, only the API does: otherwise the option `direction`, `inbound` unless it is `outbound`. */
export const synthflow: Platform = {
  /** Only the call's id is signed, so anyone who knows one signature can send any body for that call. */
  isSigned({ headers, body }, secret) {
    const signature = headers.get('synthflow-signature') ?? headers.get('http-synthflow-signature')
    const id = callIdOf(body)
    return id !== null && isHmac({ key: secret, parts: [id], signatures: [signature], encoding: 'base64' })
  },

  read(event, options) {
    const call = event.object('call')
    const told = directions.find((each) => each === call.text('type_of_call'))
    const direction = told ?? (options.direction === 'outbound' ? 'outbound' : 'inbound')
    const startedAt = call.time('start_time')
    const duration = positive(call.number('duration'))
    const conversation = readLabelled(call.text('transcript') ?? '', speakers)
    const numbers = {
      person: event.object('lead').phoneNumber('phone_number'),
      own: call.phoneNumber('agent_phone_number'),
    }
    const own = event.own('analysis')
    // What is told comes after what is taken for granted.
    const endedMs = Math.round((duration ?? 0) * 1_000) + (told ? 1 : 0)
    return updateOf(
      call.required('call_id'),
      {
        status: 'completed',
        duration,
        endedReason: call.text('end_call_reason') ?? event.text('error_message'),
        ...numbersOf(direction, numbers),
        callAnalysis: {
          ...(isObject(own) ? own : {}),
          ...readVariables(event.object('collected_variables')),
        },
        transcript: conversation.transcript,
        createdAt: startedAt,
        occurredAt: startedAt === undefined ? undefined : startedAt + endedMs,
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

/** Calls are listed for one agent. https://docs.synthflow.ai/api-reference/platform-api/calls/list-calls */
export const synthflowHistory: CallHistory = {
  api: 'https://api.synthflow.ai',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  pageSize: 100,
  atOnce: 4,
  idName: 'call_id',
  agents: {
    page: (cursor) => ({
      path: withQuery('/v2/assistants', { limit: assistantsPerPage, offset: cursor ?? 0 }),
    }),
    read(answer, cursor) {
      const { assistants } = responseIn(answer)
      // One agent is an object in the API's description, and several are a list beside it.
      const some = isObject(assistants) ? [assistants] : listIn({ assistants }, 'assistants')
      const ids = some.flatMap((each) =>
        isObject(each) && typeof each.model_id === 'string' ? each.model_id : [],
      )
      return { ids, next: placeAfter(some, { cursor, pageSize: assistantsPerPage }) }
    },
  },
  page: ({ span: { from, to }, cursor, pageSize: limit, agent }) => ({
    path: withQuery('/v2/calls', {
      model_id: agent,
      from_date: from,
      to_date: to,
      limit,
      offset: cursor ?? 0,
    }),
  }),
  read(answer, asked) {
    const items = listIn(responseIn(answer), 'calls')
    return { items, next: placeAfter(items, asked) }
  },
  totalIn: (answer) => answer.object('response').object('pagination').number('total_records'),
  startedAt: (call) => call.time('start_time'),
  fateOf(call) {
    const status = call.text('call_status') ?? 'queue'
    return call.has('telephony_end') || !liveStatuses.has(status) ? 'ended' : 'live'
  },
  eventOf: (call) => ({
    status: call.call_status,
    error_message: call.error_message,
    call,
    lead: { phone_number: call.lead_phone_number },
    collected_variables: call.collected_variables,
  }),
}
const assistantsPerPage = 100
const directions = ['inbound', 'outbound'] as const
/** Others are final. */
const liveStatuses = new Set(['queue', 'queued', 'scheduled', 'initiated', 'ringing', 'in-progress'])

function responseIn(answer: unknown): Record<string, unknown> {
  return isObject(answer) && isObject(answer.response) ? answer.response : {}
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
