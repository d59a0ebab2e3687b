import { DatePicker } from '@mantine/dates'
import { localCalendar } from './local-calendar.ts'

interface DayCalendarProps {
  /** `2026-01-31`; empty when none is chosen. */
  day: string
  /** The first day that can be chosen. */
  today: string
  onChoose: (day: string) => void
}

/** A calendar for choosing a day from today on. Loaded when it is first opened. */
export default function DayCalendar({ day, today, onChoose }: DayCalendarProps) {
  return (
    <DatePicker
      {...localCalendar()}
      value={day || null}
      onChange={(chosen) => chosen && onChoose(chosen)}
      defaultDate={day || today}
      minDate={today}
    />
  )
}
