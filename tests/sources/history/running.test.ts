import { beforeEach, describe, expect, test } from 'bun:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { ImportReport } from '../../../src/sources/history/imports.ts'
import { json, redirect, status } from '../../recordings/fetching/fake-storage.ts'
import { expectProblem } from '../../support/problem.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startService } from '../../support/service.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { until } from '../../support/until.ts'
import { addSource } from '../deliver.ts'
import { apiKey, type FakeCall, type FakeName, pastCalls, startPlatform } from './fake-platforms.ts'

let aheadMs = 0
const env = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' }
const service = await startService({ env, now: () => Date.now() + aheadMs })
const dayMs = 86_400_000

beforeEach(() => {
  aheadMs = 0
})

async function set(name: FakeName, calls: FakeCall[] = [], options: Record<string, string> = {}) {
  const fake = await startPlatform(name)
  fake.calls.push(...calls)
  const project = await service.mintProject()
  const source = await addSource(service, project, name, { apiKey, host: fake.origin, ...options })
  const { key } = await project.makeKey({ scope: 'manage' })
  const ask = (method: string, body?: object, path = `${source.id}/import`) =>
    project.fetch(`/v1/sources/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  /** Faster than people may ask for: what is imitated needs no rest. */
  const start = (more: object = {}) =>
    service.services.sourceImports.start(project.projectId, source.id, { since: '90d', rate: 5_000, ...more })
  const report = async (): Promise<ImportReport> => await (await ask('GET')).json()
  const ended = async (...states: string[]) => {
    await until(async () => states.includes((await report()).state))
    return await report()
  }
  return { fake, project, source, ask, start, report, ended }
}

const recent = () => Date.now() - 80 * dayMs
const asked = { since: '90d', rate: 50 }

describe('/v1/sources/:id/import', () => {
  test('202, 409 while it runs, 200, and stopped by DELETE, which keeps what is written', async () => {
    const { fake, ask, report, ended, project } = await set('retell', pastCalls(150, recent()))
    await expectProblem(await ask('GET'), 'not_found')
    const begun = await ask('POST', asked)
    expect([begun.status, (await begun.json()).state]).toEqual([202, 'running'])
    await expectProblem(await ask('POST', asked), 'import_is_running', 'Import is running')
    await until(async () => (await report()).created > 0)
    const stopped = await (await ask('DELETE')).json()
    expect(stopped).toMatchObject({ state: 'stopped', reason: null })
    const { pagination } = await (await project.fetch('/v1/calls?limit=0')).json()
    expect(pagination.total).toBeGreaterThanOrEqual(stopped.created)
    expect(pagination.total).toBeLessThan(150)
    const entries = await service.services.database.read.all<{ action: string }>(
      sql`select action from audit_events where project_id = ${project.projectId} and action like '%import%' order by seq`,
    )
    expect(entries.map(({ action }) => action)).toEqual(['source_import_started', 'source_import_ended'])
    expect((await ask('POST', asked)).status).toBe(202)
    expect(await ended('done')).toMatchObject({ found: 150, failed: 0 })
    expect(fake.requests.length).toBeGreaterThan(150)
  })

  test('400 where events come under ids that the API does not know', async () => {
    const { project, source, ask, fake } = await set('dograh', pastCalls(2, recent()))
    const [call] = fake.calls
    if (call) await source.send({ ...fake.eventOf(call), id: 'booking-17' })
    await expectProblem(await ask('POST', asked), 'invalid_request')
    expect((await project.fetch('/v1/calls/booking-17', { method: 'DELETE' })).status).toBe(200)
    expect((await ask('POST', { ...asked, dryRun: true })).status).toBe(200)
  })

  test('200 of a dry run, which writes nothing', async () => {
    const { ask, fake, project } = await set('elevenlabs', pastCalls(3, recent()))
    const answer = await ask('POST', { ...asked, dryRun: true })
    const reachable = new Date(Math.floor((fake.calls[0]?.startedAt ?? 0) / 1_000) * 1_000).toISOString()
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { ok: true, reachable, total: null, perCall: 1, seen: 3, recordings: null, goneAt: expect.any(String) },
    ])
    expect(fake.requests).toHaveLength(2)
    fake.fail(/./, status(401))
    expect(await (await ask('POST', { ...asked, dryRun: true })).json()).toEqual({
      ok: false,
      reason: 'ElevenLabs refuses the API key (401).',
    })
    await expectProblem(await ask('GET'), 'not_found')
    expect((await (await project.fetch('/v1/calls')).json()).data).toEqual([])
  })

  test('a dry run looks at the newest calls of Vapi, whenever they were, and at all of Retell', async () => {
    const vapi = await set('vapi', pastCalls(3, Date.now() - 200 * dayMs))
    const [one] = vapi.fake.calls
    if (one) one.as = { artifact: { stereoRecordingUrl: 'https://vapi.example.com/one.wav' } }
    expect(await (await vapi.ask('POST', { ...asked, dryRun: true })).json()).toEqual({
      ok: true,
      seen: 3,
      recordings: 1,
      goneAt: null,
      reachable: new Date(vapi.fake.calls[0]?.startedAt ?? 0).toISOString(),
      total: null,
      perCall: 0,
    })
    const retell = await set('retell', pastCalls(3, recent()))
    expect(await (await retell.ask('POST', { ...asked, dryRun: true })).json()).toMatchObject({
      total: 3,
      perCall: 1,
    })
  })

  test.each([
    ['since', { since: '0d' }],
    ['since', { since: 'soon' }],
    ['since', {}],
    ['since', { since: '2999-01-01T00:00:00Z' }],
    ['since', { since: '2020-01-01T00:00:00Z' }],
    ['since', { since: '9d', until: '2020-01-01T00:00:00Z' }],
    ['until', { since: '9d', until: '2020-02-30T00:00:00Z' }],
    ['limit', { since: '9d', limit: 0 }],
    ['rate', { since: '9d', rate: 51 }],
    ['recordings', { since: '9d', recordings: true }],
  ])('400 names %s of %j', async (field, body) => {
    const { ask } = await shared
    const { errors } = await expectProblem(await ask('POST', body), 'invalid_request')
    expect(errors?.map((error) => error.field)).toEqual([field])
    await expectProblem(await ask('GET'), 'not_found')
  })

  test('400 for a source without an API key, and for a platform that lists nothing', async () => {
    const { ask, project } = await set('vapi')
    for (const [platform, sentence] of [
      ['retell', 'The source has no API key of Retell. Set its option apiKey.'],
      ['telnyx', 'The history of Telnyx cannot be imported yet.'],
      ['dograh', 'The source has no host of Dograh. Set its option host.'],
    ] as const) {
      const { id } = await addSource(service, project, platform, platform === 'dograh' ? { apiKey } : {})
      const { errors } = await expectProblem(await ask('POST', asked, `${id}/import`), 'invalid_request')
      expect(errors).toEqual([{ field: 'source', message: sentence }])
    }
    const livekit = { platform: 'livekit', secret: 'a-secret-of-livekit', options: { apiKey: 'k' } }
    const { id } = await service.services.sources.create(project.projectId, livekit)
    expect((await ask('POST', asked, `${id}/import`)).status).toBeGreaterThanOrEqual(400)
  })

  test('403 and 404: another scope, another project, no source', async () => {
    const { project, source, ask } = await set('vapi')
    const other = await set('vapi')
    await expectProblem(
      await project.fetch(`/v1/sources/${source.id}/import`),
      'insufficient_scope',
      'Key does not allow this',
    )
    for (const method of ['POST', 'GET', 'DELETE'])
      for (const id of [other.source.id, 'src_none'])
        await expectProblem(
          await ask(method, method === 'POST' ? asked : undefined, `${id}/import`),
          'not_found',
          'Source not found',
        )
  })
})

const shared = set('vapi')

describe('an import', () => {
  test('asks for nothing that retention would delete, and says so', async () => {
    const { project, start, ended } = await set('vapi', [
      ...pastCalls(2, Date.now() - 40 * dayMs),
      ...pastCalls(2, Date.now() - 10 * dayMs).map((call) => ({ ...call, id: `new-${call.id}` })),
    ])
    await service.services.settings.change(project.projectId, { retainDays: 30 })
    await start()
    expect(await ended('done')).toMatchObject({
      found: 2,
      created: 2,
      reason: 'Calls are kept for 30 days, so older ones are not asked for.',
    })
  })

  test('stops at the limit, the oldest first', async () => {
    const { start, ended, project } = await set('retell', pastCalls(250, recent()))
    await start({ limit: 100 })
    expect(await ended('done')).toMatchObject({ created: 100 })
    const { data } = await (await project.fetch('/v1/calls?limit=1')).json()
    expect(data[0].id).toBe('1099')
  })

  test('sends no more requests in any second than the rate says, and halves it after a 429', async () => {
    const { fake, start, ended } = await set('retell', pastCalls(60, recent()))
    fake.fail(/get-call\/1050/, status(429, { 'retry-after': '1' }), 1)
    await start({ rate: 20 })
    expect(await ended('done')).toMatchObject({ created: 60 })
    const times = fake.requests.map(({ at }) => at)
    const refused = fake.requests.findIndex(({ path }) => path.endsWith('1050'))
    const most = (rate: number, some: number[]) =>
      Math.max(...some.map((from) => some.filter((at) => at >= from && at < from + 1_000).length)) <= rate + 1
    expect(most(20, times.slice(0, refused + 1))).toBe(true)
    expect(most(10, times.slice(refused + 1))).toBe(true)
    // The others that were under way had been sent before.
    const later = times.slice(refused + 4).filter((at) => at < (times[refused] ?? 0) + 990)
    expect(later).toEqual([])
  })

  test('halves a window of Vapi that is full, and says where one millisecond is', async () => {
    const from = Math.floor(recent() / dayMs) * dayMs
    const dense = await set('vapi', pastCalls(700, from, 60_000))
    await dense.start()
    expect(await dense.ended('done', 'failed')).toMatchObject({ state: 'done', found: 700, created: 700 })
    const same = await set('vapi', pastCalls(100, from, 0))
    await same.start()
    expect(await same.ended('done', 'failed')).toMatchObject({
      state: 'failed',
      reason: 'Vapi answers with something unexpected: body has 100 calls or more of one millisecond.',
    })
  })

  test('ends when a platform repeats a page, or says for ever that there is more', async () => {
    const page = (items: object[], more: string) => json({ items, has_more: true, pagination_key: more })
    const repeated = await set('retell')
    repeated.fake.fail(/list-calls/, page([], 'again'))
    await repeated.start()
    expect((await repeated.ended('failed')).reason).toBe('Retell sends the same page again.')
    const endless = await set('retell')
    let pages = 0
    endless.fake.fail(/list-calls/, (response, request) =>
      page([{ call_id: 'one', call_status: 'ongoing' }], String(pages++))(response, request),
    )
    await endless.start()
    expect((await endless.ended('failed')).reason).toBe(
      'Retell says that there are more calls, and sends none.',
    )
    expect(pages).toBeLessThan(6)
  })

  test('reads the span anew when a cursor is refused, but not for ever', async () => {
    const { fake, start, ended } = await set('elevenlabs', pastCalls(150, recent()))
    fake.fail(/cursor=/, status(400), 1)
    await start()
    expect(await ended('done', 'failed')).toMatchObject({ state: 'done', created: 150, unchanged: 100 })
    const refusing = await set('elevenlabs', pastCalls(150, recent()))
    refusing.fake.fail(/cursor=/, status(400))
    await refusing.start()
    expect(await refusing.ended('failed')).toMatchObject({ reason: 'ElevenLabs answers with status 400.' })
  })

  test('counts a call that is gone meanwhile, one that is refused, and chats', async () => {
    const calls = pastCalls(6, recent())
    const { fake, start, ended } = await set('elevenlabs', [
      ...calls,
      ...pastCalls(2, recent(), 1_000).map((call) => ({
        ...call,
        id: `chat-${call.id}`,
        state: 'chat' as const,
      })),
    ])
    const [gone, refused, chat] = calls
    fake.fail(new RegExp(`${gone?.id}$`), status(404))
    fake.fail(new RegExp(`${refused?.id}$`), status(403))
    if (chat) chat.as = { metadata: { text_only: true, start_time_unix_secs: 1, call_duration_secs: 1 } }
    await start()
    expect(await ended('done')).toMatchObject({
      found: 8,
      created: 3,
      failed: 1,
      skipped: { deletedThere: 1, notVoice: 3 },
      samples: [{ field: 'body', message: 'cannot be had: status 403', count: 1 }],
    })
  })

  test('gives up after a day, and the same request then goes on from there', async () => {
    const { fake, start, ended, report, project } = await set('retell', pastCalls(250, recent()))
    let areDown = false
    fake.fail(/get-call\/1120/, (response, request) => {
      if (areDown) return status(503)(response, request)
      return json({ call_id: '1120' })(response, request)
    })
    areDown = true
    await start()
    await ended('waiting')
    const before = await report()
    expect(before).toMatchObject({ created: 100, reason: 'Retell has an error of its own (503).' })
    aheadMs = dayMs + 60_000
    expect(await ended('failed')).toMatchObject({ created: 100 })
    areDown = false
    const requests = fake.requests.length
    await start()
    // What that call has now has no time.
    expect(await ended('done')).toMatchObject({ found: 250, created: 249, failed: 1 })
    expect(fake.requests.slice(requests).filter(({ path }) => /1005$/.test(path))).toEqual([])
    expect((await (await project.fetch('/v1/calls?limit=0')).json()).pagination.total).toBe(249)
  })

  test('ends when its source loses its key, and vanishes with the source', async () => {
    const { ask, start, ended, fake, source, project } = await set('retell', pastCalls(300, recent()))
    await start({ rate: 100 })
    await until(() => fake.requests.length > 5)
    await service.services.sources.change(project.projectId, source.id, { options: { apiKey: null } })
    expect((await ended('failed')).reason).toBe('The source has no API key of Retell. Set its option apiKey.')
    await service.services.sources.change(project.projectId, source.id, { options: { apiKey } })
    await start({ since: '80d', rate: 100 })
    const sent = fake.requests.length
    await until(() => fake.requests.length > sent + 5)
    await service.services.sources.delete(project.projectId, source.id)
    await expectProblem(await ask('GET'), 'not_found', 'Source not found')
    // The page that was under way is read to its end, and no other.
    await until(async () => {
      const count = fake.requests.length
      await sleep(300)
      return fake.requests.length === count
    })
    expect(fake.requests.length).toBeLessThan(sent + 120)
  })

  test('never sends the key to another origin', async () => {
    const elsewhere = await startPlatform('vapi')
    let seen: string | undefined
    elsewhere.fail(/./, (response, request) => {
      seen = request.headers.authorization
      json([])(response, request)
    })
    const { fake, start, ended } = await set('vapi')
    fake.fail(/./, redirect(`${elsewhere.origin}/call`))
    await start({ since: '1d' })
    await ended('done', 'failed')
    expect([elsewhere.requests.length > 0, seen]).toEqual([true, undefined])
  })

  test('dates calls by a clock that is wrong as the platform does', async () => {
    const calls = pastCalls(3, recent())
    const [future] = calls
    if (future) future.as = { createdAt: '+060000-01-01T00:00:00Z' }
    const { start, ended } = await set('vapi', calls)
    await start()
    expect(await ended('done')).toMatchObject({ created: 2, failed: 1 })
  })
})

describe('a source that is polled', () => {
  const lookAgain = async (laterMs: number) => {
    aheadMs = laterMs
    await service.services.jobs.now('imports')
  }
  const begun = (id: string, minutesAgo: number): FakeCall => ({
    ...(pastCalls(1, Date.now() - minutesAgo * 60_000)[0] as FakeCall),
    id,
    words: ['Hello', 'Hi'],
  })

  test('brings a call of Ultravox with its words soon after its end, as news, and those before as history', async () => {
    const receiver = await startReceiver()
    const live: FakeCall = { ...begun('live', 5), state: 'live' }
    const { fake, project, source } = await set('ultravox', [begun('old', 30), live], { poll: '1m' })
    await service.services.webhooks.create(project.projectId, { url: receiver.url })
    const has = async (id: string) => (await project.fetch(`/v1/calls/${id}`)).status === 200
    await until(() => has('old'))
    expect(await has('live')).toBe(false)
    // It ends a moment after the source was made.
    Object.assign(live, { state: 'ended', seconds: 600 })
    const sent = fake.requests.length
    await lookAgain(50_000)
    expect(fake.requests).toHaveLength(sent)
    await lookAgain(61_000)
    await until(() => has('live'))
    const call = await (await project.fetch('/v1/calls/live')).json()
    expect(call.transcript.map(({ content }: { content: string }) => content)).toEqual(['Hello', 'Hi'])
    await until(() => receiver.received.length > 0)
    expect(receiver.received.map(({ type, data }) => [type, data.id])).toEqual([['call.completed', 'live']])
    await until(async () => {
      const { poll } = await service.services.sources.get(project.projectId, source.id)
      return poll?.every === '1m' && poll.lastAt !== null && Date.parse(poll.lastAt) > Date.now() + 50_000
    })
    await service.services.sources.change(project.projectId, source.id, { options: { poll: 'off' } })
    expect(await service.services.sources.get(project.projectId, source.id)).toMatchObject({ poll: null })
    await receiver.close()
  })

  test('waits for a call that goes on, however long after the poll that saw it', async () => {
    const live: FakeCall = { ...begun('long', 5), state: 'live' }
    const { fake, project } = await set('retell', [live], { poll: '24h' })
    await until(() => fake.requests.length > 0)
    await lookAgain(23 * 3_600_000)
    Object.assign(live, { state: 'ended', seconds: 80_000 })
    await lookAgain(24 * 3_600_000 + 1_000)
    await until(async () => (await project.fetch('/v1/calls/long')).status === 200)
  })

  test('says why a poll has failed, and tries a refused key again after ten minutes', async () => {
    const { fake, project, source } = await set('retell', [begun('one', 5)], { poll: '1m' })
    const pollOf = async () => (await service.services.sources.get(project.projectId, source.id)).poll
    await until(async () => (await pollOf())?.lastAt !== null)
    fake.fail(/./, status(401), 1)
    await lookAgain(61_000)
    await until(async () => (await pollOf())?.reason === 'Retell refuses the API key (401).')
    const sent = fake.requests.length
    await lookAgain(9 * 60_000)
    expect(fake.requests).toHaveLength(sent)
    await lookAgain(12 * 60_000)
    await until(async () => (await pollOf())?.reason === null)
    const [one] = fake.calls
    if (one) one.as = { start_timestamp: 'yesterday' }
    await lookAgain(14 * 60_000)
    await until(
      async () =>
        (await pollOf())?.reason === 'Some calls cannot be read: call.start_timestamp must be a time.',
    )
  })

  test.each(['30s', '0m', '25h', '1441m', '5'])('refuses to poll every %s', async (poll) => {
    const { project, source } = await shared
    const change = service.services.sources.change(project.projectId, source.id, { options: { poll } })
    await expect(change).rejects.toMatchObject({
      errors: [{ field: 'options.poll', message: 'must be 1m to 24h, such as 5m, or off' }],
    })
  })
})

describe.skipIf(ofFilesOnly)('recordings of the past', () => {
  test('are queued, those told to be gone first, and never before those of live calls', async () => {
    const other = await set('elevenlabs', pastCalls(6, recent()))
    await service.services.settings.change(other.project.projectId, { recordings: 'keep' })
    other.fake.fail(/audio$/, (response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' })
    })
    await other.start({ recordings: true })
    expect(await other.ended('done')).toMatchObject({
      created: 6,
      recordings: { queued: 6, kept: 0, failed: 0 },
    })
    await until(() => other.fake.requests.some(({ path }) => path.endsWith('/audio')))
    const live = { ...(pastCalls(1, Date.now() - 60_000)[0] as FakeCall), id: 'live' }
    other.fake.calls.push(live)
    await other.source.send(other.fake.eventOf(live))
    await until(() => other.fake.requests.some(({ path }) => path.endsWith('/live/audio')))
    const fetched = other.fake.requests.filter(({ path }) => path.endsWith('/audio')).map(({ path }) => path)
    expect(fetched).toEqual(['1000', 'live'].map((id) => `/v1/convai/conversations/${id}/audio`))
  })
})
