import type { Work } from '../threads/time-slices.ts'
import type { Found } from './kinds.ts'

/** Adds it to others in order, among which it is one of the last. */
export function insert(found: Found[], one: Found): void {
  let at = found.length
  for (let last = found[at - 1]; last && isBefore(one, last); last = found[at - 1]) at--
  found.splice(at, 0, one)
}

/** Whether it overlaps one of the others, which are in order of both their starts and their ends. */
export function overlaps(others: readonly Found[], { start, end }: Found): boolean {
  let [low, high] = [0, others.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((others[middle]?.end ?? 0) > start) high = middle
    else low = middle + 1
  }
  return (others[low]?.start ?? end) < end
}

/** Two lists, each in order, as one. */
export function* merged(some: readonly Found[], others: readonly Found[]): Work<Found[]> {
  const found: Found[] = []
  for (let a = 0, b = 0; a < some.length || b < others.length; ) {
    yield
    const [one, other] = [some[a], others[b]]
    const isOther = !one || (other !== undefined && isBefore(other, one))
    const next = isOther ? other : one
    if (isOther) b++
    else a++
    if (next) found.push(next)
  }
  return found
}

/** Those of a list in order that do not overlap one before them. */
export function* apart(all: readonly Found[]): Work<Found[]> {
  const found: Found[] = []
  let end = 0
  for (const one of all) {
    yield
    if (one.start < end) continue
    found.push(one)
    end = one.end
  }
  return found
}

/** By the start; of two with the same start the longer one comes first. */
function isBefore(a: Found, b: Found): boolean {
  return a.start < b.start || (a.start === b.start && a.end > b.end)
}
