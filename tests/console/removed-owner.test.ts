import { describe, expect, test } from 'bun:test'
import { byPerson } from '../../src/identity.ts'
import { startConsole, type TestPerson } from '../support/console.ts'
import { failureOf } from '../support/failure.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const set = await startConsole(service)

/** Everything that an owner alone may write, as the routes call it once they have let the request in. */
const writes: Record<
  string,
  (at: TestProject, by: ReturnType<typeof byPerson>, open: string, other: string) => Promise<unknown>
> = {
  'invites an owner': ({ projectId }, by) =>
    service.services.console.invitations.create(projectId, 'owner', 'http://x', by),
  'revokes an invitation': ({ projectId }, by, open) =>
    service.services.console.invitations.revoke(projectId, open, by),
  'makes a key': ({ projectId }, by) =>
    service.services.keys.create(
      projectId,
      { name: 'late', kind: 'live', allowedIps: [], expiresAt: null },
      by,
    ),
  'revokes a key': ({ projectId, keyId }, by) => service.services.keys.revoke(projectId, keyId, by),
  'edits a key': ({ projectId, keyId }, by) =>
    service.services.keyChanges.edit(projectId, keyId, { name: 'late' }, by),
  'rotates a key': ({ projectId, keyId }, by) => service.services.keyChanges.rotate(projectId, keyId, {}, by),
  'makes a sign-in link': ({ projectId }, by, _, other) =>
    service.services.console.invitations.createSignInLink(projectId, other, 'http://x', by),
  'gives another person a role': ({ projectId }, by, _, other) =>
    service.services.console.members.changeRole(projectId, other, 'owner', by),
  'removes another person': ({ projectId }, by, _, other) =>
    service.services.console.members.remove(projectId, other, by),
  'renames the project': ({ projectId }, by) => service.services.projects.rename(projectId, 'late', by),
  'deletes the project': ({ projectId }, by) => service.services.projects.delete(projectId, { by }),
}

/** All that these writes could change. */
async function stateOf({ id, projectId }: TestProject): Promise<unknown[]> {
  const read = async (part: string) => (await set.owner.fetch(`/projects/${id}/${part}`)).json()
  return [
    await service.services.projects.get(projectId),
    await read('people'),
    await read('keys'),
    await read('audit'),
  ]
}

async function stripped(project: TestProject, how: 'removed' | 'demoted'): Promise<TestPerson> {
  const person = await set.join(project, 'owner')
  const path = `/projects/${project.id}/people/${person.personId}`
  const answer =
    how === 'removed'
      ? await set.owner.fetch(path, { method: 'DELETE' })
      : await set.owner.send('PATCH', path, { role: 'member' })
  expect(answer.status).toBe(200)
  return person
}

describe.each(['removed', 'demoted'] as const)(
  'an owner who is %s while their request is under way',
  (how) => {
    test.each(Object.keys(writes))('%s is 403, and nothing is written', async (name) => {
      const project = await set.mintProject()
      const invited = await set.owner.send('POST', `/projects/${project.id}/invitations`, { role: 'member' })
      const { id: open } = await invited.json()
      const other = await set.join(project, 'member')
      const person = await stripped(project, how)
      const before = await stateOf(project)
      const by = byPerson(person, null)
      expect(
        await failureOf(writes[name]?.(project, by, open, other.personId) ?? Promise.resolve()),
      ).toMatchObject({ code: 'forbidden', detail: 'Only an owner of the project can do this.' })
      expect(await stateOf(project)).toEqual(before)
    })
  },
)
