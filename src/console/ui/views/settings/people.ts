import { queryOptions } from '@tanstack/react-query'
import type { Role } from '../../../../identity.ts'
import { api, unwrap } from '../../api.ts'
import { personKeys, settingsKeys } from '../../query-keys.ts'

/** The members of a project and its open invitations. */
export function peopleQuery(project: string) {
  return queryOptions({
    queryKey: settingsKeys.people(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).people.get({ fetch: { signal } })),
  })
}

/** Everybody who can sign in. */
export const accountsQuery = queryOptions({
  queryKey: personKeys.accounts,
  queryFn: ({ signal }) => unwrap(api.people.get({ fetch: { signal } })),
})

/** From least to most. */
export const roleChoices: readonly Role[] = ['viewer', 'member', 'owner']

/** What a role is called. */
export const roleLabels: Record<Role, string> = { owner: 'Owner', member: 'Member', viewer: 'Viewer' }

/** What a role may do in a project. */
export function describeRole(role: Role, membersMayDelete: boolean): string {
  if (role === 'viewer') return 'Can see calls and knowledge and use the playground, but change nothing.'
  if (role === 'owner')
    return 'Can do everything, including manage keys, people and settings, and delete the project.'
  const deletion = membersMayDelete ? 'including deleting them' : 'but delete nothing'
  return `Can see and change calls and knowledge, ${deletion}. Cannot see keys, people, settings or the audit trail.`
}
