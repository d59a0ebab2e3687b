import { beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { ImportReport } from '../../../src/sources/history/imports.ts'
import { json, status } from '../../recordings/fetching/fake-storage.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { addSource } from '../deliver.ts'
import {
  apiKey,
  type FakeCall,
  type FakeName,
  type FakePlatform,
  pastCalls,
  startPlatform,
} from './fake-platforms.ts'

let aheadMs = 0
const env = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' }
const service = await startService({ env, now: () => Date.now() + aheadMs })
const { sourceImports, database, webhooks } = service.services
const dayMs = 86_400_000
const names: FakeName[] = ['vapi', 'retell', 'elevenlabs', 'ultravox', 'bland']

beforeEach(() => {
  aheadMs = 0
})

/** A project with a source of a platform, which has these calls. */
async function set(name: FakeName, calls: FakeCall[] = []) {
  const fake = await startPlatform(name)
  fake.calls.push(...calls)
  const project = await service.mintProject()
  const source = await addSource(service, project, name, { apiKey, host: fake.origin })
  return { fake, project, source }
}

type Place = { project: TestProject; source: { id: string } }

async function reported({ project, source }: Place, states: string[]): Promise<ImportReport> {
  await until(async () => states.includes((await sourceImports.get(project.projectId, source.id)).state))
  return await sourceImports.get(project.projectId, source.id)
}

/** Imports to the end. */
async function imported(place: Place, more: object = {}): Promise<ImportReport> {
  await sourceImports.start(place.project.projectId, place.source.id, { since: '90d', rate: 50, ...more })
  return await reported(place, ['done', 'failed', 'stopped'])
}

const counted = ({ found, created, changed, unchanged, live, erased, failed, skipped }: ImportReport) => {
  const { notVoice, deletedThere } = skipped
  return { found, created, changed, unchanged, live, erased, failed, notVoice, deletedThere }
}
const nothing = {
  created: 0,
  changed: 0,
  unchanged: 0,
  live: 0,
  erased: 0,
  failed: 0,
  notVoice: 0,
  deletedThere: 0,
}

async function callsOf(project: TestProject): Promise<Record<string, unknown>[]> {
  const { data } = await (await project.fetch('/v1/calls?order=createdAt&details=include&limit=1000')).json()
  return data
}

const labels = {
  vapi: 'Vapi',
  retell: 'Retell',
  elevenlabs: 'ElevenLabs',
  ultravox: 'Ultravox',
  bland: 'Bland',
}
const listOf = {
  vapi: 'body',
  retell: 'items',
  elevenlabs: 'conversations',
  ultravox: 'results',
  bland: 'calls',
}
const ids = {
  vapi: 'id',
  retell: 'call_id',
  elevenlabs: 'conversation_id',
  ultravox: 'callId',
  bland: 'call_id',
}
/** Members that a changed schema has. */
const changed = {
  vapi: { createdAt: 'yesterday' },
  retell: { start_timestamp: 'yesterday' },
  elevenlabs: { metadata: { start_time_unix_secs: 'yesterday' } },
  ultravox: { created: 'yesterday' },
  bland: { started_at: 'yesterday' },
}
const recent = () => Date.now() - 80 * dayMs

describe.each(names)('the history of %s', (name) => {
  test('becomes exactly the calls that the platform has, and the same again changes nothing', async () => {
    const calls = pastCalls(110, recent())
    const place = await set(name, [
      ...calls,
      ...pastCalls(3, Date.now() - 3_600_000, 60_000).map((call) => ({
        ...call,
        id: `live-${call.id}`,
        state: 'live' as const,
      })),
      ...pastCalls(2, Date.now() - 100 * dayMs).map((call) => ({ ...call, id: `old-${call.id}` })),
    ])
    const first = await imported(place)
    expect(counted(first)).toEqual({ ...nothing, found: 113, created: 110, live: 3 })
    const stored = await callsOf(place.project)
    expect(stored).toHaveLength(110)
    const second = 1_000
    for (const [at, call] of stored.entries()) {
      const { id, startedAt, seconds, words } = calls[at] ?? { id: '', startedAt: 0, seconds: 0, words: [] }
      const createdAt = name === 'elevenlabs' ? Math.floor(startedAt / second) * second : startedAt
      expect(call).toMatchObject({
        id,
        status: 'completed',
        duration: seconds,
        summary: `Summary of ${id}`,
        createdAt: new Date(createdAt).toISOString(),
      })
      const said = call.transcript as { content: string }[]
      expect(said.map(({ content }) => content)).toEqual(words)
    }
    expect(stored[0]).toMatchObject({ details: { source: name } })
    const changes = () =>
      database.read.all(sql`select id, change_seq from calls where project_id = ${place.project.projectId}`)
    const before = await changes()
    expect(counted(await imported(place))).toEqual({ ...nothing, found: 113, unchanged: 110, live: 3 })
    expect(await callsOf(place.project)).toEqual(stored)
    expect(await changes()).toEqual(before)
  })

  test('is completed when the calls ended, so that nothing counts as of today', async () => {
    const place = await set(name, pastCalls(5, recent()))
    await imported(place)
    const today = new Date(Date.now() - 3_600_000).toISOString()
    const { data } = await (await place.project.fetch(`/v1/calls?completedFrom=${today}`)).json()
    expect(data).toEqual([])
  })

  test('is sent to no webhook when a call is new, and like any change when it is not', async () => {
    const place = await set(name, pastCalls(40, recent()))
    const { project, source, fake } = place
    const receiver = await startReceiver()
    await webhooks.create(project.projectId, { url: receiver.url })
    // Known, but for its end.
    const [known] = fake.calls
    const createdAt = new Date(known?.startedAt ?? 0).toISOString()
    await project.send('PUT', '/ingest/calls/call-0', { status: 'completed', createdAt })
    await until(() => receiver.received.length === 1)
    expect(counted(await imported(place))).toEqual({ ...nothing, found: 40, created: 39, changed: 1 })
    await until(() => receiver.received.length === 2)
    expect(receiver.received.map(({ type, data }) => [type, data.id])).toEqual([
      ['call.completed', 'call-0'],
      ['call.changed', 'call-0'],
    ])
    // What was received is noted a moment later; nothing else is queued.
    await until(async () => {
      const waiting = await database.read.all(sql`
        select 1 from webhook_queue join webhooks on webhooks.id = webhook_id where project_id = ${project.projectId}
          and not is_sent`)
      return waiting.length === 0
    })
    expect(receiver.received).toHaveLength(2)
    // Later events of these calls are told.
    await source.send(fake.eventOf({ ...(fake.calls[1] ?? known), words: ['Else'] } as FakeCall))
    expect((await project.send('PUT', '/ingest/calls/call-2', { summary: 'Other' })).status).toBe(200)
    await until(() => receiver.received.some(({ data }) => data.id === 'call-2'))
    await receiver.close()
  })

  test('brings no deleted call back', async () => {
    const place = await set(name, pastCalls(4, recent()))
    await imported(place)
    await place.project.fetch('/v1/calls/call-1', { method: 'DELETE' })
    expect(counted(await imported(place))).toEqual({ ...nothing, found: 4, unchanged: 3, erased: 1 })
    expect((await place.project.fetch('/v1/calls/call-1')).status).toBe(404)
  })

  test('overwrites nothing that is newer, and fills what is not known', async () => {
    const place = await set(name, pastCalls(1, recent()))
    const later = new Date().toISOString()
    await place.project.send('PUT', '/ingest/calls/call-0', {
      summary: 'Newer',
      transcript: [{ role: 'user', content: 'Newer words' }],
      occurredAt: later,
    })
    await imported(place)
    const [call] = await callsOf(place.project)
    expect(call).toMatchObject({
      summary: 'Newer',
      status: 'completed',
      callerNumber: name === 'elevenlabs' ? null : '+15550100001',
      transcript: [{ role: 'user', content: 'Newer words' }],
    })
  })

  // Ultravox's events have no words, so those that come from its API are more.
  if (name !== 'ultravox')
    test('and live webhooks of the same calls, in any order, end in the same calls as either alone', async () => {
      const calls = pastCalls(60, recent())
      const [alone, live, both] = [await set(name, calls), await set(name, calls), await set(name, calls)]
      const send = ({ source, fake }: typeof live, order: FakeCall[]) =>
        Promise.all(
          order.map(async (call) => expect((await source.send(fake.eventOf(call))).status).toBe(200)),
        )
      await imported(alone)
      await send(live, calls)
      const order = calls.toSorted((a, b) => ((a.seconds * 7919) % 101) - ((b.seconds * 7919) % 101))
      const [report] = await Promise.all([imported(both), send(both, order)])
      expect(report.found).toBe(60)
      const plain = async ({ project }: Place) =>
        (await callsOf(project)).map(({ updatedAt: _, ...call }) => call)
      const expected = await plain(live)
      expect(await plain(both)).toEqual(expected)
      expect(await plain(alone)).toEqual(expected)
    })

  test.each<[string, Parameters<FakePlatform['fail']>[1], string]>([
    ['401', status(401), 'LABEL refuses the API key (401).'],
    ['403', status(403), 'LABEL refuses the API key (403).'],
    ['404', status(404), 'LABEL has no such address (404). Check the option host.'],
    ['400', status(400), 'LABEL answers with status 400.'],
    ['{}', json({}), `LABEL answers with something unexpected: ${listOf[name]} must be an array.`],
    ['a redirect in circles', status(302, { location: '/' }), 'The answer is behind more than 3 redirects.'],
  ])('%s fails at once, in words', async (_, answer, sentence) => {
    const place = await set(name, pastCalls(2, recent()))
    place.fake.fail(/./, answer)
    const report = await imported(place)
    expect([report.state, report.reason]).toEqual(['failed', sentence.replace('LABEL', labels[name])])
    expect(JSON.stringify(report) + JSON.stringify(service.logs)).not.toContain(apiKey)
  })

  test('a call without an id, and one that cannot be read, are counted, and the rest goes on', async () => {
    const place = await set(name, pastCalls(5, recent()))
    const { calls } = place.fake
    const [first, second, third] = calls
    if (first) first.as = { [ids[name]]: null }
    if (second) second.as = changed[name]
    if (third) third.as = { note: 'half a \ud800' }
    const report = await imported(place)
    expect(counted(report)).toEqual({ ...nothing, found: 5, created: 2, failed: 3 })
    expect(report.samples).toEqual(
      expect.arrayContaining([
        { field: ids[name], message: 'is required', count: 1 },
        { field: expect.stringMatching(/start|created/i), message: 'must be a time', count: 1 },
        { field: 'body', message: 'must not contain a lone surrogate', count: 1 },
      ]),
    )
  })
})

// One client asks all platforms: here of a list, and of what a list lacks.
describe.each<FakeName>(['vapi', 'ultravox'])('what passes by, of %s', (name) => {
  test.each<[string, Parameters<FakePlatform['fail']>[1], string, number?]>([
    ['429', status(429, { 'retry-after': '7' }), 'LABEL gets too many requests (429).', 1],
    ['500', status(500), 'LABEL has an error of its own (500).'],
    [
      'HTML',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>'),
      'LABEL answers with something that is not JSON.',
    ],
    [
      'half a body',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 })
        response.write('[{"id":', () => response.destroy())
      },
      'LABEL broke off before the answer was whole.',
    ],
    ['a closed connection', (response) => response.destroy(), 'LABEL: The connection was closed.'],
  ])('%s is waited for, and then the import goes on', async (_, answer, sentence, times = 3) => {
    const place = await set(name, pastCalls(2, recent()))
    place.fake.fail(/./, answer, times)
    await sourceImports.start(place.project.projectId, place.source.id, { since: '90d', rate: 50 })
    const waiting = await reported(place, ['waiting', 'failed', 'done'])
    expect([waiting.state, waiting.reason?.replace(/: .*$/, '')]).toEqual([
      'waiting',
      sentence.replace('LABEL', labels[name]).replace(/: .*$/, ''),
    ])
    const asked = place.fake.requests.length
    aheadMs = 14_000
    await service.services.jobs.now('imports')
    expect(place.fake.requests).toHaveLength(asked)
    aheadMs = 16_000
    expect(counted(await reported(place, ['done']))).toEqual({ ...nothing, found: 2, created: 2 })
  })
})
