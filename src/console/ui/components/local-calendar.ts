import { dayLabel } from './dates.ts'
import { firstDayOfWeek } from './locale.ts'

/** How a calendar looks where the reader lives: the names, and the day on which weeks begin. */
export function localCalendar() {
  // A day as the calendar writes it: `2026-01-31`, without a time zone.
  const name = (shape: Intl.DateTimeFormatOptions) => (date: string | Date) =>
    dayLabel(String(date).slice(0, 10), {}, shape)
  return {
    size: 'sm' as const,
    weekendDays: [],
    hideOutsideDates: true,
    firstDayOfWeek: firstDayOfWeek(),
    weekdayFormat: name({ weekday: 'short' }),
    monthLabelFormat: name({ month: 'long', year: 'numeric' }),
    ariaLabels: { previousMonth: 'Previous month', nextMonth: 'Next month' },
  }
}
