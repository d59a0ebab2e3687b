import { describe, expect, test } from 'bun:test'
import type { CallRows } from '../../src/calls/reading/call-rows.ts'
import { putCalls, said } from '../calls/put-calls.ts'
import { startConsole } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const people = await startConsole(service)

const period = 'from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z'

async function projectWithCall(): Promise<TestProject> {
  const project = await people.mintProject()
  await putCalls(service.services, project.projectId, [
    {
      id: 'a',
      createdAt: '2026-01-05T00:00:00.000Z',
      status: 'completed',
      duration: 12,
      evaluation: 'success',
      endedReason: 'x',
      callAnalysis: { zero: -0, 'a"b': [1e21] },
      ...said('Hello & <b>welcome</b>'),
    },
  ])
  return project
}

describe('/console/api/projects/:project/calls', () => {
  test('hands out the whole of each call as a file: its document and its details', async () => {
    const project = await projectWithCall()
    await project.send('PUT', '/ingest/calls/a', {
      details: { costUsd: 0.5 },
      metadata: { campaign: 'winter' },
    })
    const [document, details] = await Promise.all(
      ['', '/details'].map(async (part) => (await project.fetch(`/v1/calls/a${part}`)).json()),
    )
    const file = (name: string) => people.owner.fetch(`/projects/${project.id}/exports/${name}`)
    const lines = (await (await file('calls.jsonl')).text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ ...document, details }])
    const [head = '', row = ''] = (await (await file('calls.csv')).text()).split('\r\n')
    expect(row.split(',')[head.split(',').indexOf('details.costUsd')]).toBe('0.5')
  })

  test('finds by filters in the query, and says which of them cannot be read', async () => {
    const project = await projectWithCall()
    const find = async (query: string): Promise<CallRows> =>
      (await people.owner.fetch(`/projects/${project.id}/calls?${query}`)).json()
    expect((await find('text=hello+welc&status=completed&unknown=1')).data).toMatchObject([
      {
        id: 'a',
        match: {
          where: 'user',
          text: 'Hello & <b>welcome</b>',
          ranges: [
            [0, 5],
            [11, 18],
          ],
        },
      },
    ])
    expect((await find('text=%E2%82%AC')).data).toEqual([])
    expect((await find('status=live&status=completed')).total).toBe(1)
    const answer = await people.owner.fetch(`/projects/${project.id}/calls?status=gone&limit=x&from=2026`)
    const problem = await expectProblem(answer, 'invalid_request')
    expect(problem.errors?.map(({ field }) => field)).toEqual(['limit', 'status', 'from'])
    const long = await people.owner.fetch(`/projects/${project.id}/calls?text=${'x'.repeat(501)}`)
    expect((await expectProblem(long, 'invalid_request')).errors?.[0]?.field).toBe('text')
  })

  test('has phone numbers as stored and as people read them, which /v1 does not', async () => {
    const project = await people.mintProject()
    const stored = { callerNumber: '+15555644120', calledNumber: 'sip:desk@example.com' }
    await putCalls(service.services, project.projectId, [{ id: 'a', ...stored }])
    const numbers = { callerNumber: '+1 555 564 4120', calledNumber: 'sip:desk@example.com' }
    const read = async (path: string) =>
      (await people.owner.fetch(`/projects/${project.id}/calls${path}`)).json()
    expect((await read('')).data).toMatchObject([{ ...stored, numbers }])
    const details = await (await project.fetch('/v1/calls/a/details')).json()
    expect(details).not.toHaveProperty('numbers')
    expect(await read('/a/details')).toEqual({ numbers, ...details })
  })

  test('answers a call byte for byte as /v1 does, whatever its id', async () => {
    const project = await projectWithCall()
    const ids = ['a', 'A.b_c:d-e', '..a', 'x'.repeat(128), '0', 'null', 'figures']
    await putCalls(
      service.services,
      project.projectId,
      ids.map((id) => ({ id, summary: `of ${id}` })),
    )
    for (const id of ids) {
      const path = encodeURIComponent(id)
      const answer = await people.owner.fetch(`/projects/${project.id}/calls/${path}`)
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(await answer.text()).toBe(await (await project.fetch(`/v1/calls/${path}`)).text())
      const details = await people.owner.fetch(`/projects/${project.id}/calls/${path}/details`)
      const shown = '"numbers":{"callerNumber":null,"calledNumber":null},'
      expect((await details.text()).replace(shown, '')).toBe(
        await (await project.fetch(`/v1/calls/${path}/details`)).text(),
      )
    }
    for (const path of ['missing', '%ff', 'a%2Fb', '%00', `${'x'.repeat(129)}`]) {
      const answer = await people.owner.fetch(`/projects/${project.id}/calls/${path}`)
      await expectProblem(answer, 'not_found', 'Call not found')
    }
  })

  test('lets a member delete a call for good, and the audit trail records who did', async () => {
    const project = await projectWithCall()
    const member = await people.join(project, 'member')
    const path = `/projects/${project.id}/calls/a`
    const answer = await member.fetch(path, { method: 'DELETE' })
    expect(await answer.json()).toEqual({ id: 'a', deleted: true })
    await expectProblem(await member.fetch(path), 'not_found', 'Call not found')
    await expectProblem(await member.fetch(path, { method: 'DELETE' }), 'not_found', 'Call not found')
    expect((await project.fetch('/v1/calls/a')).status).toBe(404)
    const { data } = await people.owner.read(`/projects/${project.id}/audit`)
    expect(data[0]).toMatchObject({ action: 'call_deleted', target: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(data[0].actor).toContain(member.email)
  })
})

test('/console/api/projects/:project/metrics answers as the API does, and names what cannot be read', async () => {
  const project = await projectWithCall()
  await putCalls(service.services, project.projectId, [
    { id: 'call-4711-b', createdAt: '2026-02-05T00:00:00Z' },
  ])
  const query = `/metrics?of=duration&show=p95&by=evaluation&${period}`
  const answer = await people.owner.read(`/projects/${project.id}${query}`)
  expect(answer).toEqual({
    of: 'duration',
    show: 'p95',
    by: 'evaluation',
    data: [{ key: 'success', value: 12, calls: 1 }],
    total: 1,
  })
  expect(answer).toEqual(await (await project.fetch(`/v1${query}`)).json())
  // A text is an id here, as in the console's list.
  const ofText = await people.owner.fetch(`/projects/${project.id}/metrics?text=call-4711`)
  expect((await ofText.json()).total).toBe(1)
  const refused = await people.owner.fetch(`/projects/${project.id}/metrics?of=mood`)
  expect((await expectProblem(refused, 'invalid_request')).errors?.[0]?.field).toBe('of')
})

test('the overview says how much knowledge there is', async () => {
  const project = await projectWithCall()
  await project.send('POST', '/v1/knowledge', { name: 'Refunds', text: 'Within thirty days.' })
  const known = await people.owner.fetch(`/projects/${project.id}/overview/knowledge`)
  expect(await known.json()).toEqual({ items: 1, chunks: 1, pendingChunks: 0 })
})
