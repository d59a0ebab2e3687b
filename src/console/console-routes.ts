import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { invalidRequest } from '../errors.ts'
import { consoleContext } from '../http/console-context.ts'
import { byPerson } from '../identity.ts'
import { bodyOf } from '../validation.ts'

const limitDefault = 50
const limitMax = 200

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

/** How many records of a list a page asks for. @throws invalid_request */
export function limitOf(limit: string | undefined): number {
  if (!limit) return limitDefault
  if (/^[0-9]{1,15}$/.test(limit)) return Math.min(limitMax, Math.max(1, Number(limit)))
  throw invalidRequest([{ field: 'limit', message: 'must be a whole number of at most 15 digits' }])
}
