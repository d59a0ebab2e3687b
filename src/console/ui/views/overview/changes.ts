import { asDecimal } from '../../components/figures.ts'
import type { Figures } from '../charts/chart-queries.ts'

/** A figure of a period and of the one before it: undefined until it has loaded, null where there is none. */
export interface Compared {
  value: number | null
  before: number | null | undefined
}

interface Change {
  direction: 'up' | 'down' | 'same'
  /** `12%`, `4 points`, `18s` */
  amount: string
}

/** The change from the previous period: in per cent, or in percentage points for a share. */
export function changeOf({ value, before }: Compared, unit: 'share' | 'amount'): Change | null {
  if (value === null || before === null || before === undefined) return null
  if (unit === 'share') {
    const points = Math.round((value - before) * 1000) / 10
    return {
      direction: directionOf(points),
      amount: `${asDecimal(Math.abs(points))} ${Math.abs(points) === 1 ? 'point' : 'points'}`,
    }
  }
  if (before === 0) return value === 0 ? { direction: 'same', amount: '0%' } : null
  const percent = Math.round(((value - before) / before) * 1000) / 10
  const rounded = Math.abs(percent) >= 10 ? Math.round(Math.abs(percent)) : Math.abs(percent)
  // Not 100%: something is left.
  const amount = rounded === 100 && percent < 0 && value > 0 ? '> 99%' : `${asDecimal(rounded)}%`
  return { direction: directionOf(percent), amount }
}

function directionOf(difference: number): Change['direction'] {
  if (difference === 0) return 'same'
  return difference > 0 ? 'up' : 'down'
}

type Groups = Figures

/** A group of calls whose figure changed from one period to the next. */
export interface Mover {
  /** As the filter takes it. */
  group: string
  /** null if it had no calls, or none with a value. */
  value: number | null
  before: number | null
}

/**
 * The group that moved a figure most, in the direction in which it moved; null if none did, or if there is only one
 * group. A sum moves by as much as each of its parts. For any other figure, a group counts by its share of the calls
 * and by how far its own figure is from that of all calls before: exact for averages, an estimate for percentiles.
 */
export function firstMover(now: Groups, before: Groups, whole: Compared, show: string): Mover | null {
  if (whole.value === null || whole.before === null || whole.before === undefined) return null
  const keys = new Set([...now, ...before].flatMap(({ key }) => key ?? []))
  if (keys.size < 2) return null
  // A sum is of its parts, whatever their calls.
  const pulls = show === 'sum' ? ofSum : ofOthers(whole.before)
  const [pullNow, pullBefore] = [pulls(now), pulls(before)]
  const sign = Math.sign(whole.value - whole.before)
  let most = 0
  let first: string | null = null
  for (const key of keys) {
    const moved = ((pullNow.get(key) ?? 0) - (pullBefore.get(key) ?? 0)) * sign
    if (moved <= most) continue
    most = moved
    first = key
  }
  if (first === null) return null
  return { group: first, value: find(now, first)?.value ?? null, before: find(before, first)?.value ?? null }
}

/** How far each group pulls the figure: by key. */
type Pulls = ReadonlyMap<string | null, number>

function ofSum(groups: Groups): Pulls {
  return new Map(groups.map(({ key = null, value }) => [key, value ?? 0]))
}

/** @param base the figure of all calls before */
function ofOthers(base: number): (groups: Groups) => Pulls {
  return (groups) => {
    const total = groups.reduce((sum, { calls }) => sum + calls, 0) || 1
    return new Map(
      groups.map(({ key = null, value, calls }) => [
        key,
        value === null ? 0 : ((value - base) * calls) / total,
      ]),
    )
  }
}

function find(groups: Groups, wanted: string): Groups[number] | undefined {
  return groups.find(({ key }) => key === wanted)
}
