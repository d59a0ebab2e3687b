import { asShortCount } from '../../components/figures.ts'
import classes from './columns.module.css'
import { Plot, type PlotColumn } from './plot.tsx'
import { scaleOf } from './scale.ts'

/** One bar of a chart, which leads to its calls. */
export interface ColumnOfCalls extends Omit<PlotColumn, 'mark'> {
  /** From below. */
  parts: { kind: string; calls: number }[]
}

interface ColumnsProps {
  columns: ColumnOfCalls[]
  label: string
  /** Whether the label names the whole bar or its start. */
  labelsAt?: 'middle' | 'start'
}

/** Bars side by side. */
export function Columns({ columns, ...plot }: ColumnsProps) {
  const scale = scaleOf(
    columns.map(({ parts }) => parts.reduce((sum, { calls }) => sum + calls, 0)),
    'whole',
  )
  const bars = columns.map(({ parts, ...column }) => ({
    ...column,
    mark: parts
      .filter(({ calls }) => calls > 0)
      .map(({ kind, calls }) => (
        <span
          key={kind}
          className={classes.part}
          data-kind={kind}
          style={{ height: `${scale.placeOf(calls)}%` }}
        />
      )),
  }))
  return <Plot {...plot} columns={bars} scale={scale} format={asShortCount} />
}
