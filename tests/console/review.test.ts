import { describe, expect, test } from 'bun:test'
import type { CallRows } from '../../src/calls/reading/call-rows.ts'
import type { CallDetails } from '../../src/calls/schemas.ts'
import { putCalls, said } from '../calls/put-calls.ts'
import { startConsole } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startService()
const people = await startConsole(service)
const project = await people.mintProject()

async function put(id: string, change: object = { evaluation: 'success', ...said('Hello') }) {
  await putCalls(service.services, project.projectId, [{ id, ...change }])
}

function review(id: string, change: object, person = people.owner): Promise<Response> {
  return person.send('PATCH', `/projects/${project.id}/calls/${id}/review`, change)
}

async function reviewed(id: string, change: object, person = people.owner): Promise<CallDetails['review']> {
  const answer = await review(id, change, person)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as CallDetails).review
}

async function idsOf(query: string): Promise<string[]> {
  const { data } = await (await project.fetch(`/v1/calls?fields=id&${query}`)).json()
  return data.map(({ id }: { id: string }) => id).sort()
}

async function actions(): Promise<{ action: string; actor: string; target: string }[]> {
  return (await people.owner.read(`/projects/${project.id}/audit?limit=200`)).data
}

describe('the review of a call', () => {
  test("a person's evaluation stands over the platform's, whatever the platform sends later", async () => {
    await put('over')
    const review = await reviewed('over', { evaluation: 'fail' })
    expect(review).toMatchObject({ evaluation: 'fail', reviewed: true, by: people.owner.name })
    await project.send('PUT', '/ingest/calls/over', {
      evaluation: 'success',
      summary: 'Fine',
      details: { costUsd: 1 },
    })
    const { data }: CallRows = await (
      await people.owner.fetch(`/projects/${project.id}/calls?evaluation=fail`)
    ).json()
    expect(data).toMatchObject([{ id: 'over', evaluation: 'fail', review: { evaluation: 'fail' } }])
    expect(await (await project.fetch('/v1/calls/over')).json()).toMatchObject({ evaluation: 'success' })
    expect(await (await project.fetch('/v1/calls/over/details')).json()).toMatchObject({ review, costUsd: 1 })
    expect([await idsOf('evaluation=fail'), await idsOf('evaluation=success')]).toEqual([['over'], []])
    expect(await reviewed('over', { evaluation: null, reviewed: false })).toBeNull()
    expect([await idsOf('evaluation=fail'), await idsOf('evaluation=success')]).toEqual([[], ['over']])
  })

  test('changes member by member, and the same change twice changes nothing', async () => {
    const member = await people.join(project, 'member')
    await put('members', said('One', 'Two', 'Three', 'Four'))
    await reviewed('members', { note: ' Called twice. ', addLabels: ['vip', ' late '] })
    const both = await Promise.all([
      reviewed('members', { addLabels: ['refund'], flagTurns: [3, 0] }),
      reviewed('members', { removeLabels: ['vip'], flagTurns: [1] }, member),
    ])
    expect(both).toHaveLength(2)
    const expected = { evaluation: null, note: 'Called twice.', labels: ['late', 'refund'] }
    const last = await reviewed('members', {})
    expect(last).toMatchObject({ ...expected, reviewed: false, flaggedTurns: [0, 1, 3] })
    const etag = (await project.fetch('/v1/calls/members')).headers.get('etag')
    expect(await reviewed('members', { addLabels: ['late'], removeLabels: ['vip'] }, member)).toEqual(last)
    expect((await project.fetch('/v1/calls/members')).headers.get('etag')).toBe(etag)
    expect(
      await reviewed('members', { note: '  ', unflagTurns: [0, 1, 3], removeLabels: ['late', 'refund'] }),
    ).toBeNull()
  })

  test('finds calls by what was said of them, and moves them in the feed of changes', async () => {
    for (const id of ['seen', 'flag', 'note', 'plain'])
      await put(`find-${id}`, {
        ...said('Hello'),
        createdAt: '2026-03-05T00:00:00Z',
        updatedAt: '2026-03-05T00:00:00Z',
      })
    const march = 'from=2026-03-05&to=2026-03-06'
    const { next } = await (await project.fetch('/v1/changes?after=0&limit=1000')).json()
    const before = await (await project.fetch('/v1/calls/find-seen')).json()
    await reviewed('find-seen', { reviewed: true })
    await reviewed('find-flag', { flagTurns: [0] })
    await reviewed('find-note', { note: 'x' })
    expect(await idsOf(`${march}&reviewed=true`)).toEqual(['find-seen'])
    expect(await idsOf(`${march}&reviewed=false`)).toEqual(['find-flag', 'find-note', 'find-plain'])
    expect(await idsOf(`${march}&flagged=true`)).toEqual(['find-flag'])
    expect(await idsOf(`${march}&noted=true`)).toEqual(['find-note'])
    await expectProblem(await project.fetch('/v1/calls?reviewed=yes'), 'invalid_request')
    const { data } = await (await project.fetch(`/v1/changes?after=${next}`)).json()
    expect(data.map(({ call }: { call: { id: string } }) => call.id)).toEqual([
      'find-seen',
      'find-flag',
      'find-note',
    ])
    expect(data[0].call.updatedAt > before.updatedAt).toBe(true)
  })

  test('is given to somebody, whom lists find and show', async () => {
    await put('given')
    await put('free')
    expect(await reviewed('given', { assignee: ' Grace Hopper ' })).toMatchObject({
      assignee: 'Grace Hopper',
      reviewed: false,
    })
    expect(await idsOf('assignee=Grace%20Hopper')).toEqual(['given'])
    expect(await idsOf('assignee=none&limit=500')).not.toContain('given')
    const rows: CallRows = await (
      await people.owner.fetch(`/projects/${project.id}/calls?assignee=Grace%20Hopper`)
    ).json()
    expect(rows.data[0]?.review).toMatchObject({ assignee: 'Grace Hopper', by: people.owner.name })
    const { assignee } = await people.owner.read(`/projects/${project.id}/call-facets`)
    expect(assignee).toEqual([{ value: 'Grace Hopper', calls: 1 }])
    expect(await reviewed('given', { assignee: null })).toBeNull()
    expect(await idsOf('assignee=Grace%20Hopper')).toEqual([])
  })

  test('keeps a live call as it grows', async () => {
    await put('live', { status: 'live', ...said('One') })
    await project.send('PUT', '/ingest/calls/live', {
      appendTranscript: { at: 1, turns: [{ role: 'user', content: 'Two' }] },
    })
    await reviewed('live', { note: 'Listen to this.' })
    await project.send('PUT', '/ingest/calls/live', {
      appendTranscript: { at: 2, turns: [{ role: 'user', content: 'Three' }] },
    })
    const { transcript } = await (await project.fetch('/v1/calls/live')).json()
    expect(transcript.map(({ content }: { content: string }) => content)).toEqual(['One', 'Two', 'Three'])
    expect(await reviewed('live', {})).toMatchObject({ note: 'Listen to this.' })
  })

  test('keeps a note that somebody else has written meanwhile', async () => {
    const member = await people.join(project, 'member')
    await put('two')
    await reviewed('two', { note: 'First', noteBefore: null })
    await reviewed('two', { note: 'Second', noteBefore: 'First' }, member)
    const late = await review('two', { note: 'Third', noteBefore: 'First' })
    const { detail } = await expectProblem(late, 'note_has_changed', 'Note has changed')
    expect(detail).toContain(`${member.name} has changed`)
    expect(await reviewed('two', { note: 'Second', noteBefore: 'First' })).toMatchObject({ note: 'Second' })
    expect(await reviewed('two', { note: 'Third', noteBefore: 'Second' })).toMatchObject({ note: 'Third' })
  })

  test('flags only turns that the call has, and takes only labels that can be seen', async () => {
    await put('turns', said('One', 'Two'))
    expect(await reviewed('turns', { flagTurns: [1] })).toMatchObject({ flaggedTurns: [1] })
    const { detail } = await expectProblem(
      await review('turns', { flagTurns: [0, 2] }),
      'no_such_turn',
      'No such turn',
    )
    expect(detail).toBe('flagTurns: the call has 2 turns, from 0 to 1.')
    for (const label of ['\u200b', '\u3164', 'vip\u202e'])
      await expectProblem(await review('turns', { addLabels: [label] }), 'invalid_request')
    expect(await reviewed('turns', { unflagTurns: [1] })).toBeNull()
  })

  test('is for members of the project, and makes no call', async () => {
    await put('mine')
    const stranger = await people.join(await people.mintProject(), 'owner')
    expect((await review('mine', { note: 'x' }, stranger)).status).toBe(404)
    await expectProblem(await review('nowhere', { note: 'x' }), 'not_found', 'Call not found')
    await project.fetch('/v1/calls/mine', { method: 'DELETE' })
    await expectProblem(await review('mine', { note: 'x' }), 'not_found', 'Call not found')
    expect((await project.fetch('/v1/calls/nowhere')).status).toBe(404)
    for (const bad of [
      { note: 1 },
      { addLabels: [' '] },
      { addLabels: ['x'.repeat(101)] },
      { flagTurns: [-1] },
    ]) {
      await put('bad')
      await expectProblem(await review('bad', bad), 'invalid_request')
    }
  })
})

