import { Button, Popover, Skeleton } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'

const DayCalendar = lazy(() => import('./day-calendar.tsx'))

interface DayFieldProps {
  label: string
  /** `2026-01-31`; empty when none is chosen. */
  day: string
  onChoose: (day: string) => void
}

/** Chooses a day from today on. */
export function DayField({ label, day, onChoose }: DayFieldProps) {
  const [isOpen, setIsOpen] = useState(false)
  const choose = (chosen: string) => {
    setIsOpen(false)
    onChoose(chosen)
  }
  return (
    <Popover opened={isOpen} onChange={setIsOpen} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          aria-label={`${label}: ${day ? asText(day) : 'none chosen'}`}
          leftSection={<IconCalendar size={14} aria-hidden />}
          onClick={() => setIsOpen(!isOpen)}
        >
          {day ? asText(day) : 'Choose a day'}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label}>
        <Suspense fallback={<Skeleton width={252} height={288} />}>
          <DayCalendar day={day} onChoose={choose} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}

function asText(day: string): string {
  return new Date(`${day}T00:00:00`).toLocaleDateString(undefined, { dateStyle: 'medium' })
}
