import { type Dates, dayLabel, daysBetween, plusDays } from '../../components/dates.ts'
import { wordParam } from '../../search-params.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { type RelativeDate, relativeDates } from '../calls/date-ranges.ts'

/** The period of the overview, as in the address: one that moves on, as in the list of calls, or from one day to another. */
export interface OverviewSearch {
  date?: RelativeDate
  /** `2026-01-31`; both days are included. */
  from?: string
  to?: string
}

export interface Period {
  /** Instants: `from` inclusive, `to` exclusive. */
  from: string
  to: string
  /** Whole days. */
  days: number
  /** The start of the period before it, which has as many days. */
  before: string
  /** The same for the list of calls and for charts: one that moves on does so there, too. */
  filters: Pick<ChosenFilters, 'date' | 'from' | 'to'>
}

export const periodChoices = ['yesterday', 'last-7-days', 'last-30-days', 'last-90-days'] as const
const periodDefault = 'last-30-days'
/** In a longer period the chart's bars would be too thin to read. */
const periodDaysMax = 366

/** Reads the address; invalid values are left out. */
export function overviewSearch(search: Record<string, unknown>): OverviewSearch {
  const date = wordParam(search.date, periodChoices)
  const [from, to] = [dayOf(search.from), dayOf(search.to)]
  if (from && to && from <= to && daysBetween(from, to) <= periodDaysMax) return { from, to }
  return date ? { date } : {}
}

/** The period as instants. */
export function periodOf(
  { date = periodDefault, ...range }: OverviewSearch,
  dates: Dates,
  now: number,
): Period {
  const { first, last } = relativeDates[date]
  const today = dates.dayOf(now)
  const { from = plusDays(today, -first), to = plusDays(today, -last) } = range
  const days = daysBetween(from, to)
  const instants = dates.rangeOf(from, to)
  const filters = range.from ? instants : { date }
  return { ...instants, days, before: dates.rangeOf(plusDays(from, -days)).from, filters }
}

/** One of the choices, or `custom`. */
export function choiceOf({ date, from }: OverviewSearch): string {
  return from ? 'custom' : (date ?? periodDefault)
}

/** `5 Jan – 3 Feb 2026` */
export function periodLabel({ from, to }: Period, dates: Dates): string {
  const [first, last] = [dates.dayOf(from), dates.dayOf(Date.parse(to) - 1)]
  const isOneYear = first.slice(0, 4) === last.slice(0, 4)
  const end = dayLabel(last, { year: 'numeric' })
  return first === last ? end : `${dayLabel(first, isOneYear ? {} : { year: 'numeric' })} – ${end}`
}

/** `previous 30 days`: what a period of so many days is compared with. */
export function labelBefore(days: number): string {
  return days === 1 ? 'previous day' : `previous ${days} days`
}

/** The 30 days that end with a day. */
export function periodUntil(day: string): { from: string; to: string } {
  return { from: plusDays(day, -relativeDates[periodDefault].first), to: day }
}

function dayOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value) ? value : undefined
}
