import { Popover, Skeleton, UnstyledButton } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useProject } from '../../session.ts'
import { choiceOf, dayName, type OverviewSearch, overviewSearch, periodChoices } from './overview-search.ts'

const RangeCalendar = lazy(() => import('../../components/range-calendar.tsx'))

/** Chooses the last days, or a range in a calendar. */
export function PeriodPicker({ search }: { search: OverviewSearch }) {
  const project = useProject()
  const navigate = useNavigate()
  const [isOpen, setIsOpen] = useState(false)
  const chosen = choiceOf(search)
  const isCustom = chosen === 'custom'
  const choose = (first: Date, last: Date) => {
    setIsOpen(false)
    void navigate({
      to: '/p/$project/overview',
      params: { project: project.id },
      search: overviewSearch({ from: dayName(first), to: dayName(last) }),
    })
  }
  return (
    <nav className="cb-period" aria-label="Period">
      {periodChoices.map((days) => (
        <Link
          key={days}
          to="/p/$project/overview"
          params={{ project: project.id }}
          search={{ days }}
          className="cb-period-choice"
          aria-current={chosen === String(days) ? 'true' : undefined}
          data-chosen={chosen === String(days) || undefined}
        >
          {days} days
        </Link>
      ))}
      <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" trapFocus returnFocus>
        <Popover.Target>
          <UnstyledButton
            className="cb-period-choice"
            data-chosen={isCustom || undefined}
            onClick={() => setIsOpen(!isOpen)}
          >
            <IconCalendar size={14} stroke={1.8} aria-hidden />
            Custom
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown aria-label="Custom period">
          <Suspense fallback={<Skeleton width={252} height={288} />}>
            <RangeCalendar days={daysOf(search)} onChoose={choose} maxDate={new Date()} />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
    </nav>
  )
}

function daysOf({ from, to }: OverviewSearch): [Date | null, Date | null] {
  const midnight = (day: string | undefined) => (day ? new Date(`${day}T00:00:00`) : null)
  return [midnight(from), midnight(to)]
}
