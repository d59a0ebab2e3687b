// Turns the routes' schemas into an OpenAPI 3.1 document for people and generators.

import { type BodyLimit, isForPages, permissionFor } from './surface.ts'

type Json = Record<string, unknown>

/** No string of a request or an answer holds U+0000. */
const anyText = '^[^\\u0000]*$'
/** Further members of an object: JSON without U+0000, in names too. */
const anyMembers = {
  propertyNames: { pattern: anyText },
  unevaluatedProperties: { $ref: '#/components/schemas/JsonValue' },
}
/** Members of a schema or a media type that hold plain values, not schemas. */
const values = new Set(['example', 'examples', 'default', 'enum', 'required'])
/** Without them, generators of typed languages take 32 bits. */
const numberFormats: Json = { integer: 'int64', number: 'double' }
const headersOfKeyed = ['RateLimit', 'RateLimit-Policy', 'Callbook-Ignored']

/**
 * Completes the OpenAPI plugin's document. A schema with a `title` is written once, under that name in
 * `components.schemas`, and referred to. Every body gets an example, and every answer its headers.
 * @throws Error if two different schemas have one title
 */
export function completeDocument(generated: object, bodyLimit: BodyLimit): Json {
  const { paths, webhooks, components, ...rest }: Json = structuredCloneOf(generated)
  const sections = asObject(components)
  const names = new Names()
  for (const { path, method, operation } of routesOf(asObject(paths))) {
    operation.description ??= `${operation.summary}.`
    tellBodyLimit(asObject(operation.requestBody), bodyLimit(path))
    for (const content of contentsOf([operation.requestBody])) addExample(content, false)
    for (const content of contentsOf(Object.values(asObject(operation.responses)))) addExample(content, true)
    addHeaders(operation, path.startsWith('/v1/') && isForPages(permissionFor(method, path)))
  }
  for (const content of contentsOf(Object.values(asObject(sections.responses)))) addExample(content, true)
  const hoisted = asObject(names.hoist({ paths, webhooks, ...sections }))
  const { paths: namedPaths, webhooks: namedWebhooks, ...namedComponents } = hoisted
  const schemas = Object.fromEntries([...names.schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  return {
    ...rest,
    openapi: '3.1.0',
    paths: namedPaths,
    webhooks: namedWebhooks,
    components: { ...namedComponents, schemas },
  }
}

/**
 * The schemas with a title. `x-documented` holds what the document says in addition to the schema, or instead of it,
 * because code checks that with a better message; `false` leaves the schema out.
 */
class Names {
  readonly schemas = new Map<string, unknown>()

  /** The value, with schemas that have a title replaced by references. */
  hoist(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.hoist(each))
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).filter(([, member]) => asObject(member)['x-documented'] !== false)
    const part = Object.fromEntries(
      members.map(([name, member]) => [name, values.has(name) ? member : this.hoist(member)]),
    )
    // Not a schema. It may be a map of properties, one of which may be called `title` or `type`.
    if (typeof part.title !== 'string' && typeof part.type !== 'string') return part
    const {
      title,
      nullable,
      description,
      default: fallback,
      'x-message': _,
      'x-bytesMax': __,
      ...schema
    } = part
    const ofThisUse = JSON.parse(JSON.stringify({ description, default: fallback }))
    if (typeof title !== 'string')
      return asDocumented(withOpenChoice({ ...schema, ...ofThisUse }), nullable === true)
    this.#add(title, asDocumented(schema, false))
    const $ref = `#/components/schemas/${title}`
    return nullable === true ? { anyOf: [{ $ref }, { type: 'null' }], ...ofThisUse } : { $ref, ...ofThisUse }
  }

  #add(title: string, schema: Json): void {
    const existing = this.schemas.get(title)
    if (existing !== undefined && JSON.stringify(existing) !== JSON.stringify(schema))
      throw new Error(`Two different schemas have the title ${title}`)
    this.schemas.set(title, schema)
  }
}

/**
 * An enumeration without a title may get new values, so it is documented as a pattern: a generated client would refuse
 * an unknown value.
 */
