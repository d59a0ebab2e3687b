import { describe, expect, test } from 'bun:test'
import { Dates } from '../../../src/console/ui/components/dates.ts'
import { isFiltered, nameOf, readFilters } from '../../../src/console/ui/views/calls/chosen-filters.ts'
import { dateRangeLabel, rangeToDays } from '../../../src/console/ui/views/calls/date-range.ts'

describe('the address of the list of calls', () => {
  test('invalid parts of the address are left out, the rest is kept', () => {
    expect(
      readFilters({
        status: 'ended',
        isEngaged: 'maybe',
        from: 'yesterday',
        text: '  ',
        number: '555',
        minDuration: 'long',
        maxDuration: '1.5',
        other: 1,
      }),
    ).toEqual({ number: '555', maxDuration: '1.5' })
  })

  test('times in any zone keep their instant', () => {
    expect(readFilters({ from: '2026-01-05T01:00:00+02:00' })).toEqual({
      from: '2026-01-04T23:00:00.000Z',
    })
  })

  test('an empty filter counts as none, and the order of filters makes no difference', () => {
    expect(isFiltered(readFilters({ text: '' }))).toBe(false)
    expect(isFiltered(readFilters({ text: 'a' }))).toBe(true)
    expect(nameOf({ status: 'live', text: 'x' })).toBe(nameOf({ text: 'x', status: 'live' }))
  })
})

describe('dates', () => {
  const dates = new Dates('America/New_York')
  const now = Date.UTC(2026, 5, 1)

  test('days become the instants of whole days and back', () => {
    const range = dates.rangeOf('2026-03-07', '2026-03-08')
    expect(range).toEqual({ from: '2026-03-07T05:00:00.000Z', to: '2026-03-09T04:00:00.000Z' })
    expect(rangeToDays(range, dates)).toEqual(['2026-03-07', '2026-03-08'])
  })

  test('a range of one day is named once, the year only when it is another', () => {
    const label = (range: { from?: string; to?: string }) => dateRangeLabel(range, dates, now)
    expect(label(dates.rangeOf('2026-01-05'))).not.toContain('–')
    expect(label(dates.rangeOf('2026-01-05', '2026-01-06'))).toContain('–')
    expect(label({ from: dates.rangeOf('2025-01-05').from })).toMatch(/^since .*2025/)
    expect(label({ to: dates.rangeOf('2026-01-05').from })).toMatch(/^until .*4/)
    expect(label({ from: '2026-01-05T06:30:00.000Z' })).toMatch(/^since .*01:30/)
    expect(label({})).toBe('')
  })
})
