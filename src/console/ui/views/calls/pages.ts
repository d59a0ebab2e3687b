import type { CallRow, CallRows } from '../../../../calls/reading/call-rows.ts'
import { asCount, counted } from '../../components/figures.ts'

/** What sorts a call in the list. */
interface Place {
  id: string
  createdAt: string
}

type Page<Row> = Omit<CallRows, 'data'> & { data: Row[] }

/** The list of calls as it is shown. */
interface ListState<Row extends Place = CallRow> {
  pages: Page<Row>[]
  /** Calls that may have changed since they were loaded. */
  changed: ReadonlySet<string>
}

export type ListEvent<Row extends Place = CallRow> =
  /** The newest calls were loaded again. While somebody reads the list, nothing in it moves. */
  | { type: 'newest loaded'; newest: Page<Row>; isNewestFirst: boolean; isReading: boolean }
  /** The calls with the ids in `asked` were loaded again. */
  | { type: 'changed loaded'; asked: readonly string[]; answer: Page<Row> }
  /** The person wants to see the new calls. */
  | { type: 'waiting asked for'; newest: Page<Row> }

/** The list after an event. */
export function nextList<Row extends Place>(
  { pages, changed }: ListState<Row>,
  event: ListEvent<Row>,
): ListState<Row> {
  switch (event.type) {
    case 'newest loaded': {
      const { newest, isNewestFirst, isReading } = event
      const how = !isNewestFirst ? withChanged : isReading ? withoutNew : withNewestPage
      const loaded = new Set(newest.data.map(({ id }) => id))
      const others = rowsOf(pages).filter(({ id }) => !loaded.has(id))
      return { pages: how(pages, newest), changed: new Set(others.map(({ id }) => id)) }
    }
    case 'changed loaded': {
      const { data, nextCursor } = event.answer
      // If another page follows, missing calls may be on that one.
      const answered = nextCursor === null ? event.asked : data.map(({ id }) => id)
      const left = [...changed].filter((id) => !answered.includes(id))
      return { pages: withAnswered(pages, answered, data), changed: new Set(left) }
    }
    case 'waiting asked for':
      return { pages: withNewestPage(pages, event.newest), changed }
  }
}

/**
 * The pages after the first one was loaded again: new calls come on top, known ones are updated, and calls that
 * disappeared from the reloaded part are removed. Cursors stay valid, because they name a place.
 */
function withNewestPage<Row extends Place>(pages: Page<Row>[], newest: Page<Row>): Page<Row>[] {
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

/** The pages with updated calls but without new ones, so that nothing that is being read moves. */
function withoutNew<Row extends Place>(pages: Page<Row>[], newest: Page<Row>): Page<Row>[] {
  const fresh = new Set(newRows(pages, newest).map(({ id }) => id))
  const data = newest.data.filter(({ id }) => !fresh.has(id))
  return data.length === 0 && fresh.size > 0 ? pages : withNewestPage(pages, { ...newest, data })
}

/** The pages with the calls of one page updated, wherever they are. */
function withChanged<Row extends Place>(pages: Page<Row>[], newest: Page<Row>): Page<Row>[] {
  const now = new Map(newest.data.map((row) => [row.id, row]))
  return pages.map((page) => ({ ...page, data: page.data.map((row) => now.get(row.id) ?? row) }))
}

/** The pages with some calls updated, or removed if they no longer match. */
function withAnswered<Row extends Place>(
  pages: Page<Row>[],
  answered: readonly string[],
  rows: readonly Row[],
): Page<Row>[] {
  const now = new Map(rows.map((row) => [row.id, row]))
  const isGone = (id: string) => answered.includes(id) && !now.has(id)
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
