import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { addSource } from '../../sources/deliver.ts'
import { livekitSession, requestOf } from '../../sources/otel/spans.ts'
import { CommandLine, fileOf, linesOf } from '../../support/command-line.ts'
import { plansOf, record } from '../../support/query-plan.ts'
import { receiverEnv } from '../../support/receiver.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { ofFilesOnly, testMode } from '../../support/test-mode.ts'

const hourMs = 3_600_000
const minuteMs = 60_000
let time = Date.parse('2026-06-01T12:00:00Z')
const service = await startService({ now: () => time, env: receiverEnv })

async function newProject() {
  const project = await service.mintProject()
  return {
    project,
    put: async (id: string, call: object = {}) => {
      const answer = await project.send('PUT', `/ingest/calls/${id}`, call)
      expect([200, 201]).toContain(answer.status)
      return await answer.json()
    },
    callOf: async (id: string) => await (await project.fetch(`/v1/calls/${id}`)).json(),
    trail: async () => {
      const { data } = await service.services.console.audit.list(project.projectId, { limit: 50 })
      return data.filter(({ action }) => action === 'calls_ended').map(({ target }) => target)
    },
  }
}

/** Lets so many hours pass, and the minute within which later arrivals are not noted. */
async function pass(hours: number): Promise<void> {
  time += hours * hourMs + minuteMs
  await service.services.silence.run()
}

test('a live call of which nothing was heard for 24 hours is completed with the reason silence, and keeps the rest', async () => {
  const { project, put, callOf, trail } = await newProject()
  const before = await put('killed', { duration: 7, transcript: [{ role: 'user', content: 'Hello?' }] })
  await put('over', { status: 'completed' })
  await pass(23.99)
  expect((await callOf('killed')).status).toBe('live')
  expect(await trail()).toEqual([])
  await pass(0.01)
  const updatedAt = new Date(time).toISOString()
  expect(await callOf('killed')).toEqual({
    ...before,
    status: 'completed',
    endedReason: 'silence',
    // The caller said something.
    isEngaged: true,
    updatedAt,
  })
  expect((await callOf('over')).endedReason).toBe(null)
  expect(await trail()).toEqual(['1 call silent for 24h'])
  const { data } = await (await project.fetch('/v1/changes')).json()
  expect(data.at(-1)).toMatchObject({ type: 'call.changed', call: { id: 'killed', endedReason: 'silence' } })
  const found = await (await project.fetch('/v1/calls?endedReason=silence&status=completed')).json()
  expect(found.data.map(({ id }: { id: string }) => id)).toEqual(['killed'])
})

test('the webhooks of its project are told that it is completed', async () => {
  const { project, put } = await newProject()
  const { webhooks, database } = service.services
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['call.completed'] }
  await webhooks.create(project.projectId, hook)
  await put('killed')
  await pass(24)
  const queued = await database.read.all<{ event: string }>(
    sql`select event from webhook_queue where webhook_id in (select id from webhooks where project_id = ${project.projectId})`,
  )
  expect(queued.map(({ event }) => event)).toEqual(['call.completed'])
})

test('heard is what arrived here, whatever times the request names and whether or not it changes anything', async () => {
  const { project, put, callOf } = await newProject()
  const old = '2020-01-01T00:00:00.000Z'
  const turns = (at: number) => ({
    appendTranscript: { at, turns: [{ role: 'user', content: `turn ${at}` }] },
  })
  const ways: Record<string, (round: number) => Promise<unknown>> = {
    'old-times': (round) => put('old-times', { updatedAt: old, occurredAt: old, duration: round }),
    same: () => put('same', { summary: 'The same each time.' }),
    appended: (round) => put('appended', turns(round)),
    line: (round) => putLines(project, [{ id: 'line', duration: round }]),
    'same-line': () => putLines(project, [{ id: 'same-line', duration: 1 }]),
  }
  for (let round = 0; round < 4; round++) {
    for (const arrive of Object.values(ways)) await arrive(round)
    await pass(20)
  }
  for (const id of Object.keys(ways)) expect([id, (await callOf(id)).status]).toEqual([id, 'live'])
  const unchanged = await callOf('same')
  expect(unchanged.updatedAt).toBe(unchanged.createdAt)
  await pass(5)
  for (const id of Object.keys(ways)) expect([id, (await callOf(id)).endedReason]).toEqual([id, 'silence'])
})

