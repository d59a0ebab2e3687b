import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Call, CallDetails, Turn } from '../../../src/calls/schemas.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { skipped } from '../../support/skipped.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'
import {
  capturedRequests,
  joined,
  livekitHistory,
  livekitSession,
  pipecatHistory,
  pipecatSession,
  requestOf,
  splitAndShuffled,
} from './spans.ts'

const path = '/ingest/otlp/v1/traces'
const eraseWithinMs = 500
const now = Date.parse('2026-01-01T00:00:00Z')

const service = await startService({ env: { ERASE_WITHIN_MS: String(eraseWithinMs) }, now: () => now })
const project = await service.mintProject()

async function send(request: object, of = project): Promise<void> {
  const answer = await of.send('POST', path, request)
  expect([answer.status, await answer.text()]).toEqual([200, '{}'])
  expect(answer.headers.get('content-type')).toBe('application/json')
}

async function callOf(id: string, of = project): Promise<Call> {
  const answer = await of.fetch(`/v1/calls/${id}`)
  expect(answer.status).toBe(200)
  return await answer.json()
}

async function detailsOf(id: string, of = project): Promise<CallDetails> {
  return await (await of.fetch(`/v1/calls/${id}/details`)).json()
}

function newTraceId(): string {
  return randomBytes(16).toString('hex')
}

function turns(history: readonly (readonly [Turn['role'], string])[]): Turn[] {
  return history.map(([role, content]) => ({ role, content }))
}

function sessionsOf({ projectId }: TestProject) {
  return service.services.database.read.all<{ trace_id: string; spans: string; due_at: number | null }>(
    sql`select * from call_sessions where project_id = ${projectId}`,
  )
}

