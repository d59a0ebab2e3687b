import { useQuery } from '@tanstack/react-query'
import { dayLabel } from '../../components/dates.ts'
import { PageButton } from '../../components/links.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { newestCallQuery } from '../calls/call-queries.ts'
import classes from './overview.module.css'
import { type Period, periodUntil } from './overview-search.ts'

/** For a period without calls: points to the newest calls. */
export function NoCallsInPeriod({ from, to }: Period) {
  const project = useProject()
  const dates = useDates()
  const { data } = useQuery(newestCallQuery(project.id))
  const newest = data?.data[0]
  // Without any call the first steps say how to send one. The cached figures may be older than the newest call.
  const isOfPeriod = (at: number) => at >= Date.parse(from) && at < Date.parse(to)
  if (!newest || isOfPeriod(Date.parse(newest.createdAt))) return null
  const day = dates.dayOf(newest.createdAt)
  return (
    <div className={classes.hint} role="status">
      <span>No calls in this period. The newest call is from {dayLabel(day, { year: 'numeric' })}.</span>
      <PageButton
        to="/p/$project/overview"
        params={{ project: project.id }}
        search={periodUntil(day)}
        variant="default"
        size="xs"
      >
        Show that period
      </PageButton>
    </div>
  )
}
