import type { AgentCall } from '@cartesia/cartesia-js/resources/agents/calls'
import type { ConversationChargingCommonModel } from '@elevenlabs/elevenlabs-js/serialization'
import type { PhoneCallResponse } from 'retell-sdk/resources/call'
import type { CallCostWebhookEvent } from 'telnyx/resources/webhooks'
import type { SourceUpdate } from '../../src/sources/event.ts'
import type { platforms } from '../../src/sources/platforms.ts'

/** The events of one call in their order, and what the last of them says. Wherever a secret may stand is `never-store-this`. */
interface Session {
  id: string
  events: object[]
  last: Omit<SourceUpdate, 'id'>
}

const secret = 'never-store-this'
const open = { url: `wss://monitor.example.com/${secret}` }
const conversation = ['Hello, this is Ada.', 'When do you open?', 'At nine.']
const transcript = conversation.map((content, at) => ({
  role: at === 1 ? ('user' as const) : ('assistant' as const),
  content,
}))
const numbers = { callerNumber: '+15550100001', calledNumber: '+15550100002' }
const createdAt = '2023-11-14T22:13:18.000Z'
const startedAt = '2023-11-14T22:13:20.000Z'
const endedAt = '2023-11-14T22:14:22.500Z'

function timeline(...seconds: number[]) {
  return seconds.map((atSeconds, turn) => ({
    atSeconds,
    kind: 'turn' as const,
    turn,
    name: null,
    text: null,
  }))
}

