import { expect, test } from 'bun:test'
import {
  newRows,
  rowsOf,
  totalLabel,
  withNewestPage,
  withoutCall,
  withRows,
} from '../../../src/console/ui/views/calls/pages.ts'

test('a new call comes on top, and what it pushed to the second page is not lost', () => {
  const pages = [page([5, 4, 3], 'after 3'), page([2, 1], null)]
  const refreshed = withNewestPage(pages, page([6, 5, 4], 'after 4'))
  expect(idsOf(refreshed)).toEqual(['6', '5', '4', '3', '2', '1'])
  expect(refreshed[0]?.nextCursor).toBe('after 3')
})

test('the refreshed part loses deleted calls and shows changed ones', () => {
  const pages = [page([5, 4, 3, 2], 'after 2'), page([1], null)]
  const newest = page([5, 3], 'after 3')
  newest.data[0] = { ...row(5), summary: 'Ended' }
  const refreshed = withNewestPage(pages, newest)
  expect(idsOf(refreshed)).toEqual(['5', '3', '2', '1'])
  expect(refreshed[0]?.data[0]?.summary).toBe('Ended')
})

test('when more calls are new than fit a page, the list starts over instead of hiding the gap', () => {
  const refreshed = withNewestPage([page([3, 2], 'after 2'), page([1], null)], page([9, 8], 'after 8'))
  expect(idsOf(refreshed)).toEqual(['9', '8'])
  expect(refreshed[0]?.nextCursor).toBe('after 8')
})

test('calls of the same time keep their order by id', () => {
  const same = (id: string): Row => ({ ...row(0), id, createdAt: '2026-01-01T00:00:00.000Z' })
  const before = { ...page([], 'after a'), data: [same('c'), same('b'), same('a')] }
  const refreshed = withNewestPage([before], { ...page([], 'after b'), data: [same('c'), same('b')] })
  expect(idsOf(refreshed)).toEqual(['c', 'b', 'a'])
})

test('a deleted call leaves the list and the count', () => {
  const pages = withoutCall([page([2, 1], null)], '1')
  expect(idsOf(pages)).toEqual(['2'])
  expect(pages[0]?.total).toBe(9)
  expect(withoutCall(pages, 'unknown')).toBe(pages)
})

test('calls that were loaded again are as they are now wherever they stand, or gone', () => {
  const pages = [page([5, 4], 'x'), page([3, 2, 1], null)]
  const answer = { ...page([], null), data: [{ ...row(4), summary: 'Changed' }, row(2)] }
  const next = withRows(pages, ['4', '3', '2'], answer)
  expect(idsOf(next)).toEqual(['5', '4', '2', '1'])
  expect(next[0]?.data.map(({ summary }) => summary)).toEqual([null, 'Changed'])
})

test('a call that is missing from an answer with further pages stays', () => {
  expect(idsOf(withRows([page([5, 4, 3], null)], ['4', '3'], page([4], 'after 4')))).toEqual(['5', '4', '3'])
})

test('those calls wait that precede all of the list', () => {
  const newest = page([6, 5, 4], null)
  const pages = [page([5, 3], 'after 3'), page([2, 1], null)]
  expect(newRows(pages, newest).map(({ id }) => id)).toEqual(['6'])
  expect(idsOf(withNewestPage(pages, newest))).toEqual(['6', '5', '4'])
})

test('a call that is in two pages is shown once', () => {
  expect(rowsOf([page([3, 2], 'x'), page([2, 1], null)]).map(({ id }) => id)).toEqual(['3', '2', '1'])
})

test('a newest page without calls takes none away while pages follow it', () => {
  const pages = [page([], 'after 9'), page([3, 2], null)]
  expect(withNewestPage(pages, page([], 'after 10'))).toBe(pages)
})

test('a count says when it stopped counting', () => {
  expect(totalLabel({ total: 1, totalMax: 10 })).toBe('1 call')
  expect(totalLabel({ total: 8000, totalMax: 10_000 })).toBe('8,000 calls')
  expect(totalLabel({ total: null, totalMax: 10_000 })).toBe('10,000+ calls')
})

function page(numbers: number[], nextCursor: string | null) {
  return { data: numbers.map(row), nextCursor, total: 10, totalMax: 10_000, foundBy: null }
}

interface Row {
  id: string
  createdAt: string
  summary: string | null
}

function row(number: number): Row {
  const createdAt = new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString()
  return { id: String(number), createdAt, summary: null }
}

function idsOf(pages: { data: { id: string }[] }[]): string[] {
  return pages.flatMap(({ data }) => data.map(({ id }) => id))
}
