import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { CommandLine } from '../../support/command-line.ts'
import { startConsole, type TestConsole, type TestPerson } from '../../support/console.ts'
import { startService, type TestService } from '../../support/service.ts'

describe('callbook person', () => {
  let service: TestService
  let set: TestConsole
  let callbook: CommandLine

  beforeAll(async () => {
    service = await startService()
    set = await startConsole(service)
    callbook = new CommandLine(service.dataDir)
  })

  test('a new project has no owner unless --owner names one', async () => {
    const free = await callbook.json(['project', 'create', 'of nobody'])
    const other = await set.join(await set.mintProject(), 'member')
    const theirs = await callbook.json([
      'project',
      'create',
      'of another',
      '--owner',
      other.email.toUpperCase(),
    ])
    const projectsOf = async (person: TestPerson) =>
      (await (await person.fetch('/session')).json()).projects.map(({ id }: { id: string }) => id)
    for (const { value } of [free, theirs]) expect(await projectsOf(set.owner)).not.toContain(value.id)
    expect(await projectsOf(other)).toContain(theirs.value.id)
    expect(await callbook.run(['project', 'create', 'of whom', '--owner', 'nobody@example.com'])).toEqual({
      code: 1,
      out: '',
      err: 'No one has the email address nobody@example.com.\n',
    })
  })

  test('people are listed with their projects', async () => {
    const project = await set.mintProject()
    const { personId, name, email } = await set.join(project, 'member')
    const { value } = await callbook.json(['person', 'list'])
    expect(value.find(({ id }: { id: string }) => id === personId)).toEqual({
      id: personId,
      name,
      email,
      ownsConsole: false,
      hasTwoFactor: false,
      projects: [{ id: project.id, name: project.name, role: 'member' }],
    })
    const { out } = await callbook.run(['person', 'list'])
    expect(out).toContain(`${project.name} (member)`)
    expect(out.split('\n').filter((row) => / {2}owner {2}/.test(row))).toEqual([
      expect.stringContaining(set.owner.email),
    ])
  })

  test('a name that several projects share is refused with a message that lists their ids', async () => {
    const other = await set.join(await set.mintProject(), 'member')
    const made = [
      await callbook.json(['project', 'create', 'ambiguous']),
      await callbook.json(['project', 'create', 'ambiguous', '--owner', other.email]),
    ]
    const ids = made.map(({ value }) => value.id)
    expect(await callbook.run(['key', 'list', '--project', 'ambiguous', '--json'])).toEqual({
      code: 1,
      out: '',
      err: `Several projects are called ambiguous. Use the id of the one you mean: ${ids.join(', ')}.\n`,
    })
    expect((await callbook.run(['key', 'list', '--project', ids[1]])).code).toBe(0)
  })

  test('a person can be removed, unless they are the last owner of a project', async () => {
    const person = await set.join(await set.mintProject(), 'owner')
    expect(await callbook.json(['person', 'remove', person.email, '--yes'])).toMatchObject({
      code: 0,
      err: '',
      value: { id: person.personId, deleted: true },
    })
    expect((await person.fetch('/sessions')).status).toBe(401)
    expect((await callbook.spawned(['person', 'remove', person.email, '--yes'])).code).toBe(1)
    const last = await callbook.run(['person', 'remove', set.owner.email, '--yes'])
    expect([last.code, last.err]).toEqual([1, expect.stringContaining('last owner')])
    expect((await set.owner.fetch('/sessions')).status).toBe(200)
  })

  test('a second factor is required of everybody, and no longer', async () => {
    const { twoFactorRule } = service.services.console
    const rule = (value: string) => callbook.json(['person', 'require-two-factor', value])
    expect(await rule('on')).toMatchObject({ code: 0, value: { isOn: true } })
    expect(await twoFactorRule.isOn()).toBe(true)
    expect(await rule('off')).toMatchObject({ code: 0, value: { isOn: false } })
    expect(await twoFactorRule.isOn()).toBe(false)
    expect((await callbook.run(['person', 'require-two-factor', 'maybe'])).code).toBe(1)
  })

  test('two-factor sign-in is reset, and every role can be invited', async () => {
    const project = await set.mintProject()
    const person = await set.join(project, 'member')
    const { write, read } = service.services.database
    await write.run(`update people set two_factor_enabled = 1 where id = '${person.personId}'`)
    const reset = await callbook.json(['person', 'reset-two-factor', person.email])
    expect(reset).toMatchObject({ code: 0, value: { email: person.email, isOn: false } })
    const isOn = `select two_factor_enabled as isOn from people where id = '${person.personId}'`
    expect(await read.all(sql.raw(isOn))).toEqual([{ isOn: 0 }])
    expect((await callbook.run(['person', 'reset-two-factor', 'nobody@example.com'])).code).toBe(1)
    for (const role of ['viewer', 'member', 'owner']) {
      const invite = await callbook.json(['person', 'invite', '--project', project.id, '--role', role])
      expect(invite.value.role).toBe(role)
    }
  })

  test('a set-up link is made only for a console without an owner', async () => {
    expect(await callbook.run(['person', 'setup'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('has an owner'),
    })
    const fresh = await new CommandLine().withDatabase()
    const { value } = await fresh.json(['person', 'setup'])
    expect(value.link).toMatch(/^http:\/\/127\.0\.0\.1:3000\/console\/setup#[\w-]{32}$/)
  })

  test('an invitation link and a password link start with PUBLIC_URL and do what they say', async () => {
    const project = await set.mintProject()
    const env = { PUBLIC_URL: 'https://callbook.example/base' }
    const invited = await callbook.json(['person', 'invite', '--project', project.name, '--role', 'owner'], {
      env,
    })
    expect(invited.value).toMatchObject({ role: 'owner', id: expect.stringMatching(/^inv_/) })
    expect(invited.value.link).toMatch(/^https:\/\/callbook\.example\/base\/console\/join#[\w-]{32}$/)
    const reset = await callbook.json(['person', 'reset', set.owner.email], { env })
    expect(reset.value.link).toMatch(/^https:\/\/callbook\.example\/base\/console\/reset#[\w-]{32}$/)
    const check = async (link: string) =>
      (await set.nobody.send('POST', '/links/check', { token: new URL(link).hash.slice(1) })).json()
    expect(await check(invited.value.link)).toEqual({
      kind: 'invitation',
      projectName: project.name,
      role: 'owner',
      invitedBy: null,
    })
    expect(await check(reset.value.link)).toEqual({ kind: 'password', email: set.owner.email })
  })
})
