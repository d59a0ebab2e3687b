import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { WebhookPlatform } from '../../src/sources/catalog.ts'
import fc from '../support/fast-check.ts'
import { expectProblem } from '../support/problem.ts'
import { head, rawRequest } from '../support/raw-http.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../support/traces.ts'
import { addSource } from './deliver.ts'
import { sessions } from './events.ts'

const names = Object.keys(sessions) as WebhookPlatform[]
/** Platforms whose events tell of a call only when it is over. */
const endOnly = ['elevenlabs', 'synthflow', 'dograh']

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })

/** The call with its details as they are served, without the times of arrival. */
async function readCall(project: TestProject, id: string) {
  const answers = await Promise.all([
    project.fetch(`/v1/calls/${id}`),
    project.fetch(`/v1/calls/${id}/details`),
  ])
  const [call, details] = await Promise.all(answers.map((answer) => answer.json()))
  return { ...call, details, updatedAt: null }
}

async function countsOf(project: TestProject, id: string) {
  await service.services.eventCounts.flush()
  const { events, failures, lastEventAt } = await service.services.sources.get(project.projectId, id)
  return { events, failures, lastEventAt }
}

describe.each(names)('%s', (name) => {
  const { id, events, last } = sessions[name]

  test('signed events become a whole call: live while it goes on, completed at its end', async () => {
    const project = await service.mintProject()
    const source = await addSource(service, project, name)
    const statuses: string[] = []
    for (const event of events) {
      const answer = await source.send(event)
      expect([answer.status, await answer.json()]).toEqual([200, {}])
      const { status } = await readCall(project, id)
      statuses.push(status)
    }
    expect(statuses[0]).toBe(endOnly.includes(name) ? 'completed' : 'live')
    const call = await readCall(project, id)
    const { occurredAt: _, ...change } = last.change
    expect(call).toMatchObject(name === 'telnyx' ? { id, status: 'completed' } : { id, ...change })
    expect(call.details.source).toBe(name)
    const found = await (await project.fetch(`/v1/calls?source=${name}`)).json()
    expect(found.data.map((each: { id: string }) => each.id)).toEqual([id])
    expect(await countsOf(project, source.id)).toEqual({
      events: events.length,
      failures: 0,
      lastEventAt: expect.any(String),
    })
  })

  test('every order of the events, with repeats, ends in the same call', async () => {
    const inOrder = await service.mintProject()
    const source = await addSource(service, inOrder, name)
    for (const event of events) await source.send(event)
    const expected = await readCall(inOrder, id)
    const withRepeat = fc
      .tuple(fc.shuffledSubarray(events, { minLength: events.length }), fc.constantFrom(...events), fc.nat())
      .map(([order, again, at]) => order.toSpliced(at % (order.length + 1), 0, again))
    await fc.assert(
      fc.asyncProperty(withRepeat, async (order) => {
        const project = await service.mintProject()
        const other = await addSource(service, project, name)
        for (const event of order) expect((await other.send(event)).status).toBe(200)
        expect(await readCall(project, id)).toEqual({
          ...expected,
          // Without a start it is the time of arrival.
          createdAt: name === 'cartesia' || name === 'telnyx' ? expect.any(String) : expected.createdAt,
        })
      }),
      { numRuns: 5 },
    )
  })

  test('a request that is not signed with the secret is 401 and changes nothing', async () => {
    const project = await service.mintProject()
    const source = await addSource(service, project, name)
    const [event = {}] = events
    // Whoever has another key pair cannot make Telnyx's signature.
    const wrong =
      name === 'telnyx'
        ? await source.send(event, { headers: { 'telnyx-timestamp': '1' } })
        : await source.send(event, { secret: 'bm90IHRoZSBzZWNyZXQgb2YgdGhpcyBzb3VyY2U=' })
    const answer = wrong.clone()
    await expectProblem(wrong, 'invalid_signature', 'Invalid signature')
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect((await source.send(event, { headers: {} })).status).toBe(401)
    const { pagination } = await (await project.fetch('/v1/calls')).json()
    expect(pagination.total).toBe(0)
    expect(await countsOf(project, source.id)).toMatchObject({ events: 0, lastEventAt: null })
  })

  test.skipIf(ofFilesOnly)(
    'no secret of an event is in any file or log line, of failures neither',
    async () => {
      const project = await service.mintProject()
      const source = await addSource(service, project, name)
      for (const event of events) {
        await source.send(event)
        for (const at of [1, 2, 3, 5, 8, 13, 21, 34]) await source.send(spoil(event, at))
      }
      const secret = { name: 'secret', bytes: Buffer.from('never-store-this') }
      expect(await findTraces(service.dataDir, [secret])).toEqual([])
      expect(JSON.stringify(service.logs)).not.toContain('never-store-this')
      expect(JSON.stringify(service.logs)).not.toContain(source.secret)
    },
  )
})

