import { describe, expect, test } from 'bun:test'
import type { MemberRow } from '../../src/access/people/members.ts'
import type { Role } from '../../src/identity.ts'
import { byPerson } from '../../src/identity.ts'
import { browserOf, cookieOf, startConsole, type TestPerson } from '../support/console.ts'
import { failureOf } from '../support/failure.ts'
import { badFields, expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const set = await startConsole(service)

async function membersOf(project: TestProject, by: TestPerson = set.owner): Promise<MemberRow[]> {
  return (await by.read(`/projects/${project.id}/people`)).members
}

const pathOf = (project: TestProject, { personId }: { personId: string }) =>
  `/projects/${project.id}/people/${personId}`

describe('the people of a project', () => {
  test('are listed in the order in which they joined', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const first = await set.join(project, 'member')
    await set.join(other, 'member')
    const second = await set.join(project, 'owner')
    const rows = await membersOf(project)
    expect(rows.map(({ personId, role }) => [personId, role])).toEqual([
      [set.owner.personId, 'owner'],
      [first.personId, 'member'],
      [second.personId, 'owner'],
    ])
    expect(rows[1]).toEqual({
      personId: first.personId,
      name: first.name,
      email: first.email,
      role: 'member',
      joinedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
  })

  test('get the rights of a changed role with their next request', async () => {
    const project = await set.mintProject()
    const person = await set.join(project, 'member')
    const mayListKeys = async () => (await person.fetch(`/projects/${project.id}/keys`)).status
    const become = async (role: Role) => {
      const answer = await set.owner.send('PATCH', pathOf(project, person), { role })
      expect([answer.status, await answer.json()]).toEqual([200, { id: person.personId }])
    }
    expect(await mayListKeys()).toBe(403)
    await become('owner')
    expect(await mayListKeys()).toBe(200)
    await become('owner')
    await become('member')
    expect(await mayListKeys()).toBe(403)
  })

  test('can change their name, which then shows everywhere', async () => {
    const project = await set.mintProject()
    const person = await set.join(project, 'member')
    const answer = await person.send('PATCH', '/person', { name: '  Ada Łukasz ' })
    const renamed = { id: person.personId, name: 'Ada Łukasz', email: person.email }
    expect([answer.status, await answer.json()]).toEqual([200, renamed])
    expect((await person.read('/session')).person).toEqual(renamed)
    expect((await membersOf(project)).at(-1)?.name).toBe('Ada Łukasz')
    const { data } = await set.owner.read(`/projects/${project.id}/audit`)
    expect(data[0]).toMatchObject({ action: 'person_renamed', target: 'Ada Łukasz' })
    expect(data[0].actor).toBe(`${person.name} (${person.email})`)
  })

  test.each([
    [' ', 'must not be blank'],
    ['x'.repeat(201), 'must be at most 200 characters'],
    ['Ada\u200b', 'must not contain U+200B: control, direction and invisible characters are not allowed'],
  ])('cannot be named %j', async (name, message) => {
    const project = await set.mintProject()
    const person = await set.join(project, 'member')
    const answer = await person.send('PATCH', '/person', { name })
    const problem = await expectProblem(answer, 'invalid_request')
    expect(problem.errors).toEqual([{ field: 'name', message }])
    expect((await membersOf(project)).at(-1)?.name).toBe(person.name)
  })

  test('lose access when they are removed, and keep their other projects', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const person = await set.join(project, 'owner')
    await person.send('POST', '/links/invitation', { token: await set.invite(other, 'member') })
    const removed = await set.owner.send('DELETE', pathOf(project, person))
    expect([removed.status, await removed.json()]).toEqual([200, { id: person.personId, removed: true }])
    const answer = await person.fetch(`/projects/${project.id}/keys`)
    await expectProblem(answer, 'not_found')
    const { projects } = await person.read('/session')
    expect(projects.map(({ id }: { id: string }) => id)).toEqual([other.id])
  })

  test.each([{}, { role: 'admin' }, { role: null }, { role: ['owner'] }])(
    'the role %j is 400',
    async (body) => {
      const project = await set.mintProject()
      const person = await set.join(project, 'member')
      const answer = await set.owner.send('PATCH', pathOf(project, person), body)
      expect(await badFields(answer)).toEqual(['role'])
    },
  )
})

describe('the last owner', () => {
  test('can neither leave nor become a member, also when the project has a member', async () => {
    const project = await set.mintProject()
    await set.join(project, 'member')
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { role: 'member' }],
    ] as const) {
      const answer = await set.owner.send(method, pathOf(project, set.owner), body)
      const { detail } = await expectProblem(answer, 'invalid_request')
      expect(detail).toContain('last owner')
    }
    expect((await membersOf(project))[0]).toMatchObject({ personId: set.owner.personId, role: 'owner' })
  })

  test('can leave when there is another', async () => {
    const project = await set.mintProject()
    const other = await set.join(project, 'owner')
    expect((await set.owner.send('DELETE', pathOf(project, set.owner))).status).toBe(200)
    expect((await set.owner.fetch(`/projects/${project.id}/people`)).status).toBe(404)
    expect(await membersOf(project, other)).toHaveLength(1)
  })

  test('remains when two owners remove each other at the same time', async () => {
    for (let round = 0; round < 3; round++) {
      const project = await set.mintProject()
      const other = await set.join(project, 'owner')
      const answers = await Promise.all([
        set.owner.send('DELETE', pathOf(project, other)),
        other.send('DELETE', pathOf(project, set.owner)),
        set.owner.send('PATCH', pathOf(project, other), { role: 'member' }),
        other.send('PATCH', pathOf(project, set.owner), { role: 'member' }),
      ])
      expect(answers.some(({ status }) => status === 200)).toBe(true)
      const { members } = service.services.console
      const owners = (await members.list(project.projectId)).filter(({ role }) => role === 'owner')
      expect(owners).toHaveLength(1)
    }
  })
})