describe('a session of LiveKit', () => {
  test('becomes a call with its transcript, numbers, tools and times', async () => {
    const traceId = newTraceId()
    await send(requestOf(livekitSession, traceId))
    expect(await callOf(traceId)).toMatchObject({
      id: traceId,
      status: 'completed',
      duration: 62.5,
      endedReason: 'participant_disconnected',
      callerNumber: '+15550100001',
      calledNumber: '+15550100002',
      isEngaged: true,
      transcript: turns(livekitHistory),
      createdAt: '2023-11-14T22:13:20.000Z',
    })
    const entry = { turn: null, name: null, text: null }
    expect(await detailsOf(traceId)).toMatchObject({
      source: 'livekit',
      agent: { id: 'ada', name: 'ada' },
      direction: 'inbound',
      latencyMs: 700,
      timeline: [
        { ...entry, atSeconds: 0.5, kind: 'turn', turn: 0 },
        { ...entry, atSeconds: 3, kind: 'turn', turn: 1 },
        {
          ...entry,
          atSeconds: 4.3,
          kind: 'turn',
          turn: 2,
          interrupted: false,
          agentId: 'ada',
          latencyMs: { total: 900, model: 300, voice: null, tool: null },
        },
        { ...entry, atSeconds: 4.6, kind: 'tool_call', name: 'hours', text: '{"day":"monday"}' },
        { ...entry, atSeconds: 4.9, kind: 'tool_result', name: 'hours', text: 'nine' },
        {
          ...entry,
          atSeconds: 5,
          kind: 'turn',
          turn: 3,
          interrupted: false,
          agentId: 'ada',
          latencyMs: { total: null, model: null, voice: 200, tool: 300 },
        },
        { ...entry, atSeconds: 7.5, kind: 'transfer', name: 'billing' },
        { ...entry, atSeconds: 8, kind: 'turn', turn: 4 },
        {
          ...entry,
          atSeconds: 8,
          kind: 'turn',
          turn: 5,
          interrupted: true,
          agentId: 'billing',
          latencyMs: { total: 500 },
        },
      ],
      metadata: {
        jobId: 'AJ_1',
        inputTokens: 40,
        outputTokens: 12,
        models: ['fake-1'],
        transcriptionDelayMs: 200,
        endOfTurnDelayMs: 500,
        firstTokenMs: 300,
        firstByteMs: 200,
      },
    })
  })

  test('without what was said, as a collector may leave it out, does not say that nobody spoke', async () => {
    const of = await service.mintProject()
    const unspoken = livekitSession.map(({ attributes = {}, ...span }) => ({
      ...span,
      attributes: Object.fromEntries(
        Object.entries(attributes).filter(([name]) => !/text|transcript|input/.test(name)),
      ),
    }))
    await send(requestOf(unspoken, newTraceId()), of)
    const { data } = await (await of.fetch('/v1/calls')).json()
    expect([data[0].status, data[0].transcript]).toEqual(['completed', []])
    const [row] = await service.services.database.read.all<{ said: number }>(
      sql`select engagement_stated as said from calls where project_id = ${of.projectId}`,
    )
    expect(row).toEqual({ said: 0 })
  })

  test('is found by each of its agents', async () => {
    const of = await service.mintProject()
    await send(requestOf(livekitSession, newTraceId()), of)
    const found = async (agents: string) => {
      const { data, pagination } = await (await of.fetch(`/v1/calls?agentId=${agents}`)).json()
      return [data.length, pagination.total]
    }
    expect(await found('ada')).toEqual([1, 1])
    expect(await found('billing')).toEqual([1, 1])
    expect(await found('ada,billing')).toEqual([1, 1])
    expect(await found('nobody')).toEqual([0, 0])
    const facets = await service.services.calls.facets(of.projectId)
    expect(facets.agentId).toEqual([
      { value: 'ada', calls: 1, label: 'ada' },
      { value: 'billing', calls: 1 },
    ])
  })

  test('dates each piece of a reply when it is spoken, also when a tool is so fast that the next is on its way', async () => {
    const traceId = newTraceId()
    const lk = { scope: 'livekit-agents', parent: 'reply' }
    const says = (text: string, calls: object[] = []) => ({
      'lk.pii.response.text': text,
      'lk.pii.response.function_calls': JSON.stringify(calls),
    })
    await send(
      requestOf(
        [
          {
            ...lk,
            name: 'llm_node',
            id: 'a',
            from: 1,
            to: 2,
            attributes: says('One moment.', [{ call_id: 'c' }]),
          },
          {
            ...lk,
            name: 'function_tool',
            id: 't',
            from: 2,
            to: 2.1,
            attributes: { 'gen_ai.tool.call.id': 'c' },
          },
          { ...lk, name: 'llm_node', id: 'b', from: 2.2, to: 3, attributes: says('At nine.') },
          { ...lk, name: 'agent_speaking', id: 'x', from: 2.5, to: 3.5 },
          { ...lk, name: 'agent_speaking', id: 'y', from: 3.6, to: 4 },
          {
            ...lk,
            name: 'agent_turn',
            id: 'reply',
            parent: 'root',
            from: 1,
            to: 4,
            attributes: { ...says('At nine.'), 'lk.generation_count': 2 },
          },
        ],
        traceId,
      ),
    )
    expect((await callOf(traceId)).transcript.map(({ content }) => content)).toEqual([
      'One moment.',
      'At nine.',
    ])
    const spoken = (await detailsOf(traceId)).timeline.filter(({ kind }) => kind === 'turn')
    expect(spoken.map(({ atSeconds }) => atSeconds)).toEqual([1.5, 2.6])
  })

  test('is a live call from its first turn on, and no call before', async () => {
    const traceId = newTraceId()
    const upTo = (id: string) =>
      livekitSession.slice(
        0,
        livekitSession.findIndex((span) => span.id === id),
      )
    await send(requestOf(upTo('turn1'), traceId))
    expect((await project.fetch(`/v1/calls/${traceId}`)).status).toBe(404)
    await send(requestOf(upTo('user1').slice(-1), traceId))
    expect(await callOf(traceId)).toMatchObject({
      status: 'live',
      duration: 0,
      createdAt: new Date(now).toISOString(),
      transcript: turns(livekitHistory.slice(0, 1)),
    })
  })
})

