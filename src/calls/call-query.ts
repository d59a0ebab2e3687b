import type { CallFilters } from '../console/schemas.ts'
import { type FieldError, invalidRequest } from '../errors.ts'
import { readInstant } from './instant.ts'
import { readWordQuery, type WordQuery } from './word-query.ts'

const limitDefault = 50
const limitMax = 200

/** Which calls are looked for: those of which all is true that is defined here. */
export interface CallSearch {
  status: 'live' | 'completed' | undefined
  evaluation: string | undefined
  isEvaluated: boolean | undefined
  isEngaged: boolean | undefined
  endedReason: string | undefined
  /** Milliseconds since 1970: from (included), to (not included). */
  from: number | undefined
  to: number | undefined
  /** With these digits a caller's or a called number begins or ends. */
  digits: string | undefined
  /** Null when the text to be found has no word, which nothing is found by. */
  words: WordQuery | null | undefined
  /** Where the page before has ended. */
  after: PageEnd | undefined
  limit: number
}

/** The last call of a page, by its place in the order, and how many there were in all when the first was read. */
export interface PageEnd {
  createdAt: number
  id: string
  total: number | null
}

/** @throws invalid_request naming every filter that cannot be read. */
export function readCallSearch(filters: CallFilters): CallSearch {
  const errors: FieldError[] = []
  const read = <Value>(
    field: keyof CallFilters,
    parse: (text: string) => Value | null,
    message: string,
  ): Value | undefined => {
    const text = filters[field]
    if (text === undefined || text === '') return undefined
    const value = parse(text)
    if (value === null) errors.push({ field, message })
    return value ?? undefined
  }
  const instant = 'must be an ISO 8601 time with a zone, such as 2026-01-31T09:30:00.000Z'
  const search: CallSearch = {
    status: read('status', readStatus, 'must be live or completed'),
    evaluation: filters.evaluation || undefined,
    isEvaluated: read('evaluated', (text) => booleans.get(text) ?? null, 'must be true or false'),
    isEngaged: read('engaged', (text) => booleans.get(text) ?? null, 'must be true or false'),
    endedReason: filters.endedReason || undefined,
    from: read('from', readInstant, instant),
    to: read('to', readInstant, instant),
    digits: read('number', (text) => text.replace(/\D/g, '') || null, 'must have a digit'),
    words: filters.text ? readWordQuery(filters.text) : undefined,
    after: read('cursor', readPageEnd, 'must be the nextCursor of another page'),
    limit: read('limit', readLimit, `must be a whole number from 1 to ${limitMax}`) ?? limitDefault,
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return search
}

/** A place as text that a client hands back. */
export function writePageEnd({ createdAt, id, total }: PageEnd): string {
  return Buffer.from(`${createdAt}.${total ?? ''}.${id}`).toString('base64url')
}

function readPageEnd(cursor: string): PageEnd | null {
  const match = /^(\d{1,15})\.(\d{0,15})\.([A-Za-z0-9._:-]{1,128})$/.exec(
    Buffer.from(cursor, 'base64url').toString(),
  )
  if (!match?.[1] || !match[3]) return null
  return { createdAt: Number(match[1]), total: match[2] ? Number(match[2]) : null, id: match[3] }
}

const booleans = new Map([
  ['true', true],
  ['false', false],
])

function readStatus(text: string): 'live' | 'completed' | null {
  return text === 'live' || text === 'completed' ? text : null
}

function readLimit(text: string): number | null {
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  return limit >= 1 && limit <= limitMax ? limit : null
}
