import { Elysia } from 'elysia'
import type { Keys } from '../auth/keys.ts'
import { invalidRequest } from '../errors.ts'
import { consoleContext } from '../http/console-context.ts'
import { byPerson } from '../identity.ts'
import { bodyOf } from '../validation.ts'
import { AddressToCheck, NewKey } from './schemas.ts'

const detail = { hide: true }
const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** /console/api/projects/:project/keys: for owners. */
export function keyRoutes(keys: Keys) {
  return new Elysia({ prefix: '/console/api/projects/:project/keys' })
    .use(consoleContext())
    .get('', async ({ member }) => ({ data: await keys.list(member.projectId) }), { detail })
    .post(
      '',
      ({ member, person, address, body }) =>
        keys.create(
          member.projectId,
          { ...body, expiresAt: readTime(body.expiresAt), createdBy: person.name },
          byPerson(person, address),
        ),
      { parse: 'json', body: bodyOf(NewKey), detail },
    )
    .post('/check-address', ({ body }) => keys.checkAddress(body), {
      parse: 'json',
      body: bodyOf(AddressToCheck),
      detail,
    })
    .delete(
      '/:id',
      ({ member, person, address, params }) =>
        keys.revoke(member.projectId, params.id, byPerson(person, address)),
      { detail },
    )
}

/** Milliseconds since 1970. @throws invalid_request */
function readTime(text: string | null): number | null {
  if (text === null) return null
  const time = isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  const message = 'must be an ISO 8601 time with its zone, such as 2027-01-31T09:30:00Z, or null'
  throw invalidRequest([{ field: 'expiresAt', message }])
}
