/** Numbers that are sorted at once, in some 5 ms. */
const partMax = 65_536
const placedMax = 262_144

/** The numbers of many groups, of which some are wanted by their rank. */
export class Percentiles {
  #numbers = new Float64Array(1_024)
  #groups = new Uint32Array(1_024)
  #count = 0
  /** How many numbers each group has. */
  readonly #counts: number[] = []

  /** @param values of each call; NaN for none @param found the calls to add, so many of them @param groups their groups */
  add(values: ArrayLike<number>, found: Int32Array, groups: Int32Array, count: number): void {
    while (this.#numbers.length < this.#count + count) this.#grow()
    const [numbers, groupOf, counts] = [this.#numbers, this.#groups, this.#counts]
    let end = this.#count
    for (let at = 0; at < count; at++) {
      const number = values[found[at] as number] as number
      if (Number.isNaN(number)) continue
      const group = groups[at] as number
      counts[group] = (counts[group] ?? 0) + 1
      groupOf[end] = group
      numbers[end++] = number
    }
    this.#count = end
  }

  /** Sorts the numbers of each group, in parts of which each is sorted on its own, so that others get a turn. */
  async sorted(nextTurn: () => Promise<unknown>): Promise<SortedGroups> {
    const ends = new Uint32Array(this.#counts.length + 1)
    for (const [group, count] of this.#counts.entries())
      ends[group + 1] = (ends[group] as number) + (count ?? 0)
    const places = ends.slice()
    const numbers = new Float64Array(this.#count)
    for (let start = 0; start < this.#count; start += placedMax) {
      const end = Math.min(start + placedMax, this.#count)
      for (let at = start; at < end; at++) {
        const group = this.#groups[at] as number
        const place = places[group] as number
        numbers[place] = this.#numbers[at] as number
        places[group] = place + 1
      }
      await nextTurn()
    }
    const sorted = new SortedGroups()
    let unpaused = 0
    for (const group of this.#counts.keys())
      for (let start = ends[group] as number; start < (ends[group + 1] as number); start += partMax) {
        const part = numbers.subarray(start, Math.min(start + partMax, ends[group + 1] as number)).sort()
        sorted.add(group, part)
        unpaused += part.length
        if (unpaused < partMax) continue
        unpaused = 0
        await nextTurn()
      }
    return sorted
  }

  #grow(): void {
    const [numbers, groups] = [
      new Float64Array(this.#numbers.length * 2),
      new Uint32Array(this.#numbers.length * 2),
    ]
    numbers.set(this.#numbers)
    groups.set(this.#groups)
    this.#numbers = numbers
    this.#groups = groups
  }
}

/** The numbers of groups, in parts of which each is sorted. */
class SortedGroups {
  readonly #parts = new Map<number, Float64Array[]>()

  add(group: number, part: Float64Array): void {
    const parts = this.#parts.get(group)
    if (parts) parts.push(part)
    else this.#parts.set(group, [part])
  }

  /** The least number of a group that so many percent of its numbers do not exceed; undefined without numbers. */
  at(group: number, percent: number): number | undefined {
    return this.numberAt(group, Math.ceil((percent * this.countOf(group)) / 100) - 1)
  }

  countOf(group: number): number {
    return (this.#parts.get(group) ?? []).reduce((sum, { length }) => sum + length, 0)
  }

  /** How many numbers of a group are from one number to another, both included. */
  countWithin(group: number, least: number, most: number): number {
    return (this.#parts.get(group) ?? []).reduce(
      (sum, part) => sum + countOf(part, most, true) - countOf(part, least, false),
      0,
    )
  }

  /** The number at a place of all that are sorted, from 0; undefined beyond them. */
  numberAt(group: number, place: number): number | undefined {
    const parts = this.#parts.get(group)
    return parts && smallest(parts, place)
  }
}

/** The number that would stand at this place if all parts, each of them sorted, were sorted as one. */
function smallest(parts: readonly Float64Array[], place: number): number | undefined {
  const [only] = parts
  if (parts.length === 1) return only?.[place]
  // In each part, how many numbers are surely before the place, and how many may be.
  const low = parts.map(() => 0)
  const high = parts.map(({ length }) => length)
  for (;;) {
    let widest = 0
    for (let at = 1; at < parts.length; at++)
      if ((high[at] as number) - (low[at] as number) > (high[widest] as number) - (low[widest] as number))
        widest = at
    const [from, to] = [low[widest] as number, high[widest] as number]
    if (from === to) return undefined
    const pivot = parts[widest]?.[(from + to) >> 1] as number
    const before = parts.map((part) => countOf(part, pivot, false))
    const upTo = parts.map((part) => countOf(part, pivot, true))
    const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0)
    if (place < sum(before))
      for (const [at, count] of before.entries()) high[at] = Math.min(high[at] as number, count)
    else if (place >= sum(upTo))
      for (const [at, count] of upTo.entries()) low[at] = Math.max(low[at] as number, count)
    else return pivot
  }
}

/** How many numbers of a sorted array are less than this one, or not greater. */
function countOf(sorted: Float64Array, number: number, isIncluded: boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = sorted[middle] as number
    if (other < number || (isIncluded && other === number)) low = middle + 1
    else high = middle
  }
  return low
}
