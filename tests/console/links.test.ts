import { beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { invitations, people, projects } from '../../src/db/schema.ts'
import { bootstrap } from '../../src/start/bootstrap.ts'
import {
  browserOf,
  cookieOf,
  passwords,
  passwordToken,
  startConsole,
  type TestConsole,
  type TestPerson,
  tokenOf,
} from '../support/console.ts'
import { failureOf } from '../support/failure.ts'
import { badFields, expectProblem } from '../support/problem.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

const dayMs = 86_400_000
const isDead = async (answer: Response) => {
  const { detail } = await expectProblem(answer, 'not_found')
  expect(detail).toContain('link no longer works')
}
let made = 0
const newPerson = () => ({
  name: 'Ada',
  email: `ada-${++made}@example.com`,
  password: 'correct horse battery',
})

describe('the set-up link', () => {
  let service: TestService
  let token: string
  const setUp = (person: object, withToken = token) =>
    browserOf(service, null).send('POST', '/links/setup', { token: withToken, ...person })
  const session = (cookie: string | null = null) => browserOf(service, cookie).read('/session')

  beforeAll(async () => {
    service = await startService()
  })

  test('is made by the first start, once', async () => {
    expect((await session()).isSetUp).toBe(false)
    const first = await bootstrap(service.services)
    token = first.setupToken ?? ''
    expect(token).toMatch(/^[\w-]{32}$/)
    expect(await bootstrap(service.services)).toEqual({ firstKey: null, setupToken: null })
    const check = await browserOf(service, null).send('POST', '/links/check', { token })
    expect(await check.json()).toEqual({ kind: 'setup' })
  })

  test('refuses invalid people, and stays valid', async () => {
    const fieldsOf = async (person: object) => {
      return await badFields(await setUp(person))
    }
    const good = newPerson()
    expect(await fieldsOf({})).toEqual(['name', 'email', 'password'])
    expect(await fieldsOf({ ...good, name: ' ' })).toEqual(['name'])
    expect(await fieldsOf({ ...good, name: 'Ada\u202e' })).toEqual(['name'])
    expect(await fieldsOf({ ...good, password: 'too short' })).toEqual(['password'])
    for (const email of [
      'ada',
      'ada@',
      '@example.com',
      'ada@example',
      'a b@example.com',
      'ada@ex..com',
      'ä@b.c',
    ])
      expect([email, await fieldsOf({ ...good, email })]).toEqual([email, ['email']])
    await isDead(await setUp(good, 'not-the-token'))
    await isDead(await setUp({ ...good, password: 'x'.repeat(128) }, `${token}x`))
  })

  test('makes one owner of every project without one, however many people use it at the same time', async () => {
    const [one, two] = [await service.mintProject(), await service.mintProject()]
    const answers = await Promise.all(Array.from({ length: 6 }, () => setUp(newPerson())))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 404, 404, 404, 404, 404])
    const good = answers.find(({ status }) => status === 200) ?? new Response('{}')
    const { person, projects: owned, isSetUp } = await good.json()
    expect(isSetUp).toBe(true)
    expect(owned.map(({ id, role }: { id: string; role: string }) => [id, role])).toEqual(
      expect.arrayContaining([
        [one.id, 'owner'],
        [two.id, 'owner'],
      ]),
    )
    const { read } = service.services.database
    expect((await read.select().from(people)).map(({ id }) => id)).toEqual([person.id])
    expect((await session(cookieOf(good))).person.id).toBe(person.id)
  })

  test('stops working after its use, also after a restart', async () => {
    await isDead(await setUp(newPerson()))
    await isDead(await browserOf(service, null).send('POST', '/links/check', { token }))
    expect(await bootstrap(service.services)).toEqual({ firstKey: null, setupToken: null })
  })

  test('stays valid while others join by invitations, and none of them owns the console', async () => {
    const other = await startService()
    const { setupToken } = await bootstrap(other.services)
    const { projectId } = await other.services.projects.find('default')
    const browser = browserOf(other, null)
    for (const role of ['member', 'owner'] as const) {
      const { link } = await other.services.console.invitations.create(projectId, role, 'http://x')
      const body = { token: tokenOf(link), newPerson: newPerson() }
      const joined = await (await browser.send('POST', '/links/invitation', body)).json()
      expect(joined).toMatchObject({ isSetUp: true, ownsConsole: false })
    }
    expect(await other.services.console.people.consoleOwner()).toBeNull()
    const answer = await browser.send('POST', '/links/setup', { token: setupToken, ...newPerson() })
    const owner = await answer.json()
    expect(owner).toMatchObject({ ownsConsole: true, projects: [] })
    expect(await other.services.console.people.consoleOwner()).toBe(owner.person.id)
    await other.stop()
  })

  test('stops working once replaced, which only a console without an owner allows', async () => {
    const other = await startService()
    const { people: everybody } = other.services.console
    const { setupToken } = await bootstrap(other.services)
    const next = await everybody.replaceSetUpLink()
    const browser = browserOf(other, null)
    await isDead(await browser.send('POST', '/links/setup', { token: setupToken, ...newPerson() }))
    expect((await browser.send('POST', '/links/setup', { token: next, ...newPerson() })).status).toBe(200)
    expect(await failureOf(everybody.replaceSetUpLink())).toMatchObject({ code: 'invalid_request' })
    await other.stop()
  })

  test('is made by a later start when the database had projects before it had a console', async () => {
    const other = await startService()
    await other.services.projects.create('made on the command line')
    const { firstKey, setupToken } = await bootstrap(other.services)
    expect([firstKey, setupToken]).toEqual([null, expect.any(String)])
    await other.stop()
  })
})

