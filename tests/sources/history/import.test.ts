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
  type FakeAnswer,
  type FakeCall,
  type FakeName,
  fakeNames,
  pastCalls,
  startPlatform,
} from './fake-platforms.ts'

let aheadMs = 0
const env = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' }
const service = await startService({ env, now: () => Date.now() + aheadMs })
const { sourceImports, database, webhooks } = service.services
const dayMs = 86_400_000

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

/** More than people may ask for: what is imitated needs no rest. */
const asked = { since: '90d', rate: 5_000 }

/** Imports to the end. */
async function imported(place: Place): Promise<ImportReport> {
  await sourceImports.start(place.project.projectId, place.source.id, asked)
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

/** What each is called, the first list that is asked for, its id of a call, and members that a changed schema has. */
const facts: Record<FakeName, { label: string; list: string; id: string; changed: object }> = {
  vapi: { label: 'Vapi', list: 'body', id: 'id', changed: { createdAt: 'yesterday' } },
  retell: { label: 'Retell', list: 'items', id: 'call_id', changed: { start_timestamp: 'yesterday' } },
  elevenlabs: {
    label: 'ElevenLabs',
    list: 'conversations',
    id: 'conversation_id',
    changed: { metadata: { start_time_unix_secs: 'yesterday' } },
  },
  ultravox: { label: 'Ultravox', list: 'results', id: 'callId', changed: { created: 'yesterday' } },
  bland: { label: 'Bland', list: 'calls', id: 'call_id', changed: { started_at: 'yesterday' } },
  synthflow: { label: 'Synthflow', list: 'assistants', id: 'call_id', changed: { start_time: 'yesterday' } },
  cartesia: { label: 'Cartesia', list: 'summaries', id: 'id', changed: { start_time: 'yesterday' } },
  dograh: { label: 'Dograh', list: 'runs', id: 'id', changed: { created_at: 'yesterday' } },
}
/** Platforms that tell no summary, and those whose API tells more than their events. */
const withoutSummary: FakeName[] = ['synthflow', 'dograh']
const tellingMore: FakeName[] = ['ultravox', 'synthflow', 'dograh']
const recent = () => Date.now() - 80 * dayMs

describe.each(fakeNames)('the history of %s', (name) => {
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
    // A run of Dograh is listed once it has ended.
    const live = name === 'dograh' ? 0 : 3
    const first = await imported(place)
    expect(counted(first)).toEqual({ ...nothing, found: 110 + live, created: 110, live })
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
        summary: withoutSummary.includes(name) ? null : `Summary of ${id}`,
        createdAt: new Date(createdAt).toISOString(),
      })
      const said = call.transcript as { content: string }[]
      expect(said.map(({ content }) => content)).toEqual(words)
    }
    expect(stored[0]).toMatchObject({ details: { source: name } })
    const changes = () =>
      database.read.all(sql`select id, change_seq from calls where project_id = ${place.project.projectId}`)
    const before = await changes()
    expect(counted(await imported(place))).toEqual({ ...nothing, found: 110 + live, unchanged: 110, live })
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
    await project.send('PUT', '/ingest/calls/1000', { status: 'completed', createdAt })
    await until(() => receiver.received.length === 1)
    expect(counted(await imported(place))).toEqual({ ...nothing, found: 40, created: 39, changed: 1 })
    await until(() => receiver.received.length === 2)
    expect(receiver.received.map(({ type, data }) => [type, data.id])).toEqual([
      ['call.completed', '1000'],
      ['call.changed', '1000'],
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
    expect((await project.send('PUT', '/ingest/calls/1002', { summary: 'Other' })).status).toBe(200)
    await until(() => receiver.received.some(({ data }) => data.id === '1002'))
    await receiver.close()
  })

  test('brings no deleted call back', async () => {
    const place = await set(name, pastCalls(4, recent()))
    await imported(place)
    await place.project.fetch('/v1/calls/1001', { method: 'DELETE' })
    expect(counted(await imported(place))).toEqual({ ...nothing, found: 4, unchanged: 3, erased: 1 })
    expect((await place.project.fetch('/v1/calls/1001')).status).toBe(404)
  })

  test('overwrites nothing that is newer, and fills what is not known', async () => {
    const place = await set(name, pastCalls(1, recent()))
    const later = new Date().toISOString()
    await place.project.send('PUT', '/ingest/calls/1000', {
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

  test('and live webhooks of the same calls, in any order, end in the same calls as either alone', async () => {
    const calls = pastCalls(60, recent())
    const [alone, live, both] = [await set(name, calls), await set(name, calls), await set(name, calls)]
    const send = ({ source, fake }: typeof live, order: FakeCall[]) =>
      Promise.all(order.map(async (call) => expect((await source.send(fake.eventOf(call))).status).toBe(200)))
    await imported(alone)
    await send(live, calls)
    const order = calls.toSorted((a, b) => ((a.seconds * 7919) % 101) - ((b.seconds * 7919) % 101))
    const [report] = await Promise.all([imported(both), send(both, order)])
    expect(report.found).toBe(60)
    const plain = async ({ project }: Place) =>
      (await callsOf(project)).map(({ updatedAt: _, ...call }) => call)
    const expected = await plain(alone)
    expect(await plain(both)).toEqual(expected)
    if (!tellingMore.includes(name)) expect(await plain(live)).toEqual(expected)
  })

  test.each<[string, FakeAnswer, string]>([
    ['401', status(401), 'LABEL refuses the API key (401).'],
    ['403', status(403), 'LABEL refuses the API key (403).'],
    ['404', status(404), 'LABEL has no such address (404). Check the option host.'],
    ['400', status(400), 'LABEL answers with status 400.'],
    ['{}', json({}), `LABEL answers with something unexpected: ${facts[name].list} must be an array.`],
    ['a redirect in circles', status(302, { location: '/' }), 'The answer is behind more than 3 redirects.'],
  ])('%s fails at once, in words', async (_, answer, sentence) => {
    const place = await set(name, pastCalls(2, recent()))
    place.fake.fail(/./, answer)
    const report = await imported(place)
    expect([report.state, report.reason]).toEqual(['failed', sentence.replace('LABEL', facts[name].label)])
    expect(JSON.stringify(report) + JSON.stringify(service.logs)).not.toContain(apiKey)
  })

  test('a call without an id, and one that cannot be read, are counted, and the rest goes on', async () => {
    const place = await set(name, pastCalls(5, recent()))
    const { calls } = place.fake
    const [first, second, third] = calls
    if (first) first.as = { [facts[name].id]: null }
    if (second) second.as = facts[name].changed
    if (third) third.as = { note: 'half a \ud800' }
    const report = await imported(place)
    expect(counted(report)).toEqual({ ...nothing, found: 5, created: 2, failed: 3 })
    expect(report.samples).toEqual(
      expect.arrayContaining([
        { field: facts[name].id, message: 'is required', count: 1 },
        { field: expect.stringMatching(/start|created|called/i), message: 'must be a time', count: 1 },
        { field: 'body', message: 'must not contain a lone surrogate', count: 1 },
      ]),
    )
  })
})

// One client asks all platforms: here of a list, and of what a list lacks.
test.each<FakeName>(['vapi', 'ultravox'])(
  'what passes by, of %s, is waited for, and then the import goes on',
  async (name) => {
    const faults: [FakeAnswer, string, number?][] = [
      [status(429, { 'retry-after': '7' }), 'LABEL gets too many requests (429).', 1],
      [status(500), 'LABEL has an error of its own (500).'],
      [
        (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>'),
        'LABEL answers with something that is not JSON.',
      ],
      [
        (response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 })
          response.write('[{"id":', () => response.destroy())
        },
        'LABEL broke off before the answer was whole.',
      ],
      [(response) => response.destroy(), 'LABEL: The connection was closed.'],
    ]
    const places = await Promise.all(
      faults.map(async ([answer, sentence, times = 3]) => {
        const place = await set(name, pastCalls(2, recent()))
        place.fake.fail(/./, answer, times)
        return { ...place, sentence: sentence.replace('LABEL', facts[name].label).replace(/: .*$/, '') }
      }),
    )
    for (const { project, source } of places) await sourceImports.start(project.projectId, source.id, asked)
    for (const { sentence, ...place } of places) {
      const { state, reason } = await reported(place, ['waiting', 'failed', 'done'])
      expect([state, reason?.replace(/: .*$/, '')]).toEqual(['waiting', sentence])
    }
    const requests = () => places.map(({ fake }) => fake.requests.length)
    const before = requests()
    aheadMs = 14_000
    await service.services.jobs.now('imports')
    expect(requests()).toEqual(before)
    aheadMs = 16_000
    for (const place of places)
      expect(counted(await reported(place, ['done']))).toEqual({ ...nothing, found: 2, created: 2 })
  },
)
