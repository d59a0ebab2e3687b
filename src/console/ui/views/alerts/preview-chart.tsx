import type { Preview } from '../../../../alerts/preview.ts'
import type { AlertChange } from '../../../../alerts/schemas.ts'
import { useDates } from '../../components/use-dates.ts'
import { chartOf, formatOf } from '../charts/chart.ts'
import columns from '../overview/columns.module.css'
import { type Scale, scaleOf } from '../overview/scale.ts'
import classes from './alerts.module.css'

const labels = 5
/** In hours: what fired for a moment is seen, too. */
const firedWidthMin = 3

interface PreviewChartProps {
  preview: Preview
  rule: AlertChange
}

/** The values of 30 days with the limits, and where the rule would have fired. */
export function PreviewChart({ preview: { data, fired }, rule }: PreviewChartProps) {
  const dates = useDates()
  const { chart } = chartOf({ ...(rule.of && { of: rule.of }), ...(rule.show && { show: rule.show }) })
  const { short, scale: unit } = formatOf(chart)
  const limits = Object.entries(rule.above ?? rule.below ?? {})
  const values = data.flatMap(({ value }) => value ?? [])
  const scale = scaleOf([...values, ...limits.map(([, limit]) => limit)], unit)
  const start = Date.parse(data[0]?.at ?? '')
  const end = Date.parse(data.at(-1)?.at ?? '')
  const xOf = (at: string | null) =>
    (((at === null ? end : Date.parse(at)) - start) / (end - start || 1)) * data.length
  const labelled = data.filter((_, at) => at % Math.ceil(data.length / labels) === 0)
  return (
    <figure className={classes.chart}>
      <figcaption className="cb-hidden">The last 30 days, hour by hour, with the limits.</figcaption>
      <div className={columns.columns} aria-hidden>
        <div className={columns.lines}>
          {scale.lines.map((line) => (
            <span key={line} style={{ bottom: `${scale.placeOf(line)}%` }}>
              {short(line)}
            </span>
          ))}
        </div>
        <svg
          className={`${columns.line} ${classes.curve}`}
          viewBox={`0 0 ${data.length} 100`}
          preserveAspectRatio="none"
          aria-hidden
        >
          {fired.map(({ state, from, until }) => (
            <rect
              key={from}
              data-state={state}
              x={xOf(from)}
              width={Math.max(firedWidthMin, xOf(until) - xOf(from))}
              height={100}
            />
          ))}
          {limits.map(([name, limit]) => (
            <line
              key={name}
              data-limit={name}
              x2={data.length}
              y1={100 - scale.placeOf(limit)}
              y2={100 - scale.placeOf(limit)}
            />
          ))}
          <path d={pathOf(data, scale)} />
        </svg>
        <p className={classes.days}>
          {labelled.map(({ at }) => (
            <span key={at}>{dates.day(at, end)}</span>
          ))}
        </p>
      </div>
    </figure>
  )
}

/** A line through the values, with a gap where there is none. */
function pathOf(data: Preview['data'], scale: Scale): string {
  const valueAt = (at: number) => data[at]?.value ?? null
  return data
    .map(({ value }, at) => {
      if (value === null) return ''
      const step = valueAt(at - 1) === null ? 'M' : 'L'
      const isAlone = step === 'M' && valueAt(at + 1) === null
      const y = 100 - scale.placeOf(value)
      return `${step}${at + 0.5} ${y}${isAlone ? `h1` : ''}`
    })
    .join('')
}
