import type { FieldError } from '../../errors.ts'
import { bareName, isNamed, isOneSlip, nearestName, unknownName } from '../../names.ts'
import { splitValues } from '../../text/values.ts'
import { callFilters, filterNames, prefixOf, takesSeveral } from '../filters.ts'
import { type Condition, readTime, toCondition, toMemberCondition } from './conditions.ts'
import { newestFirst, type Place, type ReadCursor, type TimeOrder } from './place.ts'
import { phrasesOf, readWordQuery, type WordQuery } from './word-query.ts'

const valueCharsMax = 500
const valuesMax = 50
/** SQLite limits the terms of a compound select. */
const analysisFiltersMax = 10

/** The texts of each parameter of a request for calls. */
export type CallQuery = Readonly<Record<string, string | readonly string[] | undefined>>

/** The conditions of a list of calls, all of which must hold. */
export interface CallSearch {
  conditions: readonly Condition[]
  /** `createdAt` at or after, and before, in milliseconds since 1970. */
  from?: number
  to?: number
  /** The words of any of these; an empty list finds nothing. */
  words?: readonly WordQuery[]
  /** Words that must follow one another as written. */
  phrases?: readonly string[]
  order: TimeOrder
  /** Where the previous page ended. */
  after?: Place
}

/** Reads the filters, the order and the cursor, and adds to `errors` what is wrong with them. */
export function readCallSearch(
  query: CallQuery,
  { orders, readCursor }: { orders: readonly TimeOrder[]; readCursor: ReadCursor },
  errors: FieldError[],
): CallSearch {
  const order = readOrder(query, orders, errors)
  checkOnce(query, filterNames, errors)
  const search: CallSearch & { conditions: Condition[] } = { conditions: [], order }
  const take = (field: string, read: (values: string[]) => string | undefined) => {
    const values = valuesOf(query, field)
    if (!values) return
    const message = problemOf(values) ?? read(values)
    if (message) errors.push({ field, message })
  }
  const toSearch = (read: Condition | string) => {
    if (typeof read === 'string') return read
    search.conditions.push(read)
    return undefined
  }
  for (const filter of callFilters) {
    take(filter.name, (values) => {
      if (filter.kind === 'words') {
        const [text = ''] = values
        search.words = [readWordQuery(text) ?? []].flat()
        search.phrases = phrasesOf(text)
        return undefined
      }
      if (filter.name !== 'from' && filter.name !== 'to') return toSearch(toCondition(filter, values))
      const time = readTime(values)
      if (typeof time === 'string') return time
      search[filter.name] = time
      return undefined
    })
  }
  const ofAnalysis = Object.keys(query).filter(prefixOf)
  for (const [at, name] of ofAnalysis.entries()) {
    if (at >= analysisFiltersMax)
      errors.push({ field: name, message: `is one of more than ${analysisFiltersMax}` })
    else take(name, (values) => toSearch(toMemberCondition(name, values)))
  }
  take('cursor', ([cursor = '']) => {
    const after = readCursor(cursor, search.order)
    if (!after) return 'must be the `next` of a page of this project in the same order'
    search.after = after
    return undefined
  })
  return search
}

/**
 * Adds to `errors` the parameters of `own` that were sent several times, and unknown ones that can only be meant as
 * filters: those with a dot or a bracket, and those that are known but for case, `_`, `-` or one slip.
 * @param own the parameters of the request beside filters
 */
export function checkParameters(query: CallQuery, own: readonly string[], errors: FieldError[]): void {
  checkOnce(query, own, errors)
  const known = [...filterNames, ...own]
  for (const name of Object.keys(query)) {
    if (known.some((one) => isNamed(name, one))) continue
    const isMeant = (one: string) => bareName(name) === bareName(one) || isOneSlip(name, one)
    if (/[.[]/.test(name) || known.some(isMeant))
      errors.push({ field: name, message: unknownName(nearestName(name, known)) })
  }
}

function checkOnce(query: CallQuery, names: readonly string[], errors: FieldError[]): void {
  for (const name of names) {
    if ([query[name]].flat().length <= 1 || isSeveral(name)) continue
    const advice = name === 'by' ? ': send two groups as by=day,evaluation' : ''
    errors.push({ field: name, message: `takes one value, but was sent several times${advice}` })
  }
}

export function isFiltered({ conditions, from, to, words }: CallSearch): boolean {
  return conditions.length > 0 || from !== undefined || to !== undefined || words !== undefined
}

function isSeveral(name: string): boolean {
  return takesSeveral(name) || name === 'fields' || name === 'id'
}

/** The distinct values of a parameter, of most the last text alone; undefined if it was not sent. */
export function valuesOf(query: CallQuery, name: string): string[] | undefined {
  const texts = query[name]
  if (texts === undefined) return undefined
  return isSeveral(name) ? [...new Set([texts].flat().flatMap(splitValues))] : [texts].flat().slice(-1)
}

function readOrder(query: CallQuery, orders: readonly TimeOrder[], errors: FieldError[]): TimeOrder {
  const asked = valuesOf(query, 'order')?.[0] ?? newestFirst
  const order = orders.find((one) => one === asked)
  if (order) return order
  errors.push({ field: 'order', message: `must be ${orders.join(' or ')}` })
  return newestFirst
}

/** What is wrong with the values of any parameter. */
export function problemOf(values: readonly string[]): string | undefined {
  if (values.includes('')) return 'must not be empty'
  if (values.length > valuesMax) return `must be at most ${valuesMax} values`
  if (values.some((value) => value.length > valueCharsMax))
    return `must be at most ${valueCharsMax} characters`
  // SQLite would stop comparing there.
  if (values.some((value) => value.includes('\0') || !value.isWellFormed()))
    return 'must be text without U+0000'
  return undefined
}
