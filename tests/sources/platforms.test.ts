import { describe, expect, test } from 'bun:test'
import type { StoredCall } from '../../src/calls/call-head.ts'
import { CallChange } from '../../src/calls/schemas.ts'
import { changeErrors, mergeCall } from '../../src/calls/writing/merge.ts'
import type { SourceUpdate } from '../../src/sources/event.ts'
import { keptOf, platforms, readEvent } from '../../src/sources/platforms.ts'
import { compileCheck } from '../../src/validation.ts'
import fc, { runs } from '../support/fast-check.ts'
import { sessions } from './events.ts'

type Name = keyof typeof platforms
const names = Object.keys(platforms) as Name[]
const checkChange = compileCheck(CallChange, changeErrors)
const arrival = Date.parse('2024-01-01T00:00:00Z')

function update(name: Name, event: unknown, options = {}): SourceUpdate {
  const read = readEvent(platforms[name], event, options)
  if (!read || !('id' in read)) throw new Error(`${name} says nothing: ${JSON.stringify(read)}`)
  return read
}

/** The call and its details after its events, by the merge of the service; null when none is about a call. */
function callAfter(name: Name, events: readonly object[]) {
  let stored: StoredCall | null = null
  for (const [at, event] of events.entries()) {
    const read = readEvent(platforms[name], event, { summaryInsight: 'i-2' })
    if (read === null) continue
    if (!('id' in read)) throw new Error(`${read.field} ${read.message}`)
    const change = checkChange({ ...read.change, details: read.details })
    stored = mergeCall(stored, read.id, change, arrival + at, { own: { source: name } })
  }
  if (!stored) return null
  const { updatedAt: _, createdAt, ...call } = stored.call
  const details = JSON.parse(stored.details ?? '{}')
  return {
    call: { ...call, createdAt: stored.createdOnArrival ? null : createdAt },
    details,
    metadata: stored.metadata,
  }
}

/** Also where some of the events were never sent. */
function expectAnyOrder(name: Name, events: object[]): void {
  const orders = fc.subarray(events, { minLength: 1 }).chain((sent) => {
    const repeats = fc.array(fc.tuple(fc.constantFrom(...sent), fc.nat()))
    const shuffled = fc.shuffledSubarray(sent, { minLength: sent.length })
    const arrivals = fc
      .tuple(shuffled, repeats)
      .map(([order, again]) =>
        again.reduce((all, [event, at]) => all.toSpliced(at % (all.length + 1), 0, event), order),
      )
    return fc.tuple(fc.constant(sent), arrivals)
  })
  fc.assert(
    fc.property(orders, ([sent, arrivals]) => {
      expect(callAfter(name, arrivals)).toEqual(callAfter(name, sent))
    }),
    runs(200),
  )
}

describe.each(names)('%s', (name) => {
  const { id, events, last } = sessions[name]

  test('the last event says all that is documented of it', () => {
    const read = update(name, events.at(-1))
    expect(read.id).toBe(id)
    expect(read).toMatchObject(last)
    expect(read.change).toEqual(last.change)
  })

  test('every order of the events, with repeats, ends in the same call', () => {
    expect(callAfter(name, events)?.call).toMatchObject({ id, status: 'completed' })
    expectAnyOrder(name, events)
  })

  test('no secret of an event is kept', () => {
    expect(JSON.stringify(events)).toContain('never-store-this')
    for (const event of events)
      expect(JSON.stringify(readEvent(platforms[name], event))).not.toContain('never-store-this')
  })

  test('an event without the id of its call is a fault that names the field', () => {
    const text = JSON.stringify(events.at(-1)).replaceAll(`"${id}"`, '""')
    expect(readEvent(platforms[name], JSON.parse(text))).toMatchObject({ message: 'is required' })
  })

  test('whatever comes is an update, nothing or a fault', () => {
    const spoilt = fc
      .tuple(fc.constantFrom(...events), fc.nat(), fc.jsonValue())
      .map(([event, at, value]) => spoil(event, at, value))
    fc.assert(
      fc.property(fc.oneof(spoilt, fc.jsonValue()), (event) => {
        const read = readEvent(platforms[name], event)
        if (read && 'id' in read) mergeCall(null, 'call-1', read.change, arrival)
        else if (read) expect([typeof read.field, typeof read.message]).toEqual(['string', 'string'])
      }),
      runs(200),
    )
  })
})

