import type { DayRange } from '../../components/calendar.tsx'
import type { Dates } from '../../components/dates.ts'
import type { ChosenFilters } from './chosen-filters.ts'

type Range = Pick<ChosenFilters, 'from' | 'to'>

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