function withOpenChoice(choice: Json): Json {
  const { enum: choices, description, ...schema } = choice
  const texts = asArray(choices).filter((choice) => choice !== null)
  if (texts.length === 0) return choice
  const pattern = `^(${texts.map((text) => String(text).replaceAll('.', '\\.')).join('|')})$`
  const choicesText = `One of ${texts.map((text) => `\`${text}\``).join(', ')}.`
  return { ...schema, pattern, description: description ? `${description} ${choicesText}` : choicesText }
}

/** Converts a schema to JSON Schema 2020-12, which OpenAPI 3.1 uses. */
function asDocumented({ 'x-documented': more, ...schema }: Json, isNullable: boolean): Json {
  const { type, ...rest }: Json = { ...schema, ...asObject(more) }
  const nulls = isNullable ? [null] : []
  const isAnyText = type === 'string' && !('enum' in rest || 'pattern' in rest || 'format' in rest)
  return {
    ...(type === undefined ? {} : { type: isNullable ? [type, 'null'] : type }),
    ...(String(type) in numberFormats ? { format: numberFormats[String(type)] } : {}),
    ...rest,
    ...(isAnyText ? { pattern: anyText } : {}),
    ...(type === 'object' && rest.additionalProperties === undefined ? anyMembers : {}),
    // Null stays among the values only if it is allowed.
    ...(Array.isArray(rest.enum) ? { enum: [...rest.enum.filter((each) => each !== null), ...nulls] } : {}),
  }
}

function tellBodyLimit(body: Json, bytesMax: number): void {
  if (body.content === undefined) return
  body.description = [body.description, `At most ${bytesMax} bytes.`].filter(Boolean).join(' ')
}

function addExample(content: Json, isWhole: boolean): void {
  if (content.schema === undefined || 'example' in content || 'examples' in content) return
  content.example = exampleOf(asObject(content.schema), isWhole)
}

/** @param isWhole whether to include all properties, not only those that are required or have an example */
function exampleOf(schema: Json, isWhole: boolean): unknown {
  if ('example' in schema) return schema.example
  if (schema.nullable === true) return null
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (schema.type === 'array') return [exampleOf(asObject(schema.items), isWhole)]
  if (schema.type === 'object') {
    const required = Array.isArray(schema.required) ? schema.required : []
    const members = Object.entries(asObject(schema.properties)).filter(
      ([name, property]) => isWhole || required.includes(name) || 'example' in asObject(property),
    )
    return Object.fromEntries(
      members.map(([name, property]) => [name, exampleOf(asObject(property), isWhole)]),
    )
  }
  return { string: 'text', boolean: true }[String(schema.type)] ?? schema.default ?? schema.minimum ?? 0
}

/**
 * Adds headers to answers, but not to references, which have theirs already, nor to a 431, which is the runtime's own.
 * @param isForPages whether pages of other origins may read the answer with a key that allows them
 */
function addHeaders({ responses, security }: Json, isForPages: boolean): void {
  const isKeyed = asArray(security).length > 0
  const common = [
    'X-Request-Id',
    ...(isKeyed ? headersOfKeyed : []),
    ...(isForPages ? ['Access-Control-Allow-Origin'] : []),
  ]
  const hasTags = '304' in asObject(responses)
  for (const [status, response] of Object.entries(asObject(responses))) {
    if ('$ref' in asObject(response) || status === '431') continue
    const names = hasTags && status === '200' ? [...common, 'ETag'] : common
    const refs = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
    Object.assign(asObject(response), {
      headers: { ...asObject(asObject(response).headers), ...Object.fromEntries(refs) },
    })
  }
}

function routesOf(paths: Json): { path: string; method: string; operation: Json }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(asObject(item)).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: asObject(operation),
    })),
  )
}

function contentsOf(bodies: unknown[]): Json[] {
  return bodies.flatMap((body) => Object.values(asObject(asObject(body).content)).map(asObject))
}

/** A copy without the schemas' symbols and validators. */
function structuredCloneOf(value: object): Json {
  return JSON.parse(JSON.stringify(value))
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