/** The event with a list in one place, where something else is expected almost everywhere. */
function spoil(event: object, at: number): object {
  const places = JSON.stringify(event).match(/"[^"]*":/g)?.length ?? 1
  let place = -1
  return JSON.parse(JSON.stringify(event), (key, old) =>
    ++place === at % places && !/id$/i.test(key) ? [{ deep: 'in-another-form' }] : old,
  )
}

describe('the failure of an event that cannot be read', () => {
  test.each(names)(
    'of %s quotes nothing of the body: no value, and no name that the platform does not have',
    async (name) => {
      const project = await service.mintProject()
      const source = await addSource(service, project, name)
      const bodies: string[] = [
        '{"marker-name": "\\u0000"}',
        '{"call": {"marker-name": 1e999}}',
        '{"marker-name": marker}',
        JSON.stringify({ 'marker-name': deep(101) }),
      ]
      const event = sessions[name].events.at(-1) ?? {}
      const places = JSON.stringify(event).match(/"[^"]*":/g)?.length ?? 0
      for (let at = 0; at < places; at++)
        for (const value of [
          'marker',
          { 'marker-name': 'marker' },
          { 'marker-name': { 'marker-name': ['marker'] } },
        ])
          bodies.push(JSON.stringify(replaced(event, at, value)))
      for (const body of bodies) {
        // Synthflow's signature covers a field that a body that is not JSON lacks.
        const isSent = await source.send(body).then(
          () => true,
          () => false,
        )
        expect(isSent || name === 'synthflow').toBe(true)
      }
      const failures = await service.services.sourceFailures.list(project.projectId, source.id)
      expect(failures.length).toBeGreaterThan(0)
      for (const { field, message } of failures) expect(`${field} ${message}`).not.toContain('marker')
      expect(JSON.stringify(service.logs)).not.toContain('marker')
    },
  )
})

/** The event with another value in one place. */
function replaced(event: object, at: number, value: unknown): unknown {
  let place = -1
  return JSON.parse(JSON.stringify(event), (_, old) => (++place === at ? value : old))
}

function deep(levels: number): unknown {
  return levels === 0 ? 'marker' : { 'marker-name': deep(levels - 1) }
}

