import { type Dates, dayLabel, daysBetween, plusDays } from '../../components/dates.ts'

/** The period of the overview, as in the address: the last days, or from one day to another. */
export interface OverviewSearch {
  days?: 7 | 30 | 90
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
}

export const periodChoices = [7, 30, 90] as const
const periodDefault = 30
/** In a longer period the chart's bars would be too thin to read. */
const periodDaysMax = 366

/** Reads the address; invalid values are left out. */
export function overviewSearch(search: Record<string, unknown>): OverviewSearch {
  const days = periodChoices.find((choice) => choice === Number(search.days))
  const [from, to] = [dayOf(search.from), dayOf(search.to)]
  if (from && to && from <= to && daysBetween(from, to) <= periodDaysMax) return { from, to }
  return days ? { days } : {}
}

/** The period as instants; the last day is today. */
export function periodOf(search: OverviewSearch, dates: Dates, now: number): Period {
  const { from, to } =
    search.from && search.to
      ? { from: search.from, to: search.to }
      : lastDays(search.days ?? periodDefault, dates.dayOf(now))
  const days = daysBetween(from, to)
  return { ...dates.rangeOf(from, to), days, before: dates.rangeOf(plusDays(from, -days)).from }
}

/** `7`, `30`, `90` or `custom`. */
export function choiceOf({ days, from }: OverviewSearch): string {
  return from ? 'custom' : String(days ?? periodDefault)
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
  return lastDays(periodDefault, day)
}

function lastDays(days: number, last: string): { from: string; to: string } {
  return { from: plusDays(last, 1 - days), to: last }
}

function dayOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value) ? value : undefined
}
