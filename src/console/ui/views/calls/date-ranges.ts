import type { DayRange } from '../../components/calendar.tsx'
import { type Dates, plusDays } from '../../components/dates.ts'
import { wordParam } from '../../search-params.ts'

/** Periods that move on with the days, as in the address: `date=last-7-days`. Days are counted back from today. */
export const relativeDates = {
  today: { label: 'Today', first: 0, last: 0 },
  yesterday: { label: 'Yesterday', first: 1, last: 1 },
  'last-7-days': { label: 'Last 7 days', first: 6, last: 0 },
  'last-14-days': { label: 'Last 14 days', first: 13, last: 0 },
  'last-30-days': { label: 'Last 30 days', first: 29, last: 0 },
  'last-90-days': { label: 'Last 90 days', first: 89, last: 0 },
} as const

export type RelativeDate = keyof typeof relativeDates
export const relativeDateNames = Object.keys(relativeDates) as RelativeDate[]

/** @returns undefined for any other text */
export function relativeDateOf(text: string | undefined): RelativeDate | undefined {
  return wordParam(text, relativeDateNames)
}

/** The days from the first to the last one, as instants. */
export function rangeOfRelative(name: RelativeDate, dates: Dates, now: number): { from: string; to: string } {
  const { first, last } = relativeDates[name]
  const today = dates.dayOf(now)
  return dates.rangeOf(plusDays(today, -first), plusDays(today, -last))
}

interface Range {
  from?: string | undefined
  to?: string | undefined
}

/** `5 Jan`, `5 Jan – 12 Jan`, `since 5 Jan`, with the time where a bound is not the start of a day. */
export function dateRangeLabel({ from, to }: Range, dates: Dates, now: number): string {
  const label = (at: string) => (isStart(at, dates) ? dates.day(at, now) : dates.moment(at, now))
  const until = (at: string) => dates.day(Date.parse(at) - 1, now)
  if (from && to) {
    if (!isStart(from, dates) || !isStart(to, dates))
      return `${dates.moment(from, now)} – ${dates.moment(to, now)}`
    const [first, last] = [dates.day(from, now), until(to)]
    return first === last ? first : `${first} – ${last}`
  }
  if (from) return `since ${label(from)}`
  if (to) return isStart(to, dates) ? `until ${until(to)}` : `before ${label(to)}`
  return ''
}

/** The days of a range, as a calendar shows them. One that ends with a midnight ends with the day before it. */
export function rangeToDays({ from, to }: Range, dates: Dates): DayRange {
  return [from ? dates.dayOf(from) : null, to ? dates.dayOf(Date.parse(to) - 1) : null]
}

function isStart(at: string, dates: Dates): boolean {
  return dates.startOf(dates.dayOf(at)) === Date.parse(at)
}
