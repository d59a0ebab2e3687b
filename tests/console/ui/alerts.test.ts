import { describe, expect, test } from 'bun:test'
import type { Alert } from '../../../src/alerts/schemas.ts'
import { parseSearch, stringifySearch } from '../../../src/console/ui/search-params.ts'
import {
  chosenFilters,
  draftOf,
  newDraft,
  numberOf,
  proposedLimit,
  ruleOf,
} from '../../../src/console/ui/views/alerts/alert-draft.ts'
import { alertSearch, alertSearchOf } from '../../../src/console/ui/views/alerts/alert-search.ts'
import {
  filtersInWords,
  minutesInWords,
  ruleInWords,
} from '../../../src/console/ui/views/alerts/alert-words.ts'

const names = { criteria: new Map([['price', 'Named the price']]), agents: new Map([['a1', 'Front desk']]) }
const offered = [
  { id: 'wh_1', kind: 'webhook', name: 'example.com …hook' },
  { id: 'wh_2', kind: 'slack', name: '…Wz4q' },
  { id: 'wh_3', kind: 'slack', name: '…Wz4q' },
] as const
const rule: Alert = {
  id: 'alr_1',
  name: 'Bookings fail',
  filters: { agentId: ['a1', 'b, c'], minDuration: 10, isEngaged: true },
  of: 'success',
  show: 'share',
  windowMinutes: 60,
  below: { warn: 0.9, alert: 0.29 },
  minCalls: 20,
  noData: 'alert',
  repeatMinutes: 240,
  to: [{ slack: '…Wz4q' }, { webhook: 'wh_1' }, { slack: '…Wz4q' }],
  showOnly: false,
  paused: true,
  state: 'ok',
  since: '2026-01-31T10:00:00.000Z',
  value: 0.95,
  calls: 42,
}

describe('the address of a new alert', () => {
  test('has the filters at hand, but no times and no words', () => {
    const list = parseSearch('?agentId=a1&evaluation=fail&date=yesterday&text=refund&order=duration')
    const search = alertSearchOf({ of: 'calls', show: 'count' }, list)
    expect(stringifySearch(search)).toBe('?evaluation=fail&agentId=a1&of=calls&show=count')
    const times = { from: '2026-01-01', completedTo: '2026-01-02', updatedFrom: '2026-01-03', by: 'agentId' }
    expect(alertSearch({ ...times, label: ['a', 'b'] })).toEqual({ label: ['a', 'b'] })
  })

  test('of the share that failed watches that, from above, and is stored as the share that passed', () => {
    const failed = newDraft(alertSearchOf({ of: 'success', show: 'failed' }, { agentId: 'a1' }), 0)
    expect(failed).toMatchObject({ of: 'success', show: 'failed', side: 'above', filters: { agentId: 'a1' } })
    expect(ruleOf({ ...failed, warn: 10 }, 30, 'Failed share above 30%')).toMatchObject({
      name: 'Failed share above 30%',
      of: 'success',
      show: 'share',
      below: { alert: 0.7, warn: 0.9 },
    })
    expect(newDraft({ of: 'success' }, 0)).toMatchObject({ show: 'share', side: 'below' })
    expect(newDraft({ of: 'latencyMs', show: 'p95' }, 0)).toMatchObject({ show: 'p95', side: 'above' })
    expect(newDraft({ of: 'calls', below: 'true' }, 0).side).toBe('below')
  })

  test('of what is heard begins with usual limits', () => {
    expect(newDraft({ of: 'responseMaxMs', show: 'p95' }, 0)).toMatchObject({ warn: 3_500, alert: 5_000 })
    expect(newDraft({ of: 'deadAirSeconds', show: 'p95' }, 0)).toMatchObject({ warn: '', alert: 10 })
    expect(newDraft({ of: 'deadAirSeconds', show: 'max' }, 0).alert).toBeUndefined()
  })
})

