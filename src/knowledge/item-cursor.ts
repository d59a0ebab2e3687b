import { invalidRequest } from '../errors.ts'

/** An item's place in a list that is sorted newest first. */
interface ItemPlace {
  createdAt: number
  id: string
}

/** Before every item. */
const newestPlace: ItemPlace = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }

/** The place as an opaque text for clients. It reveals nothing that the item does not. */
export function writeCursor({ createdAt, id }: ItemPlace): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url')
}

/** Where a page begins. @param cursor none for the first page */
export function placeOf(cursor: string | undefined): ItemPlace {
  const place = cursor === undefined ? newestPlace : readCursor(cursor)
  if (!place) throw invalidRequest([{ field: 'cursor', message: 'must be the nextCursor of another page' }])
  return place
}

/** Null for a text that `writeCursor` cannot have written. */
function readCursor(cursor: string): ItemPlace | null {
  const match = /^(\d{1,15})\.(kn_[0-9a-f]+)$/.exec(Buffer.from(cursor, 'base64url').toString())
  return match?.[1] && match[2] ? { createdAt: Number(match[1]), id: match[2] } : null
}
