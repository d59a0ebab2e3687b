/** The period of the overview, as in the address: the last days, or from one day to another. */
export interface OverviewSearch {
  days?: 7 | 30 | 90
  /** `2026-01-31`, in UTC, both days included. */
  from?: string
  to?: string
}

export interface Period {
  /** Instants: `from` inclusive, `to` exclusive. */
  from: string
  to: string
  /** Whole days. */
  days: number
}

export const periodChoices = [7, 30, 90] as const
export const periodDefault = 30
/** In a longer period the chart's bars would be too thin to read. */
export const periodDaysMax = 366

const dayMs = 86_400_000

/** Reads the address; invalid values are left out. */
export function overviewSearch(search: Record<string, unknown>): OverviewSearch {
  const days = periodChoices.find((choice) => choice === Number(search.days))
  const [from, to] = [dayOf(search.from), dayOf(search.to)]
  if (from && to && from <= to && daysBetween(from, to) <= periodDaysMax) return { from, to }
  return days ? { days } : {}
}

/** The period as instants. Days are in UTC, as the service counts them; the last one is today. */
export function periodOf(search: OverviewSearch, now: Date): Period {
  const { from, to } =
    search.from && search.to ? { from: search.from, to: search.to } : lastDays(search.days, now)
  return {
    from: new Date(from).toISOString(),
    to: new Date(Date.parse(to) + dayMs).toISOString(),
    days: daysBetween(from, to),
  }
}

/** `7`, `30`, `90` or `custom`. */
export function choiceOf({ days, from }: OverviewSearch): string {
  return from ? 'custom' : String(days ?? periodDefault)
}

/** Every day of a period, as `2026-01-31`. */
export function daysOf({ from, days }: Period): string[] {
  return Array.from({ length: days }, (_, day) => toDay(Date.parse(from) + day * dayMs))
}

/** The instants of one day in UTC. */
export function rangeOfDay(day: string): { from: string; to: string } {
  const start = Date.parse(day)
  return { from: new Date(start).toISOString(), to: new Date(start + dayMs).toISOString() }
}

/** `5 Jan`, for a day in UTC, whatever the local time zone. */
export function dayLabel(day: string, options: Intl.DateTimeFormatOptions = {}): string {
  return new Date(day).toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
    ...options,
  })
}

/** `5 Jan – 3 Feb 2026` */
export function periodLabel({ from, to }: Period): string {
  const last = toDay(Date.parse(to) - 1)
  const first = toDay(Date.parse(from))
  const isOneYear = first.slice(0, 4) === last.slice(0, 4)
  const end = dayLabel(last, { year: 'numeric' })
  return first === last ? end : `${dayLabel(first, isOneYear ? {} : { year: 'numeric' })} – ${end}`
}

/** The 30 days that end with the day of an instant. */
export function periodAround(instant: string): { from: string; to: string } {
  return lastDays(periodDefault, new Date(instant))
}

function lastDays(days: number = periodDefault, now: Date): { from: string; to: string } {
  const today = toDay(now.getTime())
  return { from: toDay(Date.parse(today) - (days - 1) * dayMs), to: today }
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function dayOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && toDay(ms) === value ? value : undefined
}
