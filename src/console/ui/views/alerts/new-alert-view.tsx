import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Empty } from '../../components/empty.tsx'
import { PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject, useRefusal } from '../../session.ts'
import { newDraft } from './alert-draft.ts'
import { AlertForm } from './alert-form.tsx'
import { callsPerDayQuery, destinationsQuery } from './alert-queries.ts'
import { watchedOf } from './alert-search.ts'

/** Makes an alert. The address says what it watches at first. */
export function NewAlertView() {
  const { id: project } = useProject()
  const refusal = useRefusal('change')
  const search = useSearch({ from: '/p/$project/settings/alerts/new' })
  const { data: offered, error, refetch } = useQuery(destinationsQuery(project))
  const { filters } = watchedOf(search)
  const dates = useDates()
  // The day on which the page was opened: at midnight, what is typed stays.
  const [today] = useState(() => dates.dayOf(Date.now()))
  const matching = useQuery(callsPerDayQuery(project, filters, today))
  const header = <PageHeader title="New alert" description={<AllAlerts />} />
  if (refusal !== null)
    return (
      <>
        {header}
        <Empty title="Viewers cannot make alerts">{refusal}</Empty>
      </>
    )
  return (
    <>
      {header}
      {error && !offered ? (
        <Problem error={error} title="The alert cannot be made" onRetry={() => void refetch()} />
      ) : offered && !matching.isPending ? (
        // Without the number of calls, the window is one for few of them.
        <AlertForm
          key={JSON.stringify(search)}
          first={newDraft(search, matching.data ?? 0)}
          offered={offered}
        />
      ) : (
        <Skeleton height={480} />
      )}
    </>
  )
}

export function AllAlerts() {
  const { id: project } = useProject()
  return (
    <PageLink to="/p/$project/settings/alerts" params={{ project }}>
      All alerts
    </PageLink>
  )
}