const vapiCall = {
  id: '7b1f3c52-0d4e-4a6b-9c1d-2f8e5a7b9c10',
  type: 'inboundPhoneCall',
  createdAt,
  assistantId: 'a-1',
  transport: { callToken: secret },
  monitor: { listenUrl: open.url, controlUrl: open.url },
  phoneNumber: { twilioAuthToken: secret, authentication: { password: secret } },
}
const vapiCommon = {
  call: vapiCall,
  customer: { number: '+15550100001' },
  phoneNumber: {
    number: '+15550100002',
    twilioAuthToken: secret,
    twilioApiKey: secret,
    twilioApiSecret: secret,
  },
  assistant: {
    name: 'Ada',
    credentials: [{ apiKey: secret }],
    model: { messages: [{ role: 'system', content: secret }] },
    server: { headers: { authorization: secret } },
    serverUrlSecret: secret,
  },
}
const keyed = { provider: 'openai', model: 'gpt-4o', messages: [secret], credentials: { apiKey: secret } }
// `ServerMessageEndOfCallReportCostsItem[]` of @vapi-ai/server-sdk 2.0.1, which names no licence and is no dependency.
const vapiCosts = [
  { type: 'transport', provider: 'twilio', minutes: 1.0416667, cost: 0.0083 },
  {
    type: 'transcriber',
    transcriber: { provider: 'deepgram', model: 'nova-3' },
    minutes: 1.0416667,
    cost: 0.01,
  },
  {
    type: 'model',
    model: keyed,
    promptTokens: 4200,
    completionTokens: 310,
    cachedPromptTokens: 3000,
    cost: 0.021,
  },
  {
    type: 'voice',
    voice: { provider: '11labs', model: 'eleven_turbo_v2_5', key: secret },
    characters: 46,
    cost: 0.014,
  },
  { type: 'vapi', subType: 'normal', minutes: 1.0416667, cost: 0.05 },
  {
    type: 'analysis',
    analysisType: 'summary',
    model: keyed,
    promptTokens: 800,
    completionTokens: 90,
    cost: 0.002,
  },
]
const vapi: Session = {
  id: vapiCall.id,
  events: [
    { message: { type: 'status-update', timestamp: 1700000002000, status: 'ringing', ...vapiCommon } },
    { message: { type: 'status-update', timestamp: 1700000003000, status: 'in-progress', ...vapiCommon } },
    {
      message: {
        type: 'conversation-update',
        timestamp: 1700000004000,
        ...vapiCommon,
        messagesOpenAIFormatted: [
          { role: 'system', content: secret },
          { role: 'assistant', content: conversation[0] },
          { role: 'assistant', content: null, tool_calls: [{ function: { arguments: secret } }] },
        ],
      },
    },
    {
      message: {
        type: 'conversation-update',
        timestamp: 1700000006000,
        ...vapiCommon,
        messagesOpenAIFormatted: [
          { role: 'assistant', content: conversation[0] },
          { role: 'user', content: conversation[1] },
        ],
      },
    },
    {
      message: {
        type: 'status-update',
        timestamp: 1700000063000,
        status: 'ended',
        ...vapiCommon,
        endedReason: 'customer-ended-call',
      },
    },
    {
      message: {
        type: 'end-of-call-report',
        timestamp: 1700000068000,
        endedReason: 'customer-ended-call',
        cost: 0.0812,
        costs: vapiCosts,
        assistantVersion: 'v3',
        startedAt,
        endedAt,
        ...vapiCommon,
        analysis: {
          summary: 'Asked for opening hours.',
          successEvaluation: 'true',
          structuredData: { topic: 'hours' },
        },
        artifact: {
          messages: [
            { role: 'system', message: secret, secondsFromStart: 0 },
            { role: 'bot', message: 'Hello, this is Ada.', secondsFromStart: 1 },
            { role: 'user', message: 'When do you open?', secondsFromStart: 4 },
            {
              role: 'tool_calls',
              message: '',
              secondsFromStart: 5,
              toolCalls: [{ function: { name: 'hours', arguments: { key: secret } } }],
            },
            { role: 'tool_call_result', name: 'hours', result: secret, secondsFromStart: 6 },
            { role: 'bot', message: 'At nine.', secondsFromStart: 7 },
          ],
          structuredOutputs: { 'so-1': { name: 'mood', result: 'calm' } },
          recording: {
            stereoUrl: 'https://storage.example.com/r.wav',
            presignedStereoUrl: `https://x.example.com/?X-Amz-Signature=${secret}`,
          },
          logUrl: open.url,
          pcapUrl: open.url,
          variableValues: { token: secret },
          transfers: [{ messages: [{ role: 'user', message: secret }] }],
        },
      },
    },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62.5,
      summary: 'Asked for opening hours.',
      evaluation: 'success',
      ...numbers,
      endedReason: 'customer-ended-call',
      isEngaged: true,
      callAnalysis: { topic: 'hours', mood: 'calm' },
      transcript,
      createdAt,
      occurredAt: '2023-11-14T22:14:28.000Z',
    },
    details: {
      agent: { id: 'a-1', name: 'Ada', version: 'v3' },
      direction: 'inbound',
      costUsd: 0.0812,
      recordingUrl: 'https://storage.example.com/r.wav',
      timeline: [
        ...timeline(1, 4),
        { atSeconds: 5, kind: 'tool_call', turn: null, name: 'hours', text: null },
        { atSeconds: 6, kind: 'tool_result', turn: null, name: 'hours', text: null },
        { atSeconds: 7, kind: 'turn', turn: 2, name: null, text: null },
      ],
    },
  },
}

