import { describe, expect, test } from 'bun:test'
import { browserOf, startConsole, type TestPerson, tokenOf } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const set = await startConsole(service)

const linkFor = (by: TestPerson, { id }: TestProject, { personId }: TestPerson) =>
  by.send('POST', `/projects/${id}/people/${personId}/sign-in-link`, {})

async function addTo({ projectId }: TestProject, { personId }: TestPerson, role: 'owner' | 'viewer') {
  await service.services.database.write.run(
    `insert into members (project_id, person_id, role, created_at) values (${projectId}, '${personId}', '${role}', 0)`,
  )
}

describe('a sign-in link', () => {
  test('made by an owner signs the person in with a new password, once, and is in the audit trail', async () => {
    const project = await set.mintProject()
    const owner = await set.join(project, 'owner')
    const viewer = await set.join(project, 'viewer')
    const made = await linkFor(owner, project, viewer)
    const { email, link, expiresAt } = await made.json()
    expect([made.status, email]).toEqual([200, viewer.email])
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
    const [address, token] = link.split('#')
    expect(address).toBe(`${service.url}/console/reset`)
    expect((await viewer.fetch('/sessions')).status).toBe(200)
    const password = 'another long password'
    const use = () => browserOf(service, null).send('POST', '/links/password', { token, password })
    const used = await use()
    expect([used.status, (await used.json()).person.email]).toEqual([200, viewer.email])
    expect((await viewer.fetch('/sessions')).status).toBe(401)
    await expectProblem(await use(), 'not_found')
    const trail = await owner.read(`/projects/${project.id}/audit`)
    expect(trail.data).toContainEqual(
      expect.objectContaining({
        action: 'password_link_created',
        actorId: owner.personId,
        target: `${viewer.name} (${viewer.email})`,
      }),
    )
    expect(JSON.stringify(trail)).not.toContain(token)
  })

  test('reaches no project that the owner does not own, and never the console', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const owner = await set.join(project, 'owner')
    const member = await set.join(project, 'member')
    expect((await linkFor(owner, project, member)).status).toBe(200)
    await addTo(other, member, 'viewer')
    await expectProblem(await linkFor(owner, project, member), 'forbidden')
    await expectProblem(await linkFor(owner, project, set.owner), 'forbidden')
    await addTo(other, owner, 'owner')
    expect((await linkFor(owner, project, member)).status).toBe(200)
    expect((await linkFor(set.owner, project, owner)).status).toBe(200)
  })

  test('ends when its maker loses the project, or the person enters one that the maker does not own', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const maker = await set.join(project, 'owner')
    const [owner, member] = [await set.join(project, 'owner'), await set.join(project, 'member')]
    const tokenFor = async (person: TestPerson) =>
      tokenOf((await (await linkFor(maker, project, person)).json()).link)
    const tokens = [await tokenFor(member), await tokenFor(owner)]
    await addTo(other, member, 'viewer')
    const byConsoleOwner = await linkFor(set.owner, project, member)
    const byCommandLine = await service.services.console.invitations.createPasswordLink(owner.email, '')
    const removed = await owner.fetch(`/projects/${project.id}/people/${maker.personId}`, {
      method: 'DELETE',
    })
    expect(removed.status).toBe(200)
    const { nobody } = set
    for (const token of tokens) {
      const body = { token, password: 'chosen by the maker' }
      await expectProblem(await nobody.send('POST', '/links/check', body), 'not_found')
      await expectProblem(await nobody.send('POST', '/links/password', body), 'not_found')
    }
    for (const { link } of [await byConsoleOwner.json(), byCommandLine]) {
      const token = link.split('#')[1]
      expect((await nobody.send('POST', '/links/check', { token })).status).toBe(200)
    }
  })

  test('is not for oneself, nor for somebody outside the project', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const owner = await set.join(project, 'owner')
    const stranger = await set.join(other, 'member')
    await expectProblem(await linkFor(owner, project, owner), 'invalid_request')
    await expectProblem(await linkFor(set.owner, project, stranger), 'not_found')
  })
})
