import type { KeyChanges } from '../auth/key-changes.ts'
import type { Keys } from '../auth/keys.ts'
import { invalidRequest } from '../errors.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { AddressToCheck, EditedKey, NewKey, RotatedKey } from './schemas.ts'

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

export interface KeyRoutesOptions {
  keys: Keys
  keyChanges: KeyChanges
}

/** /console/api/projects/:project/keys: for owners. */
export function keyRoutes({ keys, keyChanges }: KeyRoutesOptions) {
  return consoleRoutes('/console/api/projects/:project/keys')
    .get('', async ({ member }) => ({ data: await keys.list(member.projectId) }))
    .post(
      '',
      ({ member, person, by, body }) => {
        const key = { ...body, expiresAt: readTime(body.expiresAt), createdBy: person.name }
        return keys.create(member.projectId, key, by)
      },
      jsonBody(NewKey),
    )
    .post('/check-address', ({ body }) => keys.checkAddress(body), jsonBody(AddressToCheck))
    .patch(
      '/:id',
      ({ member, by, params, body: { expiresAt, ...edit } }) =>
        keyChanges.edit(
          member.projectId,
          params.id,
          { ...edit, expiresAt: expiresAt === undefined ? undefined : readTime(expiresAt) },
          by,
        ),
      jsonBody(EditedKey),
    )
    .post(
      '/:id/rotate',
      ({ member, person, by, params, body }) =>
        keyChanges.rotate(member.projectId, params.id, { ...body, createdBy: person.name }, by),
      jsonBody(RotatedKey),
    )
    .delete('/:id', ({ member, by, params }) => keys.revoke(member.projectId, params.id, by))
}

/** Milliseconds since 1970. @throws invalid_request */
function readTime(text: string | null): number | null {
  if (text === null) return null
  const time = isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  const message = 'must be an ISO 8601 time with its zone, such as 2027-01-31T09:30:00Z, or null'
  throw invalidRequest([{ field: 'expiresAt', message }])
}
