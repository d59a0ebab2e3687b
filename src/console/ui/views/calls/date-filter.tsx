import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { daysToRange } from './date-range.ts'

const RangeCalendar = lazy(() => import('../../components/range-calendar.tsx'))

interface DateFilterProps {
  /** The days of the range that is set. */
  days: [Date | null, Date | null]
  onChoose: (range: { from: string; to: string }) => void
}

/** Whole days by a name or by a calendar. */
export function DateFilter({ days, onChoose }: DateFilterProps) {
  const today = new Date()
  const ago = (count: number) => new Date(today.getFullYear(), today.getMonth(), today.getDate() - count)
  const presets = [
    { label: 'Today', first: ago(0), last: ago(0) },
    { label: 'Yesterday', first: ago(1), last: ago(1) },
    { label: 'Last 7 days', first: ago(6), last: ago(0) },
    { label: 'Last 30 days', first: ago(29), last: ago(0) },
    { label: 'Last 90 days', first: ago(89), last: ago(0) },
  ]
  return (
    <div className="cb-calls-dates">
      <div className="cb-calls-dates-presets">
        {presets.map(({ label, first, last }) => (
          <button key={label} type="button" onClick={() => onChoose(daysToRange(first, last))}>
            {label}
          </button>
        ))}
      </div>
      <Suspense fallback={<Skeleton width={252} height={288} />}>
        <RangeCalendar
          days={days}
          onChoose={(first, last) => onChoose(daysToRange(first, last))}
          maxDate={today}
        />
      </Suspense>
    </div>
  )
}
