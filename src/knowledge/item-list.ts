import { type FieldError, invalidRequest } from '../errors.ts'
import { readTagFilter } from '../tags.ts'
import { type TagFilter, tagsOf } from '../text/tags.ts'
import { splitValues } from '../text/values.ts'
import { Item } from './schemas.ts'

export type ItemField = keyof Item

/** An item's fields in order. */
export const itemFields = Object.keys(Item.properties) as ItemField[]

/** Which items to list, and which of their fields. */
export interface ItemListRequest {
  /** All items by default. */
  limit?: number | undefined
  cursor?: string | undefined
  fields?: readonly ItemField[] | undefined
  /** All items by default. */
  filter?: TagFilter | undefined
}

/** The content of a JSON array, in slices. */
export interface ItemSlices {
  slices: AsyncGenerator<string>
  /** The cursor of the next page; null on the last page. */
  next: string | null
}

const limitMax = 1_000

/** @throws invalid_request naming every parameter that cannot be read */
export function readItemListRequest(
  query: Readonly<Record<string, readonly string[] | undefined>>,
): ItemListRequest {
  const errors: FieldError[] = []
  const limit = query.limit?.at(-1)
  if (limit !== undefined && !/^[0-9]{1,15}$/.test(limit))
    errors.push({ field: 'limit', message: 'must be a whole number of at most 15 digits' })
  const names = query.fields?.flatMap(splitValues)
  const unknown = (names ?? []).filter((name) => !itemFields.some((field) => field === name))
  if (unknown.length > 0) {
    const message = `${unknown.join(', ') || 'an empty name'} is not one of ${itemFields.join(', ')}`
    errors.push({ field: 'fields', message })
  }
  if (errors.length > 0) throw invalidRequest(errors)
  const filter = readTagFilter(query)
  return {
    limit: limit === undefined ? undefined : Math.min(Number(limit), limitMax),
    cursor: query.cursor?.at(-1),
    fields: names && itemFields.filter((field) => field === 'id' || names.includes(field)),
    filter,
  }
}

/** The `Link` to the next page: https://www.rfc-editor.org/rfc/rfc8288 */
export function toNextLink({ limit, fields, filter = [] }: ItemListRequest, next: string): string {
  const parameters = [
    `limit=${limit}`,
    ...(fields ? [`fields=${fields.join(',')}`] : []),
    ...(filter.length > 0 ? [`tags=${tagsOf(filter).join(',')}`] : []),
    ...(filter.length > 1 ? ['tagsMatch=all'] : []),
    `cursor=${next}`,
  ]
  return `</v1/knowledge?${parameters.join('&')}>; rel="next"`
}

/** Where an item stands in the list. */
interface Place {
  createdAt: number
  id: string
}

/** The rows of a page, of which one more was read, and the cursor of the next page; null on the last. */
export function cutPage<Row extends Place>(
  rows: readonly Row[],
  limit: number | undefined,
): { rows: Row[]; next: string | null } {
  const page = rows.slice(0, limit)
  const last = rows.length > page.length ? page.at(-1) : undefined
  return { rows: page, next: last ? writeCursor(last) : null }
}

/** The item's place in the list, as an opaque text for clients. It reveals nothing that the item does not. */
function writeCursor({ createdAt, id }: Place): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url')
}

/** The place that a page starts after. @param cursor none for the first page */
export function readCursor(cursor: string | undefined): Place {
  if (cursor === undefined) return { createdAt: Number.MAX_SAFE_INTEGER, id: '' }
  const place = Buffer.from(cursor, 'base64url').toString()
  const [, createdAt, id] = /^(\d{1,15})\.([A-Za-z0-9._-]{1,128})$/.exec(place) ?? []
  if (createdAt && id) return { createdAt: Number(createdAt), id }
  throw invalidRequest([{ field: 'cursor', message: 'must be the nextCursor of another page' }])
}
