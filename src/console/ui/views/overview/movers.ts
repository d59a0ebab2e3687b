import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'
import type { Figure } from '../../../../calls/reading/overview.ts'

type Groups = FiguresOfCalls['data']

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
export function firstMover(now: Groups, before: Groups, whole: Figure, show: string): Mover | null {
  if (whole.value === null || whole.before === null) return null
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
