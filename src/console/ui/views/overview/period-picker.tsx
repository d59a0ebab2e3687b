import { Popover, Skeleton, UnstyledButton } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import classes from './overview.module.css'
import { choiceOf, type OverviewSearch, overviewSearch, periodChoices } from './overview-search.ts'

const Calendar = lazy(() => import('../../components/calendar.tsx'))

/** Chooses the last days, or a range in a calendar. */
export function PeriodPicker({ search }: { search: OverviewSearch }) {
  const project = useProject()
  const navigate = useNavigate()
  const dates = useDates()
  const [isOpen, setIsOpen] = useState(false)
  const chosen = choiceOf(search)
  const isCustom = chosen === 'custom'
  const choose = (from: string, to: string) => {
    setIsOpen(false)
    void navigate({
      to: '/p/$project/overview',
      params: { project: project.id },
      search: overviewSearch({ from, to }),
    })
  }
  return (
    <nav className={classes.period} aria-label="Period">
      {periodChoices.map((days) => (
        <Link
          key={days}
          to="/p/$project/overview"
          params={{ project: project.id }}
          search={{ days }}
          className={classes.periodChoice}
          aria-current={chosen === String(days) ? 'true' : undefined}
          data-chosen={chosen === String(days) || undefined}
        >
          {days} days
        </Link>
      ))}
      <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" trapFocus returnFocus>
        <Popover.Target>
          <UnstyledButton
            className={classes.periodChoice}
            data-chosen={isCustom || undefined}
            onClick={() => setIsOpen(!isOpen)}
          >
            <IconCalendar size={14} stroke={1.8} aria-hidden />
            Custom
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown>
          <Suspense fallback={<Skeleton width={252} height={288} />}>
            <Calendar
              of="two"
              days={[search.from ?? null, search.to ?? null]}
              onChoose={choose}
              today={dates.dayOf(Date.now())}
            />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
    </nav>
  )
}
