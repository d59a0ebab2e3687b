import { expect, test } from 'bun:test'
import { startConsole, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const people = await startConsole(service)

/** The events of the project's changes, one after another. */
async function follow(person: TestPerson, { id }: TestProject, query = '') {
  const answer = await person.fetch(`/projects/${id}/changes${query}`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  const parts = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    /** The next event of a type; null when the stream ends before it. */
    async next(type: string): Promise<Record<string, unknown> | null> {
      for (;;) {
        const [event, ...rest] = text.split('\n\n')
        if (rest.length > 0) {
          text = rest.join('\n\n')
          if (event?.includes(`event: ${type}`)) return JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}')
          continue
        }
        const part = await parts?.read()
        if (!part || part.done) return null
        text += part.value
      }
    },
    leave: () => parts?.cancel(),
  }
}

test('a member follows the changes from now on, with the ids of calls and without their documents', async () => {
  const project = await people.mintProject()
  const member = await people.join(project, 'member')
  await project.send('PUT', '/ingest/calls/before', { summary: 'Earlier' })
  const events = await follow(member, project)
  expect(await events.next('alive')).toEqual({})
  await project.send('PUT', '/ingest/calls/after', { summary: 'Later' })
  const change = await events.next('call.changed')
  expect(change).toEqual({
    seq: expect.any(Number),
    type: 'call.changed',
    ref: expect.stringMatching(/^[0-9a-f]{64}$/),
    at: expect.any(String),
    id: 'after',
  })
  await member.fetch(`/projects/${project.id}/calls/after`, { method: 'DELETE' })
  const deletion = await events.next('call.deleted')
  expect(deletion).toMatchObject({ ref: change?.ref })
  expect(deletion).not.toHaveProperty('id')
  await events.leave()

  const resumed = await follow(member, project, '?after=0')
  expect(await resumed.next('call.changed')).toMatchObject({ id: 'before' })
  await resumed.leave()
})

test('strangers cannot follow, and nobody longer than the session', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/changes`
  expect((await people.nobody.fetch(path)).status).toBe(401)
  const stranger = await people.join(await people.mintProject(), 'owner')
  await expectProblem(await stranger.fetch(path), 'not_found')

  const member = await people.join(project, 'member')
  const events = await follow(member, project)
  expect(await events.next('alive')).toEqual({})
  await member.fetch('/session', { method: 'DELETE' })
  await project.send('PUT', '/ingest/calls/secret', { summary: 'Not for those who left' })
  expect(await events.next('call.changed')).toBeNull()
})

test('somebody who is removed from the project hears no more of it', async () => {
  const project = await people.mintProject()
  const [member, other] = [await people.join(project, 'member'), await people.join(project, 'viewer')]
  const [gone, staying] = [await follow(member, project), await follow(other, project)]
  expect([await gone.next('alive'), await staying.next('alive')]).toEqual([{}, {}])
  const path = `/projects/${project.id}/people/${member.personId}`
  expect((await people.owner.fetch(path, { method: 'DELETE' })).status).toBe(200)
  await project.send('PUT', '/ingest/calls/secret', { summary: 'Not for those who left' })
  expect(await gone.next('call.changed')).toBeNull()
  expect(await staying.next('call.changed')).toMatchObject({ id: 'secret' })
  await staying.leave()
})

test('somebody who has to set up a second factor hears no more until then', async () => {
  const { twoFactorRule } = service.services.console
  const project = await people.mintProject()
  const events = await follow(await people.join(project, 'member'), project)
  expect(await events.next('alive')).toEqual({})
  await twoFactorRule.change(true)
  await project.send('PUT', '/ingest/calls/secret', { summary: 'Not before the second factor' })
  expect(await events.next('call.changed')).toBeNull()
  await twoFactorRule.change(false)
})
