import { expect, test } from 'bun:test'
import { typeErrors } from '../../support/type-errors.ts'

const withProvider = (name: string) => (config: string) =>
  config.replace("'builtin', 'local'] as const", `'builtin', 'local'${name}] as const`)
const errorsWith = (name: string) =>
  typeErrors('src/services/embedder.ts', 'src/config.ts', withProvider(name))

test('an embedding provider that nothing builds is a type error', () => {
  expect(errorsWith('')).toEqual([])
  expect(errorsWith(", 'made-up'")).toEqual([expect.stringContaining("'never'")])
})
