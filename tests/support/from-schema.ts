import { Ajv } from 'ajv'
import type { OpenAPIV3_1 } from 'openapi-types'
import fc from './fast-check.ts'

type Schema = OpenAPIV3_1.SchemaObject
const ajv = new Ajv({ strict: false, formats: { 'date-time': true } })

/** Values that a schema allows, for the keywords that our document uses. */
export function valuesOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.type === undefined ? (schema.anyOf ?? schema.oneOf) : undefined
  if (choices) return fc.oneof(...choices.map((choice) => valuesOf(choice as Schema, depth)))
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => valuesOf({ ...schema, type } as Schema, depth)))
  const value = typedValuesOf(schema, depth)
  const { not = false, anyOf = [true] } = schema
  const isAllowed = ajv.compile({ not, anyOf })
  return value.filter((each) => isAllowed(each))
}

function typedValuesOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (depth > 6) return fc.constant(null)
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'string':
      return stringsOf(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 1_000_000 })
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valuesOf((schema.items ?? {}) as Schema, depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      })
    case 'object': {
      const fields = Object.entries(schema.properties ?? {})
      if (fields.length === 0)
        return fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
      const model = Object.fromEntries(
        fields.map(([name, field]) => [name, valuesOf(field as Schema, depth + 1)]),
      )
      return fc.record(model, { requiredKeys: schema.required ?? [] })
    }
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

function stringsOf(schema: Schema): fc.Arbitrary<string> {
  if (schema.format === 'date-time')
    return fc
      .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString())
  const { pattern, minLength = 0, maxLength = 60 } = schema
  const unit = fc.constantFrom<'grapheme' | 'binary-ascii'>('grapheme', 'binary-ascii')
  const texts = unit.chain((kind) => fc.string({ unit: kind, minLength, maxLength: Math.min(maxLength, 60) }))
  if (pattern === undefined) return texts
  const matches = new RegExp(pattern, 'u')
  // A pattern that looks ahead is found by chance only: those of ours allow most texts.
  const found = /\(\?[=!]/.test(pattern) ? texts : fc.oneof(fc.stringMatching(matches), texts)
  const fits = ({ length }: string[]) => length >= minLength && length <= maxLength
  return found.filter((text) => matches.test(text) && text.isWellFormed() && fits([...text]))
}

/** The same value with a part replaced, removed, added or made far too large. */
export function spoiled(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(
      null,
      '',
      ' ',
      -1,
      1e308,
      '\0',
      '\ud800',
      [],
      {},
      true,
      'x'.repeat(3_000),
      '+5',
      '0x10',
    ),
    fc.constant(nested(120)),
    fc.array(fc.constant(0), { minLength: 200, maxLength: 300 }),
  )
  return fc.tuple(values, odd, fc.nat(), fc.constantFrom('replace', 'drop', 'add', 'whole')).map(spoil)
}

function spoil([value, odd, place, how]: [unknown, unknown, number, string]): unknown {
  if (how === 'whole' || typeof value !== 'object' || value === null) return odd
  const copy = structuredClone(value) as Record<string, unknown>
  const names = Object.keys(copy)
  const name = names[place % Math.max(1, names.length)]
  if (how === 'add' || name === undefined) copy[`extra${place}`] = odd
  else if (how === 'drop') delete copy[name]
  else copy[name] = odd
  return copy
}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value }
  return value
}
