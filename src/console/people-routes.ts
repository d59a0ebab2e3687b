import { Elysia } from 'elysia'
import type { AuditTrail } from '../audit/audit-trail.ts'
import { consoleContext } from '../http/console-context.ts'
import { byPerson } from '../identity.ts'
import { bodyOf } from '../validation.ts'
import { pageOf } from './page-request.ts'
import type { Invitations } from './people/invitations.ts'
import type { Members } from './people/members.ts'
import type { People } from './people/people.ts'
import { NewInvitation, NewRole, PageRequest } from './schemas.ts'

const detail = { hide: true }

interface PeopleRoutesOptions {
  members: Members
  invitations: Invitations
  audit: AuditTrail
  /** Where links lead; null for the origin of the request that asks for one. */
  publicUrl: string | null
}

/** /console/api/people: all accounts, for the console's owner. */
export function accountRoutes(people: People) {
  return new Elysia({ prefix: '/console/api/people' })
    .use(consoleContext())
    .get('', async () => ({ data: await people.accounts() }), { detail })
    .delete('/:id', ({ person, address, params }) => people.remove(params.id, byPerson(person, address)), {
      detail,
    })
}

/** /console/api/projects/:project/people, /invitations and /audit: for owners. */
export function peopleRoutes({ members, invitations, audit, publicUrl }: PeopleRoutesOptions) {
  return new Elysia({ prefix: '/console/api/projects/:project' })
    .use(consoleContext())
    .get(
      '/people',
      async ({ member }) => ({
        members: await members.list(member.projectId),
        invitations: await invitations.list(member.projectId),
      }),
      { detail },
    )
    .patch(
      '/people/:id',
      ({ member, person, address, params, body }) =>
        members.changeRole(member.projectId, params.id, body.role, byPerson(person, address)),
      { parse: 'json', body: bodyOf(NewRole), detail },
    )
    .delete(
      '/people/:id',
      ({ member, person, address, params }) =>
        members.remove(member.projectId, params.id, byPerson(person, address)),
      { detail },
    )
    .post(
      '/invitations',
      ({ member, person, address, request, headers, body }) =>
        invitations.create(
          member.projectId,
          body.role,
          publicUrl ?? headers.origin ?? new URL(request.url).origin,
          byPerson(person, address),
        ),
      { parse: 'json', body: bodyOf(NewInvitation), detail },
    )
    .delete(
      '/invitations/:id',
      ({ member, person, address, params }) =>
        invitations.revoke(member.projectId, params.id, byPerson(person, address)),
      { detail },
    )
    .get('/audit', ({ member, query }) => audit.list(member.projectId, pageOf(query)), {
      query: bodyOf(PageRequest),
      detail,
    })
}
