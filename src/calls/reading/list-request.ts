import { type FieldError, invalidRequest } from '../../errors.ts'
import { isNamed } from '../../names.ts'
import { filterNames, prefixOf } from '../filters.ts'
import {
  type CallQuery,
  type CallSearch,
  checkParameters,
  readCallSearch,
  valuesOf,
} from '../finding/call-query.ts'
import { type ReadCursor, timeOrders } from '../finding/place.ts'
import { callFields, columns, isDetailColumn } from './fields.ts'
import type { CallParts } from './forms.ts'

const wholeNumber = /^[0-9]{1,15}$/

/** What a request for a list of calls asks for. */
interface ListRequest extends CallParts {
  search: CallSearch
  /** Undefined if it was not sent. */
  limit: number | undefined
  offset: number
}

/** The parameters of a list of calls beside filters. */
const listParameters = ['limit', 'offset', 'cursor', 'order', 'fields', 'details']

/** Whether a list of calls has this parameter; others have no effect. */
export function isListParameter(name: string): boolean {
  return [...filterNames, ...listParameters].some((one) => isNamed(name, one))
}

/**
 * The known parameters of a request, for the log. Never other names, nor those of `callAnalysis` members: people may
 * write anything there.
 */
export function knownNames(query: CallQuery): string[] {
  const names = Object.keys(query).filter(isListParameter)
  const labels = names.map((name) => {
    const prefix = prefixOf(name)
    return prefix ? `${prefix}…` : name
  })
  return [...new Set(labels)]
}

/** @throws invalid_request naming every parameter that cannot be read */
export function readListRequest(
  query: CallQuery,
  { isCsv, readCursor }: { isCsv: boolean; readCursor: ReadCursor },
): ListRequest {
  const errors: FieldError[] = []
  checkParameters(query, listParameters, errors)
  const [limit, offset] = [readCount(query, 'limit', errors), readCount(query, 'offset', errors)]
  const search = readCallSearch(query, { orders: timeOrders, readCursor }, errors)
  const fields = readFields(query, isCsv, errors)
  const details = valuesOf(query, 'details')?.[0]
  if (details !== undefined && details !== 'include')
    errors.push({ field: 'details', message: 'must be include' })
  if (offset !== undefined && query.cursor !== undefined)
    errors.push({ field: 'offset', message: 'must not be sent together with cursor' })
  if (errors.length > 0) throw invalidRequest(errors)
  return { search, limit, offset: offset ?? 0, fields, isDetailed: details !== undefined }
}

function readCount(query: CallQuery, field: 'limit' | 'offset', errors: FieldError[]): number | undefined {
  const text = valuesOf(query, field)?.[0]
  if (text === undefined) return undefined
  if (!wholeNumber.test(text)) errors.push({ field, message: 'must be a whole number of at most 15 digits' })
  return Number(text)
}

function readFields(query: CallQuery, isCsv: boolean, errors: FieldError[]): ReadonlySet<string> | undefined {
  const names = valuesOf(query, 'fields')
  if (!names) return undefined
  const choices = isCsv ? columns : callFields
  const unknown = names.filter((name) => !choices.includes(name) && !(isCsv && isDetailColumn(name)))
  if (unknown.length > 0) {
    const message = `${unknown.join(', ') || 'an empty name'} is not one of ${choices.join(', ')}`
    errors.push({ field: 'fields', message })
  }
  return new Set(['id', ...names])
}