test('of few calls, a longer window is proposed', () => {
  const windowOf = (of: string, callsPerDay: number) => {
    const { windowMinutes, minCalls } = newDraft({ of }, callsPerDay)
    return [windowMinutes, minCalls]
  }
  expect(windowOf('success', 240)).toEqual([60, 5])
  expect(windowOf('success', 239)).toEqual([1_440, 5])
  expect(windowOf('success', 9)).toEqual([10_080, 5])
  expect(windowOf('success', 1)).toEqual([10_080, 1])
  expect(windowOf('calls', 1)[0]).toBe(60)
})

test('a rule that is shown and stored again is the same, in the units of its figure', () => {
  const draft = draftOf(rule, offered)
  expect(draft).toMatchObject({ alert: 29, warn: 90, side: 'below', chosen: ['wh_2', 'wh_1', 'wh_3'] })
  const { id: _, paused, state, since, value, calls, ...sent } = rule
  expect(ruleOf(draft, numberOf(draft.alert) ?? 0, '')).toEqual({
    ...sent,
    filters: { agentId: ['a1', 'b, c'], minDuration: '10', isEngaged: ['true'] },
    to: [{ webhook: 'wh_2' }, { webhook: 'wh_1' }, { webhook: 'wh_3' }],
  })
  expect(ruleOf({ ...draft, name: ' ', added: { slack: ' https://x ' } }, 50, 'Proposed')).toMatchObject({
    name: 'Proposed',
    below: { alert: 0.5, warn: 0.9 },
    to: [{}, {}, {}, { slack: 'https://x' }],
  })
  const ofCalls = ruleOf({ ...draft, of: 'calls', show: 'count' }, 3, '')
  expect(ofCalls).not.toHaveProperty('minCalls')
  expect(ofCalls).not.toHaveProperty('noData')
})

describe('a proposed limit', () => {
  const preview = (values: (number | null)[], calls = 5) => ({
    data: values.map((value) => ({ at: '', value, calls, state: 'ok' as const })),
    fired: [],
  })
  const many = Array.from({ length: 1_000 }, (_, at) => at + 1)

  test('is crossed by few hours', () => {
    const latency = newDraft({ of: 'latencyMs', show: 'p50' }, 0)
    expect(proposedLimit(preview(many), latency)).toBe(1_000)
    expect(proposedLimit(preview(many.map((value) => value * 1.234)), latency)).toBe(1_300)
    const success = newDraft({ of: 'success' }, 0)
    expect(proposedLimit(preview([0.874, 0.9, null]), success)).toBe(87)
    const failed = newDraft({ of: 'success', show: 'failed' }, 0)
    expect(proposedLimit(preview([0.874, 0.9, null]), failed)).toBe(13)
    expect(proposedLimit(preview([0.874], 1), { ...success, minCalls: 2 })).toBeUndefined()
    expect(proposedLimit(preview([null]), success)).toBeUndefined()
    expect(proposedLimit(preview([0, 0], 0), newDraft({ of: 'calls' }, 0))).toBe(0)
    expect(proposedLimit(preview([0, 0], 0), newDraft({ of: 'calls', below: 'true' }, 0))).toBe(1)
  })
})

test('a rule and its filters are told in words', () => {
  expect(ruleInWords(rule, names)).toBe(
    'Success share below 29% in 1 hour, warning below 90%, of at least 20 calls',
  )
  expect(ruleInWords({ ...rule, of: 'criterion.price', below: { alert: 0.5 }, minCalls: 1 }, names)).toBe(
    'Named the price: passed below 50% in 1 hour',
  )
  const filters = chosenFilters({ ...rule.filters, label: 'a,b', 'criterion.price': 'fail' })
  expect(filtersInWords(filters, names)).toBe(
    'Engaged: Engaged · Duration at least: 10 s · Agent: Front desk or b, c · Label: a or b · Named the price: Failed',
  )
  expect([5, 60, 90, 1_440, 10_080].map(minutesInWords)).toEqual([
    '5 minutes',
    '1 hour',
    '90 minutes',
    '1 day',
    '7 days',
  ])
})
