import { DatePicker } from '@mantine/dates'
import { useState } from 'react'
import { localCalendar } from './local-calendar.ts'

/** A first and a last day, such as `2026-01-31`. */
export type DayRange = [string | null, string | null]

interface RangeCalendarProps {
  days: DayRange
  /** Called when both days are chosen: both inclusive. */
  onChoose: (first: string, last: string) => void
  /** The last day that can be chosen. */
  today: string
}

/** A calendar for choosing two days. Loaded when it is first opened. */
export default function RangeCalendar({ days, onChoose, today }: RangeCalendarProps) {
  const [range, setRange] = useState(days)
  const choose = (next: DayRange) => {
    setRange(next)
    const [first, last] = next
    if (first && last) onChoose(first, last)
  }
  return (
    <DatePicker
      {...localCalendar()}
      type="range"
      allowSingleDateInRange
      value={range}
      onChange={choose}
      defaultDate={days[1] ?? today}
      maxDate={today}
    />
  )
}
