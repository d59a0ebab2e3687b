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