test('arrivals are noted once a minute, and no call is completed too early for it', async () => {
  const { project, put, callOf } = await newProject()
  const turns = (at: number) => ({ appendTranscript: { at, turns: [{ role: 'user', content: 'Hello?' }] } })
  const start = time
  const arrive = async (at: number) => {
    for (const id of ['same', 'changed']) await put(id, { summary: 'Hello.' })
    await put('changed', { duration: at })
    await put('appended', turns(at))
  }
  const notedAt = async () => {
    const rows = await service.services.database.read.all<{ ms: number }>(
      sql`select heard_at - ${start} as ms from calls where project_id = ${project.projectId}`,
    )
    return rows.map(({ ms }) => ms)
  }
  await arrive(0)
  time += minuteMs - 1
  await arrive(1)
  expect(await notedAt()).toEqual([0, 0, 0])
  time = start + 24 * hourMs + minuteMs - 1
  await service.services.silence.run()
  for (const id of ['same', 'changed', 'appended']) expect((await callOf(id)).status).toBe('live')
  await arrive(2)
  expect(await notedAt()).toEqual(Array(3).fill(24 * hourMs + minuteMs - 1))
})

test.skipIf(ofFilesOnly)(
  'a source, a trace and an import are heard as well, even if they repeat what is known',
  async () => {
    const { project, callOf } = await newProject()
    const source = await addSource(service, project, 'vapi')
    const traceId = randomBytes(16).toString('hex')
    const message = { type: 'status-update', status: 'in-progress', call: { id: 'from-vapi' } }
    const file = fileOf(linesOf([{ id: 'imported', createdAt: '2026-05-01T00:00:00Z' }]))
    const ways: Record<string, () => Promise<number>> = {
      'from-vapi': async () => {
        const headers = { 'x-vapi-secret': source.secret }
        return (await source.send({ message }, { headers })).status
      },
      [traceId]: async () => {
        const request = requestOf(livekitSession.slice(0, 4), traceId)
        return (await project.send('POST', '/ingest/otlp/v1/traces', request)).status
      },
      imported: async () => {
        const args = ['calls', 'import', file, '--project', project.id]
        return (await new CommandLine(service.dataDir).run(args)).code === 0 ? 200 : 400
      },
    }
    const hear = async () => {
      for (const [id, arrive] of Object.entries(ways)) expect([id, await arrive()]).toEqual([id, 200])
    }
    await hear()
    const heardAt = async () => {
      const rows = await service.services.database.read.all<{ id: string; heardAt: number }>(
        sql`select id, heard_at as heardAt from calls where project_id = ${project.projectId} order by id`,
      )
      return new Map(rows.map((row) => [row.id, row.heardAt]))
    }
    // A command has the machine's clock, so the first arrivals are dated back.
    await service.services.database.write.run(sql`update calls set heard_at = heard_at - ${minuteMs}`)
    const first = await heardAt()
    await hear()
    for (const [id, at] of await heardAt()) expect([id, at > (first.get(id) ?? at)]).toEqual([id, true])
    expect(first.size).toBe(3)
    expect((await callOf('imported')).status).toBe('live')
  },
)

test('a review is no word of the call', async () => {
  const { project, put, callOf } = await newProject()
  await put('reviewed')
  time += 20 * hourMs
  const by = { actor: { id: 'person', name: 'Ada (ada@example.com)' }, address: null }
  await service.services.reviews.change(
    project.projectId,
    'reviewed',
    { note: 'Is it over?' },
    { person: { name: 'Ada' }, by },
  )
  await pass(5)
  expect((await callOf('reviewed')).endedReason).toBe('silence')
})

