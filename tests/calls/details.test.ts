import { describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { emptyDetails } from '../../src/calls/details.ts'
import type { CallDetails } from '../../src/calls/schemas.ts'
import type { OwnDetails } from '../../src/calls/writing/merge-details.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const callBytesMax = 600_000
const service = await startService({ env: { CALL_MAX_BYTES: String(callBytesMax) } })
const project = await service.mintProject()

const nothing = {
  source: null,
  agent: null,
  direction: null,
  recordingUrl: null,
  costUsd: null,
  latencyMs: null,
  costParts: null,
  usage: null,
  costSource: null,
  recording: emptyDetails.recording,
  sound: emptyDetails.sound,
  analysis: emptyDetails.analysis,
  timeline: [],
  review: null,
  redacted: null,
  metadata: null,
}
const ofPlatform = 'platform' as const
/** What an entry of the timeline has of which nothing was said. */
const untold = { interrupted: false, agentId: null, latencyMs: null }
const told = {
  agent: { id: 'front-desk', name: 'Front desk', version: 'v3' },
  direction: 'inbound',
  recordingUrl: 'https://recordings.example.com/a.mp3?sig=%2B',
  costUsd: 0.125,
  latencyMs: 640.5,
  costParts: [
    { name: 'model', usd: 0.021, kind: 'llm', provider: 'openai', model: 'gpt-4o' },
    { name: 'fee', usd: 0, kind: 'other', provider: null, model: null },
  ],
  usage: [
    {
      kind: 'llm',
      provider: 'openai',
      model: 'gpt-4o',
      inputTokens: 4200,
      cachedTokens: 3000,
      cacheWriteTokens: null,
      audioInputTokens: null,
      outputTokens: 310,
      audioOutputTokens: null,
      characters: null,
      seconds: null,
    },
  ],
  timeline: [
    {
      atSeconds: 0,
      kind: 'turn',
      turn: 0,
      name: null,
      text: null,
      interrupted: true,
      agentId: 'front',
      latencyMs: { total: 900, endOfTurn: 0, transcription: 20.5, model: null, voice: null, tool: 300 },
    },
    {
      atSeconds: 1.5,
      kind: 'tool_call',
      turn: null,
      name: 'find_booking',
      text: '{"day":"Friday"}',
      ...untold,
    },
  ],
  metadata: { crm: 'SFDC-42', list: ['"', 1.5, null] },
}

function put(id: string, body: unknown, of = project): Promise<Response> {
  return of.send('PUT', `/ingest/calls/${id}`, body)
}

async function putDetails(id: string, details: unknown): Promise<CallDetails> {
  const answer = await put(id, { details })
  expect([200, 201]).toContain(answer.status)
  return await detailsOf(id)
}

async function detailsOf(id: string, of = project): Promise<CallDetails> {
  const answer = await of.fetch(`/v1/calls/${id}/details`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  return await answer.json()
}

/** What the service itself says of a call. */
async function say(id: string, own: OwnDetails): Promise<void> {
  const [result] = await service.services.ingest.putAll(project.projectId, [{ id, change: {}, own }])
  if (result instanceof Error) throw result
}

async function changeSeqOf({ projectId }: TestProject): Promise<number> {
  const [row] = await rowsOf<{ n: number }>(sql`select change_seq as n from projects where id = ${projectId}`)
  return row?.n ?? -1
}

function rowsOf<Row>(query: SQL): Promise<Row[]> {
  return service.services.database.read.all<Row>(query)
}

describe('GET /v1/calls/:id/details', () => {
  test('has every member of a call of which nothing more is known, in the documented order', async () => {
    await put('plain', { summary: 'x' })
    const answer = await project.fetch('/v1/calls/plain/details')
    expect(await answer.text()).toBe(JSON.stringify(nothing))
  })

  test('reads large details too', async () => {
    const timeline = Array.from({ length: 9 }, (_, at) => ({
      atSeconds: at,
      kind: 'other',
      text: 'x'.repeat(60_000),
    }))
    const details = await putDetails('large', { timeline })
    expect(details.timeline.map(({ text }) => text?.length)).toEqual(Array(9).fill(60_000))
    await put('large', { appendTranscript: { at: 0, turns: [{ role: 'user', content: 'Hi' }] } })
    await put('large', { details: { costUsd: 1 } })
    expect(await detailsOf('large')).toEqual({ ...details, costUsd: 1, costSource: ofPlatform })
  })
})

describe('details in PUT /ingest/calls/:id', () => {
  test('are stored beside the call, whose document stays as it is but for updatedAt', async () => {
    const before = await (await put('beside', { summary: 'x', updatedAt: '2026-01-01T00:00:00Z' })).json()
    const seq = await changeSeqOf(project)
    const after = await (await put('beside', { details: told })).json()
    expect(Object.keys(after)).toHaveLength(13)
    expect(after).toEqual({ ...before, updatedAt: after.updatedAt })
    expect(after.updatedAt > before.updatedAt).toBe(true)
    expect(await (await project.fetch('/v1/calls/beside')).json()).toEqual(after)
    expect(await detailsOf('beside')).toEqual({ ...nothing, ...told, costSource: ofPlatform } as CallDetails)
    expect(await changeSeqOf(project)).toBe(seq + 1)
  })

  test('sent again change nothing', async () => {
    const first = await (await put('twice', { details: told })).text()
    const seq = await changeSeqOf(project)
    expect(await (await put('twice', { details: told })).text()).toBe(first)
    expect(await (await put('twice', { details: {} })).text()).toBe(first)
    expect(await changeSeqOf(project)).toBe(seq)
  })

  test('replace member by member; null clears, and a change of the call leaves them alone', async () => {
    await putDetails('members', told)
    await put('members', { summary: 'said', transcript: [{ role: 'user', content: 'Hi' }] })
    for (const [name, value] of Object.entries(told)) {
      const whole = { ...nothing, ...told, costSource: ofPlatform }
      const cleared = {
        ...whole,
        [name]: name === 'timeline' ? [] : null,
        costSource: name === 'costUsd' ? null : ofPlatform,
      }
      expect(await putDetails('members', { [name]: null })).toEqual(cleared as CallDetails)
      expect(await putDetails('members', { [name]: value })).toEqual(whole as CallDetails)
    }
    const changed = { agent: { id: 'b' }, timeline: [{ atSeconds: 9, kind: 'transfer' }] }
    expect(await putDetails('members', changed)).toEqual({
      ...nothing,
      ...told,
      costSource: ofPlatform,
      agent: { id: 'b', name: null, version: null },
      timeline: [{ atSeconds: 9, kind: 'transfer', turn: null, name: null, text: null, ...untold }],
    } as CallDetails)
  })

  test('have no unknown members, and cannot say what only the service says', async () => {
    const review = { evaluation: 'fail', note: 'x', labels: ['a'], by: 'x', at: '2026-01-01T00:00:00.000Z' }
    const details = await putDetails('unknown', {
      source: 'vapi',
      review,
      redacted: { phone: 1 },
      costSource: 'computed',
      other: 1,
      agent: { id: 'a', other: 1 },
      timeline: [{ atSeconds: 0, kind: 'other', other: 1 }],
    })
    expect(details).toEqual({
      ...nothing,
      agent: { id: 'a', name: null, version: null },
      timeline: [{ atSeconds: 0, kind: 'other', turn: null, name: null, text: null, ...untold }],
    })
  })

  test('have the parts of a latency that were sent, in the documented order, and null for the others', async () => {
    const latencyMs = { voice: 120, other: 1, total: 900 }
    await put('latency', { details: { timeline: [{ atSeconds: 0, kind: 'turn', turn: 0, latencyMs }] } })
    const answer = await project.fetch('/v1/calls/latency/details')
    const all = '{"total":900,"endOfTurn":null,"transcription":null,"model":null,"voice":120,"tool":null}'
    expect(await answer.text()).toContain(
      `"text":null,"interrupted":false,"agentId":null,"latencyMs":${all}}]`,
    )
  })

  test('find the call by each agent in its timeline, until others take their place', async () => {
    const of = await service.mintProject()
    const agents = (...ids: (string | null)[]) => ({
      timeline: ids.map((agentId) => ({ atSeconds: 0, kind: 'turn', agentId, text: '"agentId":"fake"' })),
    })
    const found = async (query: string) => {
      const { data, pagination } = await (await of.fetch(`/v1/calls?${query}&fields=id`)).json()
      expect(pagination.total).toBe(data.length)
      return data.map(({ id }: { id: string }) => id).sort()
    }
    await put('a', { details: { agent: { id: 'x' }, ...agents('x', 'y', 'é"\\', null, 'y') } }, of)
    await put('b', { details: { agent: { id: 'y' }, ...agents('x') } }, of)
    await put('c', { details: agents('y') }, of)
    await put('d', { summary: 'x' }, of)
    expect(await found('agentId=x')).toEqual(['a', 'b'])
    expect(await found('agentId=y')).toEqual(['a', 'b', 'c'])
    expect(await found('agentId=x,y')).toEqual(['a', 'b', 'c'])
    expect(await found(`agentId=${encodeURIComponent('é"\\')}`)).toEqual(['a'])
    expect(await found('agentId=fake')).toEqual([])
    await put('d', { details: agents(null) }, of)
    await put('e', { details: agents('x'.repeat(200), 'none') }, of)
    expect(await found('agentId=none')).toEqual(['d'])
    expect(await found('agentId=none,y')).toEqual(['a', 'b', 'c', 'd'])
    for (const id of ['d', 'e']) await of.fetch(`/v1/calls/${id}`, { method: 'DELETE' })
    const { agentId } = await service.services.calls.facets(of.projectId)
    expect(agentId).toEqual([
      { value: 'y', calls: 3 },
      { value: 'x', calls: 2 },
      { value: 'é"\\', calls: 1 },
    ])
    await put('a', { details: agents('z') }, of)
    await put('a', { summary: 'later' }, of)
    expect([await found('agentId=y'), await found('agentId=x,z')]).toEqual([
      ['b', 'c'],
      ['a', 'b'],
    ])
    const many = Array.from({ length: 100 }, (_, at) => `agent${at}`)
    await put('a', { details: agents(...many) }, of)
    expect([await found('agentId=agent0'), await found('agentId=agent99')]).toEqual([['a'], []])
  })

  test('share their metadata with the field of that name, and both are merged by key', async () => {
    await put('metadata', { metadata: { a: 1 } })
    expect((await detailsOf('metadata')).metadata).toEqual({ a: 1 })
    expect((await putDetails('metadata', { metadata: { b: 2 } })).metadata).toEqual({ a: 1, b: 2 })
    expect((await putDetails('metadata', { metadata: { a: null, b: 3 } })).metadata).toEqual({ b: 3 })
    const answer = await put('metadata', { metadata: { c: 'x'.repeat(65_526) } })
    const full = await expectProblem(answer, 'invalid_request')
    expect(full.errors).toEqual([
      { field: 'metadata', message: 'would make metadata of more than 65536 bytes of JSON' },
    ])
    await put('metadata', { metadata: null })
    expect(await detailsOf('metadata')).toEqual(nothing)
    const both = await put('metadata', { metadata: { a: 1 }, details: { metadata: { a: 1 } } })
    const problem = await expectProblem(both, 'invalid_request')
    expect(problem.errors).toEqual([
      { field: 'details.metadata', message: 'cannot come together with metadata' },
    ])
  })

  test('of a late event only fill what is still empty', async () => {
    const late = '2026-01-01T00:00:00Z'
    await put('late', { occurredAt: '2026-01-02T00:00:00Z', details: { agent: { id: 'new' } } })
    const { agent: _, ...rest } = told
    await put('late', { occurredAt: late, details: { ...rest, agent: { id: 'old' } } })
    const agent = { id: 'new', name: null, version: null }
    const expected = { ...nothing, ...rest, costSource: ofPlatform, agent } as CallDetails
    expect(await detailsOf('late')).toEqual(expected)
    await put('late', { occurredAt: late, details: { agent: null, timeline: null, costUsd: null } })
    expect(await detailsOf('late')).toEqual(expected)
  })

  test('come together with turns that are appended', async () => {
    await put('live', { transcript: [{ role: 'user', content: 'Hi' }] })
    for (let at = 1; at < 4; at++) {
      const turns = [{ role: 'assistant', content: `${at}` }]
      const timeline = [{ atSeconds: at, kind: 'turn', turn: at }]
      await put('live', { appendTranscript: { at, turns }, details: { timeline } })
      await put('live', { appendTranscript: { at, turns } })
    }
    expect((await (await project.fetch('/v1/calls/live')).json()).transcript).toHaveLength(4)
    expect((await detailsOf('live')).timeline).toMatchObject([{ atSeconds: 3, turn: 3 }])
  })

  const long = 'x'.repeat(65_537)
  const entry = { atSeconds: 0, kind: 'other' }
  test.each([
    [null, ['details']],
    [[], ['details']],
    [{ agent: 'a' }, ['details.agent']],
    [{ agent: { name: 'a' } }, ['details.agent.id']],
    [{ agent: { id: '' } }, ['details.agent.id']],
    [{ agent: { id: 'x'.repeat(201), name: 'x'.repeat(201) } }, ['details.agent.id', 'details.agent.name']],
    [{ direction: 'in' }, ['details.direction']],
    [{ recordingUrl: 'javascript:alert(1)' }, ['details.recordingUrl']],
    [{ recordingUrl: 'ftp://example.com/a' }, ['details.recordingUrl']],
    [{ recordingUrl: 'https://example.com/a b' }, ['details.recordingUrl']],
    [{ recordingUrl: `https://${'x'.repeat(4_096)}` }, ['details.recordingUrl']],
    [{ costUsd: -0.01, latencyMs: -1 }, ['details.costUsd', 'details.latencyMs']],
    [{ costUsd: '1' }, ['details.costUsd']],
    [{ agent: { id: 'a', version: 'x'.repeat(201) } }, ['details.agent.version']],
    [
      { costParts: [{ usd: 1 }, { name: '', usd: -1 }] },
      ['details.costParts.0.name', 'details.costParts.1.name', 'details.costParts.1.usd'],
    ],
    [{ costParts: Array(51).fill({ name: 'a', usd: 1 }) }, ['details.costParts']],
    [{ usage: [{ kind: 'x' }, { inputTokens: 1 }] }, ['details.usage.0.kind', 'details.usage.1.kind']],
    [
      { usage: [{ kind: 'tts', characters: -1, seconds: '1' }] },
      ['details.usage.0.characters', 'details.usage.0.seconds'],
    ],
    [
      {
        usage: [
          { kind: 'llm', model: 'a' },
          { kind: 'llm', provider: null, model: 'a' },
        ],
      },
      ['details.usage.1'],
    ],
    [{ timeline: {} }, ['details.timeline']],
    [{ timeline: [{}] }, ['details.timeline.0.atSeconds', 'details.timeline.0.kind']],
    [{ timeline: [entry, { ...entry, kind: 'x' }] }, ['details.timeline.1.kind']],
    [{ timeline: [{ ...entry, turn: 0.5 }] }, ['details.timeline.0.turn']],
    [
      { timeline: [{ ...entry, interrupted: null, agentId: '', latencyMs: { total: -1, voice: '1' } }] },
      [
        'details.timeline.0.agentId',
        'details.timeline.0.interrupted',
        'details.timeline.0.latencyMs.total',
        'details.timeline.0.latencyMs.voice',
      ],
    ],
    [
      { timeline: [{ ...entry, atSeconds: -1, text: long }] },
      ['details.timeline.0.atSeconds', 'details.timeline.0.text'],
    ],
    [{ timeline: Array(20_001).fill(entry) }, ['details.timeline']],
    [{ metadata: { a: long } }, ['details.metadata']],
    [{ timeline: [{ ...entry, text: 'a\0b' }] }, ['details.timeline.0.text']],
  ])('that cannot be are 400 and named: %#', async (details, fields) => {
    const answer = await put('refused', { details })
    const problem = await expectProblem(answer, 'invalid_request')
    expect(problem.errors?.map(({ field }) => field).sort()).toEqual(fields)
    expect((await project.fetch('/v1/calls/refused')).status).toBe(404)
  })

  test('say what they want in sentences', async () => {
    const answer = await put('refused', { details: { direction: 'in', recordingUrl: 'x' } })
    expect((await answer.json()).errors).toEqual([
      { field: 'details.direction', message: 'must be one of inbound, outbound, web' },
      { field: 'details.recordingUrl', message: 'must be an http or https URL' },
    ])
  })

  test('are at most CALL_MAX_BYTES together with the call, also when turns are appended', async () => {
    await putDetails('heavy', { costUsd: 1 })
    const timeline = Array.from({ length: 10 }, () => ({ ...entry, text: 'é'.repeat(60_000) }))
    const problem = await expectProblem(
      await put('heavy', { summary: 'x', details: { timeline } }),
      'payload_too_large',
    )
    expect(problem.detail).toContain(`${callBytesMax} bytes`)
    expect(await detailsOf('heavy')).toEqual({ ...nothing, costUsd: 1, costSource: ofPlatform })
    const turn = (content: string) => ({ role: 'user', content })
    expect(
      (await put('heavy', { transcript: [turn('x'.repeat(500_000))], details: { timeline: null } })).ok,
    ).toBe(true)
    expect((await put('heavy', { details: { timeline: timeline.slice(1) } })).status).toBe(413)
    expect((await put('heavy', { details: { timeline: [{ ...entry, text: 'x'.repeat(65_000) }] } })).ok).toBe(
      true,
    )
    const turns = [turn('x'.repeat(2_000))]
    const append = (at: number) => put('heavy', { appendTranscript: { at, turns } })
    let at = 1
    while ((await append(at)).ok) at++
    expect(at).toBeWithin(8, 20)
    expect((await (await project.fetch('/v1/calls/heavy')).json()).summary).toBeNull()
    expect((await (await project.fetch('/v1/calls/heavy/details')).text()).length).toBeLessThan(100_000)
  })
})

describe('what the service itself says of a call', () => {
  const review = {
    evaluation: null,
    note: null,
    labels: ['refund', 'vip'],
    by: 'Ada',
    at: '2026-01-01T00:00:00.000Z',
  }

  test('stands in its details and its head, and survives what platforms send', async () => {
    await putDetails('own', { agent: { id: 'a' } })
    await say('own', { source: 'vapi', review, redacted: { phone: 2 } })
    await put('own', { details: { direction: 'web' }, summary: 'x' })
    const agent = { id: 'a', name: null, version: null }
    const expected = { ...nothing, source: 'vapi', agent, direction: 'web', review, redacted: { phone: 2 } }
    expect(await detailsOf('own')).toEqual(expected as CallDetails)
    const { data } = await service.services.calls.rows(project.projectId, { limit: '200' })
    const marks = { evaluation: null, reviewed: false, noted: false, flagged: false }
    const head = { source: 'vapi', agentId: 'a', review: { ...marks, labels: review.labels } }
    expect(data.find(({ id }) => id === 'own')).toMatchObject(head)
  })

  test('its labels find the call until they are replaced or the call is deleted', async () => {
    const find = async (label: string) => {
      const { data } = await (await project.fetch(`/v1/calls?label=${label}&fields=id`)).json()
      return data.some(({ id }: { id: string }) => id === 'labels')
    }
    await say('labels', { review })
    expect([await find('vip'), await find('refund'), await find('refund,vip')]).toEqual([true, true, true])
    expect([await find('none'), await find('none,vip')]).toEqual([false, true])
    await say('labels', { review: { ...review, labels: ['vip', 'a,b'] } })
    expect([await find('vip'), await find('refund'), await find('a%5C%2Cb')]).toEqual([true, false, true])
    await say('labels', { review: null })
    expect(await find('vip,a%5C%2Cb')).toBe(false)
    await say('labels', { review: { ...review, labels: [] } })
    expect([await find('none'), await find('vip')]).toEqual([true, false])
    await say('labels', { review: null })
    expect([await find('none'), await find('vip,none')]).toEqual([true, true])
    expect(await detailsOf('labels')).toEqual(nothing)
    await say('labels', { review })
    await project.fetch('/v1/calls/labels', { method: 'DELETE' })
    expect(await find('vip')).toBe(false)
  })
})
