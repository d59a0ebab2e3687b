import { UnstyledButton } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy } from 'react'
import { plusDays } from '../../components/dates.ts'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import classes from './overview.module.css'
import { choiceOf, type OverviewSearch, overviewSearch, periodChoices } from './overview-search.ts'

const loadPopover = () => import('./period-popover.tsx')
const PeriodPopover = lazy(loadPopover)

/** Chooses yesterday, the last days, or a range in a calendar. */
export function PeriodPicker({ search }: { search: OverviewSearch }) {
  const project = useProject()
  const navigate = useNavigate()
  const dates = useDates()
  const today = dates.dayOf(Date.now())
  const yesterday = plusDays(today, -1)
  const isYesterday = search.from === yesterday && search.to === yesterday
  const chosen = isYesterday ? 'yesterday' : choiceOf(search)
  const choices = [
    { name: 'yesterday', label: 'Yesterday', period: { from: yesterday, to: yesterday } },
    ...periodChoices.map((days) => ({ name: String(days), label: `${days} days`, period: { days } })),
  ]
  const choose = (from: string, to: string) => {
    void navigate({
      to: '/p/$project/overview',
      params: { project: project.id },
      search: overviewSearch({ from, to }),
    })
  }
  return (
    <nav className={classes.period} aria-label="Period">
      {choices.map(({ name, label, period }) => (
        <Link
          key={name}
          to="/p/$project/overview"
          params={{ project: project.id }}
          search={period}
          className={classes.periodChoice}
          aria-current={chosen === name ? 'true' : undefined}
          data-chosen={chosen === name || undefined}
        >
          {label}
        </Link>
      ))}
      <ButtonWithPopup
        kind="dialog"
        load={loadPopover}
        button={
          <UnstyledButton className={classes.periodChoice} data-chosen={chosen === 'custom' || undefined}>
            <IconCalendar size={14} stroke={1.8} aria-hidden />
            Custom
          </UnstyledButton>
        }
      >
        {(popup) => (
          <PeriodPopover
            {...popup}
            days={[search.from ?? null, search.to ?? null]}
            onChoose={choose}
            today={today}
          />
        )}
      </ButtonWithPopup>
    </nav>
  )
}
