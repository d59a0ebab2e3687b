import { type SQL, sql } from 'drizzle-orm'
import { partsOf, type ZonePart } from '../../text/zone.ts'
import { dayMs } from '../finding/counts.ts'

export const groupsMax = 1_000
const unitMs = { day: dayMs, hour: 3_600_000 }
export type TimeUnit = keyof typeof unitMs
/** Added before a division, which rounds towards zero: local times may lie before 1970. */
const beforeMs = 2 * dayMs

/**
 * The days or hours of a time zone from a time on, as many as an answer can have and one more. A group is named by a
 * number: a day by its midnight as if it were in UTC, an hour by the instant at which it starts.
 */
export class TimeGroups {
  readonly names: readonly number[]
  readonly #unit: TimeUnit
  readonly #parts: readonly ZonePart[]

  constructor(unit: TimeUnit, { from, to }: { from: number; to: number }, aheadAt: (at: number) => number) {
    this.#unit = unit
    // A day has up to 25 hours.
    const until = Math.min(to, from + (groupsMax + 2) * (unitMs[unit] + unitMs.hour))
    this.#parts = partsOf({ from, to: until }, aheadAt)
    const names = new Set<number>()
    let reached = from
    for (const part of this.#parts)
      while (reached < part.to && names.size <= groupsMax) {
        const [name, end] = [this.#nameIn(part, reached), Math.min(this.#endOf(part, reached), part.to)]
        names.add(name)
        reached = end
      }
    this.names = [...names]
  }

  /** The name of the group of an instant; null beyond all groups. */
  nameOf(at: SQL): SQL<number | null> {
    const unit = unitMs[this.#unit]
    const branches = this.#parts.map((part) => {
      const { ahead, start, shown } = this.#shiftsOf(part)
      // Not parameters, which would be floats.
      const name = `/ ${unit} * ${unit} - ${beforeMs + shown}`
      return sql`when ${at} < ${sql.raw(`${part.to}`)} then max(${sql.raw(`${start}`)}, (${at} + ${sql.raw(`${beforeMs + ahead}`)}) ${sql.raw(name)})`
    })
    return branches.length === 0 ? sql`null` : sql`case ${sql.join(branches, sql` `)} end`
  }

  /** `2026-03-29`, or the ISO time at which the hour starts. */
  textOf(name: number): string {
    const text = new Date(name).toISOString()
    return this.#unit === 'day' ? text.slice(0, 10) : text
  }

  #nameIn(part: ZonePart, at: number): number {
    const unit = unitMs[this.#unit]
    const { ahead, start, shown } = this.#shiftsOf(part)
    return Math.max(start, Math.floor((at + ahead) / unit) * unit - shown)
  }

  #endOf({ ahead }: ZonePart, at: number): number {
    const unit = unitMs[this.#unit]
    return (Math.floor((at + ahead) / unit) + 1) * unit - ahead
  }

  /** An hour that a change of half an hour cuts is two, of which the second one starts with the change. */
  #shiftsOf(part: ZonePart): { ahead: number; start: number; shown: number } {
    const { ahead, from } = part
    const isCut = this.#unit === 'hour' && part !== this.#parts[0]
    return { ahead, start: isCut ? from : -beforeMs, shown: this.#unit === 'hour' ? ahead : 0 }
  }
}