describe('a session of LiveKit with more than anybody needs', () => {
  test('is read when the list of tools that a model asked for is cut', async () => {
    const traceId = newTraceId()
    const calls = Array.from({ length: 8_000 }, (_, at) => ({ call_id: `call_${at}` }))
    const spans = livekitSession.map((span) => ({
      ...span,
      attributes: {
        ...span.attributes,
        ...(span.id === 'node1' ? { 'lk.pii.response.function_calls': JSON.stringify(calls) } : {}),
      },
    }))
    await send(requestOf(spans, traceId))
    const known = livekitHistory.filter(([, text]) => text !== 'Let me check.')
    expect((await callOf(traceId)).transcript).toEqual(turns(known))
  })
})

describe('a session of Pipecat', () => {
  test('may have used very many tools', async () => {
    const traceId = newTraceId()
    const asked = Array.from({ length: 200_000 }, (_, at) => ({ tool_calls: [{ id: `a${at}` }] }))
    const answered = asked.map((_, at) => ({ role: 'tool', tool_call_id: `b${at}`, content: '' }))
    const attributes = { input: JSON.stringify([...asked, ...answered]) }
    await send(requestOf([{ scope: 'pipecat', name: 'llm', id: 'llm', from: 0, to: 1, attributes }], traceId))
  })

  test('becomes a call with its transcript, tools and times', async () => {
    const of = await service.mintProject()
    await send(requestOf(pipecatSession, newTraceId()), of)
    expect(await callOf('CA_1', of)).toMatchObject({
      id: 'CA_1',
      status: 'completed',
      duration: 9.5,
      endedReason: null,
      isEngaged: true,
      callerNumber: '+15550100001',
      calledNumber: null,
      transcript: turns(pipecatHistory),
      createdAt: '2023-11-14T22:13:20.000Z',
    })
    const entry = { turn: null, name: null, text: null }
    expect(await detailsOf('CA_1', of)).toMatchObject({
      source: 'pipecat',
      agent: { id: 'front-desk', name: 'front-desk' },
      direction: 'inbound',
      latencyMs: 600,
      timeline: [
        { ...entry, atSeconds: 0.6, kind: 'turn', turn: 0 },
        { ...entry, atSeconds: 3.9, kind: 'turn', turn: 1 },
        { ...entry, atSeconds: 5.1, kind: 'turn', turn: 2 },
        { ...entry, atSeconds: 5.1, kind: 'tool_call', name: 'hours', text: '{"day":"monday"}' },
        { ...entry, atSeconds: 6, kind: 'tool_result', name: 'hours', text: '{"opens":"09:00"}' },
        { ...entry, atSeconds: 6.1, kind: 'turn', turn: 3 },
      ],
      metadata: { inputTokens: 31, firstTokenMs: 100 },
    })
  })

  test('was interrupted in earlier turns alone, since the last one always says so', async () => {
    const of = await service.mintProject()
    const spans = pipecatSession.map((span) => ({
      ...span,
      attributes: { ...span.attributes, ...(span.name === 'turn' ? { 'turn.was_interrupted': true } : {}) },
    }))
    const turnsOf = async () => {
      const { timeline } = await detailsOf('CA_1', of)
      return timeline.filter(({ kind }) => kind === 'turn').map(({ interrupted }) => interrupted)
    }
    // The last turn of what has arrived may turn out to be the last of all.
    await send(requestOf(spans.slice(0, 2), '5'.repeat(32)), of)
    expect(await turnsOf()).toEqual([false])
    await send(requestOf(spans.slice(2), '5'.repeat(32)), of)
    expect(await turnsOf()).toEqual([true, false, false, false])
  })
})

/** The call after requests, without what only tells when they came. */
async function afterRequests(requests: readonly object[], id: string) {
  const of = await service.mintProject()
  for (const request of requests) await send(request, of)
  const { updatedAt: _, ...call } = await callOf(id, of)
  return {
    call,
    details: await detailsOf(id, of),
    sessions: (await sessionsOf(of)).map(({ due_at }) => due_at),
  }
}

const own = [
  ['LiveKit', livekitSession, null],
  ['Pipecat', pipecatSession, 'CA_1'],
] as const

