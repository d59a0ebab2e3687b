import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { Caller, CallSummary } from '../calls/call-line.tsx'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { Card } from './card.tsx'
import { LiveSkeleton } from './live-calls.tsx'
import classes from './overview.module.css'
import { failedCallsQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const callsShown = 5

/** The newest calls of the period that failed, each in a line. */
export function FailedCalls({ period }: { period: Period }) {
  const project = useProject()
  const query = useQuery(failedCallsQuery(project.id, period, callsShown))
  const params = { project: project.id }
  const search: ChosenFilters = { evaluation: 'fail', from: period.from, to: period.to }
  return (
    <Card
      title="Failed calls"
      aside={
        query.data &&
        query.data.data.length > 0 && (
          <span className="cb-row">
            <PageLink to="/p/$project/calls" params={params} search={search} size="sm">
              All failed calls
            </PageLink>
            <AlertLink figure={{ of: 'success', show: 'failed' }} />
          </span>
        )
      }
      query={query}
      skeleton={<LiveSkeleton />}
    >
      {({ data }) =>
        data.length === 0 ? (
          <p className={classes.cardNone}>No failed calls in this period.</p>
        ) : (
          <ul className={classes.live}>
            {data.map((call) => (
              <li key={call.id}>
                <Link
                  to="/p/$project/calls/$call"
                  params={{ ...params, call: call.id }}
                  search={search}
                  className={`${classes.liveLink} ${classes.failedCaller}`}
                >
                  <Caller call={call} />
                </Link>
                <span className={classes.failedText}>
                  <CallSummary call={call} />
                </span>
                <span className="cb-dimmed">
                  <Instant at={call.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Card>
  )
}
