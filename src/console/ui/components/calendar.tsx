import { DatePicker } from '@mantine/dates'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { dayLabel, plusDays, plusMonths } from './dates.ts'
import { firstDayOfWeek } from './locale.ts'

/** A first and a last day, such as `2026-01-31`. */
export type DayRange = [string | null, string | null]

interface CalendarProps {
  /** The chosen ones; the same one twice for a single day. */
  days: DayRange
  today: string
  /** Which days can be chosen: a single one from today on, or two up to today. */
  of: 'one' | 'two'
  /** Both days are inclusive. */
  onChoose: (first: string, last: string) => void
}

const weekStart = firstDayOfWeek()
// A day as the calendar writes it: `2026-01-31`, without a time zone.
const named = (shape: Intl.DateTimeFormatOptions) => (date: string | Date) =>
  dayLabel(String(date).slice(0, 10), {}, shape)
/** What calendars have where the reader lives: the names, and the day on which weeks begin. */
const regional = {
  size: 'sm' as const,
  weekendDays: [],
  hideOutsideDates: true,
  firstDayOfWeek: weekStart,
  weekdayFormat: named({ weekday: 'short' }),
  monthLabelFormat: named({ month: 'long', year: 'numeric' }),
  ariaLabels: { previousMonth: 'Previous month', nextMonth: 'Next month' },
}

/** A calendar for choosing days. Loaded when it is first opened. */
export default function Calendar({ days, today, of, onChoose }: CalendarProps) {
  const [range, setRange] = useState(days)
  const start = days[1] ?? today
  const [month, setMonth] = useState(start)
  const [wanted, setWanted] = useState<string | null>(null)
  const frame = useRef<HTMLDivElement>(null)
  const limits = of === 'one' ? { minDate: today } : { maxDate: today }
  useEffect(() => {
    // It came after the dialog that holds it, which has taken the focus.
    if (document.activeElement?.matches('[role="dialog"]')) setWanted(start)
  }, [start])
  useEffect(() => {
    if (wanted === null) return
    frame.current?.querySelector<HTMLElement>(`[data-day="${wanted}"]:not([data-outside])`)?.focus()
    setWanted(null)
  }, [wanted])
  const onKey = (event: KeyboardEvent) => {
    const day = event.target instanceof HTMLElement ? event.target.dataset.day : undefined
    const to = day && dayByKey(day, event)
    if (!to) return
    event.preventDefault()
    event.stopPropagation()
    const next = (of === 'one') === to < today ? today : to
    setMonth(next)
    setWanted(next)
  }
  const choose = (next: DayRange) => {
    setRange(next)
    const [first, last] = next
    if (first && last) onChoose(first, last)
  }
  const getDayProps = (day: string) => ({
    'data-day': day,
    'data-autofocus': day === start || undefined,
    'aria-label': dayLabel(day, {}, { dateStyle: 'full' }),
  })
  const shared = { ...regional, ...limits, getDayProps, date: month, onDateChange: setMonth }
  return (
    <div ref={frame} onKeyDownCapture={onKey}>
      {of === 'one' ? (
        <DatePicker {...shared} value={range[0]} onChange={(day) => day && choose([day, day])} />
      ) : (
        <DatePicker {...shared} type="range" allowSingleDateInRange value={range} onChange={choose} />
      )}
    </div>
  )
}

/** Where a key leads from a day: https://www.w3.org/WAI/ARIA/apg/patterns/dialog-modal/examples/datepicker-dialog/ */
export function dayByKey(day: string, { key, shiftKey }: { key: string; shiftKey: boolean }): string | null {
  const inWeek = (new Date(day).getUTCDay() - weekStart + 7) % 7
  switch (key) {
    case 'ArrowLeft':
      return plusDays(day, -1)
    case 'ArrowRight':
      return plusDays(day, 1)
    case 'ArrowUp':
      return plusDays(day, -7)
    case 'ArrowDown':
      return plusDays(day, 7)
    case 'Home':
      return plusDays(day, -inWeek)
    case 'End':
      return plusDays(day, 6 - inWeek)
    case 'PageUp':
      return plusMonths(day, shiftKey ? -12 : -1)
    case 'PageDown':
      return plusMonths(day, shiftKey ? 12 : 1)
    default:
      return null
  }
}
