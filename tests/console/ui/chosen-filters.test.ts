import { describe, expect, test } from 'bun:test'
import { Dates } from '../../../src/console/ui/components/dates.ts'
import { parseSearch, stringifySearch, toQuery } from '../../../src/console/ui/search-params.ts'
import {
  faultsOf,
  filterKey,
  isFiltered,
  readFilters,
  resolveFilters,
  withoutFaults,
} from '../../../src/console/ui/views/calls/chosen-filters.ts'
import { dateRangeLabel, rangeToDays } from '../../../src/console/ui/views/calls/date-ranges.ts'

describe('the address of the list of calls', () => {
  test('what cannot be read is kept, and told', () => {
    const long = 'x'.repeat(501)
    const filters = readFilters({
      status: 'ended',
      from: 'yesterday',
      number: 'abc',
      minDuration: '0x10',
      maxDuration: '1.5',
      label: Array.from({ length: 21 }, (_, n) => `${n}`),
      text: '  ',
      order: 'length',
      'analysis.topic': long,
      other: 1,
    })
    const faults = faultsOf(filters)
    expect(Object.fromEntries(faults.map(({ name, message }) => [name, message]))).toEqual({
      status: '“ended” is not live or silent or completed',
      from: '“yesterday” is not a date',
      number: '“abc” is not a number',
      minDuration: '“0x10” is not a number',
      label: '21 values are more than 20',
      order: '“length” is not an order',
      'analysis.topic': `“${'x'.repeat(40)}…” is longer than 500 characters`,
    })
    expect(withoutFaults(filters, faults)).toEqual({ maxDuration: '1.5' })
    expect(faultsOf(readFilters({ number: '555', order: '-duration', evaluation: ['none', 'x'] }))).toEqual(
      [],
    )
  })

  test('has several values as the API takes them: separated or repeated, a comma within a value escaped', () => {
    const filters = { endedReason: ['a,b', 'c\\d', 'e'], 'analysis.topic': '\\,', label: 'x,y', text: 'a, b' }
    const address = stringifySearch(filters)
    expect(readFilters(parseSearch(address))).toEqual(filters)
    expect(toQuery(filters)).toEqual({
      endedReason: ['a\\,b', 'c\\\\d', 'e'],
      'analysis.topic': ['\\\\\\,'],
      label: ['x\\,y'],
      text: ['a, b'],
    })
    const written = '?evaluation=a%2Cb&evaluation=c\\,d&label=e,f&text=g,h'
    expect(readFilters(parseSearch(written))).toEqual({
      evaluation: ['a', 'b', 'c,d'],
      label: ['e', 'f'],
      text: 'g,h',
    })
  })

  test('times in any zone keep their instant', () => {
    expect(readFilters({ from: '2026-01-05T01:00:00+02:00' })).toEqual({ from: '2026-01-04T23:00:00.000Z' })
  })

  test('a relative date stays in the address, in place of bounds, and means days of the project’s zone', () => {
    const filters = readFilters({ date: 'last-14-days', from: '2020-01-01', to: '2020-02-01', label: 'vip' })
    expect(stringifySearch(filters)).toBe('?label=vip&date=last-14-days')
    const resolved = (date: string, zone: string, now: string) =>
      resolveFilters({ date, label: 'vip' }, new Dates(zone), Date.parse(now))
    // In Auckland it is Monday already. In Berlin, clocks went forward on 29 March.
    expect(resolved('today', 'Pacific/Auckland', '2026-03-01T15:00:00Z')).toEqual({
      label: 'vip',
      from: '2026-03-01T11:00:00.000Z',
      to: '2026-03-02T11:00:00.000Z',
    })
    expect(resolved('yesterday', 'Europe/Berlin', '2026-03-30T10:00:00Z')).toMatchObject({
      from: '2026-03-28T23:00:00.000Z',
      to: '2026-03-29T22:00:00.000Z',
    })
    expect(resolved('last-14-days', 'UTC', '2026-03-30T10:00:00Z')).toMatchObject({
      from: '2026-03-17T00:00:00.000Z',
      to: '2026-03-31T00:00:00.000Z',
    })
    const unknown = readFilters({ date: 'soon' })
    expect(faultsOf(unknown)[0]?.message).toStartWith('“soon” is not today or yesterday')
    expect(resolveFilters(unknown, new Dates('UTC'), 0)).toEqual(unknown)
    expect(withoutFaults(unknown, faultsOf(unknown))).toEqual({})
  })

  test('an empty filter counts as none, and the order of filters makes no difference', () => {
    expect(isFiltered(readFilters({ text: '' }))).toBe(false)
    expect(isFiltered(readFilters({ text: 'a' }))).toBe(true)
    expect(filterKey({ status: 'live', text: 'x' })).toBe(filterKey({ text: 'x', status: 'live' }))
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
    expect(label({ from: '2026-01-05T06:30:00.000Z' })).toMatch(/^since .*\b0?1:30/)
    expect(label({})).toBe('')
  })
})
