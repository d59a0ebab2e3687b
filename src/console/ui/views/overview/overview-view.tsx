import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useNow } from '../../components/use-now.ts'
import { ZoneNote } from '../../components/zone-note.tsx'
import { useProject } from '../../session.ts'
import { newestCallQuery } from '../calls/call-queries.ts'
import { KeptCharts } from '../charts/kept-charts.tsx'
import { CallsByDay } from './calls-by-day.tsx'
import { Criteria } from './criteria.tsx'
import { Durations } from './durations.tsx'
import { EndReasons } from './end-reasons.tsx'
import { FailedCalls } from './failed-calls.tsx'
import { Figures } from './figures.tsx'
import { KnowledgeCard } from './knowledge-card.tsx'
import { LiveCalls } from './live-calls.tsx'
import { Origins } from './origins.tsx'
import classes from './overview.module.css'
import { labelBefore, periodLabel, periodOf } from './overview-search.ts'
import { PeriodPicker } from './period-picker.tsx'
import { Trend } from './trend.tsx'

const FirstSteps = lazy(() => import('../first-steps/first-steps.tsx'))

/** The calls of a period in figures and charts. */
export function OverviewView() {
  const dates = useDates()
  const search = useSearch({ from: '/p/$project/overview' })
  const period = periodOf(search, dates, useNow())
  const { data: newest } = useQuery(newestCallQuery(useProject().id))
  // A project without a call has nothing to count.
  if (newest?.data.length === 0) {
    return (
      <div className={classes.overview}>
        <PageHeader title="Overview" />
        <Suspense>
          <FirstSteps />
        </Suspense>
      </div>
    )
  }
  return (
    <div className={classes.overview}>
      <PageHeader
        title="Overview"
        description={
          <>
            {periodLabel(period, dates)}, compared with the {labelBefore(period.days)}
            <ZoneNote />
          </>
        }
        action={<PeriodPicker search={search} />}
      />
      <FirstSteps />
      <div className={`${classes.grid} ${classes.now}`}>
        <LiveCalls />
        <FailedCalls period={period} />
      </div>
      <Figures period={period} />
      <div className={classes.grid}>
        <div className={classes.wide}>
          <CallsByDay period={period} />
        </div>
        <Durations period={period} />
        <EndReasons period={period} />
        <Trend kind="cost" period={period} />
        <Trend kind="latency" period={period} />
        <Criteria period={period} />
        <Origins period={period} />
        <KnowledgeCard />
      </div>
      <KeptCharts />
    </div>
  )
}
