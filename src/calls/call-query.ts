import { gte, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { calls } from '../db/schema.ts'
import { type FieldError, invalidRequest } from '../errors.ts'
import { headText } from './call-head.ts'
import { type CallFilter, callFilters, type FilterName } from './filters.ts'
import { readInstant } from './instant.ts'
import { readWordQuery, type WordQuery } from './word-query.ts'

const limitDefault = 50
const limitMax = 200
const filterCharsMax = 500

/** The query of a request for a list of calls; an empty value counts as absent. */
export type CallQuery = { [Name in FilterName | 'cursor' | 'limit']?: string }

/** Which calls to list: those that meet every condition. */
export interface CallSearch {
  conditions: SQL[]
  /** Null when the text has no word, so that nothing is found. */
  words: WordQuery | null | undefined
  /** Where the page before ended. */
  after: PageEnd | undefined
  limit: number
}

/** The last call of a page, by its place in the order, and the total that was counted for the first page. */
export interface PageEnd {
  createdAt: number
  id: string
  total: number | null
}

/** @throws invalid_request naming every value that cannot be read */
export function readCallQuery(query: CallQuery): CallSearch {
  const errors: FieldError[] = []
  const search: CallSearch = { conditions: [], words: undefined, after: undefined, limit: limitDefault }
  for (const filter of callFilters) {
    const text = query[filter.name]
    if (!text) continue
    if (text.length > filterCharsMax) {
      errors.push({ field: filter.name, message: `must be at most ${filterCharsMax} characters` })
    } else if (filter.kind === 'words') {
      search.words = readWordQuery(text)
    } else {
      const condition = toCondition(filter, text)
      if (typeof condition === 'string') errors.push({ field: filter.name, message: condition })
      else search.conditions.push(condition)
    }
  }
  if (query.cursor) {
    search.after = readPageEnd(query.cursor)
    if (!search.after) errors.push({ field: 'cursor', message: 'must be the nextCursor of another page' })
  }
  if (query.limit) {
    search.limit = /^[0-9]{1,3}$/.test(query.limit) ? Number(query.limit) : 0
    if (search.limit < 1 || search.limit > limitMax) {
      errors.push({ field: 'limit', message: `must be a whole number from 1 to ${limitMax}` })
    }
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return search
}

/** @returns a string that says what is wrong when the text cannot be read */
function toCondition(filter: Exclude<CallFilter, { kind: 'words' }>, text: string): SQL | string {
  if ('choices' in filter && !filter.choices.some((choice) => choice === text)) {
    return `must be ${filter.choices.join(' or ')}`
  }
  switch (filter.kind) {
    case 'choice':
    case 'value':
      return sql`${calls[filter.column]} = ${headText(text)}`
    case 'present':
      return text === 'true' ? isNotNull(calls[filter.column]) : isNull(calls[filter.column])
    case 'flag':
      return sql`${calls[filter.column]} = ${text === 'true' ? 1 : 0}`
    case 'since':
    case 'before': {
      const time = readInstant(text)
      if (time === null) return 'must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z'
      return (filter.kind === 'since' ? gte : lt)(calls[filter.column], time)
    }
    case 'digits': {
      const digits = text.replace(/\D/g, '')
      const ends = filter.columns.flatMap((column) => [
        sql`substr(${calls[column]}, 1, ${digits.length}) = ${digits}`,
        sql`substr(${calls[column]}, ${-digits.length}) = ${digits}`,
      ])
      return (digits && or(...ends)) || 'must have a digit'
    }
  }
}

/** The cursor that a client sends back for the page after this one. */
export function writePageEnd({ createdAt, id, total }: PageEnd): string {
  return Buffer.from(`${createdAt}.${total ?? ''}.${id}`).toString('base64url')
}

function readPageEnd(cursor: string): PageEnd | undefined {
  const match = /^(\d{1,15})\.(\d{0,15})\.([A-Za-z0-9._:-]{1,128})$/.exec(
    Buffer.from(cursor, 'base64url').toString(),
  )
  if (!match?.[1] || !match[3]) return undefined
  return { createdAt: Number(match[1]), total: match[2] ? Number(match[2]) : null, id: match[3] }
}
