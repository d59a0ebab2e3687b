import type { AlertState, Rule } from './schemas.ts'

interface Figure {
  value: number | null
  calls: number
}

export interface NextState {
  state: AlertState
  /** The limit between this state and the other ones; null without data. */
  limit: number | null
}

/** The state of a rule after a window with this figure. @param before the state until then */
export function nextState(rule: Rule, { value, calls }: Figure, before: AlertState): NextState {
  if (value === null || calls < (rule.minCalls ?? 0)) return withoutData(rule, before)
  const isAbove = rule.above !== undefined
  const { warn, alert } = rule.above ?? rule.below ?? { alert: 0 }
  const isBeyond = (limit: number) => (isAbove ? value > limit : value < limit)
  if (isBeyond(alert)) return { state: 'alert', limit: alert }
  if (warn !== undefined && isBeyond(warn)) return { state: 'warning', limit: warn }
  return { state: 'ok', limit: warn ?? alert }
}

function withoutData({ noData = 'keep' }: Rule, before: AlertState): NextState {
  const isNew = before === 'no_data'
  return { state: isNew || noData === 'keep' ? before : noData, limit: null }
}
