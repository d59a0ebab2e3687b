import type { OpenAPIV3_1 } from 'openapi-types'

export interface Operation extends OpenAPIV3_1.OperationObject {
  method: string
  path: string
  parameters?: OpenAPIV3_1.ParameterObject[]
  requestBody?: OpenAPIV3_1.RequestBodyObject
  responses: Record<string, OpenAPIV3_1.ResponseObject>
}

/** The document that a service serves. */
export async function readDocument(url: string): Promise<OpenAPIV3_1.Document> {
  return await (await fetch(`${url}/docs/json`)).json()
}

/** The operations of a document, with references replaced by their targets. */
export function operationsOf(document: OpenAPIV3_1.Document): Operation[] {
  const { paths = {} } = resolved(document, document)
  return Object.entries(paths).flatMap(([path, item = {}]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...(operation as Operation),
      method: method.toUpperCase(),
      path,
    })),
  )
}

/** Replaces references by their targets. A recursive schema is not expanded again. */
export function resolved<Value>(value: Value, document: object): Value {
  const resolve = (part: unknown, within: readonly string[] = []): unknown => {
    if (Array.isArray(part)) return part.map((member) => resolve(member, within))
    if (typeof part !== 'object' || part === null) return part
    const { $ref, ...rest } = part as { $ref?: unknown }
    if (typeof $ref !== 'string')
      return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, resolve(member, within)]))
    if (within.includes($ref)) return {}
    const target = $ref
      .slice('#/'.length)
      .split('/')
      .reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], document)
    return { ...(resolve(target, [...within, $ref]) as object), ...(resolve(rest, within) as object) }
  }
  return resolve(value) as Value
}
