import { type FieldError, invalidRequest } from '../../errors.ts'
import { escapeValue } from '../../text/values.ts'
import { callFilters, prefixOf, takesSeveral } from '../filters.ts'
import { type CallSearch, readCallSearch } from './call-query.ts'
import { newestFirst } from './place.ts'

/** Filters in a body: the values of a query, or numbers, booleans and lists of them. */
export type GivenFilters = Readonly<Record<string, unknown>>

/**
 * The calls that filters of a body find, newest first.
 * @param field the name of the body's member, for errors
 * @throws invalid_request naming each filter that is unknown or cannot be read
 */
export function readGivenFilters(filters: GivenFilters, field: string): CallSearch {
  const errors: FieldError[] = []
  const query = queryOfGiven(filters, errors)
  const search = readCallSearch(query, { orders: [newestFirst], readCursor: () => undefined }, errors)
  if (errors.length === 0) return search
  throw invalidRequest(errors.map((error) => ({ ...error, field: `${field}.${error.field}` })))
}

/** The same filters in a query. Adds to `errors` those that are unknown, or no values. */
export function queryOfGiven(filters: GivenFilters, errors: FieldError[]): Record<string, string[]> {
  const query: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(filters)) {
    const values = [value].flat()
    const isKnown = callFilters.some((filter) => filter.name === name) || prefixOf(name) !== undefined
    if (!isKnown) errors.push({ field: name, message: 'is not a filter of calls' })
    else if (values.length === 0 || values.some((one) => !isScalar(one)))
      errors.push({ field: name, message: 'must be a text, a number or a boolean, or a list of them' })
    else query[name] = toTexts(name, value)
  }
  return query
}

/** A text is read as in a query, where commas separate values; an entry of a list is one value. */
function toTexts(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [String(value)]
  return value.map((one) => (takesSeveral(name) ? escapeValue(String(one)) : String(one)))
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
