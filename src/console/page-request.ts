import { invalidRequest } from '../errors.ts'

/** What a list of the console is asked for, as the query string has it. */
export interface PageRequest {
  cursor?: string | undefined
  limit?: string | undefined
}

const limitDefault = 50
const limitMax = 200

/** @returns `before`: the number that every row of the page is below; null for the first page */
export function pageOf({ cursor, limit }: PageRequest): { limit: number; before: number | null } {
  return {
    limit: limit ? Math.min(limitMax, Math.max(1, readNumber('limit', limit))) : limitDefault,
    before: cursor ? readNumber('cursor', cursor) : null,
  }
}

/** For lists that take their own kind of cursor. */
export function pageLimitOf({ cursor, limit }: PageRequest): { limit: number; cursor?: string } {
  return { limit: pageOf({ limit }).limit, ...(cursor ? { cursor } : {}) }
}

function readNumber(field: string, text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw invalidRequest([{ field, message: 'must be a whole number of at most 15 digits' }])
}
