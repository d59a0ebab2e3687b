import { expect, test } from 'bun:test'
import { typeErrors } from '../../support/type-errors.ts'

const madeUp = "mood: nullable(Type.String({ description: 'A made-up text.' })),"
const withDetail = (schemas: string) => schemas.replace('const commonDetails = {', `$& ${madeUp}`)
const withField = (schemas: string) =>
  schemas.replace('export const CallChange = Type.Partial(\n  Type.Object({', `$& ${madeUp}`)

const forgotten = [
  ['redacted', 'a detail', 'src/calls/writing/redaction.ts', withDetail],
  ['redacted', 'a field', 'src/calls/writing/redaction.ts', withField],
  ['merged', 'a detail', 'src/calls/writing/merge-details.ts', withDetail],
  ['merged', 'a field', 'src/calls/writing/merge.ts', withField],
] as const

test.each(forgotten)(
  'without saying how it is %s, %s of calls does not compile',
  (_, __, place, addMember) => {
    const errors = typeErrors(place, 'src/calls/schemas.ts', addMember)
    expect(errors).not.toEqual([])
    for (const error of errors) expect(error).toContain('mood')
  },
)
