import { UnstyledButton } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy } from 'react'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { relativeDates } from '../calls/date-ranges.ts'
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
  const chosen = choiceOf(search)
  const choose = (from: string, to: string) => {
    void navigate({
      to: '/p/$project/overview',
      params: { project: project.id },
      search: overviewSearch({ from, to }),
    })
  }
  return (
    <nav className={classes.period} aria-label="Period">
      {periodChoices.map((date) => (
        <Link
          key={date}
          to="/p/$project/overview"
          params={{ project: project.id }}
          search={{ date }}
          className={classes.periodChoice}
          aria-current={chosen === date ? 'true' : undefined}
          data-chosen={chosen === date || undefined}
        >
          {relativeDates[date].label.replace('Last ', '')}
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