const retellCall = {
  call_id: 'call_01hx',
  call_type: 'phone_call',
  direction: 'outbound',
  agent_id: 'agent_1',
  agent_name: 'Ada',
  agent_version: 4,
  from_number: '+15550100002',
  to_number: '+15550100001',
  start_timestamp: 1700000000000,
  access_token: secret,
  custom_sip_headers: { key: secret },
  retell_llm_dynamic_variables: { key: secret },
  metadata: { key: secret },
}
const retellEnd = { end_timestamp: 1700000062500, duration_ms: 62500, disconnection_reason: 'user_hangup' }
const said = (role: string, content: string, start: number) => ({
  role,
  content,
  words: [
    { word: 'first', start, end: start + 0.2 },
    { word: 'last', start: start + 0.5, end: start + 1 },
  ],
})
const retellTurns = [
  said('agent', 'Hello, this is Ada.', 1),
  said('user', 'When do you open?', 4),
  { role: 'tool_call_result', content: secret },
  said('transfer_target', secret, 6),
  said('agent', 'At nine.', 7),
]
const retellCost: PhoneCallResponse.CallCost = {
  combined_cost: 7.5,
  total_duration_seconds: 62,
  total_duration_unit_price: 0.12,
  product_costs: [
    { product: 'elevenlabs_tts', cost: 4.5, unit_price: 0.07 },
    { product: 'gpt_4o', cost: 2 },
    { product: 'us_telephony', cost: 1 },
    { product: 'background_voice_cancellation', cost: 0 },
  ],
}
const retell: Session = {
  id: 'call_01hx',
  events: [
    { event: 'call_started', call: { ...retellCall, call_status: 'registered' } },
    { event: 'transcript_updated', call: retellCall, transcript_with_tool_calls: retellTurns.slice(0, 1) },
    { event: 'transcript_updated', call: retellCall, transcript_with_tool_calls: retellTurns.slice(0, 2) },
    { event: 'transfer_started', call: retellCall },
    {
      event: 'call_ended',
      call: {
        ...retellCall,
        ...retellEnd,
        call_status: 'registered',
        transcript_object: retellTurns,
        call_cost: retellCost,
        latency: { e2e: { p50: 820 } },
        recording_url: `https://r.example.com/a.wav?signature=${secret}`,
        public_log_url: open.url,
        knowledge_base_retrieved_contents_url: open.url,
      },
    },
    {
      event: 'call_analyzed',
      call: {
        ...retellCall,
        ...retellEnd,
        call_analysis: {
          call_summary: 'Asked for opening hours.',
          call_successful: true,
          in_voicemail: false,
          user_sentiment: 'Neutral',
          custom_analysis_data: { topic: 'hours' },
        },
      },
    },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62.5,
      summary: 'Asked for opening hours.',
      evaluation: 'success',
      endedReason: 'user_hangup',
      callerNumber: '+15550100002',
      calledNumber: '+15550100001',
      callAnalysis: { topic: 'hours' },
      createdAt: startedAt,
    },
    details: {
      agent: { id: 'agent_1', name: 'Ada', version: '4' },
      direction: 'outbound',
      metadata: { userSentiment: 'Neutral', inVoicemail: false },
    },
  },
}

