import type { TObject } from '@sinclair/typebox'

/** A schema of an object as tools of models have it. */
export type ObjectSchema = {
  type: 'object'
  properties?: Record<string, object>
  required?: string[]
}

/** A schema of ours, which is in OpenAPI 3.0's dialect, as plain JSON Schema (2020-12). */
export function toJsonSchema(schema: TObject): ObjectSchema {
  return JSON.parse(JSON.stringify(schema), (_, part) => (isObject(part) ? withoutDialect(part) : part))
}

/** Rewrites the keywords that differ. No property of ours has the name of one. */
function withoutDialect(schema: Record<string, unknown>): object {
  const { nullable, example, 'x-message': message, ...shared } = schema
  if (nullable) shared.type = [shared.type, 'null']
  if (example !== undefined) shared.examples = [example]
  return shared
}

function isObject(part: unknown): part is Record<string, unknown> {
  return typeof part === 'object' && part !== null && !Array.isArray(part)
}
