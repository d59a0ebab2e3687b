import { describe, expect, test } from 'bun:test'
import { Dates } from '../../../src/console/ui/components/dates.ts'
import { parseSearch, stringifySearch } from '../../../src/console/ui/search-params.ts'
import { formatOf, scaleOf, titleOf } from '../../../src/console/ui/views/charts/chart.ts'
import { chartOf, chartSearch } from '../../../src/console/ui/views/charts/chart-search.ts'
import { groupsOf, kindsOf } from '../../../src/console/ui/views/charts/groups.ts'

const berlin = new Dates('Europe/Berlin')

describe('the address of a chart', () => {
  test('has what is shown and the filters of the list, but no order', () => {
    const address = '?of=success&show=failed&by=agentId&date=last-14-days&label=a,b&order=duration'
    const search = chartSearch(parseSearch(address))
    expect(stringifySearch(search)).toBe(
      '?label=a&label=b&date=last-14-days&of=success&show=failed&by=agentId',
    )
    const { chart, filters } = chartOf(search)
    expect(chart).toEqual({ of: 'success', show: 'failed', by: 'agentId' })
    expect(filters).toEqual({ label: ['a', 'b'], date: 'last-14-days' })
    expect(titleOf(chart, new Map())).toBe('Failed share by agent')
  })

  test('falls back to what can be shown', () => {
    expect(chartOf(chartSearch({})).chart).toEqual({ of: 'calls', show: 'count', by: 'day' })
    expect(chartOf(chartSearch({ of: 'criterion.price', show: 'p95' })).chart.show).toBe('share')
    expect(chartOf(chartSearch({ of: 'analysis.score', show: 'share' })).chart.show).toBe('avg')
    expect(chartOf(chartSearch({ of: 'isEngaged' })).chart.show).toBe('share')
    const titles = [
      { of: 'isEngaged', by: 'weekday,hourOfDay' },
      { of: 'costUsd', show: 'sum', by: 'day' },
      { of: 'latencyMs', show: 'p95', by: 'agentId,day' },
      { of: 'duration', show: 'p50', by: 'week' },
    ].map((search) => titleOf(chartOf(chartSearch(search)).chart, new Map()))
    expect(titles).toEqual([
      'Engaged share by weekday and hour of the day',
      'Total cost by day',
      'P95 latency by agent and day',
      'Median duration by week',
    ])
    const { chart } = chartOf(chartSearch({ of: 'criterion.price', by: 'analysis.day' }))
    expect(titleOf(chart, new Map([['price', 'Named the price']]))).toBe('Named the price: passed, by day')
  })
})

