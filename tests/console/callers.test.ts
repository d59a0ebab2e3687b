import { expect, test } from 'bun:test'
import type { CallerRecord } from '../../src/calls/keeping/callers.ts'
import type { HoldRecord } from '../../src/calls/keeping/holds.ts'
import type { CallRows } from '../../src/calls/reading/call-rows.ts'
import { startConsole, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const number = '+49 30 123456'

const service = await startService()
const set = await startConsole(service)
const project = await set.mintProject()
await service.services.projects.find(project.id)
const put = (id: string, change: object) =>
  project.send('PUT', `/ingest/calls/${id}`, { status: 'completed', ...change })
await put('from', { callerNumber: '+4930123456', createdAt: '2026-01-01T00:00:00Z', summary: 'a refund' })
await put('to', { calledNumber: '004930123456', createdAt: '2026-01-03T00:00:00Z' })
await put('longer', { callerNumber: '+49301234567', createdAt: '2026-01-04T00:00:00Z' })
await put('other', { callerNumber: '+4989123456', createdAt: '2026-01-05T00:00:00Z' })

const find = async (text: string, by: TestPerson = set.owner, of = project): Promise<string> =>
  (await (await by.send('POST', `/projects/${of.id}/callers`, { number: text })).json()).id
const ids = ({ data }: CallRows) => data.map(({ id }) => id)

test('a person has one address, however their number is written, and it does not show the number', async () => {
  const id = await find(number)
  expect(await find('+4930123456')).toBe(id)
  expect(await find('0049 30 123456')).toBe(id)
  expect(id).not.toContain('30123456')
  const viewer = await set.join(project, 'viewer')
  expect(await find(number, viewer)).toBe(id)
  const caller: CallerRecord = await viewer.read(`/projects/${project.id}/callers/${id}`)
  expect(caller).toEqual({
    id,
    number: '+4930123456',
    shownNumber: '+49 30 123456',
    calls: 2,
    onHold: 0,
    firstAt: '2026-01-01T00:00:00.000Z',
    lastAt: '2026-01-03T00:00:00.000Z',
  })
})

test('lists, neighbours and exports are restricted to the person, also with other filters', async () => {
  const id = await find(number)
  const path = `/projects/${project.id}`
  const list = async (query: string): Promise<CallRows> =>
    (await set.owner.fetch(`${path}/calls?caller=${id}${query}`)).json()
  expect(ids(await list(''))).toEqual(['to', 'from'])
  expect(await list('&limit=1')).toMatchObject({ total: 2, data: [{ id: 'to' }] })
  const { nextCursor } = await list('&limit=1')
  expect(ids(await list(`&limit=1&cursor=${nextCursor}`))).toEqual(['from'])
  expect(ids(await list('&text=refund'))).toEqual(['from'])
  expect(ids(await list('&from=2026-01-02'))).toEqual(['to'])
  const beside = await set.owner.fetch(`${path}/calls/to/neighbours?caller=${id}`)
  expect(await beside.json()).toEqual({ previous: null, next: 'from' })
  const file = await set.owner.fetch(`${path}/exports/calls.jsonl?caller=${id}`)
  const lines = (await file.text()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(['to', 'from'])
})

test('what is no whole number has no address; an address of another project names nobody', async () => {
  for (const text of ['anonymous', '…3456', '']) {
    const answer = await set.owner.send('POST', `/projects/${project.id}/callers`, { number: text })
    await expectProblem(answer, 'invalid_request')
  }
  const other = await set.mintProject()
  const theirs = await find(number, set.owner, other)
  const id = await find(number)
  expect(theirs).not.toBe(id)
  for (const path of [`callers/${theirs}`, `callers/${theirs}/holds`, `calls?caller=${theirs}`, 'callers/x'])
    await expectProblem(await set.owner.fetch(`/projects/${project.id}/${path}`), 'not_found')
  const stranger = await set.join(other, 'owner')
  await expectProblem(await stranger.fetch(`/projects/${project.id}/callers/${id}`), 'not_found')
})

test('shows the holds on the number to members, and counts the calls on hold', async () => {
  const id = await find(number)
  const holds = `/projects/${project.id}/holds`
  await set.owner.send('POST', holds, { number: '0049 30 123456', reason: 'Court order 7' })
  await set.owner.send('POST', holds, { number: '+4989123456', reason: 'Another' })
  const member = await set.join(project, 'member')
  const path = `/projects/${project.id}/callers/${id}`
  const { data }: { data: HoldRecord[] } = await member.read(`${path}/holds`)
  expect(data.map(({ reason }) => reason)).toEqual(['Court order 7'])
  expect(await member.read(path)).toMatchObject({ calls: 2, onHold: 2 })
  const viewer = await set.join(project, 'viewer')
  expect((await viewer.fetch(`${path}/holds`)).status).toBe(403)
})

test('receipts are listed for owners, newest first, without anything of the person', async () => {
  const mine = await set.mintProject()
  await mine.send('PUT', '/ingest/calls/a', { status: 'completed', callerNumber: '+4930123456' })
  const erasures = `/projects/${mine.id}/erasures`
  const first = await (await set.owner.send('POST', erasures, { number })).json()
  const second = await (await set.owner.send('POST', erasures, { ids: ['a'] })).json()
  await service.services.erasureRequests.finish()
  const text = await (await set.owner.fetch(erasures)).text()
  expect(JSON.parse(text).data).toMatchObject([
    { id: second.id, status: 'done' },
    { id: first.id, status: 'done', calls: 1, deleted: 1 },
  ])
  expect(text).not.toContain('30123456')
  const member = await set.join(mine, 'member')
  expect((await member.fetch(erasures)).status).toBe(403)
})
