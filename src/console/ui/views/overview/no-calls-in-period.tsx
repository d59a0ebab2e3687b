import { useQuery } from '@tanstack/react-query'
import { PageButton } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { newestCallQuery } from '../calls/call-queries.ts'
import { dayLabel, periodAround } from './overview-search.ts'

/** Says where there are calls, or how the first one gets in, to who looks at a period without any. */
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
            Show the days up to it
          </PageButton>
        </>
      ) : (
        <>
          <span>No calls yet. What happens in them is counted here as soon as the first one is in.</span>
          <PageButton to="/p/$project/calls" params={{ project: project.id }} variant="default" size="xs">
            How calls get in
          </PageButton>
        </>
      )}
    </div>
  )
}
