import { queryOptions } from '@tanstack/react-query'
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

export const roles = {
  owner: {
    label: 'Owner',
    may: 'Everything, including keys, people, the audit trail and deleting the project.',
  },
  member: { label: 'Member', may: 'Calls, knowledge and the playground, but no keys or people.' },
} as const
