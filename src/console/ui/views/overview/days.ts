import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'

/** The calls of a day by their evaluation. */
export interface CallsOfDay {
  /** `2026-01-31` */
  day: string
  success: number
  fail: number
  other: number
  unevaluated: number
}

type Days = FiguresOfCalls['data']

/** Days as metrics have them: of all calls, and of those with each of these evaluations. */
export function daysOf(all: Days, of: Record<'success' | 'fail' | 'unevaluated', Days>): CallsOfDay[] {
  return all.map(({ key, calls }, at) => {
    const countOf = (days: Days) => days[at]?.calls ?? 0
    const success = countOf(of.success)
    const fail = countOf(of.fail)
    const unevaluated = countOf(of.unevaluated)
    // A call that is written between the requests may be in one of them alone.
    const other = Math.max(0, calls - success - fail - unevaluated)
    return { day: key ?? '', success, fail, other, unevaluated }
  })
}