describe('a link in a project', () => {
  let service: TestService
  let set: TestConsole
  let project: TestProject
  let clock: { ms: number }

  beforeAll(async () => {
    clock = { ms: Date.now() }
    service = await startService({ now: () => clock.ms })
    set = await startConsole(service)
    project = await set.mintProject()
  })

  const invite = async (role: 'owner' | 'member' = 'member', by: TestPerson = set.owner, at = project) => {
    const invitation = await (await by.send('POST', `/projects/${at.id}/invitations`, { role })).json()
    return { ...invitation, token: tokenOf(invitation.link) }
  }
  const accept = (token: string, person?: object, browser: Pick<TestPerson, 'send'> = set.nobody) =>
    browser.send('POST', '/links/invitation', { token, ...(person ? { newPerson: person } : {}) })
  const peopleOf = async (at = project) => (await set.owner.fetch(`/projects/${at.id}/people`)).json()

  describe('an invitation', () => {
    test('is shown once, with a link to this console, and is listed without it', async () => {
      const { id, link, token, ...shown } = await invite()
      expect(link).toBe(`${service.url}/console/join#${token}`)
      const { invitations: listed } = await peopleOf()
      expect(listed[0]).toEqual({ id, ...shown })
      expect(listed[0]).toMatchObject({ role: 'member', createdBy: set.owner.name })
      expect(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)).toBe(7 * dayMs)
      const rows = await service.services.database.read.select().from(invitations)
      expect(JSON.stringify([listed, rows])).not.toContain(token)
      const check = await set.nobody.send('POST', '/links/check', { token })
      expect(await check.json()).toEqual({
        kind: 'invitation',
        projectName: project.name,
        role: 'member',
        invitedBy: set.owner.name,
      })
    })

    test('adds one person, however many use it at the same time', async () => {
      const { id, token } = await invite()
      const before = (await peopleOf()).members.length
      const answers = await Promise.all(Array.from({ length: 5 }, () => accept(token, newPerson())))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404])
      const after = await peopleOf()
      expect(after.members).toHaveLength(before + 1)
      expect(after.invitations.map((row: { id: string }) => row.id)).not.toContain(id)
      await isDead(await accept(token, newPerson()))
      await isDead(await set.nobody.send('POST', '/links/check', { token }))
      const everybody = await service.services.database.read.select().from(people)
      const joined = new Set(after.members.map(({ personId }: { personId: string }) => personId))
      expect(everybody.every(({ id }) => joined.has(id))).toBe(true)
    })

    test('adds a signed-in person to another project', async () => {
      const other = await set.mintProject()
      const person = await set.join(project, 'member')
      const { token } = await invite('member', set.owner, other)
      const answer = await (await accept(token, undefined, person)).json()
      expect(answer.person.id).toBe(person.personId)
      expect(answer.projects.map(({ id }: { id: string }) => id).sort()).toEqual(
        [project.id, other.id].sort(),
      )
      await isDead(await accept(token, undefined, await set.join(project, 'member')))
    })

    test('can make a member an owner, but not an owner a member', async () => {
      const person = await set.join(project, 'member')
      const roleOf = async (answer: Response) =>
        (await answer.json()).projects.find(({ id }: { id: string }) => id === project.id).role
      expect(await roleOf(await accept((await invite('owner')).token, undefined, person))).toBe('owner')
      expect(await roleOf(await accept((await invite('member')).token, undefined, person))).toBe('owner')
    })

    test('asks people with an account to sign in first, and stays valid', async () => {
      const person = await set.join(project, 'member')
      const { token } = await invite('owner')
      const answer = await accept(token, { ...newPerson(), email: person.email.toUpperCase() })
      const { errors } = await expectProblem(answer, 'invalid_request')
      expect(errors).toEqual([
        {
          field: 'newPerson.email',
          message: 'is already in use here: sign in first, then open the link again',
        },
      ])
      await expectProblem(await accept(token), 'not_signed_in')
      expect((await accept(token, undefined, person)).status).toBe(200)
    })

    test('reveals at most ten email addresses in use an hour, also when many are tried at once', async () => {
      const { token } = await invite()
      const person = { ...newPerson(), email: set.owner.email }
      const answers = await Promise.all(Array.from({ length: 15 }, () => accept(token, person)))
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array(10).fill(400),
        ...Array(5).fill(429),
      ])
      await expectProblem(await accept(token, newPerson()), 'rate_limited')
      const other = await invite()
      expect((await accept(other.token, newPerson())).status).toBe(200)
      clock.ms += 3_600_000
      expect((await accept(token, newPerson())).status).toBe(200)
    })

    test('computes no password hash for an email address in use', async () => {
      const { token } = await invite()
      const before = passwords.hashed
      expect((await accept(token, { ...newPerson(), email: set.owner.email })).status).toBe(400)
      expect(passwords.hashed).toBe(before)
      expect((await accept(token, newPerson())).status).toBe(200)
      expect(passwords.hashed).toBeGreaterThan(before)
    })

    test('names each bad field of a new person', async () => {
      const { token } = await invite()
      const answer = await accept(token, { name: ' ', email: 'nobody', password: 'correct horse battery' })
      expect(await badFields(answer)).toEqual(['newPerson.name', 'newPerson.email'])
      expect((await accept(token, newPerson())).status).toBe(200)
    })

    test('is valid for seven days', async () => {
      const [late, inTime] = [await invite(), await invite()]
      clock.ms += 7 * dayMs - 1
      expect((await accept(inTime.token, newPerson())).status).toBe(200)
      clock.ms += 1
      await isDead(await accept(late.token, newPerson()))
      expect((await peopleOf()).invitations).toEqual([])
    })

    test('can be revoked, by an owner of its project', async () => {
      const other = await set.mintProject()
      const { id, token } = await invite()
      const revoke = (at: TestProject) => set.owner.send('DELETE', `/projects/${at.id}/invitations/${id}`)
      await expectProblem(await revoke(other), 'not_found')
      const revoked = await revoke(project)
      expect([revoked.status, await revoked.json()]).toEqual([200, { id, revoked: true }])
      await expectProblem(await revoke(project), 'not_found')
      await isDead(await accept(token, newPerson()))
    })

    test('ends with the rights of the person who created it', async () => {
      const [removed, demoted] = [await set.join(project, 'owner'), await set.join(project, 'owner')]
      const [first, second] = [await invite('owner', removed), await invite('owner', demoted)]
      const kept = await invite('owner')
      await set.owner.send('DELETE', `/projects/${project.id}/people/${removed.personId}`)
      await set.owner.send('PATCH', `/projects/${project.id}/people/${demoted.personId}`, { role: 'member' })
      await isDead(await accept(first.token, undefined, removed))
      await isDead(await accept(second.token, undefined, demoted))
      expect((await accept(kept.token, newPerson())).status).toBe(200)
    })

    test('gives no access to a project that is being deleted', async () => {
      const gone = await set.mintProject()
      const { token } = await invite('owner', set.owner, gone)
      await service.services.database.write
        .update(projects)
        .set({ deletedAt: clock.ms })
        .where(eq(projects.id, gone.projectId))
      await isDead(await accept(token, newPerson()))
      await isDead(await set.nobody.send('POST', '/links/check', { token }))
    })

    test('is refused beyond a hundred open ones', async () => {
      const full = await set.mintProject()
      const { console } = service.services
      for (let i = 0; i < 100; i++) await console.invitations.create(full.projectId, 'member', 'http://x')
      const answer = await set.owner.send('POST', `/projects/${full.id}/invitations`, { role: 'member' })
      await expectProblem(answer, 'invalid_request')
      const { invitations: open } = await peopleOf(full)
      expect(open).toHaveLength(100)
      await console.invitations.revoke(full.projectId, open[0].id)
      expect(
        (await set.owner.send('POST', `/projects/${full.id}/invitations`, { role: 'member' })).status,
      ).toBe(200)
    })
  })

  describe('a password link', () => {
    const linkFor = ({ email }: TestPerson) => passwordToken(service, email)
    const reset = (token: string, password: string) =>
      set.nobody.send('POST', '/links/password', { token, password })

    test('sets another password, signs in, and ends every session and every other such link', async () => {
      const person = await set.join(project, 'member')
      const [token, other] = [await linkFor(person), await linkFor(person)]
      const check = await set.nobody.send('POST', '/links/check', { token })
      expect(await check.json()).toEqual({ kind: 'password', email: person.email })
      const answers = await Promise.all([
        reset(token, 'the first new one'),
        reset(token, 'the second new one'),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
      const good = answers.find(({ status }) => status === 200) ?? new Response()
      expect((await browserOf(service, cookieOf(good)).fetch('/sessions')).status).toBe(200)
      expect((await person.fetch('/sessions')).status).toBe(401)
      await isDead(await reset(other, 'yet another one'))
      expect((await set.nobody.send('POST', '/session', person)).status).toBe(401)
    })

    test('refuses a short password, and stays valid for a day', async () => {
      const person = await set.join(project, 'member')
      const token = await linkFor(person)
      await expectProblem(await reset(token, 'short'), 'invalid_request')
      clock.ms += dayMs
      await isDead(await reset(token, 'long enough for us'))
      expect((await person.fetch('/sessions')).status).toBe(200)
    })

    test('is not accepted as an invitation, nor an invitation as a password link', async () => {
      const person = await set.join(project, 'member')
      await isDead(await accept(await linkFor(person), newPerson()))
      await isDead(await reset((await invite()).token, 'long enough for us'))
      await isDead(
        await set.nobody.send('POST', '/links/setup', { token: (await invite()).token, ...newPerson() }),
      )
    })

    test('is not created for an unknown person', async () => {
      const failure = await service.services.console.invitations
        .createPasswordLink('nobody@example.com', 'http://x')
        .catch((error) => error)
      expect(failure.code).toBe('not_found')
    })
  })
})
