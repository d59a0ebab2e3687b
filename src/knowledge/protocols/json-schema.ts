import type { TObject } from '@sinclair/typebox'

/** A schema of an object as tools of models have it. */
export type ObjectSchema = {
  type: 'object'
  properties?: Record<string, object>
  required?: string[]
}

/** Our schemas, which are of OpenAPI 3.0's dialect, as plain JSON Schema (2020-12). */
export function toJsonSchema(schema: TObject): ObjectSchema {
  return { ...toPlain(schema), type: 'object' }
}

/** The keywords that the dialects do not share, and those that hold schemas. */
interface OpenApiSchema {
  [keyword: string]: unknown
  type?: string
  nullable?: boolean
  example?: unknown
  'x-message'?: string
  properties?: Record<string, OpenApiSchema>
  items?: OpenApiSchema
}

function toPlain(schema: OpenApiSchema): object {
  const { nullable, example, 'x-message': sentence, properties, items, ...shared } = schema
  return {
    ...shared,
    ...(nullable ? { type: [schema.type, 'null'] } : {}),
    ...(example === undefined ? {} : { examples: [example] }),
    ...(properties ? { properties: toPlainEach(properties) } : {}),
    ...(items ? { items: toPlain(items) } : {}),
  }
}

function toPlainEach(properties: Record<string, OpenApiSchema>): Record<string, object> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, toPlain(schema)]))
}
