import { ts } from '@ts-morph/common'
import { plugin } from 'bun'
import type { OpenAPIV3_1 } from 'openapi-types'

// openapi-typescript needs the interface that TypeScript had up to version 5.
plugin({
  name: 'typescript-5',
  setup: (build) => {
    build.module('typescript', () => ({ exports: { default: ts, ...ts }, loader: 'object' }))
  },
})

/** The types that openapi-typescript makes from a document, with the option that src/guide/clients.md names. */
export async function typesOf(document: OpenAPIV3_1.Document): Promise<string> {
  const { default: openapiTS, astToString } = await import('openapi-typescript')
  const nodes = await openapiTS(JSON.stringify(document), { defaultNonNullable: false })
  return astToString(nodes)
}
