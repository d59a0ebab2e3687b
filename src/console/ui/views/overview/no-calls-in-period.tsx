import { useQuery } from '@tanstack/react-query'
import { PageButton } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { newestCallQuery } from '../calls/call-queries.ts'
import { dayLabel, periodAround } from './overview-search.ts'

/** For a period without calls: points to the newest calls, or says how to send the first one. */
export function NoCallsInPeriod() {
  const project = useProject()
  const { data } = useQuery(newestCallQuery(project.id))
  const newest = data?.data[0]
  if (!data) return null
  return (
    <div className="cb-overview-hint" role="status">
      {newest ? (
        <>
          <span>
            No calls in this period. The newest one is from {dayLabel(newest.createdAt, { year: 'numeric' })}.
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
        </>
      ) : (
        <>
          <span>No calls yet. Figures appear here with the first call.</span>
          <PageButton to="/p/$project/calls" params={{ project: project.id }} variant="default" size="xs">
            How to send calls
          </PageButton>
        </>
      )}
    </div>
  )
}
