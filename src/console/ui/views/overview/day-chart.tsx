import { BarChart } from '@mantine/charts'
import { useId } from 'react'
import type { CallsOfDay } from '../../../../calls/overview.ts'
import { dayLabel } from './overview-search.ts'

const series = [
  { name: 'success', label: 'Success', color: 'var(--cb-chart)', pattern: 'none' },
  { name: 'fail', label: 'Fail', color: 'var(--cb-danger)', pattern: 'stripes' },
  { name: 'other', label: 'Other', color: 'var(--cb-chart)', pattern: 'dots' },
  { name: 'unevaluated', label: 'Not evaluated', color: 'var(--cb-chart-faint)', pattern: 'none' },
] as const

/** Loaded when it is first shown: the chart library is most of this page's script. */
export default function DayChart({ days }: { days: CallsOfDay[] }) {
  const id = useId()
  const shown = series.filter(({ name }) => name === 'success' || days.some((day) => day[name] > 0))
  return (
    <>
      <BarChart
        h={232}
        data={days}
        dataKey="day"
        type="stacked"
        series={shown.map(({ name, label, color }) => ({ name, label, color }))}
        fillOpacity={1}
        maxBarWidth={32}
        barChartProps={{ margin: { top: 8 } }}
        gridColor="var(--cb-border)"
        textColor="dimmed"
        strokeDasharray="0"
        tickLine="none"
        accessibilityLayer={false}
        valueFormatter={(value) => value.toLocaleString()}
        xAxisProps={{
          tickFormatter: (day: string) => dayLabel(day),
          interval: 'equidistantPreserveStart',
          minTickGap: 24,
          tickMargin: 8,
        }}
        yAxisProps={{ allowDecimals: false, width: 40 }}
        tooltipProps={{
          labelFormatter: (day) => dayLabel(String(day), { weekday: 'short' }),
          isAnimationActive: false,
        }}
        barProps={({ name }) => ({
          isAnimationActive: false,
          fill: fillOf(id, name),
          stroke: 'var(--mantine-color-body)',
          strokeWidth: days.length > 60 ? 0 : 1,
        })}
      >
        <Patterns id={id} />
      </BarChart>
      <ul className="cb-legend">
        {shown.map(({ name, label, color, pattern }) => (
          <li key={name}>
            <span className="cb-legend-swatch" data-pattern={pattern} style={{ color }} />
            {label}
          </li>
        ))}
      </ul>
    </>
  )
}

function fillOf(id: string, name: string): string | undefined {
  const kind = series.find((candidate) => candidate.name === name)
  return kind && kind.pattern !== 'none' ? `url(#${id}-${kind.pattern})` : kind?.color
}

/** Patterns that tell the parts of a bar apart without colour. */
function Patterns({ id }: { id: string }) {
  return (
    <defs>
      <pattern
        id={`${id}-stripes`}
        width="6"
        height="6"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect width="6" height="6" fill="var(--cb-danger)" />
        <rect width="2" height="6" fill="var(--mantine-color-body)" fillOpacity="0.45" />
      </pattern>
      <pattern id={`${id}-dots`} width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" fill="var(--cb-chart)" />
        <circle cx="3" cy="3" r="1.2" fill="var(--mantine-color-body)" fillOpacity="0.6" />
      </pattern>
    </defs>
  )
}
