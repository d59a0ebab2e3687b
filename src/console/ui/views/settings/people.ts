import { queryOptions } from '@tanstack/react-query'
import type { Role } from '../../../../identity.ts'
import { api, unwrap } from '../../api.ts'

/** The members of a project and its open invitations. */
export function peopleQuery(project: string) {
  return queryOptions({
    queryKey: ['project', project, 'people'],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).people.get({ fetch: { signal } })),
  })
}

/** Everybody who can sign in. */
export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }) => unwrap(api.people.get({ fetch: { signal } })),
})

/** From least to most. */
export const roleChoices: readonly Role[] = ['viewer', 'member', 'owner']

/** What a role is called. */
export const roleLabels: Record<Role, string> = { owner: 'Owner', member: 'Member', viewer: 'Viewer' }

/** What a role may do in a project. */
export function describeRole(role: Role, membersMayDelete: boolean): string {
  if (role === 'viewer') return 'See calls and knowledge, and use the playground. Change nothing.'
  if (role === 'owner') return 'Everything, including keys, people, settings and deleting the project.'
  const deletion = membersMayDelete ? 'and delete them' : 'but delete nothing'
  return `See and change calls and knowledge, ${deletion}. No keys, people, settings or audit trail.`
}
