import { describe, expect, test } from 'bun:test'
import type { ElevenLabs } from '@elevenlabs/elevenlabs-js'
import { ConversationHistoryTranscriptResponseModel } from '@elevenlabs/elevenlabs-js/serialization/types/ConversationHistoryTranscriptResponseModel'
import type { PhoneCallResponse } from 'retell-sdk/resources/call'
import type { SourceUpdate } from '../../src/sources/event.ts'
import { platforms, readEvent } from '../../src/sources/platforms.ts'

function update(name: keyof typeof platforms, event: unknown): SourceUpdate {
  const read = readEvent(platforms[name], event)
  if (!read || !('id' in read)) throw new Error(`${name} says nothing: ${JSON.stringify(read)}`)
  return read
}

function timelineOf(name: keyof typeof platforms, event: unknown) {
  return update(name, event).details.timeline ?? []
}

const turn = (atSeconds: number, index: number) => ({
  atSeconds,
  kind: 'turn' as const,
  turn: index,
  name: null,
  text: null,
})
const step = (atSeconds: number, kind: 'tool_call' | 'tool_result' | 'transfer', name: string) => ({
  atSeconds,
  kind,
  turn: null,
  name,
  text: null,
})

describe('Retell', () => {
  const said = (role: 'agent' | 'user', content: string, start: number): PhoneCallResponse.Utterance => ({
    role,
    content,
    words: [{ word: content, start, end: start + 1 }],
  })
  const spoken = [said('agent', 'Hello.', 0.5), said('user', 'Is it ready?', 2), said('agent', 'Yes.', 6)]
  const woven: PhoneCallResponse['transcript_with_tool_calls'] = [
    ...spoken.slice(0, 2),
    {
      role: 'tool_call_invocation',
      tool_call_id: 't1',
      name: 'find_order',
      arguments: '{"pin":"never-store-this"}',
    },
    { role: 'tool_call_result', tool_call_id: 't1', content: 'never-store-this', successful: true },
    { role: 'dtmf', digit: '4' },
    ...spoken.slice(2),
  ]
  const call = {
    call_id: 'c1',
    start_timestamp: 1_700_000_000_000,
    end_timestamp: 1_700_000_009_000,
    transcript_object: spoken,
    transcript_with_tool_calls: woven,
  }

  test('tool calls and their results are between the turns, without arguments and content', () => {
    const { change, details } = update('retell', { event: 'call_ended', call })
    expect(change.transcript?.map(({ content }) => content)).toEqual(['Hello.', 'Is it ready?', 'Yes.'])
    expect(details.timeline).toEqual([
      turn(0.5, 0),
      turn(2, 1),
      step(3, 'tool_call', 'find_order'),
      step(3, 'tool_result', 'find_order'),
      turn(6, 2),
    ])
    expect(JSON.stringify(details)).not.toContain('never-store-this')
  })

  test('a tool call has the time that Retell names', () => {
    const timed = woven?.map((entry) => ('tool_call_id' in entry ? { ...entry, time_sec: 4.25 } : entry))
    const timeline = timelineOf('retell', {
      event: 'call_ended',
      call: { ...call, transcript_with_tool_calls: timed },
    })
    expect(timeline.slice(2, 4).map(({ atSeconds }) => atSeconds)).toEqual([4.25, 4.25])
  })

  test('a transcript without personal data comes before the others', () => {
    const scrubbed = [said('user', '[name] here.', 1)]
    const { change } = update('retell', {
      event: 'call_ended',
      call: { ...call, scrubbed_transcript_with_tool_calls: scrubbed },
    })
    expect(change.transcript).toEqual([{ role: 'user', content: '[name] here.' }])
  })

  test('a transfer is the last entry, with where the call went', () => {
    const transferred = {
      ...call,
      disconnection_reason: 'call_transfer',
      transfer_destination: '+15550100003',
    }
    const timeline = timelineOf('retell', { event: 'call_ended', call: transferred })
    expect(timeline.at(-1)).toEqual(step(9, 'transfer', '+15550100003'))
    const hungUp = timelineOf('retell', {
      event: 'call_ended',
      call: { ...call, disconnection_reason: 'user_hangup' },
    })
    expect(hungUp.at(-1)).toEqual(turn(6, 2))
  })
})

