import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { byPerson } from '../identity.ts'
import { bodyOf } from '../validation.ts'

/** Routes of the console's API. Handlers also get `by`: the signed-in person, as the audit trail names them. */
export function consoleRoutes<const Prefix extends string>(prefix: Prefix) {
  return new Elysia({ prefix })
    .use(consoleContext())
    .derive(({ person, address }) => ({ by: byPerson(person, address) }))
}

/** Route options for a JSON body. */
export function jsonBody<S extends TSchema>(schema: S) {
  return { parse: 'json' as const, body: bodyOf(schema) }
}
