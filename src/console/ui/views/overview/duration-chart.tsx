import { BarChart } from '@mantine/charts'
import type { DurationBucket } from '../../../../calls/overview.ts'
import { bucketLabel, shortDuration } from '../calls/duration.ts'

/** Loaded when it is first shown. */
export default function DurationChart({ buckets }: { buckets: DurationBucket[] }) {
  const data = buckets.map((bucket) => ({
    label: bucketLabel(bucket),
    from: shortDuration(bucket.from),
    Calls: bucket.calls,
  }))
  return (
    <BarChart
      h={240}
      data={data}
      dataKey="label"
      series={[{ name: 'Calls', color: 'var(--cb-chart)' }]}
      gridColor="var(--cb-border)"
      textColor="dimmed"
      strokeDasharray="0"
      tickLine="none"
      accessibilityLayer={false}
      valueFormatter={(value) => value.toLocaleString()}
      barChartProps={{ barCategoryGap: 2, margin: { top: 8 } }}
      xAxisProps={{
        tickFormatter: (_label: string, at: number) => data[at]?.from ?? '',
        interval: 'equidistantPreserveStart',
        minTickGap: 2,
        tickMargin: 8,
      }}
      yAxisProps={{ allowDecimals: false, width: 40 }}
      tooltipProps={{ isAnimationActive: false }}
      barProps={{ isAnimationActive: false, radius: [3, 3, 0, 0] }}
    />
  )
}
