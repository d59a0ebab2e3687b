import { Elysia } from 'elysia'
import { type FieldError, invalidRequest } from '../errors.ts'
import type { RequestContext, RequestContexts } from './request-context.ts'

const namesMax = 20
const nameCharsMax = 100
const strictHandling = /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:[,;]|$)/i

interface IgnoredNamesOptions {
  contexts: RequestContexts
  /** The routes of the service, asked for once it is complete. */
  routes: () => readonly Route[]
}

export interface Route {
  method: string
  path: string
  hooks: { detail?: unknown; body?: unknown }
}

/** The part of a JSON Schema that says which names are known. */
interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
}

/** What a route takes: its query parameters, and the schema of its body. */
interface Known {
  parameters: readonly string[]
  body: Schema
}

/** A name that nobody reads, and the known ones of its place. */
interface Unknown {
  field: string
  name: string
  known: readonly string[]
}

/**
 * Names each field and each query parameter that is not known, in `Callbook-Ignored`. With `Prefer: handling=strict`
 * (RFC 7240) they are 400. It reads the names from what the document says of the route, and judges before the schema
 * does, so that a misspelled name is also told when it was a required one.
 */
export function ignoredNames({ contexts, routes }: IgnoredNamesOptions) {
  let known: Map<string, Known> | undefined
  // Not `body` or `query`: for a global hook that names them, Elysia would parse those of every route.
  return new Elysia({ name: 'ignored-names' }).onTransform({ as: 'global' }, ({ request, route }) => {
    const start = request.url.indexOf('?')
    const context = contexts.of(request)
    const { body } = context
    if (start < 0 && body === undefined) return
    if (context.surface.keyKind === null || context.surface.protocol !== null) return
    known ??= knownByRoute(routes())
    const taken = known.get(`${request.method === 'HEAD' ? 'GET' : request.method} ${route}`)
    if (!taken) return
    const unknown = unknownIn(taken, start < 0 ? '' : request.url.slice(start + 1), body)
    if (unknown.length === 0) return
    if (isStrict(request)) throw invalidRequest(unknown.map(toError))
    tellIgnored(
      context,
      unknown.map(({ field }) => field),
    )
  })
}

/** Names fields that nobody reads in the headers of the answer. */
export function tellIgnored(context: RequestContext, fields: readonly string[]): void {
  if (fields.length === 0) return
  const { 'Callbook-Ignored': told = [] } = context.headers ?? {}
  context.headers = { ...context.headers, 'Callbook-Ignored': [told, fields].flat().join(', ') }
}

/** Whether the client wants names that are not known to be refused. */
export function isStrict({ headers }: Request): boolean {
  return strictHandling.test(headers.get('prefer') ?? '')
}

/** The names in a value that its schema does not know, at most 20. @throws invalid_request when they are to be refused */
export function ignoredIn(schema: object, value: unknown, isStrict: boolean): string[] {
  const unknown = unknownIn({ parameters: [], body: schema }, '', value)
  if (isStrict && unknown.length > 0) throw invalidRequest(unknown.map(toError))
  return unknown.map(({ field }) => field)
}

function knownByRoute(routes: readonly Route[]): Map<string, Known> {
  return new Map(
    routes.map(({ method, path, hooks }) => {
      const { parameters = [] } = (hooks.detail ?? {}) as { parameters?: { name: string; in: string }[] }
      const inQuery = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
      return [`${method} ${path}`, { parameters: inQuery, body: Object(hooks.body) as Schema }]
    }),
  )
}

/** At most 20, each of them once. */
function unknownIn({ parameters, body: schema }: Known, query: string, body: unknown): Unknown[] {
  const found = new Map<string, Unknown>()
  for (const name of new URLSearchParams(query).keys()) {
    if (parameters.some((parameter) => isParameter(name, parameter))) continue
    add(found, { field: toField(name), name, known: parameters })
  }
  addUnknownFields(schema, body, '', found)
  return [...found.values()]
}

/** A parameter such as `analysis.KEY` stands for every name that begins like it. */
function isParameter(name: string, parameter: string): boolean {
  const prefix = parameter.slice(0, parameter.indexOf('.') + 1)
  return name === parameter || (prefix !== '' && name.startsWith(prefix))
}

function addUnknownFields(schema: Schema, value: unknown, path: string, found: Map<string, Unknown>): void {
  if (typeof value !== 'object' || value === null || found.size >= namesMax) return
  if (Array.isArray(value)) {
    if (schema.items) for (const entry of value) addUnknownFields(schema.items, entry, path, found)
    return
  }
  const { properties } = schema
  // A value of any form, such as `metadata`.
  if (!properties) return
  // Not `Object.entries`: a call has a hundred turns.
  for (const name in value) {
    const member: unknown = value[name as keyof typeof value]
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!property) add(found, { field: path + toField(name), name, known: Object.keys(properties) })
    else if (typeof member === 'object') addUnknownFields(property, member, `${path}${toField(name)}.`, found)
  }
}

function add(found: Map<string, Unknown>, unknown: Unknown): void {
  if (found.size < namesMax) found.set(unknown.field, unknown)
}

/** A name as a header can hold it. */
function toField(name: string): string {
  return encodeURIComponent(name.slice(0, nameCharsMax).toWellFormed())
}

function toError({ field, name, known }: Unknown): FieldError {
  const nearest = nearestOf(name, known)
  return {
    field,
    message: nearest === null ? 'is not known' : `is not known; the nearest name is ${nearest}`,
  }
}

function nearestOf(name: string, known: readonly string[]): string | null {
  const wanted = bare(name.slice(0, nameCharsMax))
  const byDistance = known.map((each) => ({ each, distance: distance(wanted, bare(each)) }))
  return byDistance.reduce((best, next) => (next.distance < best.distance ? next : best), {
    each: null as string | null,
    distance: Number.POSITIVE_INFINITY,
  }).each
}

/** `caller_number` and `callerNumber` are one name. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Levenshtein's: how many letters to insert, remove or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    let diagonal = i
    row = row.reduce<number[]>((next, above, j) => {
      const left = next[j - 1]
      next.push(
        left === undefined ? i + 1 : Math.min(left + 1, above + 1, diagonal + (b[j - 1] === letter ? 0 : 1)),
      )
      diagonal = above
      return next
    }, [])
  }
  return row[b.length] ?? 0
}
