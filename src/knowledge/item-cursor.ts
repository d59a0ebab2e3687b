import { invalidRequest } from '../errors.ts'

/** The item's place in the list, as an opaque text for clients. It reveals nothing that the item does not. */
export function writeCursor({ createdAt, id }: { createdAt: number; id: string }): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url')
}

/** The place that a page starts after. @param cursor none for the first page */
export function readCursor(cursor: string | undefined): { createdAt: number; id: string } {
  if (cursor === undefined) return { createdAt: Number.MAX_SAFE_INTEGER, id: '' }
  const place = Buffer.from(cursor, 'base64url').toString()
  const [, createdAt, id] = /^(\d{1,15})\.(kn_[0-9a-f]+)$/.exec(place) ?? []
  if (createdAt && id) return { createdAt: Number(createdAt), id }
  throw invalidRequest([{ field: 'cursor', message: 'must be the nextCursor of another page' }])
}