test('any later event replaces the reason, however old it is, and only the first of the old ones', async () => {
  const { put, callOf } = await newProject()
  const at = (hour: number) => new Date(time + hour * hourMs).toISOString()
  const [older, newer] = [at(-2), at(-1)]
  for (const id of ['late', 'new', 'unsaid', 'same']) await put(id, { occurredAt: at(0) })
  await pass(24)
  await put('late', { occurredAt: newer, endedReason: null, duration: 12 })
  expect(await callOf('late')).toMatchObject({ endedReason: 'silence', duration: 12 })
  await put('late', { occurredAt: newer, status: 'completed', endedReason: 'hangup' })
  await put('late', { occurredAt: older, endedReason: 'transferred' })
  expect(await callOf('late')).toMatchObject({ status: 'completed', endedReason: 'hangup' })
  await put('new', { endedReason: 'hangup' })
  expect((await callOf('new')).endedReason).toBe('hangup')
  await put('unsaid', { status: 'live', summary: 'It went on.' })
  expect(await callOf('unsaid')).toMatchObject({ status: 'completed', endedReason: 'silence' })
  // Now the platform itself has said so.
  await put('same', { endedReason: 'silence' })
  await put('same', { occurredAt: older, endedReason: 'hangup' })
  expect((await callOf('same')).endedReason).toBe('silence')
})

test('a reason that the platform has given already stays', async () => {
  const { put, callOf } = await newProject()
  await put('told', { endedReason: 'assistant-error' })
  await pass(24)
  expect(await callOf('told')).toMatchObject({ status: 'completed', endedReason: 'assistant-error' })
})

test('retention counts from the day on which the call was given up', async () => {
  const { project, put, callOf } = await newProject()
  const { settings, retention } = service.services
  await put('killed', { createdAt: '2026-01-01T00:00:00Z' })
  await pass(24)
  await settings.change(project.projectId, { retainDays: 30 })
  await retention.run()
  expect((await callOf('killed')).endedReason).toBe('silence')
  time += 30.01 * 24 * hourMs
  await retention.run()
  expect((await project.fetch('/v1/calls/killed')).status).toBe(404)
})

test('a project may wait for another time or for ever, which the audit trail records', async () => {
  const { project, put, callOf } = await newProject()
  const { settings, console } = service.services
  const set = (endSilentAfter: string | null) => settings.change(project.projectId, { endSilentAfter })
  expect((await set(null)).endSilentAfter).toBe(null)
  await put('waiting')
  await pass(10_000)
  expect((await callOf('waiting')).status).toBe('live')
  await set('7d')
  await put('waiting', { duration: 1 })
  await pass(24)
  expect((await callOf('waiting')).status).toBe('live')
  await set('90m')
  await pass(0)
  expect((await callOf('waiting')).status).toBe('completed')
  const { data } = await console.audit.list(project.projectId, { limit: 3 })
  expect(data.map(({ target }) => target)).toEqual([
    '1 call silent for 90m',
    'endSilentAfter: 90m',
    'endSilentAfter: 7d',
  ])
  for (const value of ['24', '0h', '1.5h', '-1h', '24 h', '24s', '', '10000d'])
    await expect(set(value)).rejects.toMatchObject({ errors: [{ field: 'endSilentAfter' }] })
})

test('many silent calls are completed in slices, each once, with one entry in the trail', async () => {
  const { project, trail } = await newProject()
  const inputs = Array.from({ length: 250 }, (_, at) => ({ id: `call-${at}`, change: { duration: at } }))
  await service.services.ingest.putAll(project.projectId, inputs)
  await pass(24)
  const { pagination } = await (await project.fetch('/v1/calls?endedReason=silence&limit=0')).json()
  expect(pagination.total).toBe(250)
  expect(await trail()).toEqual(['250 calls silent for 24h'])
  const { data } = await (await project.fetch('/v1/changes?limit=1000&include=none')).json()
  expect(new Set(data.map(({ seq }: { seq: number }) => seq)).size).toBe(250)
})

test.skipIf(testMode !== 'file')(
  'silent calls are found by an index, however many calls there are',
  async () => {
    const { put } = await newProject()
    await put('silent')
    const { database } = service.services
    const statements = record(database.read)
    await pass(24)
    const plans = await plansOf(database.file, statements, /heard_at <= /)
    expect(plans.length).toBeGreaterThanOrEqual(2)
    for (const plan of plans) {
      expect(plan).toContain('USING COVERING INDEX calls_by_heard_at')
      expect(plan).not.toContain('SCAN calls')
      expect(plan).not.toContain('TEMP B-TREE')
    }
  },
)

async function putLines(project: TestProject, calls: object[]): Promise<void> {
  const body = calls.map((call) => JSON.stringify(call)).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const answer = await project.fetch('/ingest/calls', { method: 'POST', body, headers })
  expect(await answer.text()).not.toContain('"code"')
}
