import { Elysia } from 'elysia'
import { type FieldError, invalidRequest } from '../errors.ts'
import { isNamed, nearestName, unknownName } from '../names.ts'
import { prefers } from './preferences.ts'
import type { RequestContext, RequestContexts } from './request-context.ts'

const namesMax = 20
const nameCharsMax = 100

interface IgnoredNamesOptions {
  contexts: RequestContexts
  /** The service's routes, read once it is complete. */
  routes: () => readonly Route[]
}

export interface Route {
  method: string
  path: string
  hooks: { detail?: unknown; body?: unknown }
}

/** The part of a JSON Schema that lists known names. */
interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
}

/** What a route accepts: its query parameters, and the schema of its body. */
interface Accepted {
  parameters: readonly string[]
  body: Schema
}

/** An unknown name, and the known names in its place. */
interface Unknown {
  field: string
  name: string
  names: readonly string[]
}

/**
 * Lists unknown fields and query parameters in `Callbook-Ignored`. With `Prefer: handling=strict` (RFC 7240) they are a
 * 400. Runs before validation, so that a misspelled required name is also reported.
 */
export function ignoredNames({ contexts, routes }: IgnoredNamesOptions) {
  let byRoute: Map<string, Accepted> | undefined
  // Does not use `body` or `query`: Elysia would then parse those of every route.
  return new Elysia({ name: 'ignored-names' }).onTransform({ as: 'global' }, ({ request, route }) => {
    const start = request.url.indexOf('?')
    const context = contexts.of(request)
    const { body } = context
    if (start < 0 && body === undefined) return
    if (context.surface.keyKind === null || context.surface.protocol !== null) return
    byRoute ??= knownByRoute(routes())
    const accepted = byRoute.get(`${request.method === 'HEAD' ? 'GET' : request.method} ${route}`)
    if (!accepted) return
    const unknown = unknownIn(accepted, start < 0 ? '' : request.url.slice(start + 1), body)
    if (unknown.length === 0) return
    if (isStrict(request)) throw invalidRequest(unknown.map(toError))
    tellIgnored(
      context,
      unknown.map(({ field }) => field),
    )
  })
}

/** Lists unknown fields in the answer's headers. */
export function tellIgnored(context: RequestContext, fields: readonly string[]): void {
  if (fields.length === 0) return
  const { 'Callbook-Ignored': earlier = [] } = context.headers ?? {}
  context.headers = { ...context.headers, 'Callbook-Ignored': [earlier, fields].flat().join(', ') }
}

/** Whether the client wants unknown names to be refused. */
export function isStrict(request: Request): boolean {
  return prefers(request, 'handling=strict')
}

/** The unknown names in a value, at most 20. @throws invalid_request if the client wants them to be refused */
export function ignoredIn(schema: object, value: unknown, isStrict: boolean): string[] {
  const unknown = unknownIn({ parameters: [], body: schema }, '', value)
  if (isStrict && unknown.length > 0) throw invalidRequest(unknown.map(toError))
  return unknown.map(({ field }) => field)
}

function knownByRoute(routes: readonly Route[]): Map<string, Accepted> {
  return new Map(
    routes.map(({ method, path, hooks }) => {
      const { parameters = [] } = (hooks.detail ?? {}) as { parameters?: { name: string; in: string }[] }
      const inQuery = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
      return [`${method} ${path}`, { parameters: inQuery, body: Object(hooks.body) as Schema }]
    }),
  )
}

/** The unknown names, at most 20, without repetition. */
function unknownIn({ parameters, body: schema }: Accepted, query: string, body: unknown): Unknown[] {
  const fields = new Map<string, Unknown>()
  for (const name of new URLSearchParams(query).keys()) {
    if (parameters.some((parameter) => isNamed(name, parameter))) continue
    add(fields, { field: toField(name), name, names: parameters })
  }
  addUnknownFields(schema, body, '', fields)
  return [...fields.values()]
}

/** Goes no further than the twentieth name: a body may have many thousands. */
function addUnknownFields(schema: Schema, value: unknown, path: string, fields: Map<string, Unknown>): void {
  if (typeof value !== 'object' || value === null || fields.size >= namesMax) return
  if (Array.isArray(value)) {
    if (schema.items) for (const entry of value) addUnknownFields(schema.items, entry, path, fields)
    return
  }
  const { properties } = schema
  // A value of any shape, such as `metadata`.
  if (!properties) return
  // Faster than `Object.entries`, since a call has a hundred turns.
  for (const name in value) {
    if (fields.size >= namesMax) return
    const member: unknown = value[name as keyof typeof value]
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!property) add(fields, { field: path + toField(name), name, names: Object.keys(properties) })
    else if (typeof member === 'object')
      addUnknownFields(property, member, `${path}${toField(name)}.`, fields)
  }
}

function add(fields: Map<string, Unknown>, unknown: Unknown): void {
  if (fields.size < namesMax) fields.set(unknown.field, unknown)
}

/** A name, encoded for a header. */
function toField(name: string): string {
  return encodeURIComponent(name.slice(0, nameCharsMax).toWellFormed())
}

function toError({ field, name, names }: Unknown): FieldError {
  return { field, message: unknownName(nearestName(name, names)) }
}
