import { DatePicker } from '@mantine/dates'
import dayjs from 'dayjs'
import { useState } from 'react'
import { localCalendar } from './local-calendar.ts'

interface RangeCalendarProps {
  days: [Date | null, Date | null]
  /** Called when both days are chosen: both inclusive, at local midnight. */
  onChoose: (first: Date, last: Date) => void
  maxDate?: Date
}

/** A calendar for choosing two days. Loaded when it is first opened. */
export default function RangeCalendar({ days, onChoose, maxDate }: RangeCalendarProps) {
  const asDay = (date: Date | null) => (date ? dayjs(date).format('YYYY-MM-DD') : null)
  const [range, setRange] = useState<[string | null, string | null]>([asDay(days[0]), asDay(days[1])])
  const choose = (next: [string | null, string | null]) => {
    setRange(next)
    const [first, last] = next
    if (first && last) onChoose(dayjs(first).toDate(), dayjs(last).toDate())
  }
  return (
    <DatePicker
      {...localCalendar()}
      type="range"
      allowSingleDateInRange
      value={range}
      onChange={choose}
      defaultDate={asDay(days[1]) ?? asDay(new Date()) ?? undefined}
      maxDate={maxDate && (asDay(maxDate) ?? undefined)}
    />
  )
}