describe('a source', () => {
  const report = (call: object, more: object = {}) => ({
    message: { type: 'end-of-call-report', call: { id: 'call-1', ...call }, ...more },
  })

  test('answers 200 to what says nothing of a call, to a deleted call and to what cannot be read', async () => {
    const project = await service.mintProject()
    const source = await addSource(service, project, 'vapi')
    const expectTaken = async (event: object | string) => {
      const answer = await source.send(event)
      expect([answer.status, await answer.json()]).toEqual([200, {}])
    }
    await expectTaken({ message: { type: 'hang' } })
    await expectTaken(report({}))
    expect((await project.fetch('/v1/calls/call-1', { method: 'DELETE' })).status).toBe(200)
    await expectTaken(report({}))
    await expectTaken(report({}, { endedReason: ['of a deleted call'] }))
    expect(await service.services.sourceFailures.list(project.projectId, source.id)).toEqual([])
    expect((await project.fetch('/v1/calls/call-1')).status).toBe(404)

    await expectTaken('no JSON')
    await expectTaken(report({ id: 'with space' }))
    await expectTaken(report({ id: 'call-2' }, { endedReason: 7 }))
    await expectTaken(report({ id: 'call-3' }, { endedReason: 'a\0b' }))
    await expectTaken({ message: { type: 'end-of-call-report', call: {} } })
    const failures = await service.services.sourceFailures.list(project.projectId, source.id)
    expect(failures.map(({ callId, field, message, isKept }) => [callId, field, message, isKept])).toEqual([
      [null, 'message.call.id', 'is required', false],
      [null, 'body', 'must not contain U+0000', false],
      ['call-2', 'message.endedReason', 'must be a string', true],
      ['with space', 'id', 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, and neither . nor ..', true],
      [null, 'body', 'must be valid JSON', false],
    ])
    expect(await countsOf(project, source.id)).toMatchObject({ events: 9, failures: 5 })
  })

  test('completes a call whose texts are longer than 64 KiB, and cuts them with a mark', async () => {
    const project = await service.mintProject()
    const vapi = await addSource(service, project, 'vapi')
    const long = 'ä'.repeat(40_000)
    const event = report({ id: 'long' }, { endedReason: long, analysis: { summary: long } })
    for (let n = 0; n < 2; n++) expect((await vapi.send(event)).status).toBe(200)
    const { status, summary, endedReason } = await readCall(project, 'long')
    expect(status).toBe('completed')
    for (const text of [summary, endedReason])
      expect([text.replace(/ä+/, 'ä'), Buffer.byteLength(text)]).toEqual(['ä … [cut]', 65_536])
    expect((await countsOf(project, vapi.id)).failures).toBe(0)
  })

  test('stores an event without a cost and a latency that cannot be', async () => {
    const project = await service.mintProject()
    const vapi = await addSource(service, project, 'vapi')
    const call = { id: 'negative' }
    await vapi.send({ message: { type: 'end-of-call-report', call, cost: -0.01, endedReason: 'hangup' } })
    const retell = await addSource(service, project, 'retell')
    const latency = { e2e: { p50: -5 } }
    await retell.send({ event: 'call_ended', call: { call_id: 'negative-latency', latency } })
    for (const id of ['negative', 'negative-latency'])
      expect(await readCall(project, id)).toMatchObject({
        status: 'completed',
        details: { costUsd: null, latencyMs: null },
      })
    for (const { id } of [vapi, retell]) expect((await countsOf(project, id)).failures).toBe(0)
  })

  test('whose later transcript has no times leaves no timeline of the earlier one; without one it stays', async () => {
    const project = await service.mintProject()
    const source = await addSource(service, project, 'retell')
    const said = (content: string, words: object[] = []) => ({ role: 'user', content, words })
    const send = (event: string, id: string, rest: object) =>
      source.send({ event, call: { call_id: id, ...rest } })
    const timed = [said('One.', [{ start: 1, end: 2 }]), said('Two.', [{ start: 3, end: 4 }])]
    const times = { start_timestamp: 1_700_000_000_000, end_timestamp: 1_700_000_009_000 }
    for (const id of ['shorter', 'analysed'])
      await send('call_ended', id, { ...times, transcript_object: timed })
    await send('call_analyzed', 'shorter', { ...times, transcript_object: [said('One, two.')] })
    expect(await readCall(project, 'shorter')).toMatchObject({
      transcript: [{ content: 'One, two.' }],
      details: { timeline: [] },
    })
    await send('call_analyzed', 'analysed', { ...times, transfer_destination: '+15550100003' })
    expect((await readCall(project, 'analysed')).details.timeline).toHaveLength(2)
  })

  test('is read again: what could not be read stays, what can be now becomes the call', async () => {
    const project = await service.mintProject()
    const source = await addSource(service, project, 'synthflow')
    // An id that a project may take later is the one thing that another version reads and this one does not.
    await source.send({ call: { call_id: 'call-1', end_call_reason: 7 } })
    const { sourceEvents, sourceFailures, database } = service.services
    expect(await sourceEvents.readAgain(project.projectId, source.id)).toEqual({ read: 0, failed: 1 })
    await database.write.run(
      sql`update source_failures set event = replace(event, ':7', ':"done"') where source_id = ${source.id}`,
    )
    expect(await sourceEvents.readAgain(project.projectId, source.id)).toEqual({ read: 1, failed: 0 })
    expect(await readCall(project, 'call-1')).toMatchObject({ status: 'completed', endedReason: 'done' })
    expect(await sourceFailures.list(project.projectId, source.id)).toEqual([])
    expect(await countsOf(project, source.id)).toMatchObject({ events: 1, failures: 0 })
  })

  test('takes the secret before the last rotation for a day', async () => {
    let now = Date.now()
    const clock = await startService({ now: () => now })
    const project = await clock.mintProject()
    const source = await addSource(clock, project, 'dograh')
    const rotated = await clock.services.sources.rotate(project.projectId, source.id)
    expect(rotated.secret).toMatch(/^[0-9a-f]{64}$/)
    const send = async (secret = '') => (await source.send({ id: 'run-1' }, { secret })).status
    expect([await send(source.secret), await send(rotated.secret)]).toEqual([200, 200])
    now += 86_400_000
    expect([await send(source.secret), await send(rotated.secret)]).toEqual([401, 200])
    await clock.services.core.jobs.now('expiry of sources')
    const rows = await clock.services.database.read.all(sql`select * from sources`)
    expect(JSON.stringify(rows)).not.toContain(source.secret)
    const chosen = await clock.services.sources.rotate(project.projectId, source.id, 'a-secret-of-my-own')
    expect(Object.keys(chosen)).not.toContain('secret')
    expect([await send(rotated.secret), await send('a-secret-of-my-own')]).toEqual([200, 200])
  })

  test('of another project, or deleted, or whose project is deleted, is 404', async () => {
    const [project, other] = [await service.mintProject(), await service.mintProject()]
    const source = await addSource(service, project, 'dograh')
    const { sources, projects } = service.services
    for (const act of [
      () => sources.get(other.projectId, source.id),
      () => sources.rotate(other.projectId, source.id),
      () => sources.delete(other.projectId, source.id),
      () => service.services.sourceFailures.list(other.projectId, source.id),
      () => service.services.sourceEvents.readAgain(other.projectId, source.id),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'not_found' })
    expect((await source.send({ id: 'run-1' })).status).toBe(200)
    await sources.delete(project.projectId, source.id)
    await expectProblem(await source.send({ id: 'run-2' }), 'not_found', 'Source not found')
    const last = await addSource(service, project, 'dograh')
    await projects.delete(project.projectId)
    expect((await last.send({ id: 'run-3' })).status).toBe(404)
  })

  test('takes a large body and no larger one, and none that is compressed', async () => {
    const small = await startService({ env: { BODY_MAX_BYTES: '5000' } })
    const project = await small.mintProject()
    const source = await addSource(small, project, 'dograh')
    const bodyOf = (bytes: number) => JSON.stringify({ id: 'r', x: 'x'.repeat(bytes - 17) })
    expect((await source.send(bodyOf(5_000))).status).toBe(200)
    await expectProblem(await source.send(bodyOf(5_001)), 'payload_too_large')
    const headers = { authorization: `Bearer ${source.secret}`, 'content-encoding': 'gzip' }
    expect((await source.send('{}', { headers })).status).toBe(415)
  })

  test('takes 4 MiB where only the signature tells who sends it, and more with the secret in a header', async () => {
    const project = await service.mintProject()
    const [signing, vapi] = [
      await addSource(service, project, 'elevenlabs'),
      await addSource(service, project, 'vapi'),
    ]
    const bodyOf = (bytes: number) => '{"message":{}}'.padEnd(bytes)
    const most = 4 * 1_048_576
    expect((await signing.send(bodyOf(most))).status).toBe(200)
    for (const source of [signing, vapi])
      await expectProblem(await source.send(bodyOf(most + 1)), 'payload_too_large')
    const headers = { authorization: `Bearer ${vapi.secret}` }
    expect((await vapi.send(bodyOf(most + 1), { headers })).status).toBe(200)
  })

  test('answers 401 before the body is sent, where the secret stands in a header alone', async () => {
    const project = await service.mintProject()
    const { path } = await addSource(service, project, 'cartesia')
    const headers = { 'X-Webhook-Secret': 'wrong', 'Content-Length': '1000000' }
    const { status } = await rawRequest(service.url, head(`POST ${path} HTTP/1.1`, headers), {
      waitMs: 20_000,
    })
    expect(status).toBe(401)
  })

  test('without a secret takes nothing, until the platform has told one', async () => {
    const project = await service.mintProject()
    const { sources } = service.services
    const made = await sources.create(project.projectId, { platform: 'elevenlabs' })
    expect(made).toMatchObject({ hasSecret: false, name: 'ElevenLabs' })
    expect(Object.keys(made)).not.toContain('secret')
    const source = await addSource(service, project, 'elevenlabs')
    const [event = {}] = sessions.elevenlabs.events
    const send = async () => (await fetch(`${service.url}/ingest/from/${made.id}`, await signed())).status
    const signed = async () => {
      const seconds = Math.floor(Date.now() / 1_000)
      const body = JSON.stringify(event)
      const { createHmac } = await import('node:crypto')
      const digest = createHmac('sha256', 'wsec_1').update(`${seconds}.${body}`).digest('hex')
      return { method: 'POST', body, headers: { 'elevenlabs-signature': `t=${seconds},v0=${digest}` } }
    }
    expect(await send()).toBe(401)
    await expect(sources.rotate(project.projectId, made.id)).rejects.toMatchObject({
      errors: [{ field: 'secret', message: expect.stringContaining('is required') }],
    })
    expect(await sources.rotate(project.projectId, made.id, 'wsec_1')).toMatchObject({ hasSecret: true })
    expect(await send()).toBe(200)
    expect((await source.send(event)).status).toBe(200)
  })

  test.each([
    [{ platform: 'nobody' }, 'platform'],
    [{ platform: 'vapi', name: ' ' }, 'name'],
    [{ platform: 'vapi', secret: 'with space' }, 'secret'],
    // Anyone who knows the address could try it out.
    [{ platform: 'vapi', secret: 'fifteen-letters' }, 'secret'],
    [{ platform: 'telnyx', secret: 'no-key' }, 'secret'],
    [{ platform: 'synthflow', options: { direction: 'up' } }, 'options.direction'],
    [{ platform: 'vapi', options: { direction: 'inbound' } }, 'options.direction'],
    [{ platform: 'vapi', options: { callerChannel: '2' } }, 'options.callerChannel'],
  ])('%j is refused with the field named', async (input, field) => {
    const project = await service.mintProject()
    await expect(service.services.sources.create(project.projectId, input)).rejects.toMatchObject({
      code: 'invalid_request',
      errors: [{ field, message: expect.any(String) }],
    })
  })
})

describe.skipIf(ofFilesOnly)('erasure', () => {
  async function erased(): Promise<void> {
    while (await anyOpen()) await Bun.sleep(10)
  }
  async function anyOpen(): Promise<boolean> {
    const open = sql`select 1 from erasures where done_at is null`
    return (await service.services.database.read.all(open)).length > 0
  }

  test('of a call takes the bytes of its failures with it', async () => {
    const project = await service.mintProject()
    const source = await addSource(service, project, 'synthflow')
    const word = newWord()
    await source.send({ call: { call_id: word, transcript: `human: ${word}`, end_call_reason: 7 } })
    await source.send({ call: { call_id: word } })
    expect((await findTraces(service.dataDir, tracesOfWord(word))).length).toBeGreaterThan(0)
    expect((await project.fetch(`/v1/calls/${word}`, { method: 'DELETE' })).status).toBe(200)
    expect(await service.services.sourceFailures.list(project.projectId, source.id)).toEqual([])
    await erased()
    expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
  })

  test('of a source takes the bytes of its secrets and failures, and is no change of a record', async () => {
    const project = await service.mintProject()
    const word = newWord()
    const { sources } = service.services
    const made = await sources.create(project.projectId, { platform: 'bland', secret: word })
    await sources.rotate(project.projectId, made.id, `${word}2`)
    expect((await findTraces(service.dataDir, tracesOfWord(word))).length).toBeGreaterThan(0)
    await sources.delete(project.projectId, made.id)
    await erased()
    expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
    expect(await (await project.fetch('/v1/changes')).json()).toMatchObject({ data: [], hasMore: false })
  })

  test('of a project takes its sources with it', async () => {
    const project = await service.mintProject()
    const word = newWord()
    const { sources, projects, projectErasure } = service.services
    const made = await sources.create(project.projectId, { platform: 'synthflow', secret: word })
    await sources.create(project.projectId, { platform: 'synthflow', name: word })
    await projects.delete(project.projectId)
    await expect(sources.open(made.id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await sources.list()).filter(({ id }) => id === made.id)).toEqual([])
    await projectErasure.finish()
    expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
  })

  test('of failures beyond the newest 200 happens as soon as they are', async () => {
    const project = await service.mintProject()
    const source = await addSource(service, project, 'synthflow')
    const word = newWord()
    await source.send({ call: { call_id: 'c1', transcript: `human: ${word}`, end_call_reason: 7 } })
    for (let count = 0; count < 200; count++)
      await source.send({ call: { call_id: `d${count}`, end_call_reason: 7 } })
    expect(await service.services.sourceFailures.list(project.projectId, source.id)).toHaveLength(200)
    await erased()
    expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
  })

  test('of failures happens after a week', async () => {
    let now = Date.now()
    const clock = await startService({ now: () => now, env: { ERASE_WITHIN_MS: '500' } })
    try {
      const project = await clock.mintProject()
      const source = await addSource(clock, project, 'synthflow')
      const word = newWord()
      await source.send({ call: { call_id: 'c1', transcript: `human: ${word}`, end_call_reason: 7 } })
      const listed = () => clock.services.sourceFailures.list(project.projectId, source.id)
      expect(await listed()).toHaveLength(1)
      now += 7 * 86_400_000
      expect(await listed()).toEqual([])
      await clock.services.core.jobs.now('expiry of sources')
      await clock.services.close()
      expect(await findTraces(clock.dataDir, tracesOfWord(word))).toEqual([])
    } finally {
      await clock.stop().catch(() => undefined)
    }
  })
})
