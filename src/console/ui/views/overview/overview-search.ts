/** The period of the overview, as in the address: the last days, or from one day to another. */
export interface OverviewSearch {
  days?: 7 | 30 | 90
  /** `2026-01-31`, a day where the reader is; both days are included. */
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

/** The period as instants. Days are those of the reader's time zone; the last one is today. */
export function periodOf(search: OverviewSearch, now: Date): Period {
  const { from, to } =
    search.from && search.to ? { from: search.from, to: search.to } : lastDays(search.days, now)
  return {
    from: startOf(from).toISOString(),
    to: startOf(to, 1).toISOString(),
    days: daysBetween(from, to),
  }
}

/** `7`, `30`, `90` or `custom`. */
export function choiceOf({ days, from }: OverviewSearch): string {
  return from ? 'custom' : String(days ?? periodDefault)
}

/** Every day of a period, as `2026-01-31`. */
export function daysOf({ from, days }: Period): string[] {
  const first = dayName(new Date(from))
  return Array.from({ length: days }, (_, day) => dayName(startOf(first, day)))
}

/** The instants of one day. */
export function rangeOfDay(day: string): { from: string; to: string } {
  return { from: startOf(day).toISOString(), to: startOf(day, 1).toISOString() }
}

/** `5 Jan` */
export function dayLabel(day: string, options: Intl.DateTimeFormatOptions = {}): string {
  return startOf(day).toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...options })
}

/** `5 Jan – 3 Feb 2026` */
export function periodLabel({ from, to }: Period): string {
  const last = dayName(new Date(Date.parse(to) - 1))
  const first = dayName(new Date(from))
  const isOneYear = first.slice(0, 4) === last.slice(0, 4)
  const end = dayLabel(last, { year: 'numeric' })
  return first === last ? end : `${dayLabel(first, isOneYear ? {} : { year: 'numeric' })} – ${end}`
}

/** The 30 days that end with the day of an instant. */
export function periodAround(instant: string): { from: string; to: string } {
  return lastDays(periodDefault, new Date(instant))
}

function lastDays(days: number = periodDefault, now: Date): { from: string; to: string } {
  const today = dayName(now)
  return { from: dayName(startOf(today, 1 - days)), to: today }
}

/** `2026-01-31` of an instant, where the reader is. */
export function dayName(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The first instant of a day, or of one that many days later. */
function startOf(day: string, later = 0): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later)
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1
}

function dayOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value) ? value : undefined
}
