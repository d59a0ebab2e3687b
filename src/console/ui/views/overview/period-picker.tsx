import { Group, Skeleton, UnstyledButton } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { relativeDates } from '../calls/date-ranges.ts'
import { loadPopups } from '../calls/pill.tsx'
import classes from './overview.module.css'
import { choiceOf, type OverviewSearch, overviewSearch, periodChoices } from './overview-search.ts'

const Calendar = lazy(() => import('../../components/calendar.tsx'))
const FormPopover = lazy(async () => ({ default: (await loadPopups()).FormPopover }))

/** Chooses yesterday, the last days, or a range in a calendar. */
export function PeriodPicker({ search }: { search: OverviewSearch }) {
  const project = useProject()
  const navigate = useNavigate()
  const dates = useDates()
  const chosen = choiceOf(search)
  const choose = (from: string, to: string) => {
    void navigate({
      to: '/p/$project/overview',
      params: { project: project.id },
      search: overviewSearch({ from, to }),
    })
  }
  return (
    <Group component="nav" gap={2} p={2} className="cb-box" bg="var(--cb-surface)" aria-label="Period">
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
        load={loadPopups}
        button={
          <UnstyledButton className={classes.periodChoice} data-chosen={chosen === 'custom' || undefined}>
            <IconCalendar size={14} stroke={1.8} aria-hidden />
            Custom
          </UnstyledButton>
        }
      >
        {(popup) => (
          <FormPopover
            {...popup}
            label="Period"
            form={(close) => (
              <Suspense fallback={<Skeleton width={252} height={288} />}>
                <Calendar
                  of="two"
                  days={[search.from ?? null, search.to ?? null]}
                  today={dates.dayOf(Date.now())}
                  onChoose={(from, to) => {
                    close()
                    choose(from, to)
                  }}
                />
              </Suspense>
            )}
          />
        )}
      </ButtonWithPopup>
    </Group>
  )
}
