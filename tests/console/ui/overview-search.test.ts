import { describe, expect, test } from 'bun:test'
import { Dates, plusDays } from '../../../src/console/ui/components/dates.ts'
import { changeOf } from '../../../src/console/ui/views/overview/changes.ts'
import {
  choiceOf,
  overviewSearch,
  periodOf,
  periodUntil,
} from '../../../src/console/ui/views/overview/overview-search.ts'

const now = Date.parse('2026-03-02T15:00:00.000Z')

describe('the period of the overview', () => {
  const utc = new Dates('UTC')

  test('is the last 30 days, today included, unless the address says otherwise', () => {
    const period = periodOf(overviewSearch({}), utc, now)
    expect(period).toEqual({
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-03-03T00:00:00.000Z',
      days: 30,
      before: '2026-01-02T00:00:00.000Z',
      filters: { date: 'last-30-days' },
    })
    expect(periodOf(overviewSearch({ date: 'last-7-days' }), utc, now).days).toBe(7)
    expect(overviewSearch({ date: 'tomorrow' })).toEqual({})
  })

  test('of yesterday moves on with the days', () => {
    const yesterday = overviewSearch({ date: 'yesterday' })
    const daysAfter = (days: number) => periodOf(yesterday, utc, now + days * 86_400_000)
    expect(daysAfter(0)).toMatchObject({ from: '2026-03-01T00:00:00.000Z', days: 1, filters: yesterday })
    expect(daysAfter(1)).toMatchObject({ from: '2026-03-02T00:00:00.000Z', to: '2026-03-03T00:00:00.000Z' })
    expect(choiceOf(yesterday)).toBe('yesterday')
  })

  test('has the days of a time zone, of which it may be another day already', () => {
    const { from, to } = periodOf(overviewSearch({ date: 'last-7-days' }), new Dates('Pacific/Auckland'), now)
    expect([from, to]).toEqual(['2026-02-24T11:00:00.000Z', '2026-03-03T11:00:00.000Z'])
  })

  test.each([
    // Clocks go forward by an hour on 29 March and back on 25 October, by half an hour on 5 April.
    ['Europe/Berlin', '2026-03-24', '2026-03-16T23:00:00.000Z', 7 * 24 - 1, 7 * 24],
    ['Europe/Berlin', '2026-03-30', '2026-03-22T23:00:00.000Z', 7 * 24, 7 * 24 - 1],
    ['Europe/Berlin', '2026-10-19', '2026-10-11T22:00:00.000Z', 7 * 24 + 1, 7 * 24],
    ['Europe/Berlin', '2026-10-26', '2026-10-18T22:00:00.000Z', 7 * 24, 7 * 24 + 1],
    ['Australia/Lord_Howe', '2026-04-06', '2026-03-29T13:00:00.000Z', 7 * 24, 7 * 24 + 0.5],
  ])(
    'in %p from %p is compared with the seven calendar days before',
    (zone, first, before, hours, earlier) => {
      const search = { from: first, to: plusDays(first, 6) }
      const period = periodOf(search, new Dates(zone), now)
      const hoursFrom = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 3_600_000
      expect(period.before).toBe(before)
      expect([hoursFrom(period.from, period.to), hoursFrom(period.before, period.from)]).toEqual([
        hours,
        earlier,
      ])
    },
  )

  test('includes both days of a custom range', () => {
    const search = { from: '2026-02-27', to: '2026-03-01' }
    expect(periodOf(overviewSearch(search), utc, now).days).toBe(3)
    expect(choiceOf(search)).toBe('custom')
    expect(periodUntil('2025-12-31')).toEqual({ from: '2025-12-02', to: '2025-12-31' })
  })

  test('an invalid, reversed or open range is left out', () => {
    expect(overviewSearch({ from: '2026-02-30', to: '2026-03-01' })).toEqual({})
    expect(overviewSearch({ from: '2026-03-02', to: '2026-03-01' })).toEqual({})
    expect(overviewSearch({ from: '1990-01-01', to: '2026-03-01' })).toEqual({})
  })
})

describe('the change of a figure', () => {
  test('is a percentage of the earlier figure, or in points for a percentage', () => {
    expect(changeOf({ value: 150, before: 100 }, 'amount')).toEqual({ direction: 'up', amount: '50%' })
    expect(changeOf({ value: 1, before: 3_000 }, 'amount')).toEqual({ direction: 'down', amount: '> 99%' })
    expect(changeOf({ value: 0, before: 3_000 }, 'amount')).toEqual({ direction: 'down', amount: '100%' })
    expect(changeOf({ value: 0.8, before: 0.85 }, 'share')).toEqual({ direction: 'down', amount: '5 points' })
    expect(changeOf({ value: 3, before: 3 }, 'amount')?.direction).toBe('same')
  })

  test('is unknown where there is nothing to compare with', () => {
    expect(changeOf({ value: 3, before: null }, 'amount')).toBeNull()
    expect(changeOf({ value: 3, before: undefined }, 'amount')).toBeNull()
    expect(changeOf({ value: 3, before: 0 }, 'amount')).toBeNull()
  })
})
