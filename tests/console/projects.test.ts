import { describe, expect, test } from 'bun:test'
import { startConsole } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const console = await startConsole(service)

test("nobody owns more than a hundred projects, but the console's owner", async () => {
  const [first] = [await console.mintProject()]
  const other = await console.join(first, 'owner')
  const make = async (person: typeof other, name: string) =>
    (await person.send('POST', '/projects', { name })).status
  for (const [person, last] of [
    [other, 403],
    [console.owner, 200],
  ] as const) {
    const statuses = []
    for (let n = 0; n < 101; n++) statuses.push(await make(person, `${last} ${n}`))
    expect(statuses.slice(0, 99)).toEqual(Array(99).fill(200))
    expect(statuses.at(-1)).toBe(last)
  }
})

describe('PATCH /projects/:project', () => {
  test('renames a project, for its members too', async () => {
    const project = await console.mintProject()
    const member = await console.join(project, 'member')
    const answer = await console.owner.send('PATCH', `/projects/${project.id}`, { name: 'Renamed' })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      id: project.id,
      name: 'Renamed',
      role: 'owner',
      membersMayDelete: true,
      timeZone: null,
      firstView: null,
      views: 0,
      calls: 0,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    })
    const session = await member.read('/session')
    expect(session.projects.map(({ name }: { name: string }) => name)).toEqual(['Renamed'])
    const trail = await console.owner.read(`/projects/${project.id}/audit`)
    expect(trail.data[0]).toMatchObject({ action: 'project_renamed', target: 'Renamed' })
    expect(trail.data[0].actor).toContain(console.owner.email)
  })

  test.each([
    [{}],
    [{ name: '' }],
    [{ name: '  ' }],
    [{ name: 'x'.repeat(201) }],
    [{ name: 7 }],
    ['no object'],
  ])('with %p is 400 and names the field', async (body) => {
    const project = await console.mintProject()
    const answer = await console.owner.send('PATCH', `/projects/${project.id}`, body)
    const { errors } = await expectProblem(answer, 'invalid_request')
    expect(errors?.[0]?.field).toBe(typeof body === 'string' ? 'body' : 'name')
  })

  test('to the name of another project is 400', async () => {
    const [project, other] = [await console.mintProject(), await console.mintProject()]
    const answer = await console.owner.send('PATCH', `/projects/${project.id}`, { name: other.name })
    const problem = await expectProblem(answer, 'invalid_request')
    expect(problem.errors).toEqual([{ field: 'name', message: 'is taken by another project' }])
  })
})

describe('the settings of a project', () => {
  test('change as far as they are named, hold at once, and are in the audit trail', async () => {
    const project = await console.mintProject()
    const path = `/projects/${project.id}/settings`
    const off = {
      retainDays: null,
      redact: [],
      country: null,
      keepNumbers: 'all',
      keepQuestionsDays: null,
      gapCoverage: 0.5,
      notesReading: false,
      membersMayDelete: true,
      timeZone: null,
      endSilentAfter: '24h',
      recordings: 'off',
      prices: null,
      recordingRetainDays: null,
      callerChannel: null,
    }
    expect(await console.owner.read(path)).toEqual(off)
    const change = { redact: ['phone', 'card', 'phone'], country: 'de', notesReading: true }
    const changed = { ...off, redact: ['phone', 'card'], country: 'DE', notesReading: true }
    const answer = await console.owner.send('PUT', path, change)
    expect([answer.status, await answer.json()]).toEqual([200, changed])
    expect(await console.owner.read(path)).toEqual(changed)
    // What is already so is no change.
    expect((await console.owner.send('PUT', path, change)).status).toBe(200)
    const trail = await console.owner.read(`/projects/${project.id}/audit`)
    const changes = trail.data.filter(({ action }: { action: string }) => action === 'settings_changed')
    expect(changes).toMatchObject([{ target: 'notesReading: on; redact: phone,card; country: DE' }])
  })

  test.each([
    [{ retainDays: 0 }, 'retainDays'],
    [{ retainDays: 1.5 }, 'retainDays'],
    [{ redact: ['names'] }, 'redact.0'],
    [{ country: 'Germany' }, 'country'],
    [{ country: 'EU' }, 'country'],
    [{ keepNumbers: 'some' }, 'keepNumbers'],
    [{ keepQuestionsDays: 8 }, 'keepQuestionsDays'],
    [{ notesReading: 'yes' }, 'notesReading'],
    [{ timeZone: 'Berlin' }, 'timeZone'],
    [{ recordings: 'all' }, 'recordings'],
    [{ recordingRetainDays: 0 }, 'recordingRetainDays'],
    [{ callerChannel: 2 }, 'callerChannel'],
  ])('with %p is 400 and names the field', async (change, field) => {
    const project = await console.mintProject()
    const answer = await console.owner.send('PUT', `/projects/${project.id}/settings`, change)
    const { errors } = await expectProblem(answer, 'invalid_request')
    expect(errors?.[0]?.field).toBe(field)
  })
})

describe('DELETE /projects/:project', () => {
  test('deletes a project for good: from then on it is unknown', async () => {
    const project = await console.mintProject()
    const member = await console.join(project, 'member')
    const path = `/projects/${project.id}`
    const answer = await console.owner.send('DELETE', path, { confirm: project.name })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ id: project.id, deleted: true })
    for (const person of [console.owner, member]) {
      const gone = await person.fetch(`${path}/knowledge`)
      const never = await person.fetch('/projects/prj_never/knowledge')
      const withoutId = async (problem: Response) => ({ ...(await problem.json()), requestId: '' })
      expect([gone.status, await withoutId(gone)]).toEqual([404, await withoutId(never)])
      const session = await person.read('/session')
      expect(session.projects.some(({ id }: { id: string }) => id === project.id)).toBe(false)
    }
    await expectProblem(await project.fetch('/v1/calls'), 'invalid_api_key', 'Invalid API key')
    await expectProblem(await console.owner.send('DELETE', path, { confirm: project.name }), 'not_found')
  })

  test("is recorded in the person's other projects, with only its keyed hash", async () => {
    const [project, other] = [await console.mintProject(), await console.mintProject()]
    await console.owner.send('DELETE', `/projects/${project.id}`, { confirm: project.name })
    const trail = await console.owner.read(`/projects/${other.id}/audit`)
    const [event] = trail.data.filter(({ action }: { action: string }) => action === 'project_deleted')
    expect(event.target).toMatch(/^[0-9a-f]{64}$/)
    expect(event.actor).toContain(console.owner.email)
    expect(JSON.stringify(trail)).not.toContain(project.name)
  })

  test.each([[{}], [{ confirm: '' }], [{ confirm: 'another' }], [{ confirm: null }]])(
    'confirmed with %p is 400, and nothing is deleted',
    async (body) => {
      const project = await console.mintProject()
      const answer = await console.owner.send('DELETE', `/projects/${project.id}`, body)
      const { errors } = await expectProblem(answer, 'invalid_request')
      expect(errors?.[0]?.field).toBe('confirm')
      expect((await project.fetch('/v1/calls')).status).toBe(200)
    },
  )
})
