import { describe, expect, test } from 'bun:test'
import { startConsole } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startService()
const console = await startConsole(service)

test('a change of settings changes nothing else of the project, whatever it names', async () => {
  const project = await console.mintProject()
  const other = {
    name: 'Other',
    publicId: 'prj_other',
    deletedAt: 1,
    changeSeq: 1_000,
    id: 4_711,
    constructor: 1,
  }
  const rows = () =>
    service.services.database.read.all(`select * from projects where id = ${project.projectId}`)
  const before = await rows()
  const path = `/projects/${project.id}/settings`
  for (const [name, value] of Object.entries(other))
    expect([name, (await console.owner.send('PUT', path, { [name]: value })).status]).toEqual([name, 200])
  expect(await rows()).toEqual(before)
  const changed = await console.owner.send('PUT', path, { ...other, notesReading: true })
  expect(await changed.json()).toMatchObject({ notesReading: true })
  expect(await rows()).toEqual([{ ...Object(before[0]), notes_reading: 1 }])
})

describe('retention in the console', () => {
  test('says how many calls go, asks for that number, and deletes them', async () => {
    const project = await console.mintProject()
    const path = `/projects/${project.id}/settings`
    for (const [id, year] of [
      ['old', 2020],
      ['older', 2019],
      ['new', new Date().getUTCFullYear()],
    ] as const) {
      const occurredAt = id === 'new' ? new Date().toISOString() : `${year}-01-01T00:00:00Z`
      const call = { status: 'completed', createdAt: occurredAt, occurredAt }
      expect((await project.send('PUT', `/ingest/calls/${id}`, call)).status).toBe(201)
    }
    const due = async (query: string) => (await console.owner.read(`${path}/due${query}`)).calls
    expect([await due(''), await due('?days=90'), await due('?days=36500')]).toEqual([0, 2, 0])
    for (const confirm of [{}, { confirm: 1 }, { confirm: 3 }]) {
      const refused = await console.owner.send('PUT', path, { retainDays: 90, ...confirm })
      const { errors } = await expectProblem(refused, 'invalid_request')
      const message = 'must be 2, the number of calls that this deletes'
      expect(errors).toEqual([{ field: 'confirm', message }])
    }
    expect((await console.owner.send('PUT', path, { retainDays: 90, confirm: 2 })).status).toBe(200)
    await until(async () => (await due('')) === 0)
    const list = await (await project.fetch('/v1/calls')).json()
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual(['new'])
    // A longer time deletes nothing, so it asks for nothing.
    expect((await console.owner.send('PUT', path, { retainDays: 91 })).status).toBe(200)
    const trail = await trailOf(project, '?action=calls_expired')
    expect(trail).toMatchObject([
      { target: expect.stringMatching(/^2 calls completed before 20/), actor: null },
    ])
  })
})

describe('who looked', () => {
  test('is noted only where it is asked for, once for a call that is asked for again and again', async () => {
    const project = await console.mintProject()
    const member = await console.join(project, 'member')
    for (const id of ['read', 'other']) await project.send('PUT', `/ingest/calls/${id}`, {})
    const open = (id: string) => member.fetch(`/projects/${project.id}/calls/${id}`)
    const settings = `/projects/${project.id}/settings`
    expect((await open('other')).status).toBe(200)
    await console.owner.send('PUT', settings, { notesReading: true })
    for (let n = 0; n < 3; n++) expect((await open('read')).status).toBe(200)
    expect((await open('missing')).status).toBe(404)
    // Names that somebody has made up may be a person's.
    const stray = '%2B4930123456=1&analysis.Ada%20Lovelace=x'
    for (const accept of ['text/csv', 'application/json']) {
      const answer = await project.fetch(`/v1/calls?number=15551234567&${stray}`, { headers: { accept } })
      expect(answer.headers.get('content-type')).toStartWith(accept)
      await answer.text()
    }
    const noted = async () => [
      ...(await trailOf(project, '?action=calls_exported')),
      ...(await trailOf(project, '?action=call_opened')),
    ]
    const file = await member.fetch(`/projects/${project.id}/exports/calls.csv?text=blue&${stray}`)
    expect(file.status).toBe(200)
    await file.text()
    await until(async () => (await noted()).length >= 3)
    expect(await noted()).toMatchObject([
      {
        action: 'calls_exported',
        actorId: member.personId,
        target: 'text/csv, restricted by analysis.…, text',
      },
      {
        action: 'calls_exported',
        actorId: project.keyId,
        target: 'text/csv, restricted by analysis.…, number',
      },
      { action: 'call_opened', actorId: member.personId, target: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
    expect(await trailOf(project, '?call=read')).toHaveLength(1)
    expect(await trailOf(project, '?call=other')).toEqual([])
  })
})

describe('the audit trail', () => {
  test('is filtered by who, act and time, also as CSV that no spreadsheet takes for a formula', async () => {
    const project = await console.mintProject()
    const second = await console.join(project, 'owner')
    const rename = (name: string) => second.send('PATCH', `/projects/${project.id}`, { name })
    await rename('=1+1')
    const between = new Date(Date.now() + 1).toISOString()
    await until(() => new Date().toISOString() > between)
    await rename('Plain, "quoted"')
    const targets = async (query: string) => (await trailOf(project, query)).map(({ target }) => target)
    const both = ['Plain, "quoted"', '=1+1']
    expect(await targets('?action=project_renamed')).toEqual(both)
    expect(await targets(`?action=project_renamed&who=${second.personId}`)).toEqual(both)
    expect(await targets(`?action=project_renamed&who=${console.owner.personId}`)).toEqual([])
    expect(await targets(`?action=project_renamed&from=${between}`)).toEqual(both.slice(0, 1))
    expect(await targets(`?action=project_renamed&to=${between}`)).toEqual(both.slice(1))
    expect(await targets('?who=commandLine&action=project_created')).toHaveLength(1)
    const csv = await console.owner.fetch(`/projects/${project.id}/audit/csv?action=project_renamed`)
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-trail.csv"')
    const [head, newest, oldest, end] = (await csv.text()).split('\r\n')
    expect([head, end]).toEqual(['at,action,actorKind,actor,actorId,target,targetId,ipAddress', ''])
    expect(newest).toContain(`${second.personId},"Plain, ""quoted""",`)
    expect(oldest).toContain(`${second.personId},'=1+1,`)
    const answer = await console.owner.fetch(`/projects/${project.id}/audit?from=soon`)
    const { errors } = await expectProblem(answer, 'invalid_request')
    expect(errors).toEqual([{ field: 'from', message: 'must be an ISO 8601 time' }])
  })
})

interface Entry {
  action: string
  actor: string | null
  actorId: string | null
  target: string | null
}

async function trailOf(project: TestProject, query: string): Promise<Entry[]> {
  return (await console.owner.read(`/projects/${project.id}/audit${query}`)).data
}
