import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { DayRange } from '../../components/calendar.tsx'
import { plusDays } from '../../components/dates.ts'
import { useDates } from '../../components/use-dates.ts'
import classes from './calls.module.css'

const Calendar = lazy(() => import('../../components/calendar.tsx'))

const presets = [
  { label: 'Today', first: 0, last: 0 },
  { label: 'Yesterday', first: 1, last: 1 },
  { label: 'Last 7 days', first: 6, last: 0 },
  { label: 'Last 30 days', first: 29, last: 0 },
  { label: 'Last 90 days', first: 89, last: 0 },
]

interface DateFilterProps {
  /** The days of the range that is set. */
  days: DayRange
  onChoose: (range: { from: string; to: string }) => void
}

/** Whole days by a name or by a calendar. */
export function DateFilter({ days, onChoose }: DateFilterProps) {
  const dates = useDates()
  const today = dates.dayOf(Date.now())
  const choose = (first: string, last: string) => onChoose(dates.rangeOf(first, last))
  return (
    <div className={classes.dates}>
      <div className={classes.datesPresets}>
        {presets.map(({ label, first, last }) => (
          <button
            key={label}
            type="button"
            onClick={() => choose(plusDays(today, -first), plusDays(today, -last))}
          >
            {label}
          </button>
        ))}
      </div>
      <Suspense fallback={<Skeleton width={252} height={288} />}>
        <Calendar of="two" days={days} today={today} onChoose={choose} />
      </Suspense>
    </div>
  )
}
