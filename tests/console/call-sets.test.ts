import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { CallRows } from '../../src/calls/reading/call-rows.ts'
import type { FrozenSet, ReviewQueue } from '../../src/calls/review/call-sets.ts'
import { putCalls } from '../calls/put-calls.ts'
import { startConsole, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

let sinceStartMs = 0
const service = await startService({ now: () => Date.now() + sinceStartMs })
const people = await startConsole(service)

/** A project with failed calls `f0`, `f1`, … and as many others, the newest first. */
async function projectWith(failed: number): Promise<TestProject> {
  const project = await people.mintProject()
  const calls = Array.from({ length: 2 * failed }, (_, at) => ({
    id: `${at % 2 === 0 ? 'f' : 's'}${Math.floor(at / 2)}`,
    status: 'completed' as const,
    evaluation: at % 2 === 0 ? 'fail' : 'success',
    callerNumber: `+1555729${String(at).padStart(4, '0')}`,
    createdAt: new Date(Date.now() - (at + 1) * minuteMs).toISOString(),
  }))
  await putCalls(service.services, project.projectId, calls)
  return project
}

function pathOf({ id }: TestProject, path = ''): string {
  return `/projects/${id}/call-sets${path}`
}

async function freeze(project: TestProject, set: object, person = people.owner): Promise<FrozenSet> {
  const answer = await person.send('POST', pathOf(project), set)
  expect(answer.status).toBe(200)
  return await answer.json()
}

async function idsIn(project: TestProject, query: string, person = people.owner): Promise<string[]> {
  const { data }: CallRows = await (await person.fetch(`/projects/${project.id}/calls?${query}`)).json()
  return data.map(({ id }) => id)
}

async function queuesOf(project: TestProject, person = people.owner): Promise<ReviewQueue[]> {
  return (await (await person.fetch(pathOf(project))).json()).data
}

async function taskOf(project: TestProject, id: string) {
  return await (await people.owner.fetch(pathOf(project, `/${id}/task`))).json()
}

/** Waits for whatever is due, as if so much time had passed. */
async function after(ms: number): Promise<void> {
  sinceStartMs += ms
  await service.services.setTasks.run()
}

describe('a queue of reviews', () => {
  test('keeps the calls of its view as they were: others do not join, deleted ones leave', async () => {
    const project = await projectWith(4)
    const set = await freeze(project, { name: 'Failed', query: '?evaluation=fail' })
    expect(set).toEqual({ id: expect.stringMatching(/^set_/), calls: 4, held: 0, isCapped: false })
    await putCalls(service.services, project.projectId, [{ id: 'later', evaluation: 'fail' }])
    await people.owner.send('PATCH', `/projects/${project.id}/calls/f1/review`, { evaluation: 'success' })
    await project.fetch('/v1/calls/f2', { method: 'DELETE' })
    expect(await idsIn(project, `set=${set.id}`)).toEqual(['f0', 'f1', 'f3'])
    expect(await idsIn(project, `set=${set.id}&reviewed=false`)).toEqual(['f0', 'f3'])
    expect(await idsIn(project, `set=${set.id}&order=createdAt`)).toEqual(['f3', 'f1', 'f0'])
    const neighbours = await people.owner.fetch(
      `/projects/${project.id}/calls/f0/neighbours?set=${set.id}&reviewed=false`,
    )
    expect(await neighbours.json()).toEqual({ previous: null, next: 'f3' })
    expect(await queuesOf(project)).toMatchObject([{ id: set.id, name: 'Failed', calls: 3, reviewed: 1 }])
    const exported = await people.owner.fetch(`/projects/${project.id}/exports/calls.jsonl?set=${set.id}`)
    expect(
      (await exported.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['f0', 'f1', 'f3'])
  })

  test('is kept a week for its person, and shows calls of its project alone', async () => {
    const project = await projectWith(2)
    const other = await projectWith(2)
    const viewer = await people.join(project, 'viewer')
    const set = await freeze(project, { name: 'Mine', ids: ['f1', 's0', 'nowhere'] }, viewer)
    expect(set.calls).toBe(2)
    expect(await queuesOf(project)).toEqual([])
    expect(await idsIn(other, `set=${set.id}`)).toEqual([])
    await expectProblem(
      await people.owner.fetch(pathOf(project, `/${set.id}`), { method: 'DELETE' }),
      'not_found',
    )
    sinceStartMs += 7 * dayMs - minuteMs
    expect(await queuesOf(project, viewer)).toMatchObject([{ id: set.id }])
    sinceStartMs += 2 * minuteMs
    await service.services.callSets.expire()
    expect(await queuesOf(project, viewer)).toEqual([])
    expect(await idsIn(project, `set=${set.id}`, viewer)).toEqual([])
    const stranger = await people.join(other, 'owner')
    await expectProblem(await stranger.fetch(pathOf(project)), 'not_found')
    expect((await people.nobody.fetch(pathOf(project))).status).toBe(401)
    const bad = await people.owner.send('POST', pathOf(project), { name: '', query: '?status=odd' })
    await expectProblem(bad, 'invalid_request')
    for (const query of ['?status=odd', '?caller=somebody']) {
      const unread = await people.owner.send('POST', pathOf(project), { query })
      await expectProblem(unread, 'invalid_request')
    }
  })

  test('ends when its person says so', async () => {
    const project = await projectWith(1)
    const set = await freeze(project, { name: 'Short', query: '' })
    expect((await people.owner.fetch(pathOf(project, `/${set.id}`), { method: 'DELETE' })).status).toBe(200)
    expect(await queuesOf(project)).toEqual([])
  })
})

describe('all calls that match', () => {
  test('are changed after ten seconds, in which nothing is written and it can be undone', async () => {
    const project = await projectWith(260)
    const set = await freeze(project, { query: '?evaluation=fail' })
    expect(set.calls).toBe(260)
    const change = { evaluation: 'success', addLabels: ['checked'] }
    const ask = () => people.owner.send('PUT', pathOf(project, `/${set.id}/change`), change)
    const asked = { state: 'waiting', calls: 260, changed: 0, held: 0, failed: 0 }
    expect(await (await ask()).json()).toEqual(asked)
    await expectProblem(await ask(), 'invalid_request')
    await after(9_000)
    expect(await taskOf(project, set.id)).toEqual(asked)
    expect(await idsIn(project, 'label=checked')).toEqual([])
    const undo = () => people.owner.fetch(pathOf(project, `/${set.id}/change`), { method: 'DELETE' })
    expect((await undo()).status).toBe(200)
    await after(9_000)
    expect(await idsIn(project, 'label=checked')).toEqual([])

    await ask()
    await after(10_001)
    expect(await taskOf(project, set.id)).toEqual({ ...asked, state: 'done', changed: 260 })
    await expectProblem(await undo(), 'invalid_request')
    const { data, total }: CallRows = await (
      await people.owner.fetch(`/projects/${project.id}/calls?label=checked`)
    ).json()
    expect(total).toBe(260)
    expect(data[0]).toMatchObject({
      evaluation: 'success',
      review: { reviewed: true, by: people.owner.name, labels: ['checked'] },
    })
    expect(await idsIn(project, 'evaluation=fail')).toEqual([])
  })

  test('are deleted at once but for those on hold, which are counted before and after', async () => {
    const project = await projectWith(3)
    await people.owner.send('POST', `/projects/${project.id}/holds`, { callId: 'f1', reason: 'Court' })
    const set = await freeze(project, { query: '?evaluation=fail' })
    expect(set).toMatchObject({ calls: 3, held: 1 })
    const member = await people.join(project, 'member')
    const remove = (person: TestPerson) =>
      person.fetch(pathOf(project, `/${set.id}/calls`), { method: 'DELETE' })
    await expectProblem(await remove(member), 'not_found')
    expect((await remove(people.owner)).status).toBe(200)
    await after(0)
    expect(await taskOf(project, set.id)).toMatchObject({ state: 'done', calls: 3, changed: 2, held: 1 })
    expect(await idsIn(project, 'evaluation=fail')).toEqual(['f1'])
  })

  test('of a set whose change fails do not hold up the others', async () => {
    const project = await projectWith(3)
    const change = async (id: string) =>
      expect((await people.owner.send('PUT', pathOf(project, `/${id}/change`), { reviewed: true })).ok).toBe(
        true,
      )
    const [broken, whole] = [
      await freeze(project, { query: '?evaluation=fail' }),
      await freeze(project, { query: '?evaluation=fail' }),
    ]
    await change(broken.id)
    await change(whole.id)
    await service.services.database.write.run(sql`update call_sets set task = '' where id = ${broken.id}`)
    await after(10_001)
    expect(await taskOf(project, whole.id)).toMatchObject({ state: 'done', changed: 3 })
    expect(await taskOf(project, broken.id)).toMatchObject({ state: 'running', changed: 0 })
    const messages = service.logs.map(({ msg }) => msg)
    expect(messages).toContain('Changing many calls failed and will be tried again')
    await service.services.database.write.run(sql`delete from call_sets where id = ${broken.id}`)
  })

  test('are not changed once the time of their set is over', async () => {
    const project = await projectWith(1)
    const set = await freeze(project, { query: '?evaluation=fail' })
    sinceStartMs += dayMs + 1
    const late = await people.owner.send('PUT', pathOf(project, `/${set.id}/change`), { reviewed: true })
    await expectProblem(late, 'not_found')
  })

  test('take the place of the oldest that are not in use', async () => {
    const project = await projectWith(1)
    const first = await freeze(project, { query: '?evaluation=fail' })
    for (let more = 0; more < 10; more++) await freeze(project, { query: '?evaluation=fail' })
    await expectProblem(await people.owner.fetch(pathOf(project, `/${first.id}/task`)), 'not_found')
  })

  test('stay as they are once an owner has taken the right of whoever asked', async () => {
    const project = await projectWith(3)
    const path = `/projects/${project.id}/people`
    const waiting = async () => {
      const person = await people.join(project, 'member')
      const { id } = await freeze(project, { query: '' }, person)
      await person.send('PUT', pathOf(project, `/${id}/change`), { addLabels: ['late'] })
      return `${path}/${person.personId}`
    }
    await people.owner.fetch(await waiting(), { method: 'DELETE' })
    await people.owner.send('PATCH', await waiting(), { role: 'viewer' })
    await after(10_001)
    expect(await idsIn(project, 'label=late')).toEqual([])

    const member = await people.join(project, 'member')
    const { id } = await freeze(project, { query: '' }, member)
    const { setTasks, settings } = service.services
    await settings.change(project.projectId, { membersMayDelete: false })
    const { personId, name } = member
    const by = { actor: { id: personId, name }, address: null }
    await setTasks.delete(project.projectId, id, { person: member, by })
    await setTasks.run()
    expect(await idsIn(project, '')).toHaveLength(6)
  })

  test('are not changed by viewers, nor deleted by members who may not', async () => {
    const project = await projectWith(1)
    const viewer = await people.join(project, 'viewer')
    const set = await freeze(project, { query: '' }, viewer)
    const change = await viewer.send('PUT', pathOf(project, `/${set.id}/change`), { reviewed: true })
    await expectProblem(change, 'forbidden')
    const removal = await viewer.fetch(pathOf(project, `/${set.id}/calls`), { method: 'DELETE' })
    await expectProblem(removal, 'forbidden')
    expect(await idsIn(project, '')).toHaveLength(2)
  })
})
