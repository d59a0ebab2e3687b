import type { Work } from '../threads/time-slices.ts'
import type { Finding } from './kinds.ts'

/** Inserts into a sorted list. Searches from the end, where the place nearly always is. */
export function insertSorted(found: Finding[], one: Finding): void {
  let at = found.length
  for (let last = found[at - 1]; last && isBefore(one, last); last = found[at - 1]) at--
  found.splice(at, 0, one)
}

/** Whether a finding overlaps any of the others, which are sorted by their starts and by their ends. */
export function overlapsAny(others: readonly Finding[], { start, end }: Finding): boolean {
  let [low, high] = [0, others.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((others[middle]?.end ?? 0) > start) high = middle
    else low = middle + 1
  }
  return (others[low]?.start ?? end) < end
}

/** Merges two sorted lists. */
export function* mergeSorted(some: readonly Finding[], others: readonly Finding[]): Work<Finding[]> {
  const found: Finding[] = []
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

/** A sorted list without the findings that overlap an earlier one. */
export function* withoutOverlaps(all: readonly Finding[]): Work<Finding[]> {
  const found: Finding[] = []
  let end = 0
  for (const one of all) {
    yield
    if (one.start < end) continue
    found.push(one)
    end = one.end
  }
  return found
}

/** Sorts by start; of two with the same start, the longer comes first. */
function isBefore(a: Finding, b: Finding): boolean {
  return a.start < b.start || (a.start === b.start && a.end > b.end)
}
