/** An item's place in the order of a list that is newest first. */
export interface ItemPlace {
  createdAt: number
  id: string
}

/** Before every item. */
export const newestPlace: ItemPlace = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }

/** A place as text that a client hands back. It tells nothing that the item itself does not. */
export function writeCursor({ createdAt, id }: ItemPlace): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url')
}

/** Null for what no list has handed out. */
export function readCursor(cursor: string): ItemPlace | null {
  const match = /^(\d{1,15})\.(kn_[0-9a-f]+)$/.exec(Buffer.from(cursor, 'base64url').toString())
  return match?.[1] && match[2] ? { createdAt: Number(match[1]), id: match[2] } : null
}
