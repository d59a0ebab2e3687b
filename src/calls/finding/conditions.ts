import { isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { calls, unknownEngagement } from '../../db/schema.ts'
import { readInstant } from '../../text/instant.ts'
import { type CallFilter, criterionPrefix, metadataPrefix, noValue, prefixOf, verdicts } from '../filters.ts'
import {
  agentValue,
  assigneeValue,
  isUnlisted,
  labelValue,
  markValue,
  toValue,
  valuesMeant,
} from './call-values.ts'
import { hasMetadata } from './metadata-values.ts'
import { beginsWithDigits, digitsOf, endsWithDigits, hasDigits, headText } from './number-words.ts'
import type { Period } from './period.ts'
import type { SearchedWord } from './word-query.ts'

/** What a call must meet to be listed. */
export interface Condition {
  /** Of a row of `calls`. */
  check: SQL
  /** Where its calls are listed, unless they can only be looked for among all. */
  list?: CallList
  /** When its calls were completed: at or after, and before. */
  completed?: Partial<Period>
}

/** Where calls that meet a condition are listed, in the order in which lists are tried. */
export type CallList =
  /** By an index of their own: ids, sets, live calls. */
  | { kind: 'rows'; index: string | null; where: SQL }
  /** By the words of their numbers. If `isWider`, other calls are listed, too. */
  | { kind: 'numbers'; words: readonly SearchedWord[]; isWider: boolean }

/** A filter that becomes a condition. `from` and `to` bound every path, and words have their own index. */
type ConditionFilter = Exclude<CallFilter, { kind: 'words' } | { column: 'createdAt' }>

const aTime = 'must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z, or a date'
const criterionName = /^criterion\.[a-z0-9_]{1,40}$/
/** A live call that said nothing for so long is called silent. */
const silentAfterMs = 1_800_000
const day = /^\d{4}-\d{2}-\d{2}$/
/** Sorts after every text with the same beginning. */
const lastCharacter = '\u{10ffff}'

/** A condition that any of the values meets. @returns a string that says what is wrong with a value */
export function toCondition(filter: ConditionFilter, values: readonly string[]): Condition | string {
  if ('choices' in filter && !areAmong(filter.choices, values)) return oneOf(filter.choices)
  const texts = values.filter((value) => value !== noValue)
  const orNone = (none: SQL) => (values.includes(noValue) ? [none] : [])
  switch (filter.kind) {
    case 'choice': {
      const check = isAmong(calls[filter.column], values)
      // All other calls are completed, and the live ones are few.
      return values.every((value) => value === 'live') ? ofLive(check) : { check }
    }
    case 'flag':
      return {
        check: isAmong(calls[filter.column], values.map(flagOf)),
      }
    case 'mark':
      return { check: isMarked(isListed([markValue(filter.name)]), values) }
    case 'value': {
      const column = calls[filter.column]
      const others = 'more' in filter ? [isListed(texts.map(agentValue))] : []
      return { check: any([isAmong(column, texts.map(headText)), ...orNone(isNull(column)), ...others]) }
    }
    case 'given': {
      const [stored, none] = filter.name === 'label' ? [labelValue, unlabelled] : [assigneeValue, unassigned]
      return { check: any([isListed(texts.map(stored)), ...orNone(none)]) }
    }
    case 'listed': {
      const { name } = filter
      return { check: any([isListed(texts.map((text) => toValue(name, text))), ...orNone(isUnlisted(name))]) }
    }
    case 'exact': {
      // An unescaped plus arrives as a space.
      const numbers = values.map((value) => headText(value.replace(/^ (?=\d)/, '+')))
      const digits = numbers.map((number) => digitsOf(number ?? ''))
      const check = sql`(${isAmong(calls[filter.digits], digits)} and ${isAmong(calls[filter.column], numbers)})`
      return { check, list: { kind: 'numbers', words: digits.map(hasDigits), isWider: true } }
    }
    case 'digits':
      return beginsOrEnds(values[0] ?? '')
    default:
      return toBound(filter, values)
  }
}

function flagOf(value: string): number {
  return value === noValue ? unknownEngagement : Number(value === 'true')
}

/** @param name `analysis.` or `metadata.` and the key, or `criterion.` and the id. @returns a string that says what is wrong with a value */
export function toMemberCondition(name: string, texts: readonly string[]): Condition | string {
  if (prefixOf(name) === criterionPrefix) {
    if (!criterionName.test(name))
      return 'is the id of no criterion: those have 1 to 40 characters of a-z 0-9 _'
    if (!areAmong(verdicts, texts)) return oneOf(verdicts)
  }
  if (prefixOf(name) === metadataPrefix) return { check: hasMetadata(name, texts) }
  return { check: isListed(texts.flatMap((text) => valuesMeant(name, text))) }
}

/** @param values as `calls.value_list` holds them */
function isListed(values: readonly string[]): SQL {
  // Within an entry quotation marks are escaped, so that this is always a whole entry.
  return any(values.map((value) => sql`instr(calls.value_list, ${JSON.stringify(value)}) > 0`))
}

function isAmong(column: SQLWrapper, values: readonly (string | number | null)[]): SQL {
  const [only] = values
  return values.length === 1
    ? sql`${column} = ${only}`
    : sql`${column} in (select value from json_each(${JSON.stringify(values)}))`
}

function areAmong(choices: readonly string[], values: readonly string[]): boolean {
  return values.every((value) => choices.includes(value))
}

function oneOf(choices: readonly string[]): string {
  return `must be ${choices.join(' or ')}${choices.includes(noValue) ? ', which finds what is not known' : ''}`
}

const unlabelled = sql`coalesce(calls.review ->> '$.labels', '[]') = '[]'`
const unassigned = sql`calls.review ->> '$.assignee' is null`

/** Calls with a mark, calls without it, or all calls. */
function isMarked(has: SQL, values: readonly string[]): SQL {
  if (!values.includes('false')) return has
  return values.includes('true') ? sql`true` : sql`not coalesce(${has}, false)`
}

/**
 * Reads a time, or a date as the start of a day in UTC, in milliseconds since 1970. @returns a string that says what is
 * wrong
 */
export function readTime([text = '']: readonly string[]): number | string {
  return readInstant(day.test(text) ? `${text}T00:00:00Z` : text) ?? aTime
}

/** @param text must have a digit */
function beginsOrEnds(text: string): Condition | string {
  const digits = text.replace(/\D/g, '')
  // The digits of several numbers would find nothing.
  if (digits === '' || text.includes(',')) return 'must be one number with at least one digit'
  return hasNumber(digits, [])
}

/**
 * Calls of which a number begins or ends with these digits.
 * @param codes calling codes that people leave out, and write a zero or nothing in their place
 */
export function hasNumber(digits: string, codes: readonly string[]): Condition {
  const starts = [digits, ...codes.map((code) => code + digits.replace(/^0/, ''))]
  const numbers = [calls.callerDigits, calls.calledDigits]
  const ends = numbers.flatMap((number) => [
    ...starts.map((start) => sql`substr(${number}, 1, ${start.length}) = ${start}`),
    sql`substr(${number}, ${-digits.length}) = ${digits}`,
  ])
  const words = [...starts.map(beginsWithDigits), endsWithDigits(digits)]
  return { check: any(ends), list: { kind: 'numbers', words, isWider: false } }
}

/** The calls with these ids. */
export function hasId(ids: readonly string[]): Condition {
  return byId(sql`${calls.id} in ${ids}`)
}

/** The calls of a set: see review/call-sets.ts. */
export function isInSet(projectId: number, id: string): Condition {
  const check = sql`calls.seq in (
    select value from call_sets cross join json_each(seqs)
    where call_sets.id = ${id} and call_sets.project_id = ${projectId})`
  return { check, list: { kind: 'rows', index: null, where: check } }
}

/** Live calls of which nothing was heard for half an hour, by the database's clock, or all other calls. */
export function isSilent(silent: boolean): Condition {
  const heard = sql`heard_at < unixepoch('subsec') * 1000 - ${silentAfterMs}`
  const where = sql`(calls.status = 'live' and calls.${heard})`
  if (!silent) return { check: sql`not ${where}` }
  return ofLive(where)
}

/** The index is of live calls alone, which a parameter could not tell. */
function ofLive(check: SQL): Condition {
  const where = sql`calls.status = 'live' and ${check}`
  return { check, list: { kind: 'rows', index: 'calls_by_heard_at', where } }
}

/** The call that a trace tells of, as long as its spans are kept. */
export function isOfTrace(projectId: number, traceId: string): Condition {
  return byId(sql`${calls.id} in (
    select call_id from call_sessions where call_sessions.project_id = ${projectId} and trace_id = ${traceId})`)
}

/** Calls whose id begins with a text. */
export function beginsWithId(start: string): Condition {
  return byId(sql`(${calls.id} >= ${start} and ${calls.id} < ${start + lastCharacter})`)
}

function byId(check: SQL): Condition {
  return { check, list: { kind: 'rows', index: 'calls_by_id', where: check } }
}

function toBound(
  { kind, column }: Extract<ConditionFilter, { kind: 'since' | 'before' | 'least' | 'most' }>,
  values: readonly string[],
): Condition | string {
  const bound = kind === 'since' || kind === 'before' ? readTime(values) : readNumber(values)
  if (typeof bound === 'string') return bound
  const checks = {
    since: sql`${calls[column]} >= ${bound}`,
    before: sql`${calls[column]} < ${bound}`,
    least: sql`${calls[column]} >= ${bound}`,
    most: sql`${calls[column]} <= ${bound}`,
  }
  const check = checks[kind]
  const completed = kind === 'since' ? { from: Number(bound) } : { to: Number(bound) }
  return { check, ...(column === 'completedAt' && { completed }) }
}

function readNumber([text = '']: readonly string[]): number | string {
  // Exponents are allowed, since clients write small and large numbers with them.
  const isNumber = /^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : 'must be a number, such as 90 or 1.5'
}

function any(checks: SQL[]): SQL {
  return sql`(${or(...checks) ?? sql`false`})`
}
