import { describe, expect, test } from 'bun:test'
import type { CallRows } from '../../src/calls/reading/call-rows.ts'
import type { FrozenSet, ReviewQueue } from '../../src/calls/review/call-sets.ts'
import type { ChangedReview } from '../../src/calls/review/schemas.ts'
import { newestFirst, putCalls } from '../calls/put-calls.ts'
import { startConsole } from '../support/console.ts'
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
  const calls = newestFirst(2 * failed, (at) => ({
    id: `${at % 2 === 0 ? 'f' : 's'}${Math.floor(at / 2)}`,
    evaluation: at % 2 === 0 ? 'fail' : 'success',
    callerNumber: `+1555729${String(at).padStart(4, '0')}`,
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

function reviewsOf({ id }: TestProject): string {
  return `/projects/${id}/calls/review`
}

async function changeOf(
  project: TestProject,
  ids: readonly string[],
  change: object,
): Promise<ChangedReview[]> {
  const answer = await people.owner.send('POST', reviewsOf(project), { ids, change })
  expect(answer.status).toBe(200)
  return (await answer.json()).changed
}

async function idsIn(project: TestProject, query: string, person = people.owner): Promise<string[]> {
  const { data }: CallRows = await person.read(`/projects/${project.id}/calls?${query}`)
  return data.map(({ id }) => id)
}

async function queuesOf(project: TestProject, person = people.owner): Promise<ReviewQueue[]> {
  return (await person.read(pathOf(project))).data
}

describe('a queue of reviews', () => {
  test('keeps the calls of its view as they were: others do not join, deleted ones leave', async () => {
    const project = await projectWith(4)
    const set = await freeze(project, { name: 'Failed', query: '?evaluation=fail' })
    expect(set).toEqual({
      id: expect.stringMatching(/^set_/),
      ids: ['f0', 'f1', 'f2', 'f3'],
      isCapped: false,
    })
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
    expect(set.ids).toEqual(['f1', 's0'])
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
})

describe('the calls of a list', () => {
  test('are selected at the count shown, at most a thousand of them', async () => {
    const project = await projectWith(501)
    const { ids, isCapped } = await freeze(project, { query: '?evaluation=fail' })
    expect([ids.length, isCapped]).toEqual([501, false])
    const all = await freeze(project, { query: '' })
    expect([all.ids.length, all.ids.slice(0, 3), all.isCapped]).toEqual([1_000, ['f0', 's0', 'f1'], true])
    const change = { ids: all.ids, change: { addLabels: ['checked'] } }
    expect((await people.owner.send('POST', reviewsOf(project), change)).status).toBe(200)
    const exported = await people.owner.fetch(`/projects/${project.id}/exports/calls.jsonl?set=${all.id}`)
    expect((await exported.text()).match(/"id"/g)).toHaveLength(1_000)
    const removal = await people.owner.send('DELETE', `/projects/${project.id}/calls`, { ids: all.ids })
    expect((await removal.json()).deleted).toHaveLength(1_000)
    expect((await idsIn(project, '')).toSorted()).toEqual(['f500', 's500'])
  })

  test('take the place of the oldest selection, and are there for a day', async () => {
    const project = await projectWith(1)
    const first = await freeze(project, { query: '?evaluation=fail' })
    for (let more = 0; more < 9; more++) await freeze(project, { query: '' })
    expect(await idsIn(project, `set=${first.id}`)).toEqual(['f0'])
    const last = await freeze(project, { query: '?evaluation=fail' })
    expect(await idsIn(project, `set=${first.id}`)).toEqual([])
    sinceStartMs += dayMs + 1
    await service.services.callSets.expire()
    expect(await idsIn(project, `set=${last.id}`)).toEqual([])
  })
})

describe('a change of many calls', () => {
  const review = {
    evaluation: 'fail',
    reviewed: true,
    assignee: 'Grace',
    addLabels: ['late'],
    note: 'A note',
  }

  test('answers what each call had before, and undoing it puts exactly that back', async () => {
    const project = await projectWith(40)
    const member = await people.join(project, 'member')
    await member.send('PATCH', `/projects/${project.id}/calls/f1/review`, review)
    const reviews = async () => {
      const { data } = await (await project.fetch('/v1/calls?details=include&limit=100')).json()
      return Object.fromEntries(
        data.map(({ id, details }: { id: string; details: { review: unknown } }) => [id, details.review]),
      )
    }
    const before = await reviews()
    const { ids } = await freeze(project, { query: '' })
    for (const change of [
      { evaluation: 'success', addLabels: ['checked'], removeLabels: ['late'] },
      { evaluation: null, assignee: null, reviewed: false, removeLabels: ['late'] },
    ]) {
      const changed = await changeOf(project, ids, change)
      expect(changed.find(({ id }) => id === 'f1')?.before).toMatchObject({
        evaluation: 'fail',
        by: member.name,
        labels: ['late'],
      })
      expect(await reviews()).not.toEqual(before)
      const undone = await people.owner.send('POST', `${reviewsOf(project)}/undo`, { change, changed })
      expect((await undone.json()).undone.toSorted()).toEqual(changed.map(({ id }) => id).toSorted())
      expect(await reviews()).toEqual(before)
    }
  })

  test('is not undone where somebody has reviewed the call since, or it is gone', async () => {
    const project = await projectWith(2)
    const change = { evaluation: 'success' }
    const changed = await changeOf(project, ['f0', 'f1', 's0'], change)
    await people.owner.send('PATCH', `/projects/${project.id}/calls/f0/review`, { addLabels: ['since'] })
    await project.fetch('/v1/calls/f1', { method: 'DELETE' })
    const undone = await people.owner.send('POST', `${reviewsOf(project)}/undo`, { change, changed })
    expect(await undone.json()).toEqual({
      undone: ['s0'],
      failed: [
        { id: 'f0', message: 'has been reviewed since' },
        { id: 'f1', message: 'Call not found' },
      ],
    })
    expect(await idsIn(project, 'label=since')).toEqual(['f0'])
  })

  test('is not undone to what the service has not said', async () => {
    const project = await projectWith(1)
    const other = await projectWith(1)
    const change = { evaluation: 'success' }
    const [call] = await changeOf(project, ['f0'], change)
    if (!call) throw new Error('Nothing was changed')
    const forged = {
      ...call,
      before: { evaluation: 'fail', labels: [], reviewed: true, assignee: null, by: 'Ada' },
    }
    const undo = (of: TestProject, body: object) => people.owner.send('POST', `${reviewsOf(of)}/undo`, body)
    await expectProblem(await undo(project, { change, changed: [forged] }), 'invalid_request')
    await expectProblem(
      await undo(project, { change: { reviewed: true }, changed: [call] }),
      'invalid_request',
    )
    await changeOf(other, ['f0'], change)
    await expectProblem(await undo(other, { change, changed: [call] }), 'invalid_request')
    expect(await idsIn(project, 'evaluation=success')).toEqual(['f0', 's0'])
  })
})

describe('the deletion of all calls that match', () => {
  const remove = (project: TestProject, body: object, person = people.owner) =>
    person.send('DELETE', pathOf(project), body)

  test('is an erasure of all of them but those on hold, which are counted before', async () => {
    const project = await projectWith(1_100)
    await people.owner.send('POST', `/projects/${project.id}/holds`, { callId: 'f1', reason: 'Court' })
    const query = '?evaluation=fail'
    expect(await (await remove(project, { query, dryRun: true })).json()).toEqual({ calls: 1_099, onHold: 1 })
    expect((await project.fetch('/v1/calls/f0')).status).toBe(200)
    const { id, ...accepted } = await (await remove(project, { query })).json()
    expect(accepted).toEqual({ calls: 1_099, onHold: 1, status: 'pending' })
    await service.services.erasureRequests.finish()
    const receipt = await (await project.fetch(`/v1/erasures/${id}`)).json()
    expect(receipt).toMatchObject({ status: 'done', calls: 1_099, deleted: 1_099 })
    expect(await idsIn(project, 'evaluation=fail')).toEqual(['f1'])
    expect((await project.fetch('/v1/calls/s0')).status).toBe(200)
  })

  test('takes nothing else where the filters cannot be read, nor from another project', async () => {
    const [project, other] = [await projectWith(1), await projectWith(1)]
    for (const query of ['?status=odd', '?caller=somebody'])
      await expectProblem(await remove(project, { query }), 'invalid_request')
    const set = await freeze(other, { query: '' })
    expect(await (await remove(project, { query: `?set=${set.id}` })).json()).toMatchObject({ calls: 0 })
    for (const each of [project, other]) expect(await idsIn(each, '')).toHaveLength(2)
  })

  test('is not for viewers, nor for members who may not delete', async () => {
    const project = await projectWith(1)
    await expectProblem(
      await remove(project, { query: '?' }, await people.join(project, 'viewer')),
      'forbidden',
    )
    await service.services.settings.change(project.projectId, { membersMayDelete: false })
    await expectProblem(
      await remove(project, { query: '?' }, await people.join(project, 'member')),
      'forbidden',
    )
    expect(await idsIn(project, '')).toHaveLength(2)
  })
})
