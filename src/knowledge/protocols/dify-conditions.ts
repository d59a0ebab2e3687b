import { invalidRequest } from '../../errors.ts'
import type { ItemHead } from '../item-rows.ts'

type Test<Field> = (field: Field) => boolean
/** Makes a test from a condition's value. `at` is the condition's index in the request. */
type ToTest<Field> = (value: unknown, at: number) => Test<Field>

export interface DifyCondition {
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
const isoDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

/** Case-sensitive, like Dify's own filters. */
const textTests: Record<string, ToTest<string>> = {
  contains: compare(asText, (text, part) => text.includes(part)),
  'not contains': compare(asText, (text, part) => !text.includes(part)),
  'start with': compare(asText, (text, start) => text.startsWith(start)),
  'end with': compare(asText, (text, end) => text.endsWith(end)),
  is: compare(asText, (text, whole) => text === whole),
  'is not': compare(asText, (text, whole) => text !== whole),
  in: compare(asTexts, (text, listed) => listed.has(text)),
  'not in': compare(asTexts, (text, listed) => !listed.has(text)),
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
const fields = new Map(
  Object.entries({ name, title: name, description, id, document_id: id, created_at: createdAt, createdAt }),
)

const textNames = ['name', 'title', 'description', 'id', 'document_id']
const timeNames = ['created_at', 'createdAt']
const oneOf = (name: string[], comparison_operator: string[], value?: object) => ({
  properties: {
    name: { enum: name },
    comparison_operator: { enum: comparison_operator },
    ...(value && { value }),
  },
  ...(value && { required: ['value'] }),
})
const times = Object.keys(timeTests).filter((operator) => !operator.includes('empty'))

/** The supported conditions, for the documentation: each name's operators and values. */
export const checkableConditions = [
  oneOf([...textNames, ...timeNames], ['empty', 'not empty']),
  oneOf(textNames, ['in', 'not in'], {
    type: 'array',
    items: { type: 'string' },
    maxItems: listedMax,
  }),
  oneOf(textNames, ['contains', 'not contains', 'start with', 'end with', 'is', 'is not'], {
    type: ['string', 'number'],
  }),
  oneOf(timeNames, times, {
    type: ['string', 'number'],
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$',
  }),
]
export const conditionNames = [...fields.keys()]

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
  if (!field) throw refusal(at, 'name', `must be one of ${[...fields.keys()].join(', ')}`)
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
  return (given, at) => {
    const value = read(given, at)
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
  const time = typeof value === 'string' && isoDate.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isFinite(time) && isDay(String(value).slice(0, 'YYYY-MM-DD'.length))) return time
  throw refusal(at, 'value', 'must be a date, a time with its zone, or seconds since 1970')
}

/** Whether the date exists: `Date` reads the 30th of February as a day in March. */
function isDay(date: string): boolean {
  return new Date(date).toISOString().startsWith(date)
}

function refusal(at: number, field: string, message: string) {
  return invalidRequest([{ field: `metadata_condition.conditions.${at}.${field}`, message }])
}
