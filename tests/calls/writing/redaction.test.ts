import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { redactionKinds } from '../../../src/redaction/kinds.ts'
import { addSource } from '../../sources/deliver.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { findTraces } from '../../support/traces.ts'

const service = await startService()
const project = await redactingProject({})

async function redactingProject(more: { keepNumbers?: 'last4' | 'none' }): Promise<TestProject> {
  const minted = await service.mintProject()
  await service.services.settings.change(minted.projectId, {
    redact: [...redactionKinds],
    country: 'US',
    ...more,
  })
  return minted
}

async function put(id: string, change: object, of = project): Promise<Response> {
  return await of.send('PUT', `/ingest/calls/${id}`, change)
}

async function read(id: string, of = project) {
  const call = await (await of.fetch(`/v1/calls/${id}`)).json()
  return { ...call, details: await (await of.fetch(`/v1/calls/${id}/details`)).json() }
}

const says = (...contents: string[]) => contents.map((content) => ({ role: 'user', content }))

describe('before anything of a call is written', () => {
  test('its texts are redacted, and counted in its details', async () => {
    const answer = await put('whole', {
      transcript: says('It is 415-555-2671.', 'Card 4111 1111 1111 1111', 'They told me [phone]'),
      summary: 'Wrote to ada@example.com from 415-555-2671',
      callAnalysis: { contact: [{ phone: '4155552671', orderId: '4155552671', score: 4155552671 }] },
      details: {
        timeline: [{ atSeconds: 1, kind: 'transfer', name: '+14155552671', text: '{"ssn":"123-45-6789"}' }],
        metadata: { iban: 'DE89370400440532013000' },
      },
    })
    const stored = await read('whole')
    expect(await answer.json()).toEqual((({ details: _, ...call }) => call)(stored))
    expect(stored).toMatchObject({
      transcript: says('It is [phone].', 'Card [card]', 'They told me [phone]'),
      summary: 'Wrote to [email] from [phone]',
      callAnalysis: { contact: [{ phone: '[phone]', orderId: '4155552671', score: 4155552671 }] },
      details: {
        timeline: [{ atSeconds: 1, kind: 'transfer', turn: null, name: '[phone]', text: '{"ssn":"[ssn]"}' }],
        metadata: { iban: '[iban]' },
        redacted: { phone: 4, card: 1, email: 1, ssn: 1, iban: 1 },
      },
    })
  })

  test('the names that the service gives its own texts say nothing of the digits in them', async () => {
    const order = 'Order 4242 4242 4242 4241'
    await put('order', {
      callAnalysis: { text: order, phone: { text: '4155552671' }, orderId: ['4155552671'] },
      details: {
        timeline: [{ atSeconds: 1, kind: 'tool_result', name: order, text: order, agentId: '+14155552671' }],
        metadata: { text: order, deep: { text: [order] }, textMe: '415 555 2671' },
      },
    })
    // As tools answer, and as such an answer stands within another.
    const answered = JSON.stringify([{ type: 'text', text: order }])
    for (const text of [answered, JSON.stringify({ answered })]) {
      await put('answer', { details: { timeline: [{ atSeconds: 1, kind: 'tool_result', text }] } })
      const { details } = await read('answer')
      expect([details.timeline[0]?.text, details.redacted]).toEqual([text, null])
    }
    expect(await read('order')).toMatchObject({
      callAnalysis: { text: order, phone: { text: '[phone]' }, orderId: ['4155552671'] },
      details: {
        timeline: [{ name: order, text: order, agentId: '+14155552671' }],
        metadata: { text: order, deep: { text: [order] }, textMe: '[phone]' },
        redacted: { phone: 2 },
      },
    })
  })

  test('the counts follow what the call now holds', async () => {
    const counted = async (change: object) => {
      expect([200, 201]).toContain((await put('counts', change)).status)
      return (await read('counts')).details.redacted
    }
    const turns = says('415-555-2671', 'no number', '415-555-2672 and a@b.example')
    expect(await counted({ appendTranscript: { at: 0, turns: turns.slice(0, 2) } })).toEqual({ phone: 1 })
    expect(await counted({ appendTranscript: { at: 0, turns } })).toEqual({ phone: 2, email: 1 })
    expect(await counted({ appendTranscript: { at: 1, turns: turns.slice(1) } })).toEqual({
      phone: 2,
      email: 1,
    })
    expect(await counted({ appendTranscript: { at: 3, turns: says('fine') } })).toEqual({
      phone: 2,
      email: 1,
    })
    expect(await counted({ metadata: { at: 'a@b.example' } })).toEqual({ phone: 2, email: 2 })
    expect(await counted({ metadata: { other: 'a@b.example' } })).toEqual({ phone: 2, email: 3 })
    expect(await counted({ metadata: { at: 'a@b.example', other: null } })).toEqual({ phone: 2, email: 2 })
    expect(await counted({ transcript: says('415-555-2671') })).toEqual({ phone: 1, email: 1 })
    expect(await counted({ metadata: null })).toEqual({ phone: 1 })
    expect(await counted({ transcript: [] })).toBe(null)
  })

  test('nobody but a source can add to the counts', async () => {
    await put('open-mark', { summary: '\ue000phone] and 415-555-2671' })
    const { summary, details } = await read('open-mark')
    expect({ summary, redacted: details.redacted }).toEqual({
      summary: '\ue000phone] and [phone]',
      redacted: { phone: 1 },
    })
  })

  test('a repeated append continues what is stored, and another number in its place is none', async () => {
    const append = { appendTranscript: { at: 0, turns: says('call 415-555-2671') } }
    const [first, again] = [await put('append', append), await put('append', append)]
    expect([first.status, again.status, await again.json()]).toEqual([201, 200, await first.json()])
    const other = { appendTranscript: { at: 0, turns: says('mail a@b.example') } }
    expect((await put('append', other)).status).toBe(409)
  })

  test('an append of before redaction was switched on can be repeated, and the call goes on', async () => {
    const minted = await service.mintProject()
    const raw = says('My number is 650-253-0000', 'And again 650-253-0000')
    const first = { appendTranscript: { at: 0, turns: raw.slice(0, 1) } }
    const before = await (await put('live', first, minted)).json()
    await service.services.settings.change(minted.projectId, { redact: [...redactionKinds], country: 'US' })
    const repeated = await put('live', first, minted)
    expect([repeated.status, await repeated.json()]).toEqual([200, before])
    expect((await put('live', { appendTranscript: { at: 0, turns: raw } }, minted)).status).toBe(200)
    const stored = await read('live', minted)
    expect(stored.transcript).toEqual(says('My number is 650-253-0000', 'And again [phone]'))
    expect(stored.details.redacted).toEqual({ phone: 1 })
    const other = { appendTranscript: { at: 0, turns: says('My number is 650-253-0001') } }
    expect((await put('live', other, minted)).status).toBe(409)
  })

  test('entries that are appended to a timeline are redacted and counted once, also when they are repeated', async () => {
    const entry = (text: string, atSeconds: number) => ({ atSeconds, kind: 'tool_call', name: 'dial', text })
    const entries = [entry('call 415-555-2671', 1), entry('and 415-555-2672', 2)]
    for (const part of [entries.slice(0, 1), entries, entries])
      expect((await put('entries', { appendTimeline: { at: 0, entries: part } })).status).toBeLessThan(202)
    const { details } = await read('entries')
    expect(details.timeline.map(({ text }: { text: string }) => text)).toEqual([
      'call [phone]',
      'and [phone]',
    ])
    expect(details.redacted).toEqual({ phone: 2 })
    const gap = await put('entries', { appendTimeline: { at: 3, entries: [] } })
    expect([gap.status, (await gap.json()).code]).toEqual([409, 'timeline_gap'])
  })

  test('a late event that is not merged is not counted', async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
    await put('late', { summary: 'done', occurredAt: at(2) })
    await put('late', { summary: 'call 415-555-2671', occurredAt: at(1) })
    expect(await read('late')).toMatchObject({ summary: 'done', details: { redacted: null } })
  })

  test('lines are redacted alike, and an export that is imported again keeps its counts', async () => {
    const line = { id: 'line', transcript: says('415-555-2671') }
    await project.fetch('/ingest/calls', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: JSON.stringify(line),
    })
    const stored = await read('line')
    expect(stored).toMatchObject({ transcript: says('[phone]'), details: { redacted: { phone: 1 } } })
    const { details, ...call } = stored
    const own = { source: null, review: null, redacted: details.redacted }
    for (let time = 0; time < 2; time++) {
      await service.services.ingest.putAll(project.projectId, [{ id: 'line', change: call, own }])
      expect(await read('line')).toEqual(stored)
    }
  })

  test('numbers of the call are kept by their last four digits, which find it, or not at all', async () => {
    const change = { callerNumber: '+1 (415) 555-4120', calledNumber: 'anonymous' }
    const last4 = await redactingProject({ keepNumbers: 'last4' })
    await put('a', change, last4)
    expect(await read('a', last4)).toMatchObject({ callerNumber: '…4120', calledNumber: 'anonymous' })
    for (const [filter, count] of [
      ['number=4120', 1],
      ['number=555', 0],
      ['callerNumber=%E2%80%A64120', 1],
    ])
      expect((await (await last4.fetch(`/v1/calls?${filter}`)).json()).data).toHaveLength(Number(count))
    const none = await redactingProject({ keepNumbers: 'none' })
    await put('a', change, none)
    expect(await read('a', none)).toMatchObject({ callerNumber: null, calledNumber: 'anonymous' })
  })
})