describe('whatever the order of the spans, their batches and repetitions', () => {
  test.each(own)('a session of %s ends in the same call', async (_, spans, callId) => {
    const traceId = newTraceId()
    const requests = spans.map((span) => requestOf([span], traceId))
    const id = callId ?? traceId
    const expected = await afterRequests([joined(requests)], id)
    await fc.assert(
      fc.asyncProperty(splitAndShuffled(requests), async (batches) => {
        expect(await afterRequests(batches, id)).toEqual(expected)
      }),
      runs(20),
    )
  })

  const captured = ['livekit-python', 'livekit-python-numbers', 'livekit-node', 'pipecat'] as const
  test.each(captured)('so does the real session %s, with the history that its agent had', async (name) => {
    const requests = capturedRequests(name)
    if (!requests) return skipped(`there are no captured spans of ${name}`)
    const { id, history, latencyMs, tools, replies } = capturedSessions[name]
    const expected = await afterRequests([joined(requests)], id)
    expect(expected.call.transcript).toEqual(turns(history))
    expect(expected.call.status).toBe('completed')
    expect(expected.details.latencyMs).toBe(latencyMs)
    const spoken = expected.details.timeline.filter(
      ({ kind, turn }) => kind === 'turn' && history[turn ?? 0]?.[0] === 'assistant',
    )
    expect<unknown>(
      spoken.map(({ atSeconds, interrupted, agentId, latencyMs }) => [
        Math.round(atSeconds * 10) / 10,
        interrupted,
        agentId,
        latencyMs && Object.values(latencyMs).map((part) => part && Math.round(part)),
      ]),
    ).toEqual(replies)
    const used = expected.details.timeline.filter(({ kind }) => kind.startsWith('tool'))
    expect(used.map(({ kind, name, text }) => [kind, name, JSON.parse(text ?? '')])).toEqual([...tools])
    await fc.assert(
      fc.asyncProperty(splitAndShuffled(requests), async (batches) => {
        expect(await afterRequests(batches, id)).toEqual(expected)
      }),
      { numRuns: 10 },
    )
  })
})

const story = 'Once upon a time there was'
const hours = (result: object): unknown[][] => [
  ['tool_call', 'opening_hours', { day: 'monday' }],
  ['tool_result', 'opening_hours', result],
]
const capturedSessions = {
  'livekit-python': {
    id: '82657ff6cab4e79ba3782e0b5c15cd86',
    history: [
      ['assistant', 'Hello, this is Ada.'],
      ['user', 'When do you open?'],
      ['assistant', 'At nine.'],
      ['user', 'Tell me a long story please'],
      ['assistant', story],
      ['user', 'Stop, thank you, bye'],
      ['assistant', 'Goodbye.'],
    ],
    latencyMs: 712.121,
    // When it was spoken, whether it was interrupted, by which agent, and the parts of its latency.
    replies: [
      [0.2, false, 'ada', [null, null, null, null, 203, null]],
      [5, false, 'ada', [1013, 501, 201, 101, 202, 2]],
      [9.7, true, 'ada', [712, 503, 201, 101, 207, null]],
      [14.2, false, 'ada', [707, 502, 201, 101, 202, null]],
    ],
    tools: hours({ opens: '09:00', day: 'monday' }),
  },
  'livekit-python-numbers': {
    id: 'a2911c47cfcc68f7ea75deef7ac2ce94',
    history: [
      ['user', 'Hi'],
      ['assistant', 'Hello.'],
    ],
    latencyMs: null,
    replies: [[0.2, false, 'default_agent', [null, null, null, 51, null, null]]],
    tools: [],
  },
  'livekit-node': {
    id: 'AJ_1',
    history: [
      ['user', 'When do you open?'],
      ['assistant', 'Let me check.'],
      ['assistant', 'At nine.'],
    ],
    latencyMs: null,
    replies: [
      [0, false, 'default_agent', [null, null, null, 15, null, null]],
      [0.1, false, 'default_agent', [null, null, null, 12, null, null]],
    ],
    tools: hours({ opens: '09:00' }),
  },
  pipecat: {
    id: 'conv-1',
    history: [
      ['assistant', 'Hello, this is Ada.'],
      ['user', 'When do you open?'],
      ['assistant', 'Let me check.'],
      ['assistant', 'At nine.'],
      ['user', 'Tell me a story'],
      [
        'assistant',
        `${story} a very long story. It went on and on for ever. Nobody wanted to hear the end of it.`,
      ],
      ['user', 'Stop, thank you, bye'],
      ['assistant', 'Goodbye.'],
    ],
    latencyMs: 524.781,
    replies: [
      [0.6, false, null, [null, null, null, 54, 102, null]],
      [4.9, false, null, [525, null, 101, 13, 101, null]],
      [5.9, false, null, [null, null, null, 7, 104, null]],
      [10.5, true, null, [538, null, 102, 10, 101, null]],
      [13.6, false, null, [519, null, 101, 6, 102, null]],
    ],
    tools: hours({ opens: '09:00' }),
  },
} as const

