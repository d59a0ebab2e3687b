import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { DurationBucket } from '../../../../calls/reading/overview.ts'
import { asCount, asPercent, counted, shortDuration } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { Card, Chart, useTableSwitch } from './card.tsx'
import { type ColumnOfCalls, Columns } from './columns.tsx'
import classes from './overview.module.css'
import { durationsQuery } from './overview-queries.ts'
import type { Period } from './overview-search.ts'

const skeleton = <Skeleton height={240} />

/** How long completed calls took. */
export function Durations({ period }: { period: Period }) {
  const project = useProject()
  const query = useQuery(durationsQuery(project.id, period))
  const { isTable, tableSwitch } = useTableSwitch()
  const isEmpty = query.data?.data.every(({ calls }) => calls === 0)
  return (
    <Card
      title="Durations"
      aside={
        !isEmpty && (
          <span className="cb-row">
            <AlertLink figure={{ of: 'duration', show: 'p50' }} />
            {tableSwitch}
          </span>
        )
      }
      query={query}
      skeleton={skeleton}
    >
      {({ data }) =>
        isEmpty ? (
          <p className={classes.cardNone}>No completed calls in this period.</p>
        ) : (
          <Chart summary={summaryOf(data)} table={tableOf(data, period)} isTable={isTable}>
            <Columns
              label="Calls by duration"
              labelsAt="start"
              columns={data.map((bucket) => columnOf(bucket, period))}
            />
          </Chart>
        )
      }
    </Card>
  )
}

function columnOf(bucket: DurationBucket, period: Period): ColumnOfCalls {
  return {
    key: String(bucket.from),
    label: shortDuration(bucket.from),
    text: `${bucketLabel(bucket)}: ${counted(bucket.calls, 'call')}`,
    parts: [{ kind: 'success', calls: bucket.calls }],
    filters: filtersOf(bucket, period),
  }
}

function filtersOf(bucket: DurationBucket, { from, to }: Period): ChosenFilters {
  return {
    status: 'completed',
    from,
    to,
    minDuration: String(bucket.from),
    // The filter includes its bound, which belongs to the next bar. So it gets the next smaller number.
    ...(bucket.to === null ? {} : { maxDuration: String(bucket.to * (1 - Number.EPSILON / 2)) }),
  }
}

function summaryOf(buckets: DurationBucket[]): string {
  const total = buckets.reduce((sum, { calls }) => sum + calls, 0)
  const most = buckets.reduce<DurationBucket | null>(
    (before, bucket) => (before === null || bucket.calls > before.calls ? bucket : before),
    null,
  )
  if (!most || total === 0) return 'No completed calls.'
  return `Most completed calls took ${bucketLabel(most)}: ${asPercent(most.calls / total)}.`
}

function tableOf(buckets: DurationBucket[], period: Period) {
  return {
    columns: ['Duration', 'Calls'],
    rows: buckets.map((bucket) => ({
      key: String(bucket.from),
      name: bucketLabel(bucket),
      values: [asCount(bucket.calls)],
      filters: filtersOf(bucket, period),
    })),
  }
}

/** `1m to 2m`, `over 30m`: from (included), to (not included), in seconds. */
function bucketLabel({ from, to }: { from: number; to: number | null }): string {
  if (to === null) return `over ${shortDuration(from)}`
  return from === 0 ? `under ${shortDuration(to)}` : `${shortDuration(from)} to ${shortDuration(to)}`
}
