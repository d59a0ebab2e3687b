import type { CallRows } from '../../../../calls/reading/call-rows.ts'
import type { Dates } from '../../components/dates.ts'
import { asCount, counted } from '../../components/figures.ts'

/** What sorts a call in the list. */
interface Place {
  id: string
  createdAt: string
}

type Page<Row> = Omit<CallRows, 'data'> & { data: Row[] }

/**
 * The pages after the first one was loaded again: new calls come on top, known ones are updated, and calls that
 * disappeared from the reloaded part are removed. Cursors stay valid, because they name a place.
 */
export function withNewestPage<Row extends Place>(pages: Page<Row>[], newest: Page<Row>): Page<Row>[] {
  const [first, ...rest] = pages
  const last = newest.data.at(-1)
  if (!first || newest.nextCursor === null) return [newest]
  // The first page of a phrase search can be empty although others follow.
  if (!last) return pages
  const known = new Set(first.data.map((row) => row.id))
  const isJoined = newest.data.some((row) => known.has(row.id))
  if (!isJoined && first.data.length > 0) return [newest]
  const older = first.data.filter((row) => isAfter(row, last))
  return [{ ...newest, data: [...newest.data, ...older], nextCursor: first.nextCursor }, ...rest]
}

/** The rows of the newest page that precede everything in the list. */
export function newRows<Row extends Place>(pages: Page<Row>[], newest: Page<Row>): Row[] {
  const known = new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)))
  const [top] = pages[0]?.data ?? []
  return newest.data.filter((row) => !known.has(row.id) && (!top || isAfter(top, row)))
}

/** The pages with some calls as an answer has them, wherever they are, or without those that no longer match. */
export function withRows<Row extends Place>(
  pages: Page<Row>[],
  ids: readonly string[],
  { data, nextCursor }: Page<Row>,
): Page<Row>[] {
  const now = new Map(data.map((row) => [row.id, row]))
  // If another page follows, missing calls may be on that one.
  const isGone = (id: string) => nextCursor === null && ids.includes(id) && !now.has(id)
  return pages.map((page) => ({
    ...page,
    data: page.data.flatMap((row) => (isGone(row.id) ? [] : [now.get(row.id) ?? row])),
  }))
}

/** The pages without one call, which was deleted. */
export function withoutCall<Row extends Place>(pages: Page<Row>[], id: string): Page<Row>[] {
  const isThere = pages.some((page) => page.data.some((row) => row.id === id))
  if (!isThere) return pages
  return pages.map((page) => ({
    ...page,
    data: page.data.filter((row) => row.id !== id),
    total: page.total === null ? null : page.total - 1,
  }))
}

/** All calls of the pages without repetition: a call that moved between two requests can be in two pages. */
export function rowsOf<Row extends Place>(pages: Page<Row>[]): Row[] {
  return [...new Map(pages.flatMap((page) => page.data).map((row) => [row.id, row])).values()]
}

/** A row of the list: a call, or the heading of a day. */
export type Entry<Row> = { key: string; row: Row } | { key: string; day: string }

/** Calls in order, without days. */
export function withoutDays<Row extends { id: string }>(rows: readonly Row[]): Entry<Row>[] {
  return rows.map((row) => ({ key: row.id, row }))
}

/** Calls in order, below the heading of their day. */
export function byDay<Row extends Place>(rows: readonly Row[], dates: Dates, now: number): Entry<Row>[] {
  const entries: Entry<Row>[] = []
  let before = ''
  for (const row of rows) {
    const day = dates.dayOf(row.createdAt)
    if (day !== before) entries.push({ key: `day ${day}`, day: dates.heading(row.createdAt, now) })
    before = day
    entries.push({ key: row.id, row })
  }
  return entries
}

/** How many calls there are, in words: `8,000 calls`, `10,000+ calls`. */
export function totalLabel({ total, totalMax }: Pick<CallRows, 'total' | 'totalMax'>): string {
  if (total === null) return `${asCount(totalMax)}+ calls`
  return counted(total, 'call')
}

/** Newest first, as the list is sorted: by time, then by id. */
function isAfter(row: Place, other: Place): boolean {
  if (row.createdAt !== other.createdAt) return row.createdAt < other.createdAt
  return row.id < other.id
}
