import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { DayRange } from '../../components/calendar.tsx'
import { useDates } from '../../components/use-dates.ts'
import classes from './calls.module.css'
import { type RelativeDate, rangeOfRelative, relativeDateNames, relativeDates } from './relative-dates.ts'

const Calendar = lazy(() => import('../../components/calendar.tsx'))

interface DateFilterProps {
  /** The days of the range that is set. */
  days: DayRange
  /** The name of the range, if it is set by one. */
  date?: RelativeDate | undefined
  /** @param date the name that was chosen */
  onChoose: (range: { from: string; to: string }, date?: RelativeDate) => void
}

/** Whole days by a name or by a calendar. */
export function DateFilter({ days, date: chosen, onChoose }: DateFilterProps) {
  const dates = useDates()
  const today = dates.dayOf(Date.now())
  const choose = (first: string, last: string) => onChoose(dates.rangeOf(first, last))
  return (
    <div className={classes.dates}>
      <div className={classes.datesPresets}>
        {relativeDateNames.map((date) => (
          <button
            key={date}
            type="button"
            aria-current={date === chosen || undefined}
            onClick={() => onChoose(rangeOfRelative(date, dates, Date.now()), date)}
          >
            {relativeDates[date].label}
          </button>
        ))}
      </div>
      <Suspense fallback={<Skeleton width={252} height={288} />}>
        <Calendar of="two" days={days} today={today} onChoose={choose} />
      </Suspense>
    </div>
  )
}
