import { Link } from '@tanstack/react-router'
import { type CSSProperties, type KeyboardEvent, type ReactNode, useState } from 'react'
import { to } from '../../components/to.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { linePath, type Scale } from './chart.ts'
import classes from './charts.module.css'
import type { Group, Part } from './groups.ts'

/** How many labels of time have room side by side. */
const timesMax = 6
const labelsMax = 10
/** With more, dots would hide the line. */
const dotsMax = 31

interface ShapeProps {
  label: string
  scale: Scale
  format: (value: number) => string
  textOf: (group: Group) => string
  /** Whether a label names the start of its column instead of all of it. */
  isFrom?: boolean
}

/** Bars side by side, whose parts are stacked from below. */
export function Columns({ groups, ...plot }: ShapeProps & { groups: readonly Group[] }) {
  const columns = groups.map((group) => ({
    ...group,
    mark: group.parts.map((part) => (
      <Segment key={part.key} part={part} side="height" percent={plot.scale.placeOf(part.value ?? 0)} />
    )),
  }))
  return <Plot {...plot} columns={columns} />
}

interface SegmentProps {
  part: Pick<Part, 'look'>
  side: 'height' | 'width'
  percent: number
}

/** A part of a bar. */
export function Segment({ part: { look }, side, percent }: SegmentProps) {
  return (
    <span className={classes.part} data-kind={look} style={{ [side]: `${percent}%`, ...styleOf(look) }} />
  )
}

/** Each is lighter than the one before. The first, and failed calls, have a pattern as well. */
const shades: Record<string, string> = {
  1: 'color-mix(in srgb, var(--cb-chart) 80%, var(--mantine-color-text))',
  2: 'color-mix(in srgb, var(--cb-chart) 80%, var(--mantine-color-body))',
  3: 'color-mix(in srgb, var(--cb-chart) 60%, var(--mantine-color-body))',
  4: 'color-mix(in srgb, var(--cb-chart) 40%, var(--mantine-color-body))',
  5: 'color-mix(in srgb, var(--cb-chart) 25%, var(--mantine-color-body))',
  none: 'var(--cb-chart-faint)',
  others: 'var(--cb-chart-faint)',
}

/** The colour of a kind of parts, which forced colours replace. */
export function styleOf(look: string): CSSProperties {
  return { '--cb-look': shades[look] } as CSSProperties
}

/** A line through values, with a gap where there is none. */
export function Line({ groups, ...plot }: ShapeProps & { groups: readonly Group[] }) {
  const { scale } = plot
  const values = groups.map(({ value }) => value)
  const columns = groups.map((group, at) => {
    const isAlone = (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null
    const dot = isAlone ? 'alone' : groups.length <= dotsMax ? 'one' : undefined
    const { value } = group
    const style = { bottom: `${scale.placeOf(value ?? 0)}%` }
    return {
      ...group,
      mark: value !== null && <span className={classes.point} data-dot={dot} style={style} />,
    }
  })
  return (
    <Plot
      {...plot}
      columns={columns}
      behind={
        <svg
          className={classes.line}
          viewBox={`0 0 ${values.length} 100`}
          preserveAspectRatio="none"
          aria-hidden
        >
          <path d={linePath(values, scale)} />
        </svg>
      }
    />
  )
}

interface PlotProps extends ShapeProps {
  columns: (Group & { mark: ReactNode })[]
  /** Drawn across all columns. */
  behind?: ReactNode
}

/** Columns side by side, above a scale. One of them takes the focus; the arrow keys move it. */
function Plot({ columns, label, scale, format, textOf, isFrom, behind }: PlotProps) {
  const [shown, setShown] = useState<string | null>(null)
  const labelEvery = Math.max(1, Math.ceil(columns.length / (behind ? timesMax : labelsMax)))
  const shownColumn = columns.find(({ key }) => key === shown)
  return (
    <div className={classes.columns}>
      <p className={classes.text} aria-hidden>
        {shownColumn && textOf(shownColumn)}
      </p>
      <div className={classes.lines} aria-hidden>
        {scale.lines.map((line) => (
          <span key={line} style={{ bottom: `${scale.placeOf(line)}%` }}>
            {format(line)}
          </span>
        ))}
      </div>
      <ul
        className={classes.plotted}
        aria-label={label}
        onKeyDown={moveFocus}
        onMouseLeave={() => setShown(null)}
      >
        {columns.map((column, at) => (
          <li key={column.key}>
            <CallsLink
              filters={column.filters}
              className={classes.column}
              aria-label={textOf(column)}
              tabIndex={at === columns.length - 1 ? 0 : -1}
              onMouseEnter={() => setShown(column.key)}
              onFocus={() => setShown(column.key)}
              onBlur={() => setShown(null)}
            >
              {column.mark}
            </CallsLink>
            {at % labelEvery === 0 && (
              <span
                className={classes.label}
                data-at={isFrom ? 'start' : 'middle'}
                data-second={(at / labelEvery) % 2 === 1 || undefined}
                aria-hidden
              >
                {column.label}
              </span>
            )}
          </li>
        ))}
      </ul>
      {behind}
    </div>
  )
}

interface CallsLinkProps {
  /** Null where no filters find the calls: then it leads nowhere. */
  filters: ChosenFilters | null
  className?: string | undefined
  'aria-label'?: string
  tabIndex?: number
  onMouseEnter?: () => void
  onFocus?: () => void
  onBlur?: () => void
  children: ReactNode
}

/** Leads to calls. */
export function CallsLink({ filters, ...props }: CallsLinkProps) {
  if (filters) return <Link {...to.calls} search={filters} preload={false} {...props} />
  // It can be reached and read like its neighbours.
  if (props.tabIndex === undefined) return <span className={props.className}>{props.children}</span>
  return <span role="img" data-column {...props} />
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  const columns = [...event.currentTarget.querySelectorAll<HTMLElement>('a, [data-column]')]
  const at = columns.findIndex((column) => column.matches(':focus'))
  const next = by && columns[at + by]
  if (!next) return
  event.preventDefault()
  next.focus()
}
