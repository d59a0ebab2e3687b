import { invalidRequest } from '../errors.ts'
import type { ItemHead } from '../knowledge/item-rows.ts'
import { certainTimeOrDayPattern, readInstant } from '../text/instant.ts'

type Test<Field> = (field: Field) => boolean
/** Makes a test from a condition's value. `at` is the condition's index in the request. */
type ToTest<Field> = (value: unknown, at: number) => Test<Field>

interface DifyCondition {
  name: string
  comparison_operator: string
  value?: unknown
}

export interface MetadataCondition {
  logical_operator?: 'and' | 'or' | null
  conditions?: DifyCondition[] | null
}

/** The texts of one condition. */
const listedMax = 1_000

/** Case-sensitive, like Dify's own filters. */
const textTests: Record<string, ToTest<string>> = {
  contains: compare(asText, (text, part) => text.includes(part)),
  'not contains': compare(asText, (text, part) => !text.includes(part)),
  'start with': compare(asText, (text, start) => text.startsWith(start)),
  'end with': compare(asText, (text, end) => text.endsWith(end)),
  is: compare(asText, (text, whole) => text === whole),
  'is not': compare(asText, (text, whole) => text !== whole),
  in: compare(asTexts, (text, list) => list.has(text)),
  'not in': compare(asTexts, (text, list) => !list.has(text)),
  empty: () => (text) => text === '',
  'not empty': () => (text) => text !== '',
}
const timeTests: Record<string, ToTest<number>> = {
  '=': compare(asTimeMs, (time, then) => time === then),
  '≠': compare(asTimeMs, (time, then) => time !== then),
  '>': compare(asTimeMs, (time, then) => time > then),
  '<': compare(asTimeMs, (time, then) => time < then),
  '≥': compare(asTimeMs, (time, then) => time >= then),
  '≤': compare(asTimeMs, (time, then) => time <= then),
  before: compare(asTimeMs, (time, then) => time < then),
  after: compare(asTimeMs, (time, then) => time > then),
  is: compare(asTimeMs, (time, then) => time === then),
  'is not': compare(asTimeMs, (time, then) => time !== then),
  empty: () => () => false,
  'not empty': () => () => true,
}
export const comparisonOperators = Object.keys({ ...textTests, ...timeTests })

const name = toField('a text', textTests, (item) => item.name)
const description = toField('a text', textTests, (item) => item.description)
const id = toField('a text', textTests, (item) => item.id)
const createdAt = toField('a time', timeTests, (item) => item.createdAt)
/** The fields that can be filtered by, under the names in records and in items. */
const texts = new Map(Object.entries({ name, title: name, description, id, document_id: id }))
const times = new Map(Object.entries({ created_at: createdAt, createdAt }))
const fields = new Map([...texts, ...times])
export const conditionNames = [...fields.keys()]

const oneOf = (names: Iterable<string>, operators: Iterable<string>, value?: object) => ({
  properties: {
    name: { enum: [...names] },
    comparison_operator: { enum: [...operators] },
    ...(value && { value }),
  },
  ...(value && { required: ['value'] }),
})
const withoutValue = ['empty', 'not empty']
const ofList = ['in', 'not in']
const ofOne = (tests: object) =>
  Object.keys(tests).filter((operator) => ![...withoutValue, ...ofList].includes(operator))
const textOrNumber = { type: ['string', 'number'] }

/** The supported conditions, for the documentation: each name's operators and values. */
export const checkableConditions = [
  oneOf(conditionNames, withoutValue),
  oneOf(texts.keys(), ofList, { type: 'array', items: { type: 'string' }, maxItems: listedMax }),
  oneOf(texts.keys(), ofOne(textTests), textOrNumber),
  oneOf(times.keys(), ofOne(timeTests), { ...textOrNumber, pattern: certainTimeOrDayPattern }),
]

/**
 * The items to search; null for all. @throws invalid_request for an unsupported condition, since ignoring it would find
 * too much
 */
export function itemFilterOf(condition: MetadataCondition | null | undefined): Test<ItemHead> | null {
  const tests = condition?.conditions?.map(toItemTest) ?? []
  if (tests.length === 0) return null
  if (condition?.logical_operator === 'or') return (item) => tests.some((test) => test(item))
  return (item) => tests.every((test) => test(item))
}

function toItemTest(condition: DifyCondition, at: number): Test<ItemHead> {
  const field = fields.get(condition.name)
  if (!field) throw refusal(at, 'name', `must be one of ${conditionNames.join(', ')}`)
  return field(condition, at)
}

function toField<Field>(
  kind: string,
  tests: Record<string, ToTest<Field>>,
  read: (item: ItemHead) => Field,
): (condition: DifyCondition, at: number) => Test<ItemHead> {
  return ({ comparison_operator: operator, value }, at) => {
    const test = tests[operator]?.(value, at)
    if (!test) throw refusal(at, 'comparison_operator', `${operator} does not compare ${kind}`)
    return (item) => test(read(item))
  }
}

function compare<Field, Value>(
  read: (value: unknown, at: number) => Value,
  test: (field: Field, value: Value) => boolean,
): ToTest<Field> {
  return (input, at) => {
    const value = read(input, at)
    return (field) => test(field, value)
  }
}

function asText(value: unknown, at: number): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw refusal(at, 'value', 'must be a text')
}

function asTexts(value: unknown, at: number): ReadonlySet<string> {
  const isList = Array.isArray(value) && value.length <= listedMax
  if (isList && value.every((entry) => typeof entry === 'string')) return new Set(value)
  throw refusal(at, 'value', `must be a list of at most ${listedMax} texts`)
}

/** Reads a date (from 00:00 UTC), a time with its zone, or, as in Dify's own time fields, seconds since 1970. */
function asTimeMs(value: unknown, at: number): number {
  if (typeof value === 'number') return value * 1_000
  const time = typeof value === 'string' ? (readInstant(value) ?? readInstant(`${value}T00:00Z`)) : null
  if (time !== null) return time
  throw refusal(at, 'value', 'must be a date, a time with its zone, or seconds since 1970')
}

function refusal(at: number, field: string, message: string) {
  return invalidRequest([{ field: `metadata_condition.conditions.${at}.${field}`, message }])
}
