import { invalidRequest } from '../errors.ts'

/** The page of a list, as the query string asks for it. */
export interface PageRequest {
  cursor?: string | undefined
  limit?: string | undefined
}

const limitDefault = 50
const limitMax = 200

/** @returns `before`: every row of the page has a lower number; null for the first page */
export function pageOf({ cursor, limit }: PageRequest): { limit: number; before: number | null } {
  return {
    limit: limit ? Math.min(limitMax, Math.max(1, readNumber('limit', limit))) : limitDefault,
    before: cursor ? readNumber('cursor', cursor) : null,
  }
}

/** For lists whose cursor is not a number. */
export function pageLimitOf({ cursor, limit }: PageRequest): { limit: number; cursor?: string } {
  return { limit: pageOf({ limit }).limit, ...(cursor ? { cursor } : {}) }
}

function readNumber(field: string, text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw invalidRequest([{ field, message: 'must be a whole number of at most 15 digits' }])
}
