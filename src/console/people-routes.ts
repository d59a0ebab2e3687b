import type { Invitations } from '../access/people/invitations.ts'
import type { Members } from '../access/people/members.ts'
import type { People } from '../access/people/people.ts'
import { NoMembers } from '../validation.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { NewRole } from './schemas.ts'

interface PeopleRoutesOptions {
  people: People
  members: Members
  invitations: Invitations
  /** Where links lead; null for the origin of the request that asks for one. */
  publicUrl: string | null
}

/** /console/api/people, for the console's owner; /people and /invitations of a project, for its owners. */
export function peopleRoutes({ people, members, invitations, publicUrl }: PeopleRoutesOptions) {
  const baseUrlOf = ({ headers, url }: Request) => publicUrl ?? headers.get('origin') ?? new URL(url).origin
  return consoleRoutes('/console/api')
    .get('/people', async () => ({ data: await people.accounts() }))
    .delete('/people/:id', ({ by, params }) => people.delete(params.id, by))
    .get('/projects/:project/people', async ({ member }) => ({
      members: await members.list(member.projectId),
      invitations: await invitations.list(member.projectId),
    }))
    .patch(
      '/projects/:project/people/:id',
      ({ member, by, params, body }) => members.changeRole(member.projectId, params.id, body.role, by),
      jsonBody(NewRole),
    )
    .delete('/projects/:project/people/:id', ({ member, by, params }) =>
      members.remove(member.projectId, params.id, by),
    )
    .post(
      '/projects/:project/people/:id/sign-in-link',
      ({ member, by, params, request }) =>
        invitations.createSignInLink(member.projectId, params.id, baseUrlOf(request), by),
      jsonBody(NoMembers),
    )
    .post(
      '/projects/:project/invitations',
      ({ member, by, request, body }) =>
        invitations.create(member.projectId, body.role, baseUrlOf(request), by),
      jsonBody(NewRole),
    )
    .delete('/projects/:project/invitations/:id', ({ member, by, params }) =>
      invitations.revoke(member.projectId, params.id, by),
    )
}
