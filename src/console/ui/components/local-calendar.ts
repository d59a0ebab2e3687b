type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** How a calendar looks where the reader lives: the names, and the day on which weeks begin. */
export function localCalendar() {
  const name = (options: Intl.DateTimeFormatOptions) => (date: string | Date) =>
    new Intl.DateTimeFormat(undefined, options).format(dayOf(date))
  return {
    size: 'sm' as const,
    weekendDays: [] as Weekday[],
    hideOutsideDates: true,
    firstDayOfWeek: firstDayOfWeek(new Intl.DateTimeFormat().resolvedOptions().locale),
    weekdayFormat: name({ weekday: 'short' }),
    monthLabelFormat: name({ month: 'long', year: 'numeric' }),
    ariaLabels: { previousMonth: 'Previous month', nextMonth: 'Next month' },
  }
}

/** 0 is Sunday; Monday where the browser does not know. */
export function firstDayOfWeek(locale: string): Weekday {
  const known = new Intl.Locale(locale) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number }
    weekInfo?: { firstDay: number }
  }
  const first = (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? 1
  return (first % 7) as Weekday
}

/** A day as the calendar writes it, `2026-01-31`, is one of the reader's days and not of UTC. */
function dayOf(date: string | Date): Date {
  return typeof date === 'string' ? new Date(`${date.slice(0, 10)}T00:00:00`) : date
}