const tokens = (count: number, price: number) => ({ tokens: count, price })
const charging: ConversationChargingCommonModel.Raw = {
  llm_price: 0.02,
  llm_charge: 120,
  call_charge: 290,
  platform_price: 0.1,
  llm_usage: {
    irreversible_generation: {
      model_usage: {
        'gemini-2.5-flash': {
          input: tokens(100, 0.01),
          input_cache_read: tokens(40, 0.001),
          input_cache_write: tokens(10, 0.001),
          output_total: tokens(25, 0.008),
        },
      },
    },
    initiated_generation: { model_usage: { 'gemini-2.5-flash': { input: tokens(900, 0.09) } } },
  },
  tts_usage: {
    primary_tts_model: 'eleven_flash_v2_5',
    total_characters: 46,
    total_audio_output_seconds: 4.25,
  },
  asr_usage: { asr_model: 'scribe_v2', total_audio_input_seconds: 58 },
}
const elevenlabs: Session = {
  id: 'conv_01',
  events: [
    {
      type: 'post_call_transcription',
      event_timestamp: 1700000070,
      data: {
        agent_id: 'agent_1',
        agent_name: 'Ada',
        conversation_id: 'conv_01',
        version_id: 'agtvrsn_01',
        status: 'done',
        transcript: [
          { role: 'agent', message: 'Hello, this is Ada.', time_in_call_secs: 0 },
          { role: 'user', message: 'When do you open?', time_in_call_secs: 3 },
          { role: 'user', message: 'mhm', time_in_call_secs: 3, ignored_as_backchannel: true },
          {
            role: 'agent',
            message: null,
            time_in_call_secs: 4,
            tool_calls: [
              { tool_name: 'search', tool_details: { headers: { Authorization: secret }, url: secret } },
            ],
            tool_results: [{ tool_name: 'search', result_value: secret }],
          },
          {
            role: 'agent',
            multivoice_message: { parts: [{ text: 'At' }, { text: 'nine.' }] },
            time_in_call_secs: 6,
          },
        ],
        metadata: {
          start_time_unix_secs: 1700000000,
          call_duration_secs: 62,
          cost: 410,
          cost_fiat: 0.12,
          charging,
          termination_reason: 'Client disconnected',
          phone_call: {
            type: 'twilio',
            direction: 'inbound',
            external_number: '+15550100001',
            agent_number: '+15550100002',
            call_sid: secret,
            call_result: 'answered',
          },
        },
        analysis: {
          call_successful: 'success',
          transcript_summary: 'Asked for opening hours.',
          data_collection_results: { topic: { value: 'hours', rationale: secret }, email: { value: null } },
        },
        conversation_initiation_client_data: {
          dynamic_variables: { secret__key: secret, system__caller_id: secret },
          custom_llm_extra_body: { key: secret },
          conversation_config_override: { agent: { prompt: secret } },
          sip_header_dynamic_variables: { key: secret },
        },
      },
    },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62,
      summary: 'Asked for opening hours.',
      evaluation: 'success',
      ...numbers,
      endedReason: 'Client disconnected',
      isEngaged: true,
      callAnalysis: { topic: 'hours' },
      transcript,
      createdAt: startedAt,
      occurredAt: '2023-11-14T22:14:30.000Z',
    },
    details: {
      agent: { id: 'agent_1', name: 'Ada', version: 'agtvrsn_01' },
      direction: 'inbound',
      costUsd: 0.12,
      timeline: [
        ...timeline(0, 3),
        { atSeconds: 4, kind: 'tool_call', turn: null, name: 'search', text: null },
        { atSeconds: 4, kind: 'tool_result', turn: null, name: 'search', text: null },
        { atSeconds: 6, kind: 'turn', turn: 2, name: null, text: null },
      ],
    },
  },
}

const blandCall = {
  call_id: '5f3a9c1e-7d42-4b8a-9f10-2c6e8d4b7a01',
  from: '+15550100001',
  to: '+15550100002',
}
const blandTimes = {
  created_at: createdAt,
  started_at: startedAt,
  corrected_duration: '62.5',
  call_length: 1.0416667,
}
const bland: Session = {
  id: blandCall.call_id,
  events: [
    { call_id: blandCall.call_id, category: 'call', message: secret },
    {
      ...blandCall,
      ...blandTimes,
      inbound: true,
      completed: true,
      status: 'completed',
      queue_status: 'complete',
      answered_by: 'human',
      call_ended_by: 'USER',
      summary: 'Asked for opening hours.',
      price: 0.09,
      disposition_tag: 'ANSWERED',
      error_message: null,
      recording_url: `https://r.example.com/a?token=${secret}`,
      transcripts: [
        { id: 4, created_at: '2023-11-14T22:13:27.000Z', user: 'assistant', text: 'At nine.' },
        { id: 1, created_at: '2023-11-14T22:13:21.000Z', user: 'assistant', text: 'Hello, this is Ada.' },
        { id: 2, created_at: '2023-11-14T22:13:24.000Z', user: 'user', text: 'When do you open?' },
        { id: 3, created_at: '2023-11-14T22:13:25.000Z', user: 'agent-action', text: secret },
      ],
      analysis: { topic: 'hours' },
      variables: { api_key: secret },
      pathway_logs: [secret],
      metadata: { key: secret },
    },
    { ...blandCall, ...blandTimes, event_type: 'citations', analysis: { topic: 'hours' } },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62.5,
      ...numbers,
      callAnalysis: { topic: 'hours' },
      createdAt: startedAt,
      occurredAt: '2023-11-14T22:14:22.501Z',
    },
    details: {},
  },
}

