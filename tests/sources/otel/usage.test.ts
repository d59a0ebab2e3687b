import { describe, expect, test } from 'bun:test'
import type { SourceUpdate } from '../../../src/sources/event.ts'
import { type Framework, type KeptSpans, userSpansOf } from '../../../src/sources/otel/kept-span.ts'
import { livekit } from '../../../src/sources/otel/livekit.ts'
import { spansOf } from '../../../src/sources/otel/otlp.ts'
import { pipecat } from '../../../src/sources/otel/pipecat.ts'
import { finished } from '../../../src/threads/time-slices.ts'
import { requestOf, type TestSpan } from './spans.ts'

// What spans tell of the agent's version and of the use of models.

async function detailsOf(framework: Framework, spans: readonly TestSpan[]): Promise<SourceUpdate['details']> {
  const traceId = 'a'.repeat(32)
  const read = finished(spansOf(requestOf(spans, traceId), new Set(framework.scopes)))
  const kept: KeptSpans = Object.assign(
    {},
    ...read.spans.flatMap((span) => [framework.keptOf(span), userSpansOf(span)]),
  )
  const work = framework.read(kept, { traceId, isOver: true })
  for (;;) {
    const step = work.next()
    if (step.done) return step.value?.details ?? {}
  }
}

const turn: TestSpan = {
  scope: 'pipecat.turn',
  name: 'turn',
  id: 'turn',
  from: 0,
  to: 9,
  attributes: { 'conversation.id': 'CA_1' },
}

function said(name: string, id: string, attributes: TestSpan['attributes'] = {}): TestSpan {
  return { scope: 'pipecat', name, id, parent: 'turn', from: Number(id), to: Number(id) + 1, attributes }
}

function answered(id: string, provider: string, more: TestSpan['attributes'] = {}): TestSpan {
  return said('llm', id, {
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': `of-${provider}`,
    output: 'Hi.',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 7,
    ...more,
  })
}

describe('Pipecat', () => {
  const cached = {
    'gen_ai.usage.cache_read.input_tokens': 40,
    'gen_ai.usage.cache_creation.input_tokens': 10,
  }

  test('sums tokens, characters and seconds of each model', async () => {
    const { usage } = await detailsOf(pipecat, [
      turn,
      said('stt', '1', {
        'gen_ai.provider.name': 'deepgram',
        transcript: 'Hi',
        'metrics.audio_seconds': 1.1,
      }),
      said('stt', '2', { 'gen_ai.provider.name': 'deepgram', is_final: false, 'metrics.audio_seconds': 2.2 }),
      answered('3', 'openai'),
      answered('4', 'openai', cached),
      said('tts', '5', { 'gen_ai.system': 'cartesia', text: 'Hi.', 'metrics.character_count': 3 }),
      said('tts', '6', { 'gen_ai.system': 'cartesia', text: 'Bye.', 'metrics.character_count': 4 }),
    ])
    expect(usage).toEqual([
      {
        kind: 'llm',
        provider: 'openai',
        model: 'of-openai',
        inputTokens: 200,
        cachedTokens: 40,
        cacheWriteTokens: 10,
        outputTokens: 14,
      },
      { kind: 'stt', provider: 'deepgram', seconds: 3.3 },
      { kind: 'tts', provider: 'cartesia', characters: 7 },
    ])
  })

  test.each([
    ['anthropic', 150],
    ['aws.bedrock', 150],
    ['openai', 100],
    ['gcp.gemini', 100],
  ])('%s: input tokens with those of the cache are %d', async (provider, inputTokens) => {
    const { usage } = await detailsOf(pipecat, [turn, answered('1', provider, cached)])
    expect(usage).toMatchObject([{ provider, inputTokens, cachedTokens: 40, cacheWriteTokens: 10 }])
  })

  test('a version is the service’s, unless the user names another', async () => {
    const resource = { 'service.version': '2026.11.1' }
    const service = 'desk'
    const ofService = await detailsOf(pipecat, [{ ...turn, service, resource }])
    expect(ofService.agent).toEqual({ id: 'desk', name: 'desk', version: '2026.11.1' })
    const named = { ...resource, 'callbook.agent_version': 7 }
    const ofUser = await detailsOf(pipecat, [{ ...turn, service, resource: named }])
    expect(ofUser.agent).toEqual({ id: 'desk', name: 'desk', version: '7' })
  })
})

describe('LiveKit', () => {
  const start: TestSpan = { scope: 'livekit-agents', name: 'session_start', id: 'start', from: 0, to: 1 }
  const reply: TestSpan = {
    ...start,
    name: 'agent_turn',
    id: 'reply',
    attributes: { 'lk.response.text': 'Hi.', 'gen_ai.agent.name': 'ada' },
  }
  const request: TestSpan = {
    ...start,
    name: 'llm_request',
    id: 'request',
    attributes: {
      'gen_ai.provider.name': 'api.openai.com',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 40,
      'gen_ai.usage.cache_read.input_tokens': 8,
      'gen_ai.usage.output_tokens': 12,
    },
  }
  const realtime: TestSpan = {
    ...start,
    name: 'realtime_inference',
    id: 'realtime',
    from: 2,
    to: 3,
    attributes: {
      'gen_ai.provider.name': 'unknown',
      'gen_ai.request.model': 'unknown',
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.input_audio_tokens': 4,
      'gen_ai.usage.output_tokens': 9,
      'gen_ai.usage.output_audio_tokens': 6,
    },
  }
  const reported = (name: string, attributes: TestSpan['attributes']): TestSpan => ({
    ...start,
    name,
    id: name,
    attributes,
  })

  test('the tokens of its requests count until there is a report', async () => {
    const spans = [reply, request, realtime]
    expect((await detailsOf(livekit, spans)).usage).toEqual([
      {
        kind: 'llm',
        provider: 'api.openai.com',
        model: 'gpt-4o',
        inputTokens: 40,
        cachedTokens: 8,
        outputTokens: 12,
      },
      { kind: 'llm', inputTokens: 5, audioInputTokens: 4, outputTokens: 9, audioOutputTokens: 6 },
    ])
    const report = reported('tts_usage', {
      provider: 'cartesia',
      model: 'sonic-3',
      characters_count: 46,
      audio_duration: 4.25,
    })
    expect((await detailsOf(livekit, [...spans, report])).usage).toEqual([
      { kind: 'tts', provider: 'cartesia', model: 'sonic-3', characters: 46, seconds: 4.25 },
    ])
  })

  test.each([
    [{ 'lk.deployment_id': 'dep_1' }, {}, 'dep_1'],
    [{ 'lk.deployment_id': 'dep_1' }, { 'service.version': '1.2' }, '1.2'],
    [{ 'lk.deployment_id': 'dep_1', 'callbook.agent_version': 'v3' }, { 'service.version': '1.2' }, 'v3'],
    [{}, {}, undefined],
  ])('the version that %j and the resource %j tell is %s', async (attributes, resource, version) => {
    const { agent } = await detailsOf(livekit, [{ ...start, attributes, resource }, reply])
    expect(agent).toEqual({ id: 'ada', name: 'ada', ...(version && { version }) })
  })

  test('the version of a resource alone makes no session of an unknown trace', async () => {
    const request = requestOf(
      [{ ...start, scope: 'my-app', resource: { 'service.version': '1.2' } }],
      'b'.repeat(32),
    )
    const read = finished(spansOf(request, new Set(livekit.scopes)))
    expect(read.spans).toEqual([])
  })
})
