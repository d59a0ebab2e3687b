import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentCall, AgentListResponse } from '@cartesia/cartesia-js/resources/agents'
import type {
  ConversationSummaryResponseModel,
  GetConversationResponseModel,
  GetConversationsPageResponseModel,
} from '@elevenlabs/elevenlabs-js/serialization'
import type { CallListParams, CallListResponse, PhoneCallResponse } from 'retell-sdk/resources/call'
import { json, status } from '../../recordings/fetching/fake-storage.ts'
import { atEnd } from '../../support/at-end.ts'

const names = [
  'vapi',
  'retell',
  'elevenlabs',
  'ultravox',
  'bland',
  'synthflow',
  'cartesia',
  'dograh',
] as const
export type FakeName = (typeof names)[number]
export const fakeNames: readonly FakeName[] = names
export type FakeAnswer = (response: ServerResponse, request: IncomingMessage) => void

/** A call as any platform has it. */
export interface FakeCall {
  id: string
  /** Milliseconds since 1970; platforms that count seconds drop the rest. */
  startedAt: number
  seconds: number
  /** What was said, the agent first, in turn. */
  words: string[]
  state: 'ended' | 'live' | 'chat'
  /** Replaces members of what the platform says. */
  as?: object
}

/** Dograh counts its runs. */
const firstId = 1_000