/** The event with another value in one place. */
function spoil(event: object, at: number, value: unknown): unknown {
  const places = JSON.stringify(event).match(/"[^"]*":/g)?.length ?? 1
  let place = -1
  return JSON.parse(JSON.stringify(event), (_, old) => (++place === at % places ? value : old))
}

/** A stored entry of `usage`. */
function used(kind: string, provider: string | null, model: string | null, counts: object) {
  const none = {
    inputTokens: null,
    cachedTokens: null,
    cacheWriteTokens: null,
    audioInputTokens: null,
    outputTokens: null,
    audioOutputTokens: null,
    characters: null,
    seconds: null,
  }
  return { kind, provider, model, ...none, ...counts }
}

/** A stored part of a cost. */
function part(
  name: string,
  usd: number,
  kind: string,
  provider: string | null = null,
  model: string | null = null,
) {
  return { name, usd, kind, provider, model }
}

describe('version, parts of the cost and usage, of events made of the SDKs’ types', () => {
  const nothing = { version: null, costUsd: null, costSource: null, costParts: null, usage: null }
  const known: Record<Name, object> = {
    vapi: {
      version: 'v3',
      costUsd: 0.0812,
      costSource: 'platform',
      costParts: [
        part('transport', 0.0083, 'telephony', 'twilio'),
        part('transcriber', 0.01, 'stt', 'deepgram', 'nova-3'),
        part('model', 0.021, 'llm', 'openai', 'gpt-4o'),
        part('voice', 0.014, 'tts', '11labs', 'eleven_turbo_v2_5'),
        part('vapi', 0.05, 'platform'),
        part('analysis', 0.002, 'analysis', 'openai', 'gpt-4o'),
      ],
      usage: [
        used('stt', 'deepgram', 'nova-3', { seconds: 62.5 }),
        // Those of the conversation and of the analysis, which name one model.
        used('llm', 'openai', 'gpt-4o', { inputTokens: 5000, cachedTokens: 3000, outputTokens: 400 }),
        used('tts', '11labs', 'eleven_turbo_v2_5', { characters: 46 }),
      ],
    },
    retell: {
      version: '4',
      costUsd: 0.075,
      costSource: 'platform',
      usage: null,
      costParts: [
        part('elevenlabs_tts', 0.045, 'tts'),
        part('gpt_4o', 0.02, 'llm'),
        part('us_telephony', 0.01, 'telephony'),
        part('background_voice_cancellation', 0, 'other'),
      ],
    },
    elevenlabs: {
      version: 'agtvrsn_01',
      costUsd: 0.12,
      costSource: 'platform',
      costParts: [part('llm', 0.02, 'llm'), part('platform', 0.1, 'platform')],
      usage: [
        used('llm', null, 'gemini-2.5-flash', {
          inputTokens: 150,
          cachedTokens: 40,
          cacheWriteTokens: 10,
          outputTokens: 25,
        }),
        used('tts', null, 'eleven_flash_v2_5', { characters: 46, seconds: 4.25 }),
        used('stt', null, 'scribe_v2', { seconds: 58 }),
      ],
    },
    bland: { ...nothing, costUsd: 0.09, costSource: 'platform' },
    telnyx: {
      ...nothing,
      costUsd: 0.05,
      costSource: 'platform',
      costParts: [part('sip-trunking', 0.02, 'telephony'), part('ai-voice-assistant', 0.03, 'platform')],
    },
    ultravox: nothing,
    synthflow: nothing,
    cartesia: { ...nothing, version: 'dep_7' },
    dograh: { ...nothing, version: '12', costUsd: 0.04, costSource: 'platform' },
  }

  test.each(names)('%s', (name) => {
    const { agent, costUsd, costSource, costParts, usage } =
      callAfter(name, sessions[name].events)?.details ?? {}
    const version: unknown = agent?.version ?? null
    expect<object>({ version, costUsd, costSource, costParts, usage }).toEqual(known[name])
  })

  test('a Vapi report without parts has those of the breakdown', () => {
    const sums = {
      transport: 0,
      stt: 0.01,
      llm: 0.02,
      tts: 0.03,
      vapi: 0.05,
      total: 0.13,
      llmPromptTokens: 900,
    }
    // `CostBreakdown` of the same package.
    const costBreakdown = {
      ...sums,
      llmCompletionTokens: 60,
      llmCachedPromptTokens: 100,
      ttsCharacters: 46,
      analysisCostBreakdown: { summary: 0.01, successEvaluation: 0.01, summaryPromptTokens: 7 },
    }
    const report = structuredClone(sessions.vapi.events.at(-1)) as { message: object }
    Object.assign(report.message, { costs: undefined, costBreakdown })
    expect(update('vapi', report).details).toMatchObject({
      costParts: [
        { name: 'transport', usd: 0, kind: 'telephony' },
        { name: 'stt', usd: 0.01, kind: 'stt' },
        { name: 'llm', usd: 0.02, kind: 'llm' },
        { name: 'tts', usd: 0.03, kind: 'tts' },
        { name: 'vapi', usd: 0.05, kind: 'platform' },
        { name: 'analysis', usd: 0.02, kind: 'analysis' },
      ],
      usage: [
        { kind: 'llm', inputTokens: 900, cachedTokens: 100, outputTokens: 60 },
        { kind: 'tts', characters: 46 },
      ],
    })
  })

  test('ElevenLabs’ credits never become dollars', () => {
    const [event] = structuredClone(sessions.elevenlabs.events) as [{ data: { metadata: object } }]
    const charging = { llm_charge: 120, call_charge: 290, platform_charge: 170 }
    Object.assign(event.data.metadata, { cost: 410, cost_fiat: null, charging })
    const { details } = update('elevenlabs', event)
    expect([details.costUsd, details.costParts, details.usage]).toEqual([undefined, undefined, undefined])
  })

  test('more parts than can be kept, negative and unnamed ones cost no event', () => {
    const costs = Array.from({ length: 60 }, (_, at) => ({
      type: `part ${at}`.repeat(100),
      cost: at % 2 ? 1 : -1,
    }))
    const report = structuredClone(sessions.vapi.events.at(-1)) as { message: object }
    Object.assign(report.message, {
      costs: [{ cost: 1 }, ...costs, ...costs, { type: 'model', promptTokens: -1 }],
    })
    const { costParts, usage } = callAfter('vapi', [report])?.details ?? {}
    expect([costParts.length, costParts[0].name.length, usage]).toEqual([50, 200, null])
  })
})

