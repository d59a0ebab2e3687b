import { describe, expect, test } from 'bun:test'
import {
  faultsOf,
  isFiltered,
  nameOf,
  readFilters,
  withoutFaults,
} from '../../../src/console/ui/views/calls/chosen-filters.ts'
import { dateRangeLabel, daysToRange, rangeToDays } from '../../../src/console/ui/views/calls/date-range.ts'

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
      status: '“ended” is not live or completed',
      from: '“yesterday” is not a date',
      number: '“abc” is not a number',
      minDuration: '“0x10” is not a number of seconds',
      label: '21 values are more than 20',
      order: '“length” is not an order',
      'analysis.topic': `“${'x'.repeat(40)}…” is longer than 500 characters`,
    })
    expect(withoutFaults(filters, faults)).toEqual({ maxDuration: '1.5' })
    expect(faultsOf(readFilters({ number: '555', order: '-duration', evaluation: ['none', 'x'] }))).toEqual(
      [],
    )
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
  const now = new Date(2026, 5, 1)

  test('days become the instants of whole local days and back', () => {
    const range = daysToRange(new Date(2026, 0, 5, 13), new Date(2026, 0, 7, 9))
    expect(range).toEqual({
      from: new Date(2026, 0, 5).toISOString(),
      to: new Date(2026, 0, 8).toISOString(),
    })
    expect(rangeToDays(range).map((date) => date?.getDate())).toEqual([5, 7])
  })

  test('a range of one day is named once, the year only when it is another', () => {
    expect(dateRangeLabel(daysToRange(new Date(2026, 0, 5), new Date(2026, 0, 5)), now)).not.toContain('–')
    expect(dateRangeLabel(daysToRange(new Date(2026, 0, 5), new Date(2026, 0, 6)), now)).toContain('–')
    expect(dateRangeLabel({ from: new Date(2025, 0, 5).toISOString() }, now)).toMatch(/^since .*2025/)
    expect(dateRangeLabel({ to: new Date(2026, 0, 5).toISOString() }, now)).toMatch(/^until .*4/)
    expect(dateRangeLabel({}, now)).toBe('')
  })
})