describe('one change of many calls', () => {
  test('is made at once; labels are added and taken at once; calls that it cannot be are named', async () => {
    const ids = Array.from({ length: 120 }, (_, n) => `many-${n}`)
    await putCalls(
      service.services,
      project.projectId,
      ids.map((id) => ({ id })),
    )
    await reviewed('many-0', { addLabels: ['batch'], note: 'Stays.' })
    const label = async (of: (string | undefined)[], change: object) => {
      const answer = await people.owner.send('POST', `/projects/${project.id}/calls/review`, {
        ids: of,
        change,
      })
      const { changed, failed } = await answer.json()
      return { changed: changed.map(({ id }: { id: string }) => id), failed }
    }
    expect(await label([...ids, 'nowhere', ids[5]], { addLabels: ['batch'] })).toEqual({
      changed: ids.slice(1),
      failed: [{ id: 'nowhere', message: 'Call not found' }],
    })
    expect((await idsOf('label=batch&limit=500')).length).toBe(120)
    expect(await label(ids.slice(0, 2), { removeLabels: ['batch'] })).toEqual({
      changed: ids.slice(0, 2),
      failed: [],
    })
    expect(await reviewed('many-0', {})).toMatchObject({ labels: [], note: 'Stays.' })
    // What people are shown may be some seconds old.
    await until(async () => {
      const { label } = await people.owner.read(`/projects/${project.id}/call-facets`)
      return label.some(
        ({ value, calls }: { value: string; calls: number }) => value === 'batch' && calls === 118,
      )
    })
    const tooMany = { ids: Array.from({ length: 1_001 }, (_, n) => `${n}`), change: { reviewed: true } }
    const answer = await people.owner.send('POST', `/projects/${project.id}/calls/review`, tooMany)
    await expectProblem(answer, 'invalid_request')
  })

  test('and reviews are in the audit trail, once for each call, by a hash that says nothing of it', async () => {
    const member = await people.join(project, 'member')
    const ids = ['trail-1', 'trail-2']
    await putCalls(
      service.services,
      project.projectId,
      ids.map((id) => ({ id })),
    )
    const before = (await actions()).length
    await reviewed('trail-1', { evaluation: 'fail', note: 'x' }, member)
    await reviewed('trail-1', { evaluation: 'fail' }, member)
    await member.send('POST', `/projects/${project.id}/calls/review`, {
      ids,
      change: { addLabels: ['secret label'] },
    })
    await project.fetch('/v1/calls/trail-1', { method: 'DELETE' })
    const events = (await actions()).slice(0, (await actions()).length - before)
    const names = events.map(({ action }) => action)
    expect(names).toEqual(['call_deleted', 'call_labelled', 'call_labelled', 'call_noted', 'call_evaluated'])
    const hash = events[0]?.target ?? '-'
    const ofFirst = events.filter(({ target }) => target?.startsWith(hash))
    expect(ofFirst.map(({ action }) => action).sort()).toEqual([
      'call_deleted',
      'call_evaluated',
      'call_labelled',
      'call_noted',
    ])
    expect(ofFirst[1]?.actor).toContain(member.name)
    expect(JSON.stringify(events)).not.toMatch(/trail-1|secret label/)
  })

  test('say in the trail from what to what a call was evaluated, but no words of one’s own', async () => {
    const input = { id: 'judged', evaluation: 'success' }
    await putCalls(service.services, project.projectId, [input])
    const before = (await actions()).length
    await reviewed('judged', { evaluation: 'fail', criteria: { price: 'pass' } })
    await reviewed('judged', { evaluation: 'My own words', criteria: { price: 'fail' } })
    await reviewed('judged', { evaluation: null, criteria: { price: null } })
    // The same again says nothing new.
    await reviewed('judged', { criteria: { price: 'pass' } })
    const events = (await actions()).slice(0, (await actions()).length - before).reverse()
    expect(events.map(({ target }) => target?.replace(/^\w{64}: /, ''))).toEqual([
      'success → fail, price: none → pass',
      'fail → other, price: pass → fail',
      'other → success, price: fail → none',
      'price: none → pass',
    ])
  })
})
