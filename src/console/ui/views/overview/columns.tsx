import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { asShortCount } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import classes from './columns.module.css'

const linesMax = 4

/** One bar of a chart, which leads to its calls. */
export interface ColumnOfCalls {
  key: string
  /** Below the bar, where there is room. */
  label: string
  /** What it stands for, in words: `Tue 5 Nov: 12 calls, 3 failed`. */
  text: string
  /** From below. */
  parts: { kind: string; calls: number }[]
  filters: ChosenFilters
}

interface ColumnsProps {
  columns: ColumnOfCalls[]
  label: string
  /** Whether the label names the whole bar or its start. */
  labelsAt?: 'middle' | 'start'
}

/** Bars side by side. One of them takes the focus; the arrow keys move it. */
export function Columns({ columns, label, labelsAt = 'middle' }: ColumnsProps) {
  const project = useProject()
  const [shown, setShown] = useState<string | null>(null)
  const most = Math.max(1, ...columns.map(({ parts }) => callsOf(parts)))
  const step = niceStep(most / linesMax)
  const top = Math.ceil(most / step) * step
  const lines = Array.from({ length: top / step + 1 }, (_, at) => at * step)
  // Every label needs the width of about five bars of a month.
  const labelEvery = Math.max(1, Math.ceil(columns.length / 10))
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
        {lines.map((line) => (
          <span key={line} style={{ bottom: `${(line / top) * 100}%` }}>
            {asShortCount(line)}
          </span>
        ))}
      </div>
      <ul className={classes.bars} aria-label={label} onKeyDown={move} onMouseLeave={() => setShown(null)}>
        {columns.map(({ key, label: below, text, parts, filters }, at) => (
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
              {parts
                .filter(({ calls }) => calls > 0)
                .map(({ kind, calls }) => (
                  <span
                    key={kind}
                    className={classes.part}
                    data-kind={kind}
                    style={{ height: `${(calls / top) * 100}%` }}
                  />
                ))}
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
    </div>
  )
}

function callsOf(parts: ColumnOfCalls['parts']): number {
  return parts.reduce((sum, { calls }) => sum + calls, 0)
}

/** 1, 2 or 5 times a power of ten, at least this much. */
function niceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, atLeast)))
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= atLeast) ?? power
}
