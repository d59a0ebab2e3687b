import { type AppError, invalidRequest } from '../../errors.ts'

/** Items that follow those of a list. `at` is the index of the first of them. */
interface Appended<Item> {
  at: number
  items: readonly Item[]
  /** The items before they were redacted: they equal those that were stored before redaction was enabled. */
  unredacted: readonly Item[] | undefined
}

/** What differs from list to list. */
interface AppendRules<Item> {
  /** What people call one item. */
  noun: 'turn' | 'entry'
  isSame(stored: Item, sent: Item | undefined): boolean
  gap(detail: string): AppError
  itemsMax: number
  /** The request's field that has the items. */
  field: string
}

/**
 * The list with what is appended. Items that are stored already and equal are skipped, so that a repeated request changes
 * nothing. @throws the error of a gap, also for an item that differs; invalid_request for too many items
 */
export function append<Item>(
  before: Item[],
  { at, items, unredacted = items }: Appended<Item>,
  { noun, isSame, gap, itemsMax, field }: AppendRules<Item>,
): Item[] {
  if (at > before.length)
    throw gap(`The call has ${before.length} stored, so ${noun} ${at} cannot follow yet.`)
  const overlap = before.slice(at, at + items.length)
  const differs = overlap.findIndex((item, i) => !isSame(item, items[i]) && !isSame(item, unredacted[i]))
  if (differs >= 0) throw gap(`The ${noun} ${at + differs} is stored with another content.`)
  const list = before.concat(items.slice(overlap.length))
  if (list.length <= itemsMax) return list
  throw invalidRequest([{ field, message: `would make more than ${itemsMax} in the call` }])
}