describe('what is documented of single platforms', () => {
  test('numbers, ratings and texts that say nothing are left out', () => {
    const report = structuredClone(sessions.vapi.events.at(-1)) as { message: Record<string, object> }
    Object.assign(report.message.customer ?? {}, { number: 'Anonymous' })
    Object.assign(report.message.analysis ?? {}, { successEvaluation: 'unknown', summary: '' })
    const { change } = update('vapi', report)
    expect(Object.keys(change)).not.toContain('callerNumber')
    expect(Object.keys(change)).not.toContain('evaluation')
    expect(Object.keys(change)).not.toContain('summary')
  })

  test.each([
    [true, 'success'],
    ['Successful', 'success'],
    ['false', 'fail'],
    [7, '7'],
    ['B+', 'B+'],
    [{ score: 7 }, undefined],
  ])('a rating of %p is %p', (successEvaluation, evaluation) => {
    const message = { type: 'end-of-call-report', call: { id: 'c1' }, analysis: { successEvaluation } }
    expect(update('vapi', { message }).change.evaluation).toBe(evaluation)
  })

  test('Vapi: an outbound call turns the numbers; a transcript of one text is split at its speakers', () => {
    const call = {
      id: 'c1',
      type: 'outboundPhoneCall',
      customer: { number: '+1' },
      phoneNumber: { number: '+2' },
    }
    const artifact = { transcript: 'AI: Hello.\nUser: Hi.\nAI: At nine.' }
    const read = update('vapi', { message: { type: 'end-of-call-report', call, artifact } })
    expect(read.change).toMatchObject({ callerNumber: '+2', calledNumber: '+1' })
    expect(read.change.transcript?.map(({ role }) => role)).toEqual(['assistant', 'user', 'assistant'])
  })

  test('Vapi: a machine that answered engaged nobody', () => {
    const artifact = { messages: [{ role: 'user', message: 'Leave a message.' }] }
    const message = { type: 'end-of-call-report', call: { id: 'c1' }, artifact, endedReason: 'voicemail' }
    expect(update('vapi', { message }).change.isEngaged).toBe(false)
  })

  test('Retell: an analysis that repeats the whole call ends in the same call in every order too', () => {
    const events = sessions.retell.events as { event: string; call: { call_analysis?: object } }[]
    const ended = events.find(({ event }) => event === 'call_ended')?.call
    const analysed = events.at(-1)
    const call = { ...ended, call_analysis: { ...analysed?.call.call_analysis, in_voicemail: true } }
    const whole = events.with(-1, { event: 'call_analyzed', call })
    expectAnyOrder('retell', whole)
    expect(callAfter('retell', whole)?.call).toMatchObject({
      isEngaged: false,
      summary: 'Asked for opening hours.',
    })
  })

  test('Retell: a snapshot without a time would be newer than all, so its turns are left out', () => {
    const words: object[] = []
    const call = { call_id: 'c1', transcript_object: [{ role: 'user', content: 'Hi', words }] }
    expect(update('retell', { event: 'transcript_updated', call }).change).toEqual({ status: 'live' })
  })

  test('Retell: a call that never connected has an end and an analysis', () => {
    const call = { call_id: 'c1', disconnection_reason: 'dial_no_answer', duration_ms: 0, call_analysis: {} }
    const ended = update('retell', { event: 'call_ended', call })
    expect(ended.change).toEqual({ status: 'completed', endedReason: 'dial_no_answer', isEngaged: false })
  })

  test.each([
    ['vapi', { message: { type: 'end-of-call-report', call: { id: 'c1' }, artifact: { messages: [] } } }],
    ['retell', { event: 'call_ended', call: { call_id: 'c1', disconnection_reason: 'user_hangup' } }],
    ['elevenlabs', { type: 'post_call_transcription', data: { conversation_id: 'c1' } }],
    ['bland', { call_id: 'c1', completed: true, answered_by: 'human' }],
    ['cartesia', { type: 'call_completed', call_id: 'c1' }],
    ['synthflow', { call: { call_id: 'c1', transcript: '' } }],
    ['ultravox', { event: 'call.ended', call: { callId: 'c1' } }],
    ['dograh', { id: 'c1' }],
  ] as const)('%s: without a transcript nobody has said whether the caller was engaged', (name, event) => {
    expect(update(name, event).change).not.toHaveProperty('isEngaged')
  })

  test.each([
    ['vapi', { message: { type: 'end-of-call-report', call: { id: 'c1' }, endedReason: 'voicemail' } }],
    [
      'elevenlabs',
      { data: { conversation_id: 'c1', transcript: [], metadata: { phone_call: { call_result: 'busy' } } } },
    ],
    ['bland', { call_id: 'c1', completed: true, answered_by: 'voicemail' }],
  ] as const)(
    '%s: a call that no person answered engaged nobody, even without a transcript',
    (name, event) => {
      expect(update(name, event).change.isEngaged).toBe(false)
    },
  )

  test('ElevenLabs: a call that could not begin is a completed one', () => {
    const body = { from_number: '+1', to_number: '+2', AccountSid: 'never-store-this' }
    const data = { conversation_id: 'c1', failure_reason: 'busy', metadata: { type: 'sip', body } }
    const read = update('elevenlabs', {
      type: 'call_initiation_failure',
      event_timestamp: '1700000000',
      data,
    })
    expect(read.change).toEqual({
      status: 'completed',
      endedReason: 'busy',
      isEngaged: false,
      callerNumber: '+1',
      calledNumber: '+2',
      occurredAt: '2023-11-14T22:13:20.000Z',
    })
  })

  test('ElevenLabs: without a line the numbers are those that the conversation was begun with', () => {
    const dynamic_variables = { system__caller_id: '+1', system__called_number: '+2', secret__key: 'x' }
    const conversation_initiation_client_data = { dynamic_variables }
    const data = { conversation_id: 'c1', transcript: [], conversation_initiation_client_data }
    const { change } = update('elevenlabs', { type: 'other', data })
    expect(change).toEqual({ status: 'completed', callerNumber: '+1', calledNumber: '+2' })
  })

  test('Synthflow: the person was called where the source says so', () => {
    const read = update('synthflow', sessions.synthflow.events[0], { direction: 'outbound' })
    expect(read.change).toMatchObject({ calledNumber: '+15550100001' })
  })

  test('Telnyx: the end of the conversation knows better than the end of the line', () => {
    expect(callAfter('telnyx', sessions.telnyx.events)?.call).toMatchObject({
      duration: 62,
      endedReason: 'normal_clearing',
      summary: 'Asked for opening hours.',
      callAnalysis: { topic: 'hours', 'i-3': 'calm' },
    })
  })

  test.each([
    ['vapi', { message: { type: 'tool-calls', call: { id: 'c1' } } }],
    ['retell', { event: 'chat_ended', chat: {} }],
    ['retell', { event: 'call_inbound', call_inbound: {} }],
    ['elevenlabs', { type: 'post_call_audio', data: { conversation_id: 'c1', full_audio: '' } }],
    ['bland', { call_id: 'c1', other: true }],
    ['telnyx', { data: { event_type: 'message.received', payload: {} } }],
    ['telnyx', { data: { event_type: 'constructor', payload: {} } }],
    ['ultravox', { event: 'other', call: {} }],
    ['cartesia', { type: 'other' }],
  ] as const)('%s: other events say nothing of a call', (name, event) => {
    expect(readEvent(platforms[name], event)).toBeNull()
  })

  test('a field of another type is a fault that names its place', () => {
    const messages = [{ role: 'user', message: 7 }]
    const message = { type: 'end-of-call-report', call: { id: 'c1' }, artifact: { messages } }
    expect(readEvent(platforms.vapi, { message })).toEqual({
      field: 'message.artifact.messages.0.message',
      message: 'must be a string',
    })
    expect(readEvent(platforms.vapi, [])).toEqual({ field: 'body', message: 'must be an object' })
  })

  test.each([
    [
      'vapi',
      `{"message":{"type":"end-of-call-report","call":{"id":"c1"},"endedReason":7,
        "artifact":{"structuredOutputs":{"__proto__":{"name":"leaked","result":1}}}}}`,
    ],
    [
      'elevenlabs',
      `{"type":"post_call_transcription","data":{"conversation_id":"c1","agent_id":7,
        "analysis":{"data_collection_results":{"__proto__":{"value":"leaked"}}}}}`,
    ],
    [
      'synthflow',
      `{"call":{"call_id":"c1","end_call_reason":7},
        "collected_variables":{"__proto__":{"leaked":{"value":1,"collected":true}}}}`,
    ],
  ] as const)('%s: a member that is named __proto__ is kept like any other', (name, text) => {
    const before = Object.getOwnPropertyNames(Object.prototype)
    try {
      const { callId, event } = keptOf(platforms[name], JSON.parse(text))
      expect(callId).toBe('c1')
      expect(JSON.stringify(event)).toContain('"__proto__":{')
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    } finally {
      for (const added of Object.getOwnPropertyNames(Object.prototype))
        if (!before.includes(added)) Reflect.deleteProperty(Object.prototype, added)
    }
  })

  test('values of an analysis that are named __proto__ are part of it', () => {
    const variables = JSON.parse('{"__proto__":{"value":{"a":1},"collected":true}}')
    const { change } = update('synthflow', { call: { call_id: 'c1' }, collected_variables: variables })
    expect(JSON.stringify(change.callAnalysis)).toBe('{"__proto__":{"a":1}}')
    const results = [{ insight_id: 'i1', result: JSON.parse('{"__proto__":{"a":1}}') }]
    const payload = { call_leg_id: 'c1', results }
    const data = { event_type: 'call.conversation_insights.generated', payload }
    expect(JSON.stringify(update('telnyx', { data }).change.callAnalysis)).toBe('{"__proto__":{"a":1}}')
  })

  test.each(['constructor', '__proto__', 'toString'])('a speaker %s is nobody who is known', (role) => {
    const turn = { role, message: 'x', content: 'x', text: 'x', user: role }
    for (const event of [
      { message: { type: 'end-of-call-report', call: { id: 'c1' }, artifact: { messages: [turn] } } },
      { event: 'call_ended', call: { call_id: 'c1', transcript_object: [turn] } },
      { type: 'post_call_transcription', data: { conversation_id: 'c1', transcript: [turn] } },
      { call_id: 'c1', transcripts: [turn] },
      { type: 'call_completed', call_id: 'c1', call: { transcript: [turn] } },
    ]) {
      for (const name of ['vapi', 'retell', 'elevenlabs', 'bland', 'cartesia'] as const) {
        const read = readEvent(platforms[name], event)
        if (read && 'id' in read) expect(read.change.transcript).toBeUndefined()
      }
    }
  })

  test.each([
    ['U+0000', '{"a":"\\u0000"}'],
    ['a lone surrogate', '{"a":"\\ud800"}'],
    ['a number beyond the range', '{"a":1e999}'],
    ['too many levels', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`],
  ])('Dograh: an analysis with %s, which no body may have, stays out', (_, analysis) => {
    const { change } = update('dograh', { id: 'r1', analysis, disposition: 'done' })
    expect(change).toEqual({ status: 'completed', endedReason: 'done' })
  })

  test('a part that is read for its text alone is kept without what an object in its place holds', () => {
    const hidden = [{ type: 'image_url', image_url: 'https://files.example.com/never-keep-this?key=1' }]
    const artifact = { messagesOpenAIFormatted: [{ role: 'user', content: hidden }] }
    const analysis = { successEvaluation: hidden }
    const call = { id: 'c1' }
    const message = { type: 'end-of-call-report', call, artifact, analysis, endedReason: 7 }
    const { callId, event } = keptOf(platforms.vapi, { message })
    expect(callId).toBe('c1')
    expect(JSON.stringify(event)).not.toContain('never-keep-this')
  })

  test('the turns of a text are told apart whatever ends its lines', () => {
    const transcript = ['bot: Hello.\r', 'human: Hi', 'there.\r', '\r', '\thuman: And\u2028you?'].join('\n')
    expect(update('synthflow', { call: { call_id: 'c1', transcript } }).change.transcript).toEqual([
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Hi\nthere.' },
      { role: 'user', content: 'And\u2028you?' },
    ])
  })

  test('of a list no more entries are read than a call can have', () => {
    const messages = new Array(30_000).fill(0)
    const message = { type: 'end-of-call-report', call: { id: 'c1' }, artifact: { messages } }
    const { event } = keptOf(platforms.vapi, { message })
    expect(event).toMatchObject({ message: { artifact: { messages: { length: 20_000 } } } })
  })
})
