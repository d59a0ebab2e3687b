import { IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import { counted } from '../../components/figures.ts'
import { useDates } from '../../components/use-dates.ts'
import { callKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import { CallerLink } from '../callers/caller-link.tsx'
import classes from './call.module.css'
import { Duration } from './call-line.tsx'
import { Evaluation, LiveBadge } from './evaluation.tsx'

const callsShown = 6

/** The newest calls of the same number, folded: how many there are is seen at once. */
export function OtherCalls({ id, number }: { id: string; number: string }) {
  const project = useProject()
  const dates = useDates()
  const { data } = useQuery({
    queryKey: callKeys.ofNumber(project.id, number),
    queryFn: ({ signal }) =>
      unwrap(
        api.projects({ project: project.id }).calls.get({
          query: { number, limit: String(callsShown) },
          fetch: { signal },
        }),
      ),
    staleTime: 30_000,
    // The filter takes no others, such as `anonymous`.
    enabled: /\d/.test(number),
  })
  const others = data?.data.filter((row) => row.id !== id) ?? []
  const count = data?.total ? Math.max(others.length, data.total - 1) : others.length
  if (others.length === 0) return null
  return (
    <details className={`${classes.folded} ${classes.others}`}>
      <summary className={classes.foldedLine}>
        <IconChevronRight size={14} className={classes.foldedChevron} aria-hidden />
        {counted(count, 'other call')} of this number
      </summary>
      <ul>
        {others.slice(0, callsShown - 1).map((row) => (
          <li key={row.id}>
            <Link
              to="/p/$project/calls/$call"
              params={{ project: project.id, call: row.id }}
              // The moment and the queue are those of this call.
              search={(search) => ({ ...search, tab: undefined, t: undefined, set: undefined })}
              resetScroll={false}
            >
              {dates.moment(row.createdAt)}
            </Link>
            <Duration seconds={row.duration} />
            {row.status === 'live' ? <LiveBadge /> : <Evaluation value={row.evaluation} />}
          </li>
        ))}
      </ul>
      <CallerLink number={number}>All calls and data of this person</CallerLink>
    </details>
  )
}