describe('Vapi', () => {
  const message = (role: string, secondsFromStart: number, rest: object = {}) => ({
    role,
    secondsFromStart,
    message: role === 'bot' || role === 'user' ? `At ${secondsFromStart}.` : '',
    ...rest,
  })
  const tool = (secondsFromStart: number, name: string) =>
    message('tool_calls', secondsFromStart, {
      toolCalls: [{ type: 'function', function: { name, arguments: '{"pin":"never-store-this"}' } }],
    })
  const messages = [
    message('bot', 1),
    message('user', 3),
    message('bot', 5),
    message('user', 8),
    message('bot', 10),
  ]
  const report = (artifact: object, rest: object = {}) => ({
    message: {
      type: 'end-of-call-report',
      call: { id: 'c1', assistantId: 'a-1' },
      durationSeconds: 20,
      artifact,
      ...rest,
    },
  })
  const latency = (turnLatency: number) => ({
    turnLatency,
    endpointingLatency: 300,
    transcriberLatency: 100,
    modelLatency: 500,
    voiceLatency: 0,
  })
  const parts = (total: number) => ({ total, endOfTurn: 300, transcription: 100, model: 500, voice: 0 })

  test('the latencies belong to the replies, in their order, and their median to the call', () => {
    const performanceMetrics = { turnLatencies: [latency(900), latency(1_500)] }
    const { details } = update('vapi', report({ messages, performanceMetrics }))
    expect(details.timeline?.map(({ latencyMs }) => latencyMs)).toEqual([
      undefined,
      undefined,
      parts(900),
      undefined,
      parts(1_500),
    ])
    expect(details.latencyMs).toBe(1_200)
  })

  test('latencies of every turn of the agent, the greeting too, belong to those', () => {
    const performanceMetrics = { turnLatencies: [latency(100), latency(900), latency(1_500)] }
    const timeline = timelineOf('vapi', report({ messages, performanceMetrics }))
    expect(timeline.map(({ latencyMs }) => latencyMs?.total)).toEqual([100, undefined, 900, undefined, 1_500])
  })

  test('latencies that are fewer or more than the replies belong to no turn: only their median is kept', () => {
    const performanceMetrics = { turnLatencies: [latency(700)] }
    const { details } = update('vapi', report({ messages, performanceMetrics }))
    expect(details.timeline?.every(({ latencyMs }) => latencyMs === undefined)).toBe(true)
    expect(details.latencyMs).toBe(700)
  })

  test('a handoff names the next assistant, and each turn of an agent its own', () => {
    const assistantActivations = [
      { assistantName: 'Ada', assistantId: 'a-1' },
      { assistantName: 'Billing', assistantId: 'a-2' },
    ]
    const handedOff = messages.toSpliced(3, 0, tool(6, 'handoff_to_assistant'))
    const { details } = update('vapi', report({ messages: handedOff, assistantActivations }))
    expect(details.timeline).toEqual([
      { ...turn(1, 0), agentId: 'a-1' },
      turn(3, 1),
      { ...turn(5, 2), agentId: 'a-1' },
      { ...step(6, 'tool_call', 'handoff_to_assistant'), agentId: 'a-1' },
      { ...step(6, 'transfer', 'Billing'), agentId: 'a-1' },
      turn(8, 3),
      { ...turn(10, 4), agentId: 'a-2' },
    ])
    expect(JSON.stringify(details)).not.toContain('never-store-this')
  })

  test('agents that the handoffs do not account for are given no turns', () => {
    const assistantActivations = [{ assistantName: 'Ada' }, { assistantName: 'Billing' }]
    const timeline = timelineOf('vapi', report({ messages, assistantActivations }))
    expect(timeline.every(({ kind, agentId }) => kind === 'turn' && agentId === undefined)).toBe(true)
  })

  test.each([
    [{ type: 'number', number: '+15550100003' }, '+15550100003'],
    [{ type: 'sip', sipUri: 'sip:desk@example.com' }, 'sip:desk@example.com'],
    [{ type: 'assistant', assistantName: 'Billing' }, 'Billing'],
  ])('a call that ended at %p was transferred there', (destination, name) => {
    const transferred = [...messages, tool(12, 'transferCall')]
    const entries = [step(12, 'tool_call', 'transferCall'), step(20, 'transfer', name)]
    expect(timelineOf('vapi', report({ messages: transferred }, { destination })).slice(-2)).toEqual(entries)
    const call = { id: 'c1', destination }
    expect(timelineOf('vapi', report({ messages: transferred }, { call })).slice(-2)).toEqual(entries)
  })

  test('how often the caller interrupted is in the metadata: Vapi does not say in which turns', () => {
    const performanceMetrics = { numAssistantInterrupted: 2 }
    expect(update('vapi', report({ messages, performanceMetrics })).details.metadata).toEqual({
      interruptions: 2,
    })
  })
})