/** Calls that began one after another. */
export function pastCalls(count: number, from: number, everyMs = 3_600_000): FakeCall[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${firstId + at}`,
    startedAt: from + at * everyMs,
    seconds: 30 + (at % 90),
    words: [`Hello number ${at}`, 'I would like to move my booking', `Done ${at}`].slice(0, 1 + (at % 3)),
    state: 'ended',
  }))
}

/** A platform's API on loopback. */
export interface FakePlatform {
  origin: string
  /** What it has; a test may add to it at any time. */
  calls: FakeCall[]
  /** Of all requests, in order, with `performance.now()`. */
  requests: { path: string; at: number; body: string }[]
  /** Answers the next requests whose path matches, before anything else is looked at. */
  fail(path: RegExp, answer: FakeAnswer, times?: number): void
  /** The webhook's event at the end of a call. */
  eventOf(call: FakeCall): object
}

export const apiKey = 'key_of_the_api'

export async function startPlatform(name: FakeName): Promise<FakePlatform> {
  const { routes, eventOf, headers } = kinds(name)
  const faults: { path: RegExp; answer: FakeAnswer; times: number }[] = []
  const fake: FakePlatform = {
    origin: '',
    calls: [],
    requests: [],
    fail: (path, answer, times = Number.POSITIVE_INFINITY) => faults.push({ path, answer, times }),
    eventOf,
  }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const path = request.url ?? '/'
      fake.requests.push({ path, at: performance.now(), body })
      const fault = faults.find((one) => one.times > 0 && one.path.test(path))
      if (fault) {
        fault.times--
        return fault.answer(response, request)
      }
      const [header, value] = headers
      if (request.headers[header] !== value) return status(401)(response, request)
      const url = new URL(path, 'http://localhost')
      const [, match, answer] =
        routes
          .map(([method, pattern, answer]) => [method, pattern.exec(url.pathname), answer] as const)
          .find(([method, match]) => match && method === request.method) ?? []
      const found = match && answer?.(fake.calls, { url, body, id: decodeURIComponent(match[1] ?? '') })
      return (found ? json(found) : status(404))(response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  fake.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return fake
}

interface Asked {
  url: URL
  body: string
  id: string
}

interface Kind {
  headers: [name: string, value: string]
  routes: (readonly [
    method: string,
    path: RegExp,
    answer: (calls: FakeCall[], asked: Asked) => object | null,
  ])[]
  eventOf(call: FakeCall): object
}

const whole = (call: FakeCall | undefined, toCall: (call: FakeCall) => object): object | null =>
  call ? { ...toCall(call), ...call.as } : null

/** A page after a cursor, which is the place of its first call. */
function pageOf<Value>(values: readonly Value[], cursor: string | null | undefined, limit: number) {
  const from = cursor ? Number(Buffer.from(cursor, 'base64url').toString()) : 0
  const hasMore = from + limit < values.length
  return {
    page: values.slice(from, from + limit),
    hasMore,
    // Also on the last page, as the platforms do.
    next: Buffer.from(String(from + limit)).toString('base64url'),
  }
}

const oldestFirst = (a: FakeCall, b: FakeCall) => a.startedAt - b.startedAt

const kinds = (name: FakeName): Kind => ({ ...others, ...later })[name]

const others: Record<'vapi' | 'retell' | 'elevenlabs', Kind> = {
  // https://docs.vapi.ai/api-reference/calls/list: the newest first, without a cursor.
  vapi: {
    headers: ['authorization', `Bearer ${apiKey}`],
    eventOf: (call) => ({
      message: { ...vapiReport(call), timestamp: call.startedAt + call.seconds * 1_000 + 4_000 },
    }),
    routes: [
      [
        'GET',
        /^\/call$/,
        (calls, { url: { searchParams: query } }) => {
          const from = Date.parse(query.get('createdAtGe') ?? '') || 0
          const to = Date.parse(query.get('createdAtLt') ?? '') || Number.POSITIVE_INFINITY
          return calls
            .filter(({ startedAt }) => startedAt >= from && startedAt < to)
            .toSorted((a, b) => b.startedAt - a.startedAt)
            .slice(0, Number(query.get('limit')))
            .map((call) => whole(call, toVapi) ?? {})
        },
      ],
    ],
  },
  retell: {
    headers: ['authorization', `Bearer ${apiKey}`],
    eventOf: (call) => ({ event: 'call_ended', call: toRetell(call) }),
    routes: [
      [
        'POST',
        /^\/v3\/list-calls$/,
        (calls, { body }): CallListResponse => {
          const { filter_criteria, limit = 50, pagination_key }: CallListParams = JSON.parse(body)
          const filter = Object(filter_criteria?.start_timestamp)
          if (filter.type !== 'range' || filter.op !== 'bt') throw new Error('not a range')
          const [from, to]: [number, number] = filter.value
          const found = calls
            .filter(({ startedAt }) => startedAt >= from && startedAt <= to)
            .sort(oldestFirst)
          const { page, hasMore, next } = pageOf(found, pagination_key, limit)
          const items = page.map((call) => {
            const { transcript, transcript_object, ...item } = toRetell(call)
            return { ...item, ...call.as } as CallListResponse['items'][number]
          })
          return { items, has_more: hasMore, pagination_key: next, total: found.length }
        },
      ],
      [
        'GET',
        /^\/v2\/get-call\/([^/]+)$/,
        (calls, { id }) =>
          whole(
            calls.find((call) => call.id === id),
            toRetell,
          ),
      ],
    ],
  },
  elevenlabs: {
    headers: ['xi-api-key', apiKey],
    eventOf: (call) => ({
      type: 'post_call_transcription',
      event_timestamp: Math.floor(call.startedAt / 1_000) + call.seconds + 5,
      data: toElevenLabs(call),
    }),
    routes: [
      [
        'GET',
        /^\/v1\/convai\/conversations$/,
        (calls, { url: { searchParams: query } }): GetConversationsPageResponseModel.Raw => {
          const from = Number(query.get('call_start_after_unix')) * 1_000
          const to = Number(query.get('call_start_before_unix')) * 1_000
          const found = calls
            .filter(({ startedAt }) => startedAt >= from && startedAt <= to)
            .sort(oldestFirst)
          const limit = Math.min(Number(query.get('page_size') ?? 30), 100)
          const { page, hasMore, next } = pageOf(found, query.get('cursor'), limit)
          return {
            conversations: page.map((call) => ({ ...toSummary(call), ...call.as })),
            has_more: hasMore,
            next_cursor: next,
          }
        },
      ],
      [
        'GET',
        /^\/v1\/convai\/conversations\/([^/]+)$/,
        (calls, { id }) =>
          whole(
            calls.find((call) => call.id === id),
            toElevenLabs,
          ),
      ],
    ],
  },
}

/** As `PaginatedCallList` and `PaginatedcallsMessagesList` of the API's description. */
const ofUltravox: Kind = {
  headers: ['x-api-key', apiKey],
  // The words are not in it.
  eventOf: (call) => ({ event: 'call.ended', call: toUltravox(call) }),
  routes: [
    [
      'GET',
      /^\/api\/calls$/,
      (calls, { url: { searchParams: query } }) => {
        const [from, to] = [query.get('fromDate') ?? '', query.get('toDate') ?? ''].map(Date.parse)
        const found = calls
          .filter(({ startedAt }) => startedAt >= Number(from) && startedAt <= Number(to))
          .toSorted((a, b) => b.startedAt - a.startedAt)
        const { page, hasMore, next } = pageOf(found, query.get('cursor'), Number(query.get('pageSize')))
        const address = `https://elsewhere.example.com/api/calls?cursor=${encodeURIComponent(next)}`
        return {
          results: page.map((call) => ({ ...toUltravox(call), ...call.as })),
          next: hasMore ? address : null,
          total: found.length,
        }
      },
    ],
    [
      'GET',
      /^\/api\/calls\/([^/]+)\/messages$/,
      (calls, { id, url: { searchParams: query } }) => {
        const words = calls.find((call) => call.id === id)?.words
        if (!words || query.get('mode') !== 'in_call') return null
        // Two at a time, so that most calls have several pages.
        const { page, hasMore, next } = pageOf([...words.entries()], query.get('cursor'), 2)
        const results = page.map(([at, text]) => ({
          role: at % 2 === 0 ? 'MESSAGE_ROLE_AGENT' : 'MESSAGE_ROLE_USER',
          text,
          wallClockTimespan: { start: `${at * 5}.5s`, end: `${at * 5 + 2}s` },
        }))
        return { results, next: hasMore ? `https://elsewhere.example.com/m?cursor=${next}` : null }
      },
    ],
  ],
}