describe('what is kept of a session', () => {
  test('is what the call needs, and no secret', async () => {
    const of = await service.mintProject()
    for (const spans of [livekitSession, pipecatSession]) {
      expect(JSON.stringify(spans)).toContain('never-store-this')
      await send(requestOf(spans, newTraceId()), of)
    }
    const trace = { name: 'secret', bytes: Buffer.from('never-store-this') }
    expect(await findTraces(service.dataDir, [trace])).toEqual([])
    expect(JSON.stringify(service.logs)).not.toContain('never-store-this')
  })

  test('goes with the call, down to its bytes, and late spans do not bring it back', async () => {
    const of = await service.mintProject()
    const traceId = newTraceId()
    const word = newWord()
    const spans = livekitSession.map((span) => ({
      ...span,
      attributes: JSON.parse(JSON.stringify(span.attributes ?? {}).replace('When do you open?', word)),
    }))
    await send(requestOf(spans, traceId), of)
    if (!ofFilesOnly) expect(await findTraces(service.dataDir, tracesOfWord(word))).not.toEqual([])
    expect((await of.fetch(`/v1/calls/${traceId}`, { method: 'DELETE' })).status).toBe(200)
    expect(await sessionsOf(of)).toEqual([])
    await send(requestOf(spans, traceId), of)
    expect(await sessionsOf(of)).toEqual([])
    expect((await of.fetch(`/v1/calls/${traceId}`)).status).toBe(404)
    if (ofFilesOnly) return
    for (let tries = 0; tries < 100 && (await openErasures()) > 0; tries++) await Bun.sleep(100)
    expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
  })

  test('is nothing of a deleted call, also of spans that are no turns', async () => {
    for (const own of [null, newTraceId()]) {
      const of = await service.mintProject()
      const traceId = newTraceId()
      const metadata: Record<string, string> = own ? { 'callbook.call.id': own } : {}
      const spans = livekitSession.map((span) => ({
        ...span,
        attributes: { ...span.attributes, ...metadata },
      }))
      await send(requestOf(spans.slice(0, 4), traceId), of)
      const id = own ?? traceId
      expect((await of.fetch(`/v1/calls/${id}`, { method: 'DELETE' })).status).toBe(200)
      await send(
        requestOf(
          spans.filter(({ name }) => name === 'function_tool'),
          traceId,
        ),
        of,
      )
      expect(await sessionsOf(of)).toEqual([])
    }
  })

  test('goes with the project', async () => {
    const of = await service.mintProject()
    await send(requestOf(livekitSession.slice(0, 2), newTraceId()), of)
    expect(await sessionsOf(of)).toHaveLength(1)
    await service.services.projects.delete(of.projectId)
    await service.services.projectErasure.finish()
    expect(await sessionsOf(of)).toEqual([])
  })

  test("is each project's own", async () => {
    const [a, b] = [await service.mintProject(), await service.mintProject()]
    const traceId = newTraceId()
    await send(requestOf(livekitSession.slice(0, 3), traceId), a)
    await send(requestOf(livekitSession.slice(3, 11), traceId), b)
    expect((await callOf(traceId, a)).transcript).toEqual(turns(livekitHistory.slice(0, 1)))
    expect((await callOf(traceId, b)).transcript).toEqual(turns(livekitHistory.slice(1, 4)))
  })
})

async function openErasures(): Promise<number> {
  const [row] = await service.services.database.read.all<{ n: number }>(
    sql`select count(*) as n from erasures where done_at is null`,
  )
  return row?.n ?? -1
}
