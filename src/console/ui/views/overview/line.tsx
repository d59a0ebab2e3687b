import classes from './columns.module.css'
import { Plot, type PlotColumn } from './plot.tsx'
import type { Scale } from './scale.ts'

/** With more, dots would hide the line. */
const dotsMax = 31

export interface LinePoint extends Omit<PlotColumn, 'mark'> {
  value: number | null
}

interface LineProps {
  points: LinePoint[]
  label: string
  scale: Scale
  format: (value: number) => string
}

/** A line through values, with a gap where there is none. */
export function Line({ points, scale, ...plot }: LineProps) {
  const valueAt = (at: number) => points[at]?.value ?? null
  const columns = points.map(({ value, ...point }, at) => {
    const isAlone = valueAt(at - 1) === null && valueAt(at + 1) === null
    const dot = isAlone ? 'alone' : points.length <= dotsMax ? 'one' : undefined
    return {
      ...point,
      mark: value !== null && (
        <span className={classes.point} data-dot={dot} style={{ bottom: `${scale.placeOf(value)}%` }} />
      ),
    }
  })
  const path = points.flatMap(({ value }, at) => {
    if (value === null) return []
    const step = valueAt(at - 1) === null ? 'M' : 'L'
    return `${step}${at + 0.5} ${100 - scale.placeOf(value)}`
  })
  return (
    <Plot
      {...plot}
      columns={columns}
      scale={scale}
      labelsMax={6}
      behind={
        <svg
          className={classes.line}
          viewBox={`0 0 ${points.length} 100`}
          preserveAspectRatio="none"
          aria-hidden
        >
          <path d={path.join('')} />
        </svg>
      }
    />
  )
}
