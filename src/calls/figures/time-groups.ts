import { clockOf, partsOf, type ZonePart } from '../../text/zone.ts'
import { dayMs, type Period } from '../finding/period.ts'

export const groupsMax = 1_000
export const timeUnits = ['hour', 'day', 'week', 'month', 'hourOfDay', 'weekday'] as const
export type TimeUnit = (typeof timeUnits)[number]

const hourMs = 3_600_000
/** Parts of a time zone are kept in blocks of so many days. */
const blockMs = 60 * dayMs
/** 1970 began on the fourth day of its week. */
const firstWeekday = 3

/** A group of time, which calls from `from` to `until` are in. Others may be in it as well. */
export interface TimeGroup extends Period {
  /** An hour by the instant at which it starts, a day or week by its first midnight as if in UTC, a month by its number since 1970. */
  name: number
}

/** Finds the group of an instant in a time zone. */
export class TimeGroups {
  readonly #unit: TimeUnit
  readonly #aheadAt: (at: number) => number
  readonly #blocks = new Map<number, ZonePart[]>()

  constructor(unit: TimeUnit, zone: string) {
    this.#unit = unit
    this.#aheadAt = clockOf(zone) ?? (() => 0)
  }

  of(at: number): TimeGroup {
    const { from, to, ahead, isCut } = this.#partAt(at)
    const local = at + ahead
    const hour = Math.floor(local / hourMs)
    const day = Math.floor(local / dayMs)
    const within = (start: number, ms: number, name: number): TimeGroup => {
      return { name, from: Math.max(from, start - ahead), to: Math.min(to, start + ms - ahead) }
    }
    switch (this.#unit) {
      case 'hour': {
        // One that a change of half an hour cuts is two, of which the second one starts with the change.
        const start = hour * hourMs - ahead
        return within(hour * hourMs, hourMs, isCut ? Math.max(from, start) : start)
      }
      case 'hourOfDay':
        return within(hour * hourMs, hourMs, ((hour % 24) + 24) % 24)
      case 'weekday':
        return within(day * dayMs, dayMs, ((((day + firstWeekday) % 7) + 7) % 7) + 1)
      case 'day':
        return within(day * dayMs, dayMs, day * dayMs)
      case 'week': {
        const monday = day - ((((day + firstWeekday) % 7) + 7) % 7)
        return within(monday * dayMs, 7 * dayMs, monday * dayMs)
      }
      case 'month': {
        const date = new Date(local)
        const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
        const start = Date.UTC(year, month)
        return within(start, Date.UTC(year, month + 1) - start, (year - 1970) * 12 + month)
      }
    }
  }

  /** All groups of a period, without holes, at most one more than can be shown. */
  in({ from, to }: Period): number[] {
    if (this.#unit === 'hourOfDay') return Array.from({ length: 24 }, (_, hour) => hour)
    if (this.#unit === 'weekday') return [1, 2, 3, 4, 5, 6, 7]
    const names = new Set<number>()
    for (let at = from; at < to && names.size <= groupsMax; ) {
      const group = this.of(at)
      names.add(group.name)
      at = group.to
    }
    return [...names]
  }

  textOf(name: number): string {
    switch (this.#unit) {
      case 'hour':
        return new Date(name).toISOString()
      case 'day':
      case 'week':
        return new Date(name).toISOString().slice(0, 10)
      case 'month':
        return new Date(Date.UTC(1970, name)).toISOString().slice(0, 7)
      case 'hourOfDay':
        return String(name).padStart(2, '0')
      case 'weekday':
        return String(name)
    }
  }

  /** `isCut`: whether the part begins with a change of the offset. */
  #partAt(at: number): ZonePart & { isCut: boolean } {
    const block = Math.floor(at / blockMs)
    const start = block * blockMs
    let parts = this.#blocks.get(block)
    if (!parts) {
      // From a day earlier, so that the first one of the block does not begin within an hour that is cut.
      parts = partsOf({ from: start - dayMs, to: start + blockMs }, this.#aheadAt)
      this.#blocks.set(block, parts)
    }
    const place = parts.findIndex(({ to }) => at < to)
    const part = parts[place] ?? { from: start, to: start + blockMs, ahead: this.#aheadAt(at) }
    return { ...part, isCut: place > 0 }
  }
}
