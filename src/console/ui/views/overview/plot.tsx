import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import classes from './columns.module.css'

/** A part of a chart from its bottom to its top, which leads to its calls. */
export interface PlotColumn {
  key: string
  /** Below it, where there is room. */
  label: string
  /** What it stands for, in words: `Tue 5 Nov: 12 calls, 3 failed`. */
  text: string
  filters: ChosenFilters
  mark: ReactNode
}

interface PlotProps {
  columns: PlotColumn[]
  label: string
  /** Whether the label names the whole column or its start. */
  labelsAt?: 'middle' | 'start'
  /** How many labels have room side by side. */
  labelsMax?: number
  scale: Scale
  format: (value: number) => string
  /** Drawn across all columns. */
  behind?: ReactNode
}

/** The numbers at which lines cross a chart, the lowest first. */
export interface Scale {
  lines: number[]
  /** How far above the bottom a value is, in percent. */
  placeOf: (value: number) => number
}

/** Columns side by side, above a scale. One of them takes the focus; the arrow keys move it. */
export function Plot({
  columns,
  label,
  labelsAt = 'middle',
  labelsMax = 10,
  scale,
  format,
  behind,
}: PlotProps) {
  const project = useProject()
  const [shown, setShown] = useState<string | null>(null)
  const labelEvery = Math.max(1, Math.ceil(columns.length / labelsMax))
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    const links = [...event.currentTarget.querySelectorAll('a')]
    const at = links.findIndex((link) => link.matches(':focus'))
    const next = by && links[at + by]
    if (!next) return
    event.preventDefault()
    next.focus()
  }
  return (
    <div className={classes.columns}>
      <p className={classes.text} aria-hidden>
        {columns.find(({ key }) => key === shown)?.text}
      </p>
      <div className={classes.lines} aria-hidden>
        {scale.lines.map((line) => (
          <span key={line} style={{ bottom: `${scale.placeOf(line)}%` }}>
            {format(line)}
          </span>
        ))}
      </div>
      <ul className={classes.bars} aria-label={label} onKeyDown={move} onMouseLeave={() => setShown(null)}>
        {columns.map(({ key, label: below, text, filters, mark }, at) => (
          <li key={key}>
            <Link
              to="/p/$project/calls"
              params={{ project: project.id }}
              search={filters}
              preload={false}
              className={classes.column}
              aria-label={text}
              tabIndex={at === columns.length - 1 ? 0 : -1}
              onMouseEnter={() => setShown(key)}
              onFocus={() => setShown(key)}
              onBlur={() => setShown(null)}
            >
              {mark}
            </Link>
            {at % labelEvery === 0 && (
              <span
                className={classes.label}
                data-at={labelsAt}
                data-second={(at / labelEvery) % 2 === 1 || undefined}
                aria-hidden
              >
                {below}
              </span>
            )}
          </li>
        ))}
      </ul>
      {behind}
    </div>
  )
}

const linesMax = 4
/** Of which a step of a scale is one, times a power of ten; and of seconds, one of these. */
const niceSteps = [1, 2, 5, 10]
const niceSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600]

/** A scale from zero, or less, to at least the greatest of the values. */
export function scaleOf(values: readonly number[], unit: 'whole' | 'seconds' | 'any' = 'any'): Scale {
  const [most, least] = [Math.max(0, ...values), Math.min(0, ...values)]
  const range = most - least || 1
  const step = unit === 'seconds' ? secondsStep(range / linesMax) : niceStep(range / linesMax, unit)
  // From the number of steps, since sums of tenths end in other digits.
  const [first, last] = [Math.floor(least / step), Math.max(1, Math.ceil(most / step))]
  const lines = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step)
  return { lines, placeOf: (value) => ((value / step - first) / (last - first)) * 100 }
}

function secondsStep(atLeast: number): number {
  return niceSeconds.find((step) => step >= atLeast) ?? niceStep(atLeast / 3_600, 'whole') * 3_600
}

/** 1, 2 or 5 times a power of ten, at least this much. */
function niceStep(atLeast: number, unit: 'whole' | 'any'): number {
  const power = 10 ** Math.floor(Math.log10(unit === 'whole' ? Math.max(1, atLeast) : atLeast))
  return niceSteps.map((times) => times * power).find((step) => step >= atLeast) ?? power * 10
}
