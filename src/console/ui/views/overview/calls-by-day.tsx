import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { CallsOfDay } from '../../../../calls/overview.ts'
import { counted } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import { Card, Chart, useTableSwitch } from './card.tsx'
import { daysQuery } from './overview-queries.ts'
import { dayLabel, type Period } from './overview-search.ts'

const DayChart = lazy(() => import('./day-chart.tsx'))
const skeleton = <Skeleton height={264} />

/** Calls per day, stacked by evaluation. */
export function CallsByDay({ period }: { period: Period }) {
  const project = useProject()
  const query = useQuery(daysQuery(project.id, period))
  const { isTable, tableSwitch } = useTableSwitch()
  return (
    <Card
      title="Calls per day"
      aside={
        <span className="cb-card-aside">
          <span className="cb-dimmed">days in UTC</span>
          {tableSwitch}
        </span>
      }
      query={query}
      skeleton={skeleton}
    >
      {({ data }) =>
        data.every((day) => callsOf(day) === 0) ? (
          <p className="cb-chart-none">No calls in this period</p>
        ) : (
          <Chart summary={summaryOf(data)} table={tableOf(data)} isTable={isTable}>
            <Suspense fallback={skeleton}>
              <DayChart days={data} />
            </Suspense>
          </Chart>
        )
      }
    </Card>
  )
}

function summaryOf(days: CallsOfDay[]): string {
  const total = days.reduce((sum, day) => sum + callsOf(day), 0)
  const busiest = days.reduce<CallsOfDay | null>(
    (most, day) => (most === null || callsOf(day) > callsOf(most) ? day : most),
    null,
  )
  const most = busiest && total > 0 ? `, most on ${dayLabel(busiest.day)} with ${callsOf(busiest)}` : ''
  return `${counted(total, 'call')} in ${counted(days.length, 'day')}${most}.`
}

function tableOf(days: CallsOfDay[]) {
  return {
    columns: ['Day', 'Success', 'Fail', 'Other', 'Not evaluated'],
    rows: days.map(({ day, success, fail, other, unevaluated }) => [
      dayLabel(day, { year: 'numeric' }),
      success,
      fail,
      other,
      unevaluated,
    ]),
  }
}

function callsOf({ success, fail, other, unevaluated }: CallsOfDay): number {
  return success + fail + other + unevaluated
}
