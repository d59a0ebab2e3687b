import { describe, expect, test } from 'bun:test'
import { startConsole } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const people = await startConsole(service)
const project = await people.mintProject()
const transcript = ['One', 'Two', 'Three'].map((content) => ({ role: 'user', content }))
await project.send('PUT', '/ingest/calls/a', { evaluation: 'success', transcript })

const put = (body: unknown, id = 'a') => project.send('PUT', `/v1/calls/${id}/review`, body)
const stored = async () => (await (await project.fetch('/v1/calls/a/details')).json()).review

describe('PUT /v1/calls/:id/review', () => {
  test('200: what is sent replaces its own, and the rest stays, as in the console', async () => {
    const sent = {
      evaluation: 'fail',
      criteria: { booked: 'fail', greeted: 'pass' },
      note: ' Never confirmed. ',
      labels: ['late', ' vip '],
      flaggedTurns: [2, 0],
    }
    const answer = await put(sent)
    const review = await answer.json()
    expect([answer.status, review]).toEqual([
      200,
      {
        ...sent,
        note: 'Never confirmed.',
        labels: ['late', 'vip'],
        flaggedTurns: [0, 2],
        reviewed: true,
        assignee: null,
        by: 'live',
        at: expect.any(String),
      },
    ])
    expect(await stored()).toEqual(review)
    const path = `/projects/${project.id}/calls/a/review`
    await people.owner.send('PATCH', path, { addLabels: ['refund'] })
    expect(await (await put({ criteria: { booked: null } })).json()).toMatchObject({
      criteria: { greeted: 'pass' },
      labels: ['late', 'vip', 'refund'],
      by: 'live',
    })
    const before = await stored()
    expect(await (await put({})).json()).toEqual(before)
    const { data } = await (await people.owner.fetch(`/projects/${project.id}/audit?limit=50`)).json()
    expect(data.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['call_evaluated', 'call_noted', 'call_labelled', 'turn_flagged']),
    )
    expect(data.find(({ action }: { action: string }) => action === 'call_noted').actor).toContain('live')
    const { data: found } = await (await project.fetch('/v1/calls?evaluation=fail&label=vip')).json()
    expect(found.map(({ id }: { id: string }) => id)).toEqual(['a'])
  })

  test('200: null and empty lists take back, and nothing is left', async () => {
    await put({ evaluation: 'fail', note: 'x', labels: ['y'], flaggedTurns: [1], criteria: { z: 'pass' } })
    expect(await (await put({ labels: [], flaggedTurns: null, note: null })).json()).toMatchObject({
      evaluation: 'fail',
      labels: [],
      flaggedTurns: [],
      note: null,
    })
    const last = await put({ evaluation: null, criteria: null, reviewed: null })
    expect([last.status, await last.json(), await stored()]).toEqual([200, null, null])
  })

  test.each([
    ['labels', { labels: ['a\u0007b'] }],
    ['flaggedTurns', { flaggedTurns: [3] }],
    ['criteria.b', { criteria: { b: 'maybe' } }],
    ['evaluation', { evaluation: '' }],
    ['labels', { labels: Array.from({ length: 101 }, (_, at) => `l${at}`) }],
  ])('400 names %s', async (field, body) => {
    const { errors } = await expectProblem(await put(body), 'invalid_request')
    expect(errors?.map((error) => error.field)).toEqual([field])
    expect(await stored()).toBeNull()
  })

  test('401, 403, 404', async () => {
    const send = (key: string) =>
      project.fetch('/v1/calls/a/review', {
        method: 'PUT',
        body: '{}',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      })
    await expectProblem(await send('ck_live_0'), 'invalid_api_key', 'Invalid API key')
    const { key } = await project.makeKey({ scope: 'read' })
    await expectProblem(await send(key), 'insufficient_scope', 'Key does not allow this')
    await expectProblem(await put({ note: 'x' }, 'b'), 'not_found', 'Call not found')
    const other = await people.mintProject()
    await expectProblem(
      await other.send('PUT', '/v1/calls/a/review', { note: 'x' }),
      'not_found',
      'Call not found',
    )
    expect(await stored()).toBeNull()
  })
})
