import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { startService, type TestProject } from '../../support/service.ts'
import { testMode } from '../../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'
import { until } from '../../support/until.ts'
import { putCalls, said } from '../put-calls.ts'

const dayMs = 86_400_000
let time = Date.parse('2026-06-01T12:00:00Z')
const daysAgo = (days: number) => new Date(time - days * dayMs).toISOString()

const service = await startService({ now: () => time })

test('calls go by when they became completed: as the event says, as it arrived, or at the end of an import', async () => {
  const { project, idsOf, expire } = await newProject()
  const put = (id: string, call: object) => project.send('PUT', `/ingest/calls/${id}`, call)
  const completed = { status: 'completed', createdAt: daysAgo(50) }
  await put('told-late', { ...completed, occurredAt: daysAgo(31) })
  await put('told-lately', { ...completed, occurredAt: daysAgo(29) })
  await put('told-to-the-day', { ...completed, occurredAt: daysAgo(30) })
  await put('arrived-today', completed)
  await put('live', { createdAt: daysAgo(50), occurredAt: daysAgo(50) })
  await put('completed-today', { createdAt: daysAgo(50), occurredAt: daysAgo(50) })
  await put('completed-today', { status: 'completed' })
  await put('again', { ...completed, occurredAt: daysAgo(40) })
  // It was completed already.
  await put('again', { status: 'completed', occurredAt: daysAgo(1), summary: 'Analysed later.' })
  const lines = [
    { id: 'imported', createdAt: daysAgo(31), duration: 60 },
    { id: 'imported-long', createdAt: daysAgo(30.001), duration: 3_600 },
    { id: 'imported-new', createdAt: daysAgo(29), duration: 60 },
  ].map((call) => JSON.stringify({ ...call, status: 'completed' }))
  const headers = { 'content-type': 'application/x-ndjson' }
  const imported = await project.fetch('/ingest/calls', { method: 'POST', body: lines.join('\n'), headers })
  expect((await imported.text()).split('\n').filter(Boolean)).toHaveLength(3)
  expect(await service.services.retention.countDue(project.projectId, 30)).toBe(3)
  expect(await service.services.retention.countDue(project.projectId, 50)).toBe(0)

  await expire(30)
  const left = [
    'arrived-today',
    'completed-today',
    'imported-long',
    'imported-new',
    'live',
    'told-lately',
    'told-to-the-day',
  ]
  expect(await idsOf()).toEqual(left)
  // An hour later two more are due, but it is done daily.
  time += 3_600_000
  await service.services.retention.run()
  expect(await idsOf()).toEqual(left)
  time += dayMs
  await service.services.retention.run()
  expect(await idsOf()).toEqual(['arrived-today', 'completed-today', 'live'])
})

test('a call that retention deletes is deleted as by hand, with one entry in the audit trail for all', async () => {
  const { project, expire, trail } = await newProject()
  const words = [newWord(), newWord()]
  const old = Array.from({ length: 230 }, (_, at) => ({
    id: `old-${at}`,
    status: 'completed' as const,
    occurredAt: daysAgo(100),
    createdAt: daysAgo(100),
    ...said(`${words[at === 7 ? 0 : 1]} said`),
  }))
  await putCalls(service.services, project.projectId, old)
  await project.send('PUT', '/ingest/calls/new', { status: 'completed', summary: 'stays' })
  await expire(90)
  expect((await project.fetch('/v1/calls/old-7')).status).toBe(404)
  expect((await project.send('PUT', '/ingest/calls/old-7', { summary: 'again' })).status).toBe(410)
  const { data } = await (await project.fetch('/v1/changes?limit=500')).json()
  const deleted = data.filter(({ type }: { type: string }) => type === 'call.deleted')
  expect(deleted).toHaveLength(old.length)
  expect(await trail()).toEqual([`230 calls completed before ${daysAgo(90).slice(0, 16)}Z`])
  await until(async () => {
    const receipt = await project.fetch('/v1/erasures/old-7')
    return (await receipt.json()).status === 'done'
  })
  if (testMode === 'file') expect(await findTraces(service.dataDir, words.flatMap(tracesOfWord))).toEqual([])
})

test('what was interrupted is finished by the next run, and switching off stops it', async () => {
  const { project, idsOf, expire, trail } = await newProject()
  const old = Array.from({ length: 250 }, (_, at) => ({
    id: `old-${at}`,
    status: 'completed' as const,
    occurredAt: daysAgo(100),
    createdAt: daysAgo(100),
  }))
  await putCalls(service.services, project.projectId, old)
  const { settings, database, retention } = service.services
  // Whoever switches it off after the first slice: the trail has an entry by then.
  await database.write.run(sql`
    create trigger switch_off after insert on audit_events when new.action = 'calls_expired' begin
      update projects set retain_days = null where id = new.project_id; end`)
  await expire(90)
  await database.write.run(sql`drop trigger switch_off`)
  expect(await idsOf()).toHaveLength(150)
  expect(await trail()).toEqual([`100 calls completed before ${daysAgo(90).slice(0, 16)}Z`])
  await settings.change(project.projectId, { retainDays: 91 })
  await retention.run()
  expect(await idsOf()).toEqual([])
  expect(await trail()).toEqual([
    `150 calls completed before ${daysAgo(91).slice(0, 16)}Z`,
    `100 calls completed before ${daysAgo(90).slice(0, 16)}Z`,
  ])
})

test('entries of the audit trail go after 400 days, with one entry for all', async () => {
  const { project } = await newProject()
  const { console, retention } = service.services
  for (let n = 0; n < 230; n++)
    await console.audit.record({ projectId: project.projectId, action: 'signed_in', target: `${n}` })
  time += 399 * dayMs
  await retention.run()
  const list = () => console.audit.list(project.projectId, { limit: 500 })
  const before = (await list()).data.length
  time += 2 * dayMs
  await retention.run()
  const { data } = await list()
  expect(data.map(({ action }) => action)).toEqual(['audit_expired'])
  expect(data[0]?.target).toStartWith(`${before} entries from before `)
})

async function newProject() {
  const project: TestProject = await service.mintProject()
  const { settings, retention, console } = service.services
  return {
    project,
    idsOf: async () => {
      const { data } = await (await project.fetch('/v1/calls?limit=1000&fields=id')).json()
      return data.map(({ id }: { id: string }) => id).sort()
    },
    /** Keeps calls for so many days from now on, and deletes what is due. */
    expire: async (retainDays: number) => {
      await settings.change(project.projectId, { retainDays })
      await retention.run()
    },
    /** What the trail says of calls that were deleted so. */
    trail: async () => {
      const { data } = await console.audit.list(project.projectId, { limit: 50 })
      return data.filter(({ action }) => action === 'calls_expired').map(({ target }) => target)
    },
  }
}