describe('a new project', () => {
  test('belongs to the person who creates it', async () => {
    const person = await set.join(await set.mintProject(), 'owner')
    const name = `made by ${person.email}`
    const answer = await person.send('POST', '/projects', { name })
    const project = await answer.json()
    expect([answer.status, project]).toEqual([
      200,
      {
        id: expect.stringMatching(/^prj_/),
        name,
        role: 'owner',
        membersMayDelete: true,
        timeZone: null,
        firstView: null,
        views: 0,
        calls: 0,
        createdAt: expect.any(String),
      },
    ])
    const { projects } = await person.read('/session')
    expect(projects).toContainEqual(project)
    expect((await person.fetch(`/projects/${project.id}/people`)).status).toBe(200)
    expect((await set.owner.fetch(`/projects/${project.id}/people`)).status).toBe(404)
  })

  test('cannot be created by a mere member, but by the owner of the console', async () => {
    const fresh = await startService()
    const { owner, join } = await startConsole(fresh)
    const { projects } = await owner.read('/session')
    const inDefault = { ...(await fresh.services.projects.find('default')), id: projects[0].id }
    const member = await join({ ...(await fresh.mintProject()), ...inDefault }, 'member')
    await expectProblem(await member.send('POST', '/projects', { name: 'mine' }), 'forbidden')
    const other = await join({ ...(await fresh.mintProject()), ...inDefault }, 'owner')
    await owner.send('DELETE', `/projects/${inDefault.id}/people/${owner.personId}`)
    expect((await owner.read('/session')).projects).toEqual([])
    expect((await owner.send('POST', '/projects', { name: 'another start' })).status).toBe(200)
    expect((await other.fetch('/session')).status).toBe(200)
    await fresh.stop()
  })

  test('may share its name with a project of others, but not with one of the same owner', async () => {
    const person = await set.join(await set.mintProject(), 'owner')
    const secret = await set.mintProject()
    expect((await person.send('POST', '/projects', { name: secret.name })).status).toBe(200)
    const other = await (await person.send('POST', '/projects', { name: 'another' })).json()
    expect((await person.send('PATCH', `/projects/${other.id}`, { name: 'default' })).status).toBe(200)
    const taken = [
      await person.send('POST', '/projects', { name: secret.name }),
      await person.send('PATCH', `/projects/${other.id}`, { name: secret.name }),
    ]
    for (const answer of taken) {
      const { errors } = await expectProblem(answer, 'invalid_request')
      expect(errors).toEqual([{ field: 'name', message: 'is taken by another project' }])
    }
  })

  test('is created once when its owner asks for it several times at once', async () => {
    const person = await set.join(await set.mintProject(), 'owner')
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => person.send('POST', '/projects', { name: 'twice' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
  })

  test('is refused beyond a hundred that a person owns, except on the command line', async () => {
    const person = await set.join(await set.mintProject(), 'owner')
    const { projects } = service.services
    for (let made = 1; made < 99; made++) await projects.create(`${made}`, { ownerId: person.personId })
    const answers = await Promise.all(
      ['last', 'one too many', 'two too many'].map((name) => person.send('POST', '/projects', { name })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403])
    const { detail } = await expectProblem(
      await person.send('POST', '/projects', { name: 'still too many' }),
      'forbidden',
    )
    expect(detail).toContain('100 projects')
    await projects.create('of the command line', { ownerId: person.personId })
  })

  test.each([
    [{}, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'default' }, 'name'],
  ])('%j is 400', async (body, field) => {
    expect(await badFields(await set.owner.send('POST', '/projects', body))).toEqual([field])
  })
})

describe("the console's owner", () => {
  const accountOf = async ({ personId }: TestPerson) =>
    (await set.owner.read('/people')).data.find(({ id }: { id: string }) => id === personId)
  const deleting = (person: TestPerson, by: TestPerson = set.owner) =>
    by.fetch(`/people/${person.personId}`, { method: 'DELETE' })

  test('sees everybody who can sign in, but not their projects', async () => {
    const person = await set.join(await set.mintProject(), 'member')
    const { personId: id, name, email } = person
    expect(await accountOf(person)).toEqual({ id, name, email, ownsConsole: false, hasTwoFactor: false })
    expect((await accountOf(set.owner)).ownsConsole).toBe(true)
  })

  test('deletes a person, who is signed out and in no project from then on', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const person = await set.join(project, 'owner')
    const token = await set.invite(project, 'owner', person)
    const answer = await deleting(person)
    expect([answer.status, await answer.json()]).toEqual([200, { id: person.personId, deleted: true }])
    expect(await accountOf(person)).toBeUndefined()
    expect((await person.fetch('/sessions')).status).toBe(401)
    expect((await set.nobody.send('POST', '/session', person)).status).toBe(401)
    const check = await set.nobody.send('POST', '/links/check', { token })
    expect(check.status).toBe(404)
    expect(await membersOf(project)).toHaveLength(1)
    const trail = async ({ id }: TestProject) =>
      (await set.owner.read(`/projects/${id}/audit`)).data.filter(
        ({ action, target }: { action: string; target: string }) =>
          action === 'person_deleted' && target.includes(person.email),
      )
    expect(await trail(project)).toMatchObject([
      { actor: `${set.owner.name} (${set.owner.email})`, target: `${person.name} (${person.email})` },
    ])
    expect(await trail(other)).toEqual([])
    await expectProblem(await deleting(person), 'not_found')
  })

  test("deletes neither a project's last owner nor themselves", async () => {
    const [project, shared] = [await set.mintProject(), await set.mintProject()]
    const person = await set.join(shared, 'owner')
    await set.owner.send('DELETE', `/projects/${shared.id}/people/${set.owner.personId}`)
    for (const wanted of [person, set.owner]) {
      expect(await badFields(await deleting(wanted))).toEqual(['id'])
      expect(await accountOf(wanted)).toBeDefined()
    }
    expect(await membersOf(project)).toHaveLength(1)
  })

  test('ends a sign-in of the deleted person that is under way', async () => {
    const project = await set.mintProject()
    for (const delayMs of [10, 30]) {
      const person = await set.join(project, 'member')
      const signingIn = set.nobody.send('POST', '/session', person)
      await Bun.sleep(delayMs)
      expect((await deleting(person)).status).toBe(200)
      const answer = await signingIn
      if (answer.status !== 200)
        await expectProblem(answer, 'wrong_credentials', 'Email address or password is wrong')
      else expect((await browserOf(service, cookieOf(answer)).fetch('/sessions')).status).toBe(401)
    }
  })

  test('leaves a project an owner when its two owners are deleted at the same time', async () => {
    const project = await set.mintProject()
    const two = [await set.join(project, 'owner'), await set.join(project, 'owner')]
    await set.owner.send('DELETE', `/projects/${project.id}/people/${set.owner.personId}`)
    const answers = await Promise.all(two.map((person) => deleting(person)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(await service.services.console.members.list(project.projectId)).toHaveLength(1)
  })

  test('deletes nobody with a request that arrived before they were deleted themselves', async () => {
    const fresh = await startService()
    const { owner, join, mintProject } = await startConsole(fresh)
    const project = await mintProject()
    const [person, other] = [await join(project, 'owner'), await join(project, 'member')]
    const { people } = fresh.services.console
    for (const { projectId } of await fresh.services.projects.list())
      if (projectId !== project.projectId) await fresh.services.projects.delete(projectId)
    await people.delete(owner.personId)
    expect(await people.consoleOwner()).toBeNull()
    const by = byPerson(owner, null)
    expect(await failureOf(people.delete(other.personId, by))).toMatchObject({ code: 'forbidden' })
    expect((await people.list()).map(({ id }) => id)).toEqual([person.personId, other.personId])
    await fresh.stop()
  })
})
