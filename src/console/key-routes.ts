import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import type { AddressCheck, CreatedKey, KeyRow } from './answers.ts'
import { notBuilt } from './not-built.ts'
import { AddressToCheck, NewKey } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects/:project/keys: for owners. */
export function keyRoutes() {
  return new Elysia({ prefix: '/console/api/projects/:project/keys' })
    .use(consoleContext())
    .get('', () => notBuilt<{ data: KeyRow[] }>(), { detail })
    .post('', () => notBuilt<CreatedKey>(), { parse: 'json', body: bodyOf(NewKey), detail })
    .post('/check-address', () => notBuilt<AddressCheck>(), {
      parse: 'json',
      body: bodyOf(AddressToCheck),
      detail,
    })
    .delete('/:id', () => notBuilt<{ id: string; revoked: true }>(), { detail })
}
