import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { startService, type TestProject } from '../../support/service.ts'
import { livekitSession, pipecatSession, requestOf, type TestSpan } from './spans.ts'

const service = await startService()

async function send(of: TestProject, spans: readonly TestSpan[], traceId: string): Promise<void> {
  const answer = await of.send('POST', '/ingest/otlp/v1/traces', requestOf(spans, traceId))
  expect([answer.status, await answer.text()]).toEqual([200, '{}'])
}

async function read(of: TestProject, id: string) {
  const call = await (await of.fetch(`/v1/calls/${id}`)).json()
  return { ...call, details: await (await of.fetch(`/v1/calls/${id}/details`)).json() }
}

function newTraceId(): string {
  return randomBytes(16).toString('hex')
}

/** The first spans of a session whose process was killed: neither says who called. */
const killed = pipecatSession.slice(0, 5)
const number = '+15550100077'

describe('what a user tells about a call', () => {
  const told = {
    'callbook.caller_number': number,
    'callbook.called_number': '+15550100002',
    'callbook.direction': 'outbound',
    'callbook.agent': 'night-desk',
    'callbook.cost_usd': '0.25',
    'callbook.metadata.campaign': 'winter',
    'callbook.metadata.vip': true,
  }
  const first = killed[0] as TestSpan
  const own = { scope: 'my-app', name: 'ring', id: 'ring', from: 0, to: 0.1 }
  const ways: [string, TestSpan[]][] = [
    ['on the resource', killed.map((span) => ({ ...span, resource: told }))],
    ['on a span', [{ ...first, attributes: { ...first.attributes, ...told } }, ...killed.slice(1)]],
    [
      'on a span of which nothing else is kept',
      [...killed, { ...own, scope: 'pipecat', name: 'service_setup', attributes: told }],
    ],
    ["on a span of the user's own, before any other", [{ ...own, attributes: told }, ...killed]],
  ]
  test.each(ways)('%s is known while the session lasts, and erases the call by number', async (_, spans) => {
    const of = await service.mintProject()
    const traceId = newTraceId()
    for (const span of spans) await send(of, [span], traceId)
    expect(await read(of, 'CA_1')).toMatchObject({
      status: 'live',
      callerNumber: number,
      calledNumber: '+15550100002',
      details: {
        direction: 'outbound',
        agent: { id: 'night-desk', name: 'night-desk' },
        costUsd: 0.25,
        metadata: { campaign: 'winter', vip: true },
      },
    })
    const erasure = await of.send('POST', '/v1/erasures', { number })
    expect([erasure.status, (await erasure.json()).calls]).toEqual([202, 1])
  })

  test('on a span overrules the resource, and later spans correct earlier ones, whatever comes first', async () => {
    const spans = pipecatSession.map((span, at) => ({
      ...span,
      resource: { 'callbook.metadata.at': 'resource', 'callbook.metadata.of': 'resource' },
      attributes: { ...span.attributes, 'callbook.metadata.at': at, 'callbook.cost_usd': at / 10 },
    }))
    for (const order of [spans, spans.toReversed()]) {
      const of = await service.mintProject()
      const traceId = newTraceId()
      for (const span of order) await send(of, [span], traceId)
      // The tenth span starts with the session; the eighth, the last voice, starts last.
      const { details } = await read(of, 'CA_1')
      expect([details.metadata.at, details.metadata.of, details.costUsd]).toEqual([7, 'resource', 0.7])
    }
  })

  test('ends the same when it goes back to an earlier value, or differs within one moment, whatever comes first', async () => {
    const says = (id: string, from: number, agent: string): TestSpan => ({
      scope: 'my-app',
      name: 'step',
      id,
      from,
      to: from + 0.1,
      attributes: { 'callbook.agent': agent, 'callbook.metadata.step': id },
    })
    const [a, b, c] = [says('a', 1, 'day-desk'), says('b', 2, 'night-desk'), says('c', 3, 'day-desk')]
    const same = { ...says('d', 3, 'day-desk'), resource: { 'callbook.metadata.step': 'resource' } }
    for (const order of [
      [a, b, c, same],
      [a, c, b, same],
      [c, a, same, b],
      [same, c, b, a],
    ]) {
      const of = await service.mintProject()
      const traceId = newTraceId()
      for (const span of [...killed, ...order]) await send(of, [span], traceId)
      const { details } = await read(of, 'CA_1')
      expect([details.agent.id, details.metadata.step]).toEqual(['day-desk', 'd'])
    }
  })

  test('of LiveKit is read too, and what cannot be is left out', async () => {
    const of = await service.mintProject()
    const traceId = newTraceId()
    const resource = {
      'callbook.agent': 'desk',
      'callbook.cost_usd': 'free',
      'callbook.direction': 'up',
      'callbook.metadata.': 'nothing',
    }
    await send(
      of,
      livekitSession.map((span) => ({ ...span, resource })),
      traceId,
    )
    const { details } = await read(of, traceId)
    expect([details.agent, details.costUsd, details.direction]).toEqual([
      { id: 'desk', name: 'desk', version: null },
      null,
      'inbound',
    ])
    expect(Object.keys(details.metadata)).not.toContain('')
  })

  test('keeps its metadata within the size that a call may have', async () => {
    const of = await service.mintProject()
    const traceId = newTraceId()
    const attributes = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`callbook.metadata.key${at}`, 'x'.repeat(1_000)]),
    )
    await send(of, [...pipecatSession, { ...(killed[0] as TestSpan), id: 'large', attributes }], traceId)
    const { transcript, details } = await read(of, 'CA_1')
    expect([transcript.length, details.metadata.inputTokens]).toEqual([4, 31])
    expect(Object.keys(details.metadata).length).toBeWithin(20, 60)
  })
})

test('a PUT beside tracing merges with it, in any order, and neither wipes the metadata of the other', async () => {
  const put = { callerNumber: number, metadata: { ticket: 7, inputTokens: 1 } }
  for (const order of ['before', 'between', 'after']) {
    const of = await service.mintProject()
    const traceId = newTraceId()
    const putNow = async () => expect((await of.send('PUT', '/ingest/calls/CA_2', put)).ok).toBe(true)
    const spans = pipecatSession.map((span) => ({
      ...span,
      attributes: JSON.parse(
        JSON.stringify(span.attributes)
          .replaceAll('CA=1', 'CA_2')
          .replace('"callbook.caller_number":"+15550100001",', ''),
      ),
    }))
    if (order === 'before') await putNow()
    await send(of, spans.slice(0, 5), traceId)
    if (order === 'between') await putNow()
    await send(of, spans.slice(5), traceId)
    if (order === 'after') await putNow()
    const call = await read(of, 'CA_2')
    expect(call).toMatchObject({
      status: 'completed',
      callerNumber: number,
      createdAt: '2023-11-14T22:13:20.000Z',
    })
    expect(call.details.metadata).toMatchObject({ ticket: 7, firstTokenMs: 100 })
    // Of one key the later counts.
    expect(call.details.metadata.inputTokens).toBe(order === 'after' ? 1 : 31)
  }
})