const telnyxLeg = {
  call_leg_id: 'cc29cce6-3c91-11ee-a8e5-02420aef3d20',
  call_control_id: `v3:${secret}`,
  client_state: secret,
  sip_headers: [{ name: 'X', value: secret }],
  custom_headers: [{ name: 'X', value: secret }],
}
const telnyxEvent = (event_type: string, occurred_at: string, payload: object) => ({
  data: { record_type: 'event', event_type, id: '1', occurred_at, payload: { ...telnyxLeg, ...payload } },
  meta: { attempt: 1 },
})
const telnyxCost: CallCostWebhookEvent.Data.Payload = {
  total_cost: '0.05',
  cost_parts: [
    { call_part: 'sip-trunking', cost: '0.02', currency: 'USD', rate: '0.01', billed_duration_secs: 120 },
    { call_part: 'ai-voice-assistant', cost: '0.03', currency: 'USD' },
    { call_part: 'call-recording', cost: '0.9', currency: 'EUR' },
  ],
}
const telnyxNumbers = { from: '+15550100001', to: '+15550100002' }
const telnyx: Session = {
  id: telnyxLeg.call_leg_id,
  events: [
    telnyxEvent('call.initiated', createdAt, {
      direction: 'incoming',
      start_time: createdAt,
      ...telnyxNumbers,
    }),
    telnyxEvent('call.answered', startedAt, { start_time: createdAt, ...telnyxNumbers }),
    telnyxEvent('call.conversation.created', '2023-11-14T22:13:21.000Z', { assistant_id: 'assistant-1' }),
    telnyxEvent('call.conversation.ended', endedAt, {
      conversation_id: 'b1e2',
      assistant_id: 'assistant-1',
      duration_sec: 62,
      reason: null,
      ...telnyxNumbers,
    }),
    telnyxEvent('call.hangup', '2023-11-14T22:14:23.000Z', {
      start_time: createdAt,
      hangup_cause: 'normal_clearing',
      ...telnyxNumbers,
    }),
    telnyxEvent('call.recording.saved', '2023-11-14T22:14:24.000Z', { recording_urls: { mp3: open.url } }),
    telnyxEvent('call.conversation_insights.generated', '2023-11-14T22:14:25.000Z', {
      results: [
        { insight_id: 'i-1', result: { topic: 'hours' } },
        { insight_id: 'i-2', result: 'Asked for opening hours.' },
        { insight_id: 'i-3', result: 'calm' },
      ],
    }),
    telnyxEvent('call.cost', '2023-11-14T22:14:26.000Z', telnyxCost),
  ],
  last: { change: {}, details: { costUsd: 0.05 } },
}

const ultravoxCall = {
  callId: '0d4f7d6e-9b0e-4f83-9a51-1a2b3c4d5e6f',
  created: createdAt,
  agentId: 'agent-1',
  joinUrl: open.url,
  systemPrompt: secret,
  medium: { twilio: { token: secret } },
  selectedTools: [{ auth: secret }],
  metadata: { callerNumber: '+15550100001', calledNumber: '+15550100002', other: secret },
}
const ultravoxEnd = {
  ...ultravoxCall,
  joined: startedAt,
  ended: endedAt,
  endReason: 'hangup',
  shortSummary: 'Opening hours.',
  summary: 'Asked for opening hours.',
  billedDuration: '63s',
}
const ultravox: Session = {
  id: ultravoxCall.callId,
  events: [
    { event: 'call.started', call: { ...ultravoxCall, joined: null, ended: null, summary: null } },
    { event: 'call.joined', call: { ...ultravoxCall, joined: startedAt, ended: null } },
    { event: 'call.ended', call: { ...ultravoxEnd, billedDuration: null } },
    { event: 'call.billed', call: ultravoxEnd },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62.5,
      summary: 'Asked for opening hours.',
      endedReason: 'hangup',
      ...numbers,
      createdAt,
      occurredAt: '2023-11-14T22:14:22.501Z',
    },
    details: { agent: { id: 'agent-1' } },
  },
}