function toUltravox({ id, startedAt, seconds, state }: FakeCall): object {
  return {
    callId: id,
    created: iso(startedAt),
    joined: iso(startedAt),
    ended: state === 'live' ? null : iso(startedAt + seconds * 1_000),
    endReason: 'hangup',
    billedDuration: `${seconds}s`,
    billingStatus: state === 'chat' ? 'BILLING_STATUS_FREE_CONSOLE' : 'BILLING_STATUS_BILLED',
    summary: `Summary of ${id}`,
    agentId: 'agent-1',
    agent: { agentId: 'agent-1', name: 'Ada' },
    medium: { twilio: { outgoing: { from: '+15550100001', to: '+15550100002' } } },
    joinUrl: 'wss://secret.example.com/join',
    systemPrompt: 'Say hello.',
  }
}

/** As the pages of its documentation show it. */
const ofBland: Kind = {
  headers: ['authorization', apiKey],
  eventOf: (call) => toBland(call),
  routes: [
    [
      'GET',
      /^\/v1\/calls$/,
      (calls, { url: { searchParams: query } }) => {
        const [from, to] = [query.get('start_date') ?? '', query.get('end_date') ?? ''].map(Date.parse)
        const found = calls
          .filter(({ startedAt }) => startedAt >= Number(from) && startedAt <= Number(to))
          .sort(oldestFirst)
        const [first, limit] = [Number(query.get('from')), Number(query.get('limit'))]
        const page = found.slice(first, first + limit).map((call) => {
          const { transcripts, ...item } = Object(toBland(call))
          return { ...item, to: '5550100002', ...call.as }
        })
        return { count: page.length, total_count: found.length, calls: page }
      },
    ],
    [
      'GET',
      /^\/v1\/calls\/([^/]+)$/,
      (calls, { id }) =>
        whole(
          calls.find((call) => call.id === id),
          toBland,
        ),
    ],
  ],
}

