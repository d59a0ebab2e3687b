import { localeOf } from './locale.ts'

const msPerDay = 86_400_000
const steps = [
  { unit: 'minute', seconds: 60, below: 3_600 },
  { unit: 'hour', seconds: 3_600, below: 86_400 },
  { unit: 'day', seconds: 86_400, below: 7 * 86_400 },
] as const

type Shape = Intl.DateTimeFormatOptions
/** ISO 8601, or milliseconds since 1970. */
type At = string | number

const locale = localeOf()
/** `9:05 PM`, but `09:05`. */
const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
const time: Shape = { hour: hour12 ? 'numeric' : '2-digit', minute: '2-digit' }
const day: Shape = { day: 'numeric', month: 'short' }

/** Days and times as a person reads them, in one time zone. A day is written `2026-01-31`. */
export class Dates {
  /** Such as `Europe/Berlin`. */
  readonly zone: string
  readonly #days: Intl.DateTimeFormat
  readonly #formats = new Map<Shape, Intl.DateTimeFormat>()

  /** @param zone null for the reader's own, which also stands for a zone that the browser does not know */
  constructor(zone: string | null) {
    this.#days = daysIn(zone) ?? new Intl.DateTimeFormat('en', numeric)
    this.zone = this.#days.resolvedOptions().timeZone
  }

  /** The day of an instant. */
  dayOf(at: At): string {
    const parts = this.#days.formatToParts(msOf(at)).map(({ type, value }) => [type, value])
    const { year, month, day } = Object.fromEntries(parts)
    return `${year}-${month}-${day}`
  }

  /** The first instant of a day, which is not midnight where clocks change then. */
  startOf(day: string): number {
    // In minutes from midnight in UTC: no clocks differ from that by more than 14 hours.
    let [before, after] = [-900, 900]
    const at = (minute: number) => Date.parse(day) + minute * 60_000
    while (after - before > 1) {
      const middle = (before + after) >> 1
      if (this.dayOf(at(middle)) < day) before = middle
      else after = middle
    }
    return at(after)
  }

  /** The instants from the first of one day to the last of another: `from` inclusive, `to` exclusive. */
  rangeOf(first: string, last = first): { from: string; to: string } {
    const [from, to] = [this.startOf(first), this.startOf(plusDays(last, 1))]
    return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  }

  /** `14:32` */
  time(at: At): string {
    return this.#format(at, time)
  }

  /** `14:32:07` */
  second(at: At): string {
    return this.#format(at, timeWithSecond)
  }

  /** `19 Nov, 14:32`, with the year when it is another. */
  moment(at: At, now: At = Date.now()): string {
    return this.#format(at, this.#isSameYear(at, now) ? moment : momentWithYear)
  }

  /** `19 Nov, 14:32:07`, with the year when it is another. */
  momentWithSecond(at: At, now: At = Date.now()): string {
    return this.#format(at, this.#isSameYear(at, now) ? momentWithSecond : full)
  }

  /** `19 Nov`, with the year when it is another. */
  day(at: At, now: At): string {
    return dayLabel(this.dayOf(at), this.#isSameYear(at, now) ? {} : { year: 'numeric' })
  }

  /** `Today`, `Yesterday`, `Thu 19 Nov`, with the year when it is another. */
  heading(at: At, now: At): string {
    const [day, today] = [this.dayOf(at), this.dayOf(now)]
    if (day === today) return 'Today'
    if (day === plusDays(today, -1)) return 'Yesterday'
    return dayLabel(day, { weekday: 'short', ...(this.#isSameYear(at, now) ? {} : { year: 'numeric' }) })
  }

  /**
   * `just now`, `5 min ago`, for up to a week; then the day.
   * @param soon the text for the next minute; `just now` by default, because the service's clock may be ahead
   */
  relative(at: At, now: number, soon = 'just now'): string {
    const seconds = Math.round((msOf(at) - now) / 1_000)
    const distance = Math.abs(seconds)
    // A count of seconds would be out of date before it is read.
    if (distance < 60) return seconds > 0 ? soon : 'just now'
    const step = steps.find(({ below }) => distance < below)
    if (!step) return this.day(at, now)
    return relative.format(Math.trunc(seconds / step.seconds), step.unit)
  }

  /** The day and the time, to the second. */
  full(at: At): string {
    return this.#format(at, full)
  }

  /** With the day of the week, the second and the zone. */
  exact(at: At): string {
    return this.#format(at, exact)
  }

  #isSameYear(at: At, now: At): boolean {
    return this.dayOf(at).slice(0, 4) === this.dayOf(now).slice(0, 4)
  }

  #format(at: At, shape: Shape): string {
    const format =
      this.#formats.get(shape) ?? new Intl.DateTimeFormat(locale, { ...shape, timeZone: this.zone })
    this.#formats.set(shape, format)
    return format.format(msOf(at))
  }
}

const numeric: Shape = { year: 'numeric', month: '2-digit', day: '2-digit' }
const timeWithSecond: Shape = { ...time, second: '2-digit' }
const moment: Shape = { ...day, ...time }
const momentWithSecond: Shape = { ...day, ...timeWithSecond }
const momentWithYear: Shape = { ...moment, year: 'numeric' }
const full: Shape = { dateStyle: 'medium', timeStyle: 'medium' }
const exact: Shape = { dateStyle: 'full', timeStyle: 'long' }
// Making one takes longer than a hundred dates.
const dayFormats = new Map<string, Intl.DateTimeFormat>()
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })

/** A day without the year: `5 Jan`. */
export function dayLabel(name: string, shape: Shape = {}, base = day): string {
  const key = JSON.stringify([base, shape])
  const format =
    dayFormats.get(key) ?? new Intl.DateTimeFormat(locale, { ...base, ...shape, timeZone: 'UTC' })
  dayFormats.set(key, format)
  return format.format(Date.parse(name))
}

/** The day so many days later. */
export function plusDays(day: string, days: number): string {
  return dayName(Date.parse(day) + days * msPerDay)
}

/** The same day of another month, or the last one of a month that is shorter. */
export function plusMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
  return dayName(Date.UTC(year, month - 1 + months, Math.min(date, last)))
}

/** The number of days from one to another, including both. */
export function daysBetween(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / msPerDay) + 1
}

function daysIn(timeZone: string | null): Intl.DateTimeFormat | null {
  try {
    return timeZone === null ? null : new Intl.DateTimeFormat('en', { ...numeric, timeZone })
  } catch {
    // An old browser throws for a zone that it does not know.
    return null
  }
}

function dayName(utc: number): string {
  return new Date(utc).toISOString().slice(0, 10)
}

function msOf(at: At): number {
  return typeof at === 'number' ? at : Date.parse(at)
}
