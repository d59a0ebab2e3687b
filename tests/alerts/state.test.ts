import { describe, expect, test } from 'bun:test'
import type { AlertState, Rule } from '../../src/alerts/schemas.ts'
import { nextState } from '../../src/alerts/state.ts'

const rule = (members: Partial<Rule>): Rule => ({
  name: 'Rule',
  filters: {},
  of: 'duration',
  show: 'avg',
  windowMinutes: 5,
  repeatMinutes: null,
  minCalls: 2,
  noData: 'keep',
  ...members,
})
const after = (members: Partial<Rule>, value: number | null, calls: number, before: AlertState = 'ok') => {
  const { state, limit } = nextState(rule(members), { value, calls }, before)
  return [state, limit]
}

describe('limits', () => {
  const above = { above: { warn: 10, alert: 20 } }
  const below = { below: { warn: 20, alert: 10 } }
  test.each([
    [above, 10, ['ok', 10]],
    [above, 10.1, ['warning', 10]],
    [above, 20, ['warning', 10]],
    [above, 20.1, ['alert', 20]],
    [below, 20, ['ok', 20]],
    [below, 19.9, ['warning', 20]],
    [below, 10, ['warning', 20]],
    [below, 9.9, ['alert', 10]],
    [{ above: { alert: 20 } }, 20, ['ok', 20]],
    [{ above: { alert: 20 } }, 21, ['alert', 20]],
    [{ below: { alert: 0 } }, -1, ['alert', 0]],
  ] as const)('are strict: %j and the value %p are %p', (limits, value, expected) => {
    for (const before of ['ok', 'warning', 'alert', 'no_data'] as const)
      expect(after(limits, value, 2, before)).toEqual([...expected])
  })
})

describe('without data', () => {
  const above = { above: { alert: 20 } }
  test.each([
    ['keep', 'alert', 'alert'],
    ['keep', 'warning', 'warning'],
    ['keep', 'ok', 'ok'],
    ['ok', 'alert', 'ok'],
    ['ok', 'ok', 'ok'],
    ['alert', 'ok', 'alert'],
    ['alert', 'alert', 'alert'],
  ] as const)('%s makes %s %s', (noData, before, expected) => {
    expect(after({ ...above, noData }, 99, 1, before)).toEqual([expected, null])
    expect(after({ ...above, noData }, null, 9, before)).toEqual([expected, null])
  })

  test('it is no_data until the calls were first there, whatever is said for later', () => {
    for (const noData of ['keep', 'ok', 'alert'] as const)
      expect(after({ ...above, noData }, 99, 1, 'no_data')).toEqual(['no_data', null])
  })

  test('the number of calls is never without data', () => {
    const count = {
      name: 'Quiet',
      filters: {},
      of: 'calls',
      show: 'count',
      windowMinutes: 5,
      repeatMinutes: null,
    }
    expect(nextState({ ...count, below: { alert: 1 } }, { value: 0, calls: 0 }, 'no_data').state).toBe(
      'alert',
    )
  })
})