function toBland({ id, startedAt, seconds, words, state }: FakeCall): object {
  return {
    call_id: id,
    created_at: iso(startedAt),
    started_at: iso(startedAt),
    call_length: seconds / 60,
    corrected_duration: String(seconds),
    completed: state !== 'live',
    queue_status: 'complete',
    from: '+15550100001',
    to: '+15550100002',
    inbound: true,
    summary: `Summary of ${id}`,
    price: 0.09,
    transcripts: words.map((text, at) => ({
      id: at + 1,
      user: at % 2 === 0 ? 'assistant' : 'user',
      text,
      created_at: iso(startedAt + at * 5_000),
    })),
  }
}

const agents = ['agent-1', 'agent-2']
/** A call's agent, of platforms that list the calls of one: all have the words of both. */
const agentOf = ({ startedAt }: FakeCall) => agents[Math.floor(startedAt / 1_000) % 2] ?? ''

/** As its API's description has it: https://docs.synthflow.ai/api-reference/platform-api/calls/list-calls */
const ofSynthflow: Kind = {
  headers: ['authorization', `Bearer ${apiKey}`],
  // The direction and the agent's number are not in it.
  eventOf: (call) => ({
    status: 'completed',
    call: { ...toSynthflow(call), type_of_call: undefined, agent_phone_number: undefined },
    lead: { phone_number: '+15550100001' },
  }),
  routes: [
    [
      'GET',
      /^\/v2\/assistants$/,
      () => ({
        status: 'ok',
        response: { assistants: agents.map((model_id) => ({ model_id, name: 'Ada' })) },
      }),
    ],
    [
      'GET',
      /^\/v2\/calls$/,
      (calls, { url: { searchParams: query } }) => {
        const [from, to, offset, limit] = ['from_date', 'to_date', 'offset', 'limit'].map((name) =>
          Number(query.get(name)),
        )
        const found = calls
          .filter((call) => call.startedAt >= Number(from) && call.startedAt <= Number(to))
          .filter((call) => agentOf(call) === query.get('model_id'))
          .toSorted((a, b) => b.startedAt - a.startedAt)
        const page = found.slice(offset, Number(offset) + Number(limit))
        const pagination = { total_records: found.length, limit, offset }
        return {
          status: 'ok',
          response: { pagination, calls: page.map((call) => ({ ...toSynthflow(call), ...call.as })) },
        }
      },
    ],
  ],
}

function toSynthflow(call: FakeCall): object {
  const { id, startedAt, seconds, words, state } = call
  return {
    call_id: id,
    model_id: agentOf(call),
    start_time: String(startedAt),
    duration: seconds,
    call_status: state === 'live' ? 'in-progress' : 'completed',
    telephony_end: state === 'live' ? null : String(startedAt + seconds * 1_000),
    end_call_reason: 'human_goodbye',
    type_of_call: 'inbound',
    lead_phone_number: '+15550100001',
    agent_phone_number: '+15550100002',
    transcript: words.map((text, at) => `${at % 2 === 0 ? 'bot' : 'human'}: ${text}`).join('\n'),
  }
}

/** The newest first, whenever they were. */
const ofCartesia: Kind = {
  headers: ['authorization', `Bearer ${apiKey}`],
  eventOf: (call) => ({ type: 'call_completed', call_id: call.id, call: toCartesia(call) }),
  routes: [
    [
      'GET',
      /^\/agents$/,
      () =>
        ({ summaries: agents.map((id) => ({ id, name: 'Ada' })) }) satisfies {
          summaries: Partial<AgentListResponse['summaries'][number]>[]
        },
    ],
    [
      'GET',
      /^\/agents\/calls$/,
      (calls, { url: { searchParams: query } }) => {
        const found = calls
          .filter((call) => agentOf(call) === query.get('agent_id'))
          .toSorted((a, b) => b.startedAt - a.startedAt)
        const after = found.findIndex(({ id }) => id === query.get('starting_after'))
        const page = found.slice(after + 1, after + 1 + Number(query.get('limit')))
        return { data: page.map((call) => ({ ...toCartesia(call), ...call.as })) }
      },
    ],
  ],
}