describe('what sources keep', () => {
  test('of an event that cannot be read holds no number, and is counted when it is read again', async () => {
    const vapi = await addSource(service, project, 'vapi')
    const message = {
      type: 'end-of-call-report',
      call: { id: 'failed', type: 'inboundPhoneCall', customer: { number: '+14155550199' } },
      startedAt: 'never',
      summary: 'Call +1 415 555 2671 or write to ada@example.com',
      artifact: { messages: [{ role: 'user', message: 'four one five, five five five, two six seven one' }] },
    }
    await vapi.send({ message })
    const [failure] = await service.services.sourceFailures.list(project.projectId, vapi.id)
    expect(failure).toMatchObject({ callId: 'failed', isKept: true })
    const kept = await service.services.sourceFailures.next(vapi.id, 0)
    expect(kept?.event).not.toMatch(/2671|ada@|six seven/)
    expect(kept?.event).toContain('+14155550199')
    await service.services.database.write.run(
      sql`update source_failures set event = replace(event, 'never', '2026-01-31T09:30:00Z') where source_id = ${vapi.id}`,
    )
    expect(await service.services.sourceEvents.readAgain(project.projectId, vapi.id)).toMatchObject({
      read: 1,
    })
    expect(await read('failed')).toMatchObject({
      callerNumber: '+14155550199',
      transcript: says('[phone]'),
      details: { redacted: { phone: 1 } },
    })
  })

  test('of a session of OpenTelemetry holds no number, and is counted with each request', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const turn = (spanId: string, name: string, at: number, text: string) => ({
      traceId,
      spanId,
      parentSpanId: 'root',
      scope: 'livekit-agents',
      service: undefined,
      userAttributes: new Map(),
      name,
      startMs: at,
      endMs: at + 1_000,
      events: [],
      attributes: new Map([
        ['lk.pii.user_transcript', text],
        ['lk.sip.phoneNumber', '+14155550198'],
      ]),
    })
    const { callSessions, database } = service.services
    const start = Date.parse('2026-01-31T09:30:00Z')
    for (const [at, text] of ['It is 415-555-2671', 'ada@example.com', 'one moment'].entries())
      await callSessions.take(project.projectId, [turn(`span${at}`, 'user_turn', start + at * 2_000, text)])
    expect(await read(traceId)).toMatchObject({
      transcript: says('It is [phone]', '[email]', 'one moment'),
      details: { redacted: { phone: 1, email: 1 } },
    })
    const [row] = await database.read.all<{ spans: string }>(sql`select spans from call_sessions`)
    expect(row?.spans).not.toMatch(/2671|ada@/)
  })
})

test('no file holds what was redacted', async () => {
  const numbers = ['415-555-2671', '4111 1111 1111', 'ada@example.com', '123-45-6789', 'DE8937040044']
  const traces = numbers.map((number) => ({ name: number, bytes: Buffer.from(number) }))
  expect(await findTraces(service.dataDir, traces)).toEqual([])
  // So that the search is known to find something.
  writeFileSync(join(service.dataDir, 'found.txt'), numbers.join('\n'))
  expect(await findTraces(service.dataDir, traces)).not.toEqual([])
})
