import { Elysia } from 'elysia'
import type { Keys } from '../auth/keys.ts'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import { byPerson } from './audit.ts'
import { toCreatedKey, toKeyInput, toKeyRow } from './keys.ts'
import { AddressToCheck, NewKey } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects/:project/keys: for owners. */
export function keyRoutes(keys: Keys) {
  return new Elysia({ prefix: '/console/api/projects/:project/keys' })
    .use(consoleContext())
    .get('', async ({ member }) => ({ data: (await keys.list(member.projectId)).map(toKeyRow) }), { detail })
    .post(
      '',
      async ({ member, person, address, body }) =>
        toCreatedKey(
          await keys.create(member.projectId, toKeyInput(body, person.name), byPerson(person, address)),
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
