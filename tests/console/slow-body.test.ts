import { describe, expect, spyOn, test } from 'bun:test'
import { request } from 'node:http'
import { startConsole, type TestPerson } from '../support/console.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const set = await startConsole(service)

/** Sends all but the end of a body, then does `meanwhile` once the guard has let the request in. */
async function sendSlowly(
  person: TestPerson,
  { method, path, body }: { method: string; path: string; body: object },
  meanwhile: () => Promise<Response>,
): Promise<{ status: number | undefined }> {
  const text = JSON.stringify(body)
  const { members } = service.services.console
  const judged = Promise.withResolvers<void>()
  const membership = members.membership.bind(members)
  const spy = spyOn(members, 'membership').mockImplementation(async (...who) => {
    const member = await membership(...who)
    judged.resolve()
    return member
  })
  const sending = request(`${service.url}/console/api${path}`, {
    method,
    headers: {
      cookie: person.cookie,
      origin: service.url,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    },
  })
  const answered = new Promise<{ status: number | undefined }>((resolve, reject) => {
    sending.on('error', reject).on('response', (answer) => {
      answer.resume()
      resolve({ status: answer.statusCode })
    })
  })
  sending.write(text.slice(0, 1))
  await judged.promise
  spy.mockRestore()
  expect((await meanwhile()).status).toBe(200)
  sending.end(text.slice(1))
  return await answered
}

describe('a body that arrives after its sender has lost the right to send it', () => {
  const writes = (project: TestProject, other: TestPerson) => [
    { method: 'POST', path: `/projects/${project.id}/invitations`, body: { role: 'owner' } },
    {
      method: 'POST',
      path: `/projects/${project.id}/keys`,
      body: { name: 'late', kind: 'live', allowedIps: [], expiresAt: null },
    },
    { method: 'PATCH', path: `/projects/${project.id}/people/${other.personId}`, body: { role: 'member' } },
    { method: 'PATCH', path: `/projects/${project.id}`, body: { name: `late ${project.id}` } },
    { method: 'POST', path: `/projects/${project.id}/knowledge`, body: { name: 'late', text: 'late' } },
    { method: 'DELETE', path: `/projects/${project.id}`, body: { confirm: project.name } },
  ]

  test('is 404 and changes nothing when they were removed from the project', async () => {
    for (let index = 0; index < 6; index++) {
      const project = await set.mintProject()
      const [person, other] = [await set.join(project, 'owner'), await set.join(project, 'owner')]
      const [write] = writes(project, other).slice(index)
      if (!write) throw new Error('There is no such write')
      const answer = await sendSlowly(person, write, () =>
        set.owner.fetch(`/projects/${project.id}/people/${person.personId}`, { method: 'DELETE' }),
      )
      expect([write.path, answer.status]).toEqual([write.path, 404])
      const people = await set.owner.read(`/projects/${project.id}/people`)
      expect(people.members.map(({ role }: { role: string }) => role)).toEqual(['owner', 'owner'])
      expect(people.invitations).toEqual([])
      const keys = await set.owner.read(`/projects/${project.id}/keys`)
      expect(keys.data.map(({ name }: { name: string }) => name).sort()).toEqual(['ingest', 'live'])
    }
  })

  test('is 403 when they became a member, and 401 when they signed out everywhere', async () => {
    const project = await set.mintProject()
    const person = await set.join(project, 'owner')
    const [invite] = writes(project, person)
    if (!invite) throw new Error('There is no such write')
    const demoted = await sendSlowly(person, invite, () =>
      set.owner.send('PATCH', `/projects/${project.id}/people/${person.personId}`, { role: 'member' }),
    )
    expect(demoted.status).toBe(403)
    const gone = await sendSlowly(
      person,
      { method: 'POST', path: `/projects/${project.id}/knowledge`, body: { name: 'late', text: 'late' } },
      () => person.fetch('/sessions', { method: 'DELETE' }),
    )
    expect(gone.status).toBe(401)
    const { invitations } = await set.owner.read(`/projects/${project.id}/people`)
    expect(invitations).toEqual([])
  })

  test('is 404 when the project was deleted, never 500', async () => {
    for (let index = 0; index < 5; index++) {
      const project = await set.mintProject()
      const [write] = writes(project, set.owner).slice(index)
      if (!write) throw new Error('There is no such write')
      const answer = await sendSlowly(set.owner, write, () =>
        set.owner.send('DELETE', `/projects/${project.id}`, { confirm: project.name }),
      )
      expect([write.path, answer.status]).toEqual([write.path, 404])
    }
  })
})
