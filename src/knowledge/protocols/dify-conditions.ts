import { invalidRequest } from '../../errors.ts'
import type { ItemHead } from '../knowledge.ts'
import type { ComparisonOperator, DifyCondition, DifyRequest } from './dify-schemas.ts'

type Test<Field> = (field: Field) => boolean

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

/**
 * Which items a search is limited to; null when it is not.
 * @throws invalid_request for a condition that cannot be kept: none is ever passed over
 */
export function itemFilterOf(condition: DifyRequest['metadata_condition']): Test<ItemHead> | null {
  const tests = condition?.conditions?.map(toItemTest) ?? []
  if (tests.length === 0) return null
  if (condition?.logical_operator === 'or') return (item) => tests.some((test) => test(item))
  return (item) => tests.every((test) => test(item))
}

function toItemTest(condition: DifyCondition, at: number): Test<ItemHead> {
  const readText = Object.hasOwn(textFields, condition.name) ? textFields[condition.name] : undefined
  const isDate = dateFields.includes(condition.name)
  if (!readText && !isDate) {
    const known = [...Object.keys(textFields), ...dateFields].join(', ')
    throw refusal(at, 'name', `must be one of ${known}`)
  }
  if (readText) {
    const test = toTextTest(condition, at)
    return (item) => test(readText(item))
  }
  const test = toTimeTest(condition, at)
  return (item) => test(item.createdAt)
}

/** Letters must be the same, case included, as in Dify's own filters. */
function toTextTest({ comparison_operator: operator, value }: DifyCondition, at: number): Test<string> {
  switch (operator) {
    case 'empty':
      return (text) => text === ''
    case 'not empty':
      return (text) => text !== ''
    case 'in':
    case 'not in': {
      const listed = new Set(asTexts(value, at))
      return (text) => listed.has(text) === (operator === 'in')
    }
    case 'contains':
    case 'not contains': {
      const part = asText(value, at)
      return (text) => text.includes(part) === (operator === 'contains')
    }
    case 'start with': {
      const start = asText(value, at)
      return (text) => text.startsWith(start)
    }
    case 'end with': {
      const end = asText(value, at)
      return (text) => text.endsWith(end)
    }
    case 'is':
    case 'is not': {
      const whole = asText(value, at)
      return (text) => (text === whole) === (operator === 'is')
    }
    default:
      throw unsuited(operator, 'a text', at)
  }
}

function toTimeTest({ comparison_operator: operator, value }: DifyCondition, at: number): Test<number> {
  if (operator === 'empty') return () => false
  if (operator === 'not empty') return () => true
  const compare = timeComparisons[operator]
  if (!compare) throw unsuited(operator, 'a time', at)
  const then = asTimeMs(value, at)
  return (time) => compare(time, then)
}

const timeComparisons: Partial<Record<ComparisonOperator, (time: number, then: number) => boolean>> = {
  before: (time, then) => time < then,
  after: (time, then) => time > then,
  '<': (time, then) => time < then,
  '>': (time, then) => time > then,
  '≤': (time, then) => time <= then,
  '≥': (time, then) => time >= then,
  '=': (time, then) => time === then,
  '≠': (time, then) => time !== then,
  is: (time, then) => time === then,
  'is not': (time, then) => time !== then,
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

/** Whether it is in the calendar: the 30th of February is parsed as a day in March. */
function isDay(date: string): boolean {
  return new Date(date).toISOString().startsWith(date)
}

function unsuited(operator: string, kind: string, at: number) {
  return refusal(at, 'comparison_operator', `${operator} does not compare ${kind}`)
}

function refusal(at: number, field: string, message: string) {
  return invalidRequest([{ field: `metadata_condition.conditions.${at}.${field}`, message }])
}
