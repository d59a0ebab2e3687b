import { invalidRequest } from '../../errors.ts'
import type { ItemHead } from '../knowledge.ts'

type Test<Field> = (field: Field) => boolean

export interface DifyCondition {
  name: string
  comparison_operator: string
  value?: unknown
}

export interface MetadataCondition {
  logical_operator?: 'and' | 'or' | null
  conditions?: DifyCondition[] | null
}

/** What can be filtered by, under the names that records and items have for it. */
const textFields: Record<string, (item: ItemHead) => string> = {
  name: (item) => item.name,
  title: (item) => item.name,
  description: (item) => item.description,
  id: (item) => item.id,
  document_id: (item) => item.id,
}
const dateFields = ['created_at', 'createdAt']
const isoDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

/** Upper and lower case differ, as in Dify's own filters. */
const textTests: Record<string, (part: string) => Test<string>> = {
  contains: (part) => (text) => text.includes(part),
  'not contains': (part) => (text) => !text.includes(part),
  'start with': (start) => (text) => text.startsWith(start),
  'end with': (end) => (text) => text.endsWith(end),
  is: (whole) => (text) => text === whole,
  'is not': (whole) => (text) => text !== whole,
}
const listTests: Record<string, (listed: string[]) => Test<string>> = {
  in: (listed) => (text) => listed.includes(text),
  'not in': (listed) => (text) => !listed.includes(text),
}
const timeTests: Record<string, (then: number) => Test<number>> = {
  '=': (then) => (time) => time === then,
  '≠': (then) => (time) => time !== then,
  '>': (then) => (time) => time > then,
  '<': (then) => (time) => time < then,
  '≥': (then) => (time) => time >= then,
  '≤': (then) => (time) => time <= then,
  before: (then) => (time) => time < then,
  after: (then) => (time) => time > then,
  is: (then) => (time) => time === then,
  'is not': (then) => (time) => time !== then,
}
export const comparisonOperators = Object.keys({
  ...textTests,
  ...listTests,
  empty: null,
  'not empty': null,
  ...timeTests,
})

/**
 * The items that a search is limited to; null for no limit.
 * @throws invalid_request for a condition that cannot be checked, since ignoring it would find too much
 */
export function itemFilterOf(condition: MetadataCondition | null | undefined): Test<ItemHead> | null {
  const tests = condition?.conditions?.map(toItemTest) ?? []
  if (tests.length === 0) return null
  if (condition?.logical_operator === 'or') return (item) => tests.some((test) => test(item))
  return (item) => tests.every((test) => test(item))
}

function toItemTest(condition: DifyCondition, at: number): Test<ItemHead> {
  const readText = Object.hasOwn(textFields, condition.name) ? textFields[condition.name] : undefined
  if (readText) {
    const test = toTextTest(condition, at)
    return (item) => test(readText(item))
  }
  if (dateFields.includes(condition.name)) {
    const test = toTimeTest(condition, at)
    return (item) => test(item.createdAt)
  }
  throw refusal(at, 'name', `must be one of ${[...Object.keys(textFields), ...dateFields].join(', ')}`)
}

function toTextTest({ comparison_operator: operator, value }: DifyCondition, at: number): Test<string> {
  if (operator === 'empty') return (text) => text === ''
  if (operator === 'not empty') return (text) => text !== ''
  const [toTest, toListTest] = [textTests[operator], listTests[operator]]
  if (toTest) return toTest(asText(value, at))
  if (toListTest) return toListTest(asTexts(value, at))
  throw unsuited(operator, 'a text', at)
}

function toTimeTest({ comparison_operator: operator, value }: DifyCondition, at: number): Test<number> {
  if (operator === 'empty') return () => false
  if (operator === 'not empty') return () => true
  const toTest = timeTests[operator]
  if (!toTest) throw unsuited(operator, 'a time', at)
  return toTest(asTimeMs(value, at))
}

function asText(value: unknown, at: number): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw refusal(at, 'value', 'must be a text')
}

function asTexts(value: unknown, at: number): string[] {
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value
  throw refusal(at, 'value', 'must be a list of texts')
}

/** A date (its first moment, UTC), a time with its zone, or seconds since 1970 as Dify's own time fields have. */
function asTimeMs(value: unknown, at: number): number {
  if (typeof value === 'number') return value * 1_000
  const time = typeof value === 'string' && isoDate.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isFinite(time) && isDay(String(value).slice(0, 'YYYY-MM-DD'.length))) return time
  throw refusal(at, 'value', 'must be a date, a time with its zone, or seconds since 1970')
}

/** Whether the calendar has the date: the 30th of February is parsed as a day in March. */
function isDay(date: string): boolean {
  return new Date(date).toISOString().startsWith(date)
}

function unsuited(operator: string, kind: string, at: number) {
  return refusal(at, 'comparison_operator', `${operator} does not compare ${kind}`)
}

function refusal(at: number, field: string, message: string) {
  return invalidRequest([{ field: `metadata_condition.conditions.${at}.${field}`, message }])
}