describe('ElevenLabs', () => {
  const metrics = (elapsed: Record<string, number>): ElevenLabs.ConversationTurnMetrics => ({
    metrics: Object.fromEntries(
      Object.entries(elapsed).map(([name, elapsedTime]) => [name, { elapsedTime }]),
    ),
  })
  /** As ElevenLabs' own package writes it. */
  const wire = async (turns: ElevenLabs.ConversationHistoryTranscriptResponseModel[]) =>
    await Promise.all(turns.map((each) => ConversationHistoryTranscriptResponseModel.jsonOrThrow(each)))
  const result = (
    toolName: string,
    rest: object,
  ): ElevenLabs.ConversationHistoryTranscriptResponseModelToolResultsItem =>
    ({
      type: 'system',
      requestId: 'r1',
      toolName,
      resultValue: 'never-store-this',
      isError: false,
      toolHasBeenCalled: true,
      ...rest,
    }) as ElevenLabs.ConversationHistoryTranscriptResponseModelToolResultsItem
  const reading = async (
    turns: ElevenLabs.ConversationHistoryTranscriptResponseModel[],
    analysis: Partial<ElevenLabs.ConversationHistoryAnalysisCommonModel> = {},
  ) => {
    const criteria = Object.entries(analysis.evaluationCriteriaResults ?? {})
    const evaluation_criteria_results = Object.fromEntries(
      criteria.map(([id, { criteriaId, ...rest }]) => [id, { criteria_id: criteriaId, ...rest }]),
    )
    const data = {
      conversation_id: 'c1',
      transcript: await wire(turns),
      analysis: { evaluation_criteria_results },
    }
    return update('elevenlabs', { type: 'post_call_transcription', data })
  }

  test('each turn has its latency, its agent, and whether the caller interrupted it', async () => {
    const { details } = await reading([
      {
        role: 'user',
        message: 'Is it ready?',
        timeInCallSecs: 2,
        conversationTurnMetrics: metrics({ convai_asr_trailing_service_latency: 0.1032 }),
      },
      {
        role: 'agent',
        message: 'Let me',
        timeInCallSecs: 4,
        interrupted: true,
        agentMetadata: { agentId: 'agent_1' },
        conversationTurnMetrics: metrics({
          convai_ttf_audio_since_silence: 1.2,
          convai_turn_silence_before_initiation: 0.4,
          convai_turn_asr_latency: 0.1032,
          convai_llm_service_ttfb: 0.37042,
          convai_tts_service_ttfb: 0.15,
        }),
      },
    ])
    expect(details.timeline).toEqual([
      { ...turn(2, 0), latencyMs: { transcription: 103.2 } },
      {
        ...turn(4, 1),
        interrupted: true,
        agentId: 'agent_1',
        latencyMs: { total: 1_200, endOfTurn: 400, transcription: 103.2, model: 370.42, voice: 150 },
      },
    ])
    expect(details.latencyMs).toBe(1_200)
  })

  test('the time of the tools that ran before an answer is part of its latency', async () => {
    const { details } = await reading([
      { role: 'user', message: 'Is it ready?', timeInCallSecs: 2 },
      {
        role: 'agent',
        timeInCallSecs: 3,
        toolResults: [
          result('a', { type: 'client', toolLatencySecs: 0.5 }),
          result('b', { type: 'client', toolLatencySecs: 0.25 }),
        ],
      },
      { role: 'agent', message: 'Yes.', timeInCallSecs: 5 },
      { role: 'agent', message: 'Anything else?', timeInCallSecs: 6 },
    ])
    expect(details.timeline?.map(({ latencyMs }) => latencyMs)).toEqual([
      undefined,
      undefined,
      undefined,
      { tool: 750 },
      undefined,
    ])
  })

  test('a transfer to an agent or a number is an entry; one that failed is none', async () => {
    const { details } = await reading([
      {
        role: 'agent',
        timeInCallSecs: 3,
        agentMetadata: { agentId: 'agent_1' },
        toolResults: [
          result('transfer_to_agent', {
            result: {
              resultType: 'transfer_to_agent_success',
              fromAgent: 'agent_1',
              toAgent: 'agent_2',
              condition: 'x',
            },
          }),
        ],
      },
      {
        role: 'agent',
        timeInCallSecs: 8,
        agentMetadata: { agentId: 'agent_2' },
        toolResults: [
          result('transfer_to_number', {
            result: { resultType: 'transfer_to_number_sip_success', transferNumber: '+15550100003' },
          }),
          result('transfer_to_number', { result: { resultType: 'transfer_to_number_error', error: 'busy' } }),
        ],
      },
    ])
    expect(details.timeline).toEqual([
      { ...step(3, 'tool_result', 'transfer_to_agent'), agentId: 'agent_1' },
      { ...step(3, 'transfer', 'agent_2'), agentId: 'agent_1' },
      { ...step(8, 'tool_result', 'transfer_to_number'), agentId: 'agent_2' },
      { ...step(8, 'transfer', '+15550100003'), agentId: 'agent_2' },
      { ...step(8, 'tool_result', 'transfer_to_number'), agentId: 'agent_2' },
    ])
    expect(JSON.stringify(details)).not.toContain('never-store-this')
  })

  test('the results of the evaluation criteria are part of the analysis, without their rationale', async () => {
    const { change } = await reading([], {
      evaluationCriteriaResults: {
        polite: { criteriaId: 'polite', result: 'success', rationale: 'never-store-this' },
        solved: { criteriaId: 'solved', result: 'failure', rationale: 'never-store-this' },
      },
    })
    expect(change.callAnalysis).toEqual({
      evaluation_criteria_results: { polite: 'success', solved: 'failure' },
    })
  })
})