function toCartesia(call: FakeCall): AgentCall {
  const { id, startedAt, seconds, words, state } = call
  const phone = { from: '+15550100001', to: '+15550100002', direction: 'inbound' }
  return {
    id,
    agent_id: agentOf(call),
    status: state === 'live' ? 'active' : 'completed',
    start_time: iso(startedAt),
    end_time: state === 'live' ? null : iso(startedAt + seconds * 1_000),
    summary: `Summary of ${id}`,
    telephony_params: phone,
    transcript: words.map((text, at) => ({
      role: at % 2 === 0 ? 'assistant' : 'user',
      text,
      start_timestamp: at * 5,
      end_timestamp: at * 5 + 2,
    })),
  }
}

/** As `UsageHistoryResponse` and `WorkflowRunResponseSchema` of its source have it. */
const ofDograh: Kind = {
  headers: ['x-api-key', apiKey],
  // As the guide's template: every value is text, and the words are not in it.
  eventOf: ({ id, startedAt, seconds }) => ({
    id,
    agent: 'Ada',
    calledAt: iso(startedAt),
    caller: '+15550100001',
    called: '+15550100002',
    duration: String(seconds),
    disposition: 'done',
  }),
  routes: [
    [
      'GET',
      /^\/api\/v1\/organizations\/usage\/runs$/,
      (calls, { url: { searchParams: query } }) => {
        const [from, to] = [query.get('start_date') ?? '', query.get('end_date') ?? ''].map(Date.parse)
        // A run that goes on has no usage yet.
        const found = calls
          .filter(
            ({ startedAt, state }) =>
              startedAt >= Number(from) && startedAt <= Number(to) && state !== 'live',
          )
          .sort(oldestFirst)
        const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))]
        const runs = found.slice((page - 1) * limit, page * limit)
        return {
          runs: runs.map((call) => ({ ...toDograh(call), ...call.as })),
          total_count: found.length,
          total_pages: Math.ceil(found.length / limit),
        }
      },
    ],
    [
      'GET',
      /^\/api\/v1\/workflow\/7\/runs\/([^/]+)$/,
      (calls, { id }) =>
        whole(
          calls.find((call) => call.id === id),
          ({ words, startedAt }) => ({
            logs: {
              realtime_feedback_events: words.flatMap((text, at) => {
                const timestamp = iso(startedAt + at * 5_000)
                if (at % 2 === 0) return [{ type: 'rtf-bot-text', payload: { text, timestamp } }]
                const heard = (final: boolean) => ({
                  type: 'rtf-user-transcription',
                  payload: { text, final, timestamp },
                })
                return [heard(false), heard(true)]
              }),
            },
            annotations: {},
            definition_id: 12,
          }),
        ),
    ],
  ],
}

function toDograh({ id, startedAt, seconds, state }: FakeCall): object {
  return {
    id: Number(id),
    workflow_id: 7,
    workflow_name: 'Ada',
    // Without a zone, which means UTC.
    created_at: iso(startedAt).slice(0, -1),
    call_duration_seconds: seconds,
    caller_number: '+15550100001',
    called_number: '+15550100002',
    mode: state === 'chat' ? 'textchat' : 'twilio',
    disposition: 'done',
    transcript_public_url: 'https://dograh.example.com/secret-token/transcript',
  }
}

const later = {
  ultravox: ofUltravox,
  bland: ofBland,
  synthflow: ofSynthflow,
  cartesia: ofCartesia,
  dograh: ofDograh,
}

