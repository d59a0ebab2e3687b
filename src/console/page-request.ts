import { invalidRequest } from '../errors.ts'

const limitDefault = 50
const limitMax = 200

export function limitOf(limit: string | undefined): number {
  return limit ? Math.min(limitMax, Math.max(1, readNumber('limit', limit))) : limitDefault
}

function readNumber(field: string, text: string): number {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text)
  throw invalidRequest([{ field, message: 'must be a whole number of at most 15 digits' }])
}