describe('other platforms', () => {
  test('Bland: a transfer has its time and number', () => {
    const timeline = timelineOf('bland', {
      call_id: 'c1',
      completed: true,
      started_at: '2023-11-14T22:13:20.000Z',
      transferred_to: '+15550100003',
      transferred_at: '2023-11-14T22:13:32.500Z',
    })
    expect(timeline).toEqual([step(12.5, 'transfer', '+15550100003')])
  })

  test('Cartesia: turns have their times and the voice’s latency, are marked as interrupted, and name their tools', () => {
    const transcript = [
      { role: 'user', text: 'Is it ready?', start_timestamp: 1.5, end_timestamp: 2 },
      {
        role: 'assistant',
        text: 'Yes.',
        start_timestamp: 3,
        end_timestamp: 4,
        tts_ttfb: 0.2,
        end_reason: 'interrupted',
        tool_calls: [{ id: 't1', name: 'find_order', arguments: { pin: 'x' } }],
      },
      { role: 'assistant', text: 'It is.', start_timestamp: 5, was_interrupted: true },
    ]
    expect(timelineOf('cartesia', { type: 'call_completed', call_id: 'c1', call: { transcript } })).toEqual([
      turn(1.5, 0),
      { ...turn(3, 1), interrupted: true, latencyMs: { voice: 200 } },
      step(4, 'tool_call', 'find_order'),
      { ...turn(5, 2), interrupted: true },
    ])
  })

  test('Telnyx: the messages of an AI gather are the transcript', () => {
    const message_history = [
      { role: 'assistant', content: 'Your order?' },
      { role: 'user', content: 'Number seven.' },
    ]
    const data = {
      event_type: 'call.ai_gather.ended',
      occurred_at: '2023-11-14T22:13:32.500Z',
      payload: { call_leg_id: 'c1', message_history },
    }
    expect(update('telnyx', { data }).change).toMatchObject({
      status: 'live',
      transcript: message_history,
    })
  })

  test('Telnyx: who hung up, and why no conversation began, are in the metadata', () => {
    const told = (event_type: string, payload: object) =>
      update('telnyx', { data: { event_type, payload: { call_leg_id: 'c1', ...payload } } })
    const hangup = told('call.hangup', { hangup_cause: 'normal_clearing', hangup_source: 'caller' })
    expect(hangup.details.metadata).toEqual({ hangupSource: 'caller' })
    const failed = told('call.conversation.start_failed', { reason: 'service_error' })
    expect(failed).toMatchObject({ change: {}, details: { metadata: { startFailure: 'service_error' } } })
    expect(failed.change).toEqual({})
  })
})
