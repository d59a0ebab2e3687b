import { useQuery } from '@tanstack/react-query'
import { PageButton } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { newestCallQuery } from '../calls/call-queries.ts'
import { dayLabel, dayName, periodAround } from './overview-search.ts'

/** For a period without calls: points to the newest calls. */
export function NoCallsInPeriod() {
  const project = useProject()
  const { data } = useQuery(newestCallQuery(project.id))
  const newest = data?.data[0]
  // Without any call the first steps say how to send one.
  if (!newest) return null
  return (
    <div className="cb-overview-hint" role="status">
      <span>
        No calls in this period. The newest call is from{' '}
        {dayLabel(dayName(new Date(newest.createdAt)), { year: 'numeric' })}.
      </span>
      <PageButton
        to="/p/$project/overview"
        params={{ project: project.id }}
        search={periodAround(newest.createdAt)}
        variant="default"
        size="xs"
      >
        Show that period
      </PageButton>
    </div>
  )
}