const roleOf = (at: number) => (at % 2 === 0 ? 'agent' : 'user')
const iso = (time: number) => new Date(time).toISOString()

/** As `Call` of the API's description, without what no mapping reads. */
function toVapi({ id, startedAt, seconds, words, state }: FakeCall): object {
  const endedAt = iso(startedAt + seconds * 1_000)
  return {
    id,
    orgId: 'org',
    type: 'inboundPhoneCall',
    createdAt: iso(startedAt),
    updatedAt: endedAt,
    status: state === 'live' ? 'in-progress' : 'ended',
    assistantId: 'assistant-1',
    customer: { number: '+15550100001' },
    phoneNumber: { number: '+15550100002' },
    ...(state === 'ended' && {
      startedAt: iso(startedAt),
      endedAt,
      endedReason: 'customer-ended-call',
      cost: 0.25,
      analysis: { summary: `Summary of ${id}`, successEvaluation: 'true' },
      artifact: {
        messages: words.map((message, at) => ({
          role: at % 2 === 0 ? 'bot' : 'user',
          message,
          secondsFromStart: at * 5,
        })),
      },
      transport: { auth: 'secret-of-the-transport' },
    }),
  }
}

function vapiReport(call: FakeCall): object {
  const { artifact, analysis, startedAt, endedAt, endedReason, cost, ...rest } = Object(toVapi(call))
  const { customer, phoneNumber } = rest
  const parts = { artifact, analysis, startedAt, endedAt, endedReason, cost, customer, phoneNumber }
  return { type: 'end-of-call-report', call: rest, ...parts }
}

function toRetell({ id, startedAt, seconds, words, state }: FakeCall): PhoneCallResponse {
  return {
    agent_id: 'agent_1',
    agent_version: 3,
    call_id: id,
    call_status: state === 'live' ? 'ongoing' : 'ended',
    call_type: 'phone_call',
    direction: 'inbound',
    from_number: '+15550100001',
    to_number: '+15550100002',
    start_timestamp: startedAt,
    ...(state === 'ended' && {
      end_timestamp: startedAt + seconds * 1_000,
      duration_ms: seconds * 1_000,
      disconnection_reason: 'user_hangup' as const,
      transcript: words.join('\n'),
      transcript_object: words.map((content, at) => ({
        role: roleOf(at),
        content,
        words: [{ word: content, start: at * 5, end: at * 5 + 2 }],
      })),
      call_analysis: { call_summary: `Summary of ${id}`, call_successful: true, in_voicemail: false },
    }),
  }
}

function toSummary({ id, startedAt, seconds, words, state }: FakeCall): ConversationSummaryResponseModel.Raw {
  return {
    agent_id: 'agent_1',
    conversation_id: id,
    start_time_unix_secs: Math.floor(startedAt / 1_000),
    call_duration_secs: seconds,
    message_count: words.length,
    status: state === 'live' ? 'in-progress' : 'done',
    call_successful: 'success',
    conversation_initiation_source: state === 'chat' ? 'whatsapp' : 'twilio',
  }
}

function toElevenLabs(call: FakeCall): GetConversationResponseModel.Raw {
  const { id, startedAt, seconds, words } = call
  return {
    agent_id: 'agent_1',
    agent_name: 'Ada',
    conversation_id: id,
    status: toSummary(call).status,
    metadata: {
      start_time_unix_secs: Math.floor(startedAt / 1_000),
      call_duration_secs: seconds,
      cost_fiat: 0.5,
      deletion_settings: { deletion_time_unix_secs: Math.floor(startedAt / 1_000) + 63_072_000 },
    },
    analysis: { call_successful: 'success', transcript_summary: `Summary of ${id}` },
    has_audio: true,
    has_user_audio: true,
    has_response_audio: true,
    has_auxiliary_audio: false,
    transcript: words.map((message, at) => ({ role: roleOf(at), message, time_in_call_secs: at * 5 })),
  }
}
