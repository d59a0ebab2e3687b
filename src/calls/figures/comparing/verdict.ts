import { figureOf } from '../measures.ts'
import type { Group } from '../question.ts'
import type { ComparedFigure } from './compare-request.ts'
import { type Interval, newcombe, welch, wilson, zOf } from './intervals.ts'
import type { ComparedMetric } from './schemas.ts'

/** With fewer numbers in a group, nothing is said. */
const numbersMin = { share: 30, avg: 30, p50: 30, p95: 100 }
/** How many standard errors more find a difference with a chance of 4 in 5. */
const zOfPower = 0.8416
const moreCallsMax = 100_000

/** Compares a figure of two groups of calls at a level of 0 to 1. Undefined is a group without calls. */
export function compareFigure(
  figure: ComparedFigure,
  [a, b]: readonly [Group | undefined, Group | undefined],
  level: number,
): ComparedMetric {
  const [ofA, ofB] = [toValue(figure, a), toValue(figure, b)]
  const difference = ofA.value === null || ofB.value === null ? null : ofB.value - ofA.value
  const interval = a && b && difference !== null ? intervalOf(figure, a, b, level) : 'few'
  const shown = { of: figure.name, a: ofA, b: ofB, difference, low: null, high: null, level }
  if (typeof interval === 'string' || !b || difference === null)
    return {
      ...shown,
      verdict: 'not_sure',
      reason: interval === 'skewed' ? interval : 'few',
      moreCalls: null,
    }
  const { low, high } = interval
  if (low <= 0 && high >= 0) {
    const moreCalls = moreCallsOf(b, difference, interval, zOf(level))
    return { ...shown, ...interval, verdict: 'not_sure', reason: 'open', moreCalls }
  }
  const verdict = verdictOf(low > 0, figure.isMoreBetter)
  return { ...shown, ...interval, verdict, reason: null, moreCalls: null }
}

function toValue({ show }: ComparedFigure, group: Group | undefined): ComparedMetric['a'] {
  const { value } = figureOf(show, group ? [group] : [])
  // The interval is around this average, whose rounding differs from that of a sum.
  return { value: (show === 'avg' ? group?.moments?.mean : value) ?? null, n: group?.numbers ?? 0 }
}

/** Returns a reason if there is none. */
function intervalOf(
  { show }: ComparedFigure,
  a: Group,
  b: Group,
  level: number,
): Interval | 'few' | 'skewed' {
  if (Math.min(a.numbers, b.numbers) < numbersMin[show] || !a.moments || !b.moments) return 'few'
  if (show === 'avg')
    return (
      welch({ ...a.moments, numbers: a.numbers }, { ...b.moments, numbers: b.numbers }, level) ?? 'skewed'
    )
  const [ofA, ofB] = [a, b].map((group) => {
    const value = figureOf(show, [group]).value ?? Number.NaN
    return { value, ...(group.limits?.[0] ?? wilson(value, group.numbers, zOf(level))) }
  })
  const interval = ofA && ofB ? newcombe(ofA, ofB) : null
  return interval && Number.isFinite(interval.high - interval.low) ? interval : 'few'
}

function verdictOf(isMore: boolean, isMoreBetter: boolean | null) {
  if (isMoreBetter === null) return isMore ? 'higher' : 'lower'
  return isMore === isMoreBetter ? 'better' : 'worse'
}

/** How many more calls settle it, if the difference stays and both groups grow in proportion; to two digits. */
function moreCallsOf(
  { calls }: Group,
  difference: number,
  { low, high }: Interval,
  z: number,
): number | null {
  const towardsZero = difference > 0 ? difference - low : high - difference
  const times = ((towardsZero / Math.abs(difference)) * ((z + zOfPower) / z)) ** 2 - 1
  const moreCalls = Number((calls * times).toPrecision(2))
  return moreCalls <= moreCallsMax ? moreCalls : null
}
