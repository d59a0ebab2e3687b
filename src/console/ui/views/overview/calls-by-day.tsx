import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Dates, dayLabel } from '../../components/dates.ts'
import { asCount, counted } from '../../components/figures.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { Card, Chart, useTableSwitch } from './card.tsx'
import columns from './columns.module.css'
import { Columns } from './columns.tsx'
import type { CallsOfDay } from './days.ts'
import overview from './overview.module.css'
import { daysQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const skeleton = <Skeleton height={264} />

/** From below: what failed stands on the ground, where it can be compared. */
const kinds = [
  { kind: 'fail', label: 'Failed' },
  { kind: 'other', label: 'Other' },
  { kind: 'success', label: 'Success' },
  { kind: 'unevaluated', label: 'Not evaluated' },
] as const

/** Calls per day, stacked by evaluation. Each day leads to its calls. */
export function CallsByDay({ period }: { period: Period }) {
  const project = useProject()
  const dates = useDates()
  const query = useQuery(daysQuery(project.id, period, dates.zone))
  const { isTable, tableSwitch } = useTableSwitch()
  const isEmpty = query.data?.every((day) => callsOf(day) === 0)
  return (
    <Card
      title="Calls per day"
      aside={
        !isEmpty && (
          <span className="cb-row">
            <AlertLink figure={{ of: 'calls', show: 'count' }} />
            {tableSwitch}
          </span>
        )
      }
      query={query}
      skeleton={skeleton}
    >
      {(data) =>
        isEmpty ? (
          <p className={overview.cardNone}>No calls in this period.</p>
        ) : (
          <Chart summary={summaryOf(data)} table={tableOf(data, dates)} isTable={isTable}>
            <Columns label="Calls per day" columns={data.map((day) => columnOf(day, dates))} />
            <ul className={overview.legend} aria-hidden>
              {kinds
                .filter(({ kind }) => data.some((day) => day[kind] > 0))
                .map(({ kind, label }) => (
                  <li key={kind}>
                    <span className={`${overview.legendSwatch} ${columns.part}`} data-kind={kind} />
                    {label}
                  </li>
                ))}
            </ul>
          </Chart>
        )
      }
    </Card>
  )
}

function columnOf(day: CallsOfDay, dates: Dates) {
  const shares = kinds
    .filter(({ kind }) => day[kind] > 0)
    .map(({ kind, label }) => `${asCount(day[kind])} ${label.toLowerCase()}`)
  return {
    key: day.day,
    label: dayLabel(day.day),
    text: [`${dayLabel(day.day, { weekday: 'short' })}: ${counted(callsOf(day), 'call')}`, ...shares].join(
      ' · ',
    ),
    parts: kinds.map(({ kind }) => ({ kind, calls: day[kind] })),
    filters: dates.rangeOf(day.day),
  }
}

function summaryOf(days: CallsOfDay[]): string {
  const total = days.reduce((sum, day) => sum + callsOf(day), 0)
  const busiest = days.reduce<CallsOfDay | null>(
    (most, day) => (most === null || callsOf(day) > callsOf(most) ? day : most),
    null,
  )
  const most =
    busiest && total > 0 ? `, most on ${dayLabel(busiest.day)} with ${asCount(callsOf(busiest))}` : ''
  return `${counted(total, 'call')} in ${counted(days.length, 'day')}${most}.`
}

function tableOf(days: CallsOfDay[], dates: Dates) {
  return {
    columns: ['Day', ...kinds.map(({ label }) => label)],
    rows: days.map((day) => ({
      key: day.day,
      name: dayLabel(day.day, { year: 'numeric' }),
      values: kinds.map(({ kind }) => asCount(day[kind])),
      filters: dates.rangeOf(day.day),
    })),
  }
}

function callsOf({ success, fail, other, unevaluated }: CallsOfDay): number {
  return success + fail + other + unevaluated
}
