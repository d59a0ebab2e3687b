import { describe, expect, test } from 'bun:test'
import { Dates } from '../../../src/console/ui/components/dates.ts'
import { parseSearch, stringifySearch } from '../../../src/console/ui/search-params.ts'
import { chartOf, formatOf, titleOf } from '../../../src/console/ui/views/charts/chart.ts'
import { chartSearch } from '../../../src/console/ui/views/charts/chart-search.ts'
import { groupsOf } from '../../../src/console/ui/views/charts/groups.ts'
import { scaleOf } from '../../../src/console/ui/views/overview/scale.ts'

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
    const { chart } = chartOf(chartSearch({ of: 'criterion.price', by: 'analysis.day' }))
    expect(titleOf(chart, new Map([['price', 'Named the price']]))).toBe('Named the price: passed, by day')
  })
})

describe('the groups of a chart', () => {
  const of = (by: string, keys: string[], filters: object, show: 'share' | 'failed' = 'share') =>
    groupsOf(
      keys.map((key) => ({ key, value: 0.25, calls: 4 })),
      { by, show, filters, dates: berlin, agents: new Map([['a1', 'Front desk']]) },
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
