import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import classes from './columns.module.css'
import type { Scale } from './scale.ts'

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
