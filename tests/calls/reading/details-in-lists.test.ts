import { describe, expect, test } from 'bun:test'
import { emptyDetails } from '../../../src/calls/details.ts'
import { redactionKinds } from '../../../src/redaction/kinds.ts'
import { expectProblem } from '../../support/problem.ts'
import { receiverEnv, startReceiver, verify } from '../../support/receiver.ts'
import { startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { said } from '../put-calls.ts'

const ids = ['plain', 'told', 'heavy', 'live']

const receiver = await startReceiver()
const service = await startService({ env: receiverEnv })
const project = await service.mintProject()
const text = '}],"review":{"note":1},"timeline":[ü'
const timeline = [{ atSeconds: 1, kind: 'tool_call' as const, turn: 0, name: 'x', text }]
const review = {
  evaluation: 'fail',
  note: '=1+1',
  labels: ['vip', 'a;b'],
  reviewed: true,
  flaggedTurns: [0, 2],
  by: 'Ada',
  at: '2026-01-05T00:00:00.000Z',
}
const agent = { id: 'front-desk', name: ',"timeline":' }
const details = { agent, costUsd: 0.12, latencyMs: 640, direction: 'web' as const, timeline }
const metadata = { campaign: 'winter', 'a.b, c': [1, { d: null }], n: -1.5 }
const heavy = [{ atSeconds: 1, kind: 'other' as const, text: 'ü'.repeat(60_000) }]
const createdAt = (n: number) => new Date(Date.UTC(2026, 0, 5, n)).toISOString()
await service.services.ingest.putAll(project.projectId, [
  { id: 'plain', change: { createdAt: createdAt(4), summary: '}}', callAnalysis: { a: {} } } },
  {
    id: 'told',
    change: { createdAt: createdAt(3), status: 'completed', details, metadata, ...said('"}') },
    own: { source: 'vapi', review },
  },
  { id: 'heavy', change: { createdAt: createdAt(2), details: { timeline: heavy } } },
  { id: 'live', change: { createdAt: createdAt(1), ...said('one') } },
])
// Stored as a part, beside the document.
const turns = said('two ✓').transcript
await project.send('PUT', '/ingest/calls/live', { appendTranscript: { at: 1, turns } })

async function textOf(path: string, accept = 'application/json'): Promise<string> {
  const answer = await project.fetch(path, { headers: { accept } })
  expect(answer.status).toBe(200)
  return await answer.text()
}

/** The call as it stands in a list with details, made of the answers to its own requests. */
async function detailed(id: string, path = `/v1/calls/${id}`): Promise<string> {
  return `${(await textOf(path)).slice(0, -1)},"details":${await textOf(`/v1/calls/${id}/details`)}}`
}

describe('a list with details=include', () => {
  test('has each call as it is by itself, with its details as its last member, byte for byte', async () => {
    const expected = await Promise.all(ids.map((id) => detailed(id)))
    const listed = await textOf('/v1/calls?details=include')
    expect(listed.split('],"pagination"')[0]).toBe(`{"data":[${expected.join(',')}`)
    expect(JSON.parse(listed).pagination).toMatchObject({ total: 4, next: null })
    expect(await textOf('/v1/calls?details=include&order=createdAt', 'application/x-ndjson')).toBe(
      expected
        .toReversed()
        .map((call) => `${call}\n`)
        .join(''),
    )
    const { data, pagination } = JSON.parse(await textOf('/v1/calls?details=include&limit=1&offset=1'))
    expect([data.length, data[0].id, pagination.total]).toEqual([1, 'told', 4])
    const next = JSON.parse(await textOf(`/v1/calls?details=include&limit=1&cursor=${pagination.next}`))
    expect(next.data[0].id).toBe('heavy')
    const found = JSON.parse(await textOf('/v1/calls?details=include&agentId=front-desk')).data
    expect(found).toEqual([JSON.parse(expected[1] ?? '')])
  })

  test('has the details beside some of the fields', async () => {
    const details = await textOf('/v1/calls/told/details')
    const line = `{"id":"told","status":"completed","details":${details}}`
    const query = 'details=include&fields=status&source=vapi'
    expect(await textOf(`/v1/calls?${query}`, 'application/x-ndjson')).toBe(`${line}\n`)
    expect((await textOf(`/v1/calls?${query}`)).split('],"pagination"')[0]).toBe(`{"data":[${line}`)
  })

  test('is made in parts whose size counts the details', async () => {
    const heavyProject = await service.mintProject()
    const timeline = [{ atSeconds: 1, kind: 'other' as const, text: 'x'.repeat(60_000) }]
    await service.services.ingest.putAll(
      heavyProject.projectId,
      Array.from({ length: 30 }, (_, n) => ({ id: `c${n}`, change: { details: { timeline } } })),
    )
    const { calls } = service.services
    const exportAll = calls.export.bind(calls)
    const sizes: number[] = []
    calls.export = async function* (...parameters: Parameters<typeof exportAll>) {
      for await (const part of exportAll(...parameters)) {
        sizes.push(part.length)
        yield part
      }
    }
    const headers = { accept: 'application/x-ndjson' }
    const text = await (await heavyProject.fetch('/v1/calls?details=include', { headers })).text()
    calls.export = exportAll
    expect(text.split('\n')).toHaveLength(31)
    expect(Math.max(...sizes)).toBeLessThan(400_000)
  })

  test('is a change of its tag when details alone change, and 304 while they do not', async () => {
    const first = await project.fetch('/v1/calls?details=include')
    await first.arrayBuffer()
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    const get = async () => (await project.fetch('/v1/calls?details=include', { headers })).status
    expect(await get()).toBe(304)
    await project.send('PUT', '/ingest/calls/plain', { details: { costUsd: 1 } })
    expect(await get()).toBe(200)
    await project.send('PUT', '/ingest/calls/plain', { details: { costUsd: null } })
  })

  test.each(['details=all', 'details=', 'details=include,include'])('%s is 400', async (query) => {
    const answer = await project.fetch(`/v1/calls?${query}`)
    const { errors } = await expectProblem(answer, 'invalid_request')
    expect(errors).toMatchObject([{ field: 'details' }])
  })
})

describe('CSV', () => {
  const csv = (query: string) => textOf(`/v1/calls?source=vapi&${query}`, 'text/csv')

  test('has the columns of details that `fields` names', async () => {
    const fields = 'details.costUsd,status,details.agent.id,details.review.labels,details.metadata.campaign'
    expect(await csv(`fields=${fields}`)).toBe(
      'id,status,details.agent.id,details.costUsd,details.review.labels,details.metadata.campaign\r\n' +
        'told,completed,front-desk,0.12,"vip, a;b",winter\r\n',
    )
    const more = 'fields=details.metadata.a.b%5C, c&fields=details.metadata.none,details.agent.name'
    expect(await csv(more)).toBe(
      'id,details.agent.name,"details.metadata.a.b, c",details.metadata.none\r\n' +
        'told,",""timeline"":","[1,{""d"":null}]",\r\n',
    )
    expect(await textOf('/v1/calls?fields=details.source,details.metadata.constructor', 'text/csv')).toBe(
      'id,details.source,details.metadata.constructor\r\nplain,,\r\ntold,vapi,\r\nheavy,,\r\nlive,,\r\n',
    )
  })

  test('has all of them with details=include', async () => {
    const [head, line] = (await csv('fields=status&details=include')).split('\r\n')
    expect(head).toBe(
      'id,status,details.source,details.agent.id,details.agent.name,details.agent.version,details.direction,' +
        'details.recordingUrl,details.costUsd,details.latencyMs,details.costSource,details.recording.state,details.recording.reason,' +
        'details.recording.contentType,details.recording.bytes,details.recording.durationSeconds,' +
        'details.recording.channels,details.recording.keptAt,details.recording.mutedSeconds,details.recording.muted,' +
        `${Object.keys(emptyDetails.sound)
          .map((name) => `details.sound.${name}`)
          .join()},` +
        'details.analysis.state,details.analysis.version,details.analysis.criteria,' +
        'details.review.evaluation,details.review.note,details.review.labels,' +
        'details.review.reviewed,details.review.flaggedTurns,details.review.criteria,details.review.assignee,' +
        'details.review.by,details.review.at,' +
        'details.redacted,details.metadata',
    )
    expect(line).toStartWith(
      'told,completed,vapi,front-desk,",""timeline"":",,web,,0.12,640,platform,none,,,,,,,,,none,,,,,,,,,,,,,,,,,,none,,{},fail,\'=1+1,"vip, a;b",true,"0, 2",,,Ada,' +
        '2026-01-05T00:00:00.000Z,,"{""campaign"":""winter""',
    )
  })

  test.each(['details.timeline', 'details.agent', 'details.x', 'details', 'details.metadata.'])(
    'has no column %s',
    async (name) => {
      const headers = { accept: 'text/csv' }
      const answer = await project.fetch(`/v1/calls?fields=${name}`, { headers })
      const { errors } = await expectProblem(answer, 'invalid_request')
      expect(errors).toMatchObject([{ field: 'fields' }])
      // Of JSON, `details=include` has them.
      expect((await project.fetch(`/v1/calls?fields=details.costUsd`)).status).toBe(400)
    },
  )
})

test('changes with include=details have the calls with their details', async () => {
  const { data } = JSON.parse(await textOf('/v1/changes?include=details'))
  for (const { call } of data) expect(call).toEqual(JSON.parse(await detailed(call.id)))
  expect(data.map(({ call }: { call: { id: string } }) => call.id).sort()).toEqual(ids.toSorted())
  const plain = JSON.parse(await textOf('/v1/changes'))
  expect(plain.data.every(({ call }: { call: object }) => !('details' in call))).toBe(true)
  const stream = await project.fetch('/v1/changes?include=details', {
    headers: { accept: 'text/event-stream' },
  })
  let text = ''
  const reader = stream.body?.getReader()
  while (!text.includes('front-desk')) text += Buffer.from((await reader?.read())?.value ?? []).toString()
  await reader?.cancel()
  const answer = await project.fetch('/v1/changes?include=all')
  const { errors } = await expectProblem(answer, 'invalid_request')
  expect(errors).toEqual([{ field: 'include', message: 'must be call, details or none' }])
})

test('a webhook with details gets the calls of its events with them, another one without', async () => {
  const own = await service.mintProject()
  const { webhooks } = service.services
  const url = `${receiver.url}/${own.projectId}`
  const webhook = await webhooks.create(own.projectId, { url: `${url}/details`, details: true })
  await webhooks.create(own.projectId, { url: `${url}/plain` })
  expect((await webhooks.list(own.projectId)).map(({ details }) => details)).toEqual([true, false])
  const change = { status: 'completed', details: { costUsd: 0.5 }, metadata: { campaign: 'winter' } }
  await own.send('PUT', '/ingest/calls/a', change)
  const received = (path: string) =>
    receiver.received.filter((event) => event.path.endsWith(`/${own.projectId}/${path}`))
  await until(() => received('details').length === 1 && received('plain').length === 1)
  const [event] = received('details')
  if (event) verify(webhook.secret, event)
  const call = await (await own.fetch('/v1/calls/a')).json()
  const details = await (await own.fetch('/v1/calls/a/details')).json()
  expect(event?.data.call).toEqual({ ...call, details })
  expect(received('plain')[0]?.data.call).toEqual(call)
})

test('a webhook with details gets them redacted, again in a replay, and nothing of a deleted call', async () => {
  const own = await service.mintProject()
  await service.services.settings.change(own.projectId, { redact: [...redactionKinds], country: 'US' })
  const url = `${receiver.url}/${own.projectId}`
  const { id } = await service.services.webhooks.create(own.projectId, { url, details: true })
  const received = () => receiver.received.filter(({ path }) => path.endsWith(`/${own.projectId}`))
  const timeline = [{ atSeconds: 1, kind: 'tool_call', text: 'Call +1 555 729 4053' }]
  await own.send('PUT', '/ingest/calls/a', { status: 'completed', details: { timeline } })
  await until(() => received().length === 1)
  await service.services.webhooks.replay(own.projectId, id, 0)
  await until(() => received().length === 2)
  const call = await (await own.fetch('/v1/calls/a')).json()
  const details = await (await own.fetch('/v1/calls/a/details')).json()
  expect(details).toMatchObject({ timeline: [{ text: 'Call [phone]' }], redacted: { phone: 1 } })
  expect(received().map(({ data }) => data.call)).toEqual([1, 2].map(() => ({ ...call, details })))
  await own.fetch('/v1/calls/a', { method: 'DELETE' })
  await until(() => received().length === 3)
  expect(received().at(-1)).toMatchObject({ type: 'call.deleted' })
  expect(Object.keys(received().at(-1)?.data ?? {}).sort()).toEqual(['ref', 'seq'])
})