const synthflow: Session = {
  id: 'c1',
  events: [
    {
      status: 'completed',
      lead: { name: 'Sam', phone_number: '+15550100001', prompt_variables: { key: secret } },
      call: {
        call_id: 'c1',
        status: 'completed',
        model_id: 'm1',
        duration: 62,
        start_time: startedAt,
        end_call_reason: 'human_goodbye',
        recording_url: 'https://rec.example.com/c1',
        transcript: 'bot: Hello, this is Ada.\nhuman: When do\nyou open?\nbot: At nine.',
      },
      executed_actions: { lookup: { return_value: secret } },
      collected_variables: {
        m1: { topic: { value: 'hours', collected: true }, email: { value: null, collected: false } },
      },
    },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62,
      endedReason: 'human_goodbye',
      callerNumber: '+15550100001',
      isEngaged: true,
      callAnalysis: { topic: 'hours' },
      transcript: transcript.with(1, { role: 'user', content: 'When do\nyou open?' }),
      createdAt: startedAt,
      occurredAt: '2023-11-14T22:14:22.000Z',
    },
    details: { agent: { id: 'm1' }, direction: 'inbound', recordingUrl: 'https://rec.example.com/c1' },
  },
}

const cartesiaCall: Omit<AgentCall, 'status'> = {
  id: 'ac_1',
  agent_id: 'agent_1',
  start_time: startedAt,
  deployment_id: 'dep_7',
}
const cartesiaTurns = transcript.map(({ role, content }) => ({
  role,
  text: content,
  tool_calls: [{ arguments: secret }],
}))
const cartesia: Session = {
  id: 'ac_1',
  events: [
    { type: 'call_started', call_id: 'ac_1', agent_id: 'agent_1', call: cartesiaCall },
    { type: 'call_turn', call_id: 'ac_1', agent_id: 'agent_1', turn: cartesiaTurns[0] },
    {
      type: 'call_completed',
      call_id: 'ac_1',
      end_reason: 'user_hangup',
      call: { ...cartesiaCall, end_time: endedAt, transcript: cartesiaTurns },
    },
    {
      type: 'post_call_analysis',
      call_id: 'ac_1',
      analysis: { summary: 'Asked for opening hours.' },
      call: { ...cartesiaCall, end_time: endedAt },
    },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62.5,
      summary: 'Asked for opening hours.',
      createdAt: startedAt,
      occurredAt: '2023-11-14T22:14:22.501Z',
    },
    details: { agent: { id: 'agent_1', version: 'dep_7' } },
  },
}

const dograh: Session = {
  id: '77',
  events: [
    {
      id: '77',
      agent: 'Front desk',
      calledAt: startedAt,
      caller: '+15550100001',
      called: '+15550100002',
      duration: '62.5',
      disposition: 'user_hangup',
      call_disposition: 'user_hangup',
      definition_id: '12',
      charge_usd: '0.04',
      analysis: '{"topic":"hours"}',
      transcriptUrl: `https://dograh.example.com/t?token=${secret}`,
    },
  ],
  last: {
    change: {
      status: 'completed',
      duration: 62.5,
      endedReason: 'user_hangup',
      ...numbers,
      callAnalysis: { topic: 'hours' },
      createdAt: startedAt,
    },
    details: { agent: { id: 'Front desk', name: 'Front desk', version: '12' }, costUsd: 0.04 },
  },
}

export const sessions: Record<keyof typeof platforms, Session> = {
  vapi,
  retell,
  elevenlabs,
  bland,
  telnyx,
  ultravox,
  synthflow,
  cartesia,
  dograh,
}
