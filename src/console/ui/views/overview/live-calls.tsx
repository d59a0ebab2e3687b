import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { Caller, RunningDuration } from '../calls/call-line.tsx'
import { liveCallsQuery } from '../calls/call-queries.ts'
import { totalLabel } from '../calls/pages.ts'
import { Card } from './card.tsx'
import classes from './overview.module.css'

const callsShown = 5

/** The newest calls in progress. */
export function LiveCalls() {
  const project = useProject()
  const query = useQuery(liveCallsQuery(project.id, callsShown))
  const params = { project: project.id }
  return (
    <Card
      title="Live calls"
      aside={
        query.data &&
        query.data.data.length > 0 && (
          <PageLink to="/p/$project/calls" params={params} search={{ status: 'live' }} size="sm">
            {totalLabel(query.data)}
          </PageLink>
        )
      }
      query={query}
      skeleton={<LiveSkeleton />}
    >
      {({ data }) =>
        data.length === 0 ? (
          <p className={classes.cardNone}>No live calls right now.</p>
        ) : (
          <ul className={classes.live}>
            {data.map((call) => (
              <li key={call.id}>
                <span className="cb-pulse" aria-hidden />
                <Link
                  to="/p/$project/calls/$call"
                  params={{ ...params, call: call.id }}
                  search={{ status: 'live' }}
                  className={classes.liveLink}
                >
                  <Caller call={call} />
                </Link>
                <span className="cb-dimmed">
                  <Instant at={call.createdAt} />
                </span>
                <span className={classes.liveDuration}>
                  <RunningDuration since={call.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Card>
  )
}

/** As high as three lines. */
export function LiveSkeleton() {
  return (
    <div className={classes.live}>
      {[240, 216, 232].map((width) => (
        <Skeleton key={width} height={12} width={width} my={12} maw="100%" />
      ))}
    </div>
  )
}
