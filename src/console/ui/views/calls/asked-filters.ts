import type { Dates } from '../../components/dates.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import { rangeOfRelative, relativeDateOf } from './relative-dates.ts'

/**
 * The filters as the API takes them: with instants in place of a relative date, and live calls without silent ones. A date
 * that cannot be read stays.
 */
export function askedFilters({ date, ...filters }: ChosenFilters, dates: Dates, now: number): AskedFilters {
  const asked = { ...filters, ...askedStatus(filters.status) }
  if (date === undefined) return asked
  const relative = relativeDateOf(date)
  return relative ? { ...asked, ...rangeOfRelative(relative, dates, now) } : { ...asked, date }
}

/** The service knows how long ago something was heard of a live call. */
export type AskedFilters = ChosenFilters & { silent?: string }

function askedStatus(status: string | undefined): Pick<AskedFilters, 'status' | 'silent'> {
  if (status === 'silent') return { status: 'live', silent: 'true' }
  return status === 'live' ? { status, silent: 'false' } : {}
}