describe('the groups of a chart', () => {
  const of = (by: string, keys: string[], filters: object, show: 'share' | 'failed' = 'share') =>
    groupsOf(
      keys.map((key) => ({ key, value: 0.25, calls: 4 })),
      { of: 'success', by, show, filters, dates: berlin, agents: new Map([['a1', 'Front desk']]) },
    )

  test('lead to their part of a period, whose first and last day may be cut', () => {
    const filters = { from: '2026-03-28T12:00:00.000Z', to: '2026-03-30T08:00:00.000Z', label: 'vip' }
    // Clocks go forward on 29 March.
    expect(
      of('day', ['2026-03-28', '2026-03-29', '2026-03-30'], filters).map((group) => group.filters),
    ).toEqual([
      { label: 'vip', from: '2026-03-28T12:00:00.000Z', to: '2026-03-28T23:00:00.000Z' },
      { label: 'vip', from: '2026-03-28T23:00:00.000Z', to: '2026-03-29T22:00:00.000Z' },
      { label: 'vip', from: '2026-03-29T22:00:00.000Z', to: '2026-03-30T08:00:00.000Z' },
    ])
    const hours = ['2026-03-28T12:00:00.000Z', '2026-03-28T12:30:00.000Z', '2026-03-28T13:30:00.000Z']
    expect(of('hour', hours, {}).map((group) => group.filters?.to)).toEqual([
      '2026-03-28T12:30:00.000Z',
      '2026-03-28T13:30:00.000Z',
      '2026-03-28T14:30:00.000Z',
    ])
  })

  test('lead to the filters and their own value, and nowhere if no filters find their calls', () => {
    expect(of('agentId', ['a1', 'none'], { agentId: 'a1', from: 'x' })).toMatchObject([
      { name: 'Front desk', filters: { agentId: 'a1', from: 'x' } },
      // Of the calls with a1, those with another agent too.
      { name: 'No agent', filters: null },
    ])
    expect(of('analysis.topic', ['a,b'], { status: 'completed' })[0]?.filters).toEqual({
      status: 'completed',
      'analysis.topic': 'a,b',
    })
  })

  test('of weeks, months and lengths lead to theirs, and of weekdays and hours of the day nowhere', () => {
    const filtersOf = (by: string, keys: string[]) => of(by, keys, {}).map((group) => group.filters)
    expect(filtersOf('week', ['2026-03-23'])).toEqual([
      { from: '2026-03-22T23:00:00.000Z', to: '2026-03-29T22:00:00.000Z' },
    ])
    expect(filtersOf('month', ['2026-02'])).toEqual([
      { from: '2026-01-31T23:00:00.000Z', to: '2026-02-28T23:00:00.000Z' },
    ])
    expect(filtersOf('duration', ['0', '1800'])).toEqual([
      { status: 'completed', minDuration: '0', maxDuration: '9.999999999999998' },
      { status: 'completed', minDuration: '1800' },
    ])
    expect(of('duration', ['10', '1800'], {}).map(({ name }) => name)).toEqual(['10s to 30s', 'over 30m'])
    expect([...filtersOf('weekday', ['1', '7']), ...filtersOf('hourOfDay', ['00'])]).toEqual([
      null,
      null,
      null,
    ])
    expect(of('weekday', ['1', '7'], {}).map(({ name }) => name)).toEqual(['Monday', 'Sunday'])
  })

  test('without an order of their own begin with the highest value', () => {
    const data = [0.2, null, 0.9, 0.5].map((value, at) => ({ key: `${at + 1}`, value, calls: 9 - at }))
    const grouped = { of: 'success', by: 'agentId', filters: {}, dates: berlin, agents: new Map() } as const
    const keysOf = (show: 'share' | 'failed', by = 'agentId') =>
      groupsOf(data, { ...grouped, show, by }).map(({ key }) => key)
    expect(keysOf('share')).toEqual(['3', '4', '1', '2'])
    expect(keysOf('failed')).toEqual(['1', '4', '3', '2'])
    expect(keysOf('share', 'weekday')).toEqual(['1', '2', '3', '4'])
  })

  test('by two groupings have parts in one order, those of most calls, and the others together', () => {
    const filters = { from: 'a', to: 'z' }
    const grouped = { filters, dates: berlin, agents: new Map([['a1', 'Front desk']]) }
    const pair = (first: string, second: string, calls: number) => ({
      keys: [first, second],
      value: calls,
      calls,
    })
    const whole = (key: string, calls: number) => ({ key, value: calls, calls })
    const groups = groupsOf(
      [whole('a1', 6), whole('a2', 9)],
      { ...grouped, of: 'calls', show: 'count', by: 'agentId,evaluation' },
      [pair('a1', 'success', 4), pair('a1', 'fail', 2), pair('a2', 'none', 9)],
    )
    expect(groups.map(({ name, parts }) => [name, parts.map(({ look, value }) => [look, value])])).toEqual([
      ['a2', [['none', 9]]],
      [
        'Front desk',
        [
          ['fail', 2],
          ['success', 4],
        ],
      ],
    ])
    expect(kindsOf(groups).map(({ name }) => name)).toEqual(['Failed', 'Success', 'Not evaluated'])
    expect(groups[1]?.parts[0]?.filters).toEqual({ ...filters, agentId: 'a1', evaluation: 'fail' })
    const many = Array.from({ length: 9 }, (_, n) => pair('a1', `reason ${n}`, 9 - n))
    const byReason = { ...grouped, of: 'calls', show: 'count', by: 'agentId,endedReason' } as const
    const [first] = groupsOf([whole('a1', 45)], byReason, many)
    expect(first?.parts).toHaveLength(7)
    expect(first?.parts.at(-1)).toMatchObject({ name: 'Others', value: 1 + 2 + 3, filters: null })
    // Averages cannot be added up.
    const [average] = groupsOf([whole('a1', 45)], { ...byReason, of: 'duration', show: 'avg' }, many)
    expect(average?.parts).toHaveLength(6)
    const week = { ...grouped, of: 'calls', show: 'count', by: 'weekday,hourOfDay' } as const
    expect(kindsOf(groupsOf([whole('1', 3)], week, [pair('1', '09', 3)]))).toHaveLength(24)
  })

  test('show what is left of a share as the failed one', () => {
    expect(of('source', ['vapi'], {}, 'failed')[0]).toMatchObject({ name: 'Vapi', value: 0.75, calls: 4 })
  })
})

test('a scale has round steps from zero, or below it', () => {
  expect(scaleOf([17], 'whole').lines).toEqual([0, 5, 10, 15, 20])
  expect(scaleOf([], 'whole').lines).toEqual([0, 1])
  expect(scaleOf([2], 'whole').lines).toEqual([0, 1, 2])
  expect(scaleOf([0.69]).lines.map(formatOf({ of: 'costUsd', show: 'sum' }).short)).toEqual([
    '$0',
    '$0.20',
    '$0.40',
    '$0.60',
    '$0.80',
  ])
  expect(scaleOf([200], 'seconds').lines).toEqual([0, 60, 120, 180, 240])
  const { lines, placeOf } = scaleOf([-3, 5])
  expect([lines, placeOf(-4), placeOf(0), placeOf(6)]).toEqual([[-4, -2, 0, 2, 4, 6], 0, 40, 100])
})
