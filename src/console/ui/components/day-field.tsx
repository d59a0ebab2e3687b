import { Popover, Skeleton } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { dayLabel } from './dates.ts'
import { TextButton } from './icon-button.tsx'
import { useDates } from './use-dates.ts'

const Calendar = lazy(() => import('./calendar.tsx'))

interface DayFieldProps {
  label: string
  /** `2026-01-31`; empty when none is chosen. */
  day: string
  onChoose: (day: string) => void
}

/** Chooses a day from today on. */
export function DayField({ label, day, onChoose }: DayFieldProps) {
  const dates = useDates()
  const [isOpen, setIsOpen] = useState(false)
  const choose = (chosen: string) => {
    setIsOpen(false)
    onChoose(chosen)
  }
  return (
    <Popover opened={isOpen} onChange={setIsOpen} trapFocus returnFocus>
      <Popover.Target>
        <TextButton
          icon={IconCalendar}
          label={day ? dayLabel(day, { year: 'numeric' }) : 'Choose a day'}
          variant="default"
          size="xs"
          aria-label={`${label}: ${day ? dayLabel(day, { year: 'numeric' }) : 'none chosen'}`}
          onClick={() => setIsOpen(!isOpen)}
        />
      </Popover.Target>
      {/* Mantine's dialogs ignore Escape on elements with this attribute, so it closes only the calendar. */}
      <Popover.Dropdown
        aria-label={label}
        onFocus={({ target }) => target.setAttribute('data-mantine-stop-propagation', 'true')}
      >
        <Suspense fallback={<Skeleton width={252} height={288} />}>
          <Calendar
            of="one"
            days={[day || null, day || null]}
            today={dates.dayOf(Date.now())}
            onChoose={choose}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
