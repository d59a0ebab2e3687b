import type { Dates } from '../../components/dates.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import { rangeOfRelative, relativeDateOf } from './relative-dates.ts'

/** The filters as the API takes them: with instants in place of a relative date. One that cannot be read stays. */
export function askedFilters({ date, ...filters }: ChosenFilters, dates: Dates, now: number): ChosenFilters {
  if (date === undefined) return filters
  const relative = relativeDateOf(date)
  return relative ? { ...filters, ...rangeOfRelative(relative, dates, now) } : { ...filters, date }
}
