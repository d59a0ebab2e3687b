import { invalidRequest } from '../errors.ts'

const limitDefault = 50
const limitMax = 200

/** The page of a list that a query string asks for. `before`: every row has a lower number; null for the first page. */
export function pageOf({ cursor, limit }: { cursor?: string | undefined; limit?: string | undefined }) {
  return { limit: limitOf(limit), before: cursor ? readNumber('cursor', cursor) : null }
}

export function limitOf(limit: string | undefined): number {
  return limit ? Math.min(limitMax, Math.max(1, readNumber('limit', limit))) : limitDefault
}

function readNumber(field: string, text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw invalidRequest([{ field, message: 'must be a whole number of at most 15 digits' }])
}
