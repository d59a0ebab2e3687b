import { Box, Group as Inline, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { CSSProperties, ReactNode } from 'react'
import { asCount, counted } from '../../components/figures.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { useFirstRows } from './card.tsx'
import { formatOf, groupingsOf, isOrdered, isSpan, isSum, nameOfGroups, scaleOf } from './chart.ts'
import type { Figures } from './chart-queries.ts'
import type { Chart } from './chart-search.ts'
import classes from './charts.module.css'
import { type Group, groupsOf, type Kind, kindsOf, type Part } from './groups.ts'
import { CallsLink, Columns, Line, Segment, styleOf } from './plot.tsx'

/** As many bars as a card has room for. */
export const barsShown = 8
/** How many labels a heat map has room for above its columns. */
const columnLabelsMax = 8
/** The API lists no more. */
const groupsMax = 1_000

interface FigureChartProps {
  title: string
  chart: Chart
  figures: { data: Figures; pairs: Figures | null }
  /** The filters of all its calls, as the API takes them. */
  filters: ChosenFilters
  isTable: boolean
}

/** Figures as a line, columns, bars or a heat map, whose parts lead to their calls; or as a table. */
export function FigureChart({ title, chart, figures, filters, isTable }: FigureChartProps) {
  const groups = useGroups(chart, figures, filters)
  const kinds = kindsOf(groups)
  const { format } = formatOf(chart)
  const textOf = describe(chart, format)
  return (
    <figure className={classes.chart}>
      <figcaption className="cb-hidden">{summaryOf(title, groups, textOf)}</figcaption>
      {isTable ? (
        <FigureTable title={title} chart={chart} groups={groups} kinds={kinds} />
      ) : (
        <Stack gap="sm">
          <Shape title={title} chart={chart} groups={groups} kinds={kinds} textOf={textOf} />
        </Stack>
      )}
      {(figures.pairs ?? figures.data).length === groupsMax && (
        <p className="cb-dimmed">
          The first {asCount(groupsMax)} groups. Choose a shorter period to see all.
        </p>
      )}
    </figure>
  )
}

function useGroups(chart: Chart, { data, pairs }: FigureChartProps['figures'], filters: ChosenFilters) {
  const { id: project } = useProject()
  const dates = useDates()
  const facets = useQuery({ ...facetsQuery(project), enabled: groupingsOf(chart.by).includes('agentId') })
  const agents = new Map(
    facets.data?.agentId?.flatMap(({ value, label }) => (label ? [[value, label] as const] : [])),
  )
  return groupsOf(data, { ...chart, filters, dates, agents }, pairs)
}

/** `Tue 5 Nov: 12 calls · 3 failed`, `Front desk: 1.2 s · 12 calls` */
function describe({ of }: Chart, format: (value: number) => string) {
  return ({ name, value, calls, parts }: Pick<Group, 'name' | 'value' | 'calls'> & { parts?: Part[] }) => {
    const written = value === null ? '–' : format(value)
    const own = of === 'calls' ? counted(calls, 'call') : `${written} · ${counted(calls, 'call')}`
    const shares = (parts ?? [])
      .filter((part) => part.look !== 'only' && part.value !== null)
      .map((part) => `${format(part.value ?? 0)} ${part.name.toLowerCase()}`)
    return [`${name}: ${own}`, ...shares].join(' · ')
  }
}

interface ShapeProps {
  title: string
  chart: Chart
  groups: Group[]
  kinds: Kind[]
  textOf: (group: Pick<Group, 'name' | 'value' | 'calls'> & { parts?: Part[] }) => string
}

/** The form that shows such groups best. */
function Shape({ title, chart, groups, kinds, textOf }: ShapeProps) {
  const [first, second] = groupingsOf(chart.by)
  if (second !== undefined && (!isSum(chart) || isOrdered(second)))
    return <HeatMap title={title} chart={chart} groups={groups} kinds={kinds} textOf={textOf} />
  const legend = second !== undefined && <Legend kinds={kinds} />
  if (!isOrdered(first))
    return (
      <>
        <Bars title={title} chart={chart} groups={groups} />
        {legend}
      </>
    )
  const { short, scale } = formatOf(chart)
  const plotted = {
    groups,
    label: title,
    scale: scaleOf(
      groups.flatMap(({ value, parts }) => [
        value ?? 0,
        parts.reduce((sum, part) => sum + (part.value ?? 0), 0),
      ]),
      scale,
    ),
    format: short,
    textOf,
  }
  if (isSpan(first) && second === undefined) return <Line {...plotted} />
  return (
    <>
      <Columns {...plotted} isFrom={first === 'duration'} />
      {legend}
    </>
  )
}

function Legend({ kinds }: { kinds: readonly Kind[] }) {
  return (
    <Inline component="ul" gap="4px 16px" m={0} p={0} fz={12} className="cb-dimmed" aria-hidden>
      {kinds.map(({ key, name, look }) => (
        <Inline key={key} component="li" gap={6}>
          <Box w={12} h={12} bdrs={3} className={classes.part} data-kind={look} style={styleOf(look)} />
          {name}
        </Inline>
      ))}
    </Inline>
  )
}

/** A bar for each group, the longest first. */
function Bars({ title, chart, groups }: Pick<ShapeProps, 'title' | 'chart' | 'groups'>) {
  const { format } = formatOf(chart)
  const isOfShares = chart.show === 'share' || chart.show === 'failed'
  const most = isOfShares ? 1 : Math.max(...groups.map(({ value }) => value ?? 0)) || 1
  const rows = groups.map(({ value, calls, ...group }) => ({
    ...group,
    aside: chart.of !== 'calls' && counted(calls, 'call'),
    value: value === null ? '–' : format(value),
  }))
  return <BarList title={title} rows={rows} most={most} />
}

interface BarListProps {
  title: string
  rows: (Pick<Group, 'key' | 'name' | 'filters'> & {
    parts: Pick<Part, 'key' | 'look' | 'value'>[]
    /** Said after the name to screen readers. */
    hint?: string
    /** Beside the value. */
    aside: ReactNode
    value: string
  })[]
  /** The value whose bar is as wide as the list. */
  most: number
}

/** A bar behind each name, which leads to its calls: the first of them, and the others on request. */
export function BarList({ title, rows, most }: BarListProps) {
  const { shown, allSwitch } = useFirstRows(rows, barsShown)
  return (
    <ul className={classes.bars} aria-label={title}>
      {shown.map(({ key, name, hint, value, aside, filters, parts }) => (
        <li key={key}>
          <span className={classes.bar} aria-hidden>
            {parts.map((part) => (
              <Segment key={part.key} part={part} side="width" percent={((part.value ?? 0) / most) * 100} />
            ))}
          </span>
          <CallsLink filters={filters} className={filters ? `cb-truncate ${classes.cover}` : 'cb-truncate'}>
            <bdi>{name}</bdi>
            {hint && <span className="cb-hidden">{hint}</span>}
          </CallsLink>
          <span className="cb-note">{aside}</span>
          <span className={classes.barValue}>{value}</span>
        </li>
      ))}
      {allSwitch && <li className={classes.rowsAll}>{allSwitch}</li>}
    </ul>
  )
}

/** A cell for each pair, the darker the higher its value; the kinds of what has an order side by side. */
function HeatMap({ title, chart, groups, kinds, textOf }: ShapeProps) {
  const [first, second = ''] = groupingsOf(chart.by)
  const isTurned = isOrdered(first) && !isOrdered(second)
  const partOf = (group: Group, kind: Kind) => group.parts.find(({ key }) => key === kind.key)
  const pairOf = (group: Group, kind: Kind) => ({
    name: `${group.name}, ${kind.name}`,
    part: partOf(group, kind),
  })
  const columns: { key: string; label: string; name: string }[] = isTurned ? groups : kinds
  const rows = isTurned
    ? kinds.map((kind) => ({ ...kind, cells: groups.map((group) => pairOf(group, kind)) }))
    : groups.map((group) => ({ ...group, cells: kinds.map((kind) => pairOf(group, kind)) }))
  const most = Math.max(...groups.flatMap(({ parts }) => parts.map(({ value }) => value ?? 0))) || 1
  const every = Math.ceil(columns.length / columnLabelsMax)
  return (
    <div className={classes.heat}>
      <table aria-label={title}>
        <thead>
          <tr>
            <th scope="col">
              <span className="cb-hidden">{nameOfGroups(isTurned ? second : first)}</span>
            </th>
            {columns.map(({ key, label, name }, at) => (
              <th key={key} scope="col" aria-label={name}>
                {at % every === 0 && <span>{label}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, label, cells }) => (
            <tr key={key}>
              <th scope="row" aria-label={name}>
                {label}
              </th>
              {cells.map(({ name, part }, at) => (
                <td key={columns[at]?.key}>
                  {part && <Cell part={part} text={textOf({ ...part, name })} most={most} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell({ part: { value, filters }, text, most }: { part: Part; text: string; most: number }) {
  const style: CSSProperties & { '--cb-heat': string } = { '--cb-heat': `${((value ?? 0) / most) * 100}%` }
  return (
    <span className={classes.heatCell} style={style} title={text}>
      <CallsLink filters={filters}>
        <span className="cb-hidden">{text}</span>
      </CallsLink>
    </span>
  )
}

/** The numbers of a chart, whose rows lead to their calls. */
function FigureTable({ title, chart, groups, kinds }: Omit<ShapeProps, 'textOf'>) {
  const [first, second] = groupingsOf(chart.by)
  const { format } = formatOf(chart)
  const written = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : format(value)
  const parts = second === undefined ? [] : kinds
  const columns: { key: string; name: string; of: (group: Group) => ReactNode }[] = [
    ...parts.map(({ key, name }) => ({
      key: `part ${key}`,
      name,
      of: (group: Group) => written(group.parts.find((part) => part.key === key)?.value),
    })),
    ...(chart.of === 'calls'
      ? []
      : [{ key: 'value', name: 'Value', of: ({ value }: Group) => written(value) }]),
    { key: 'calls', name: 'Calls', of: ({ calls }: Group) => asCount(calls) },
  ]
  return (
    <section className={classes.table} aria-label={title}>
      <table>
        <thead>
          <tr>
            {[{ key: 'name', name: nameOfGroups(first) }, ...columns].map(({ key, name }) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.key}>
              <th scope="row">
                <CallsLink filters={group.filters}>
                  <bdi>{group.name}</bdi>
                </CallsLink>
              </th>
              {columns.map(({ key, of }) => (
                <td key={key}>{of(group)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The chart's message in a sentence. */
function summaryOf(title: string, groups: readonly Group[], textOf: ShapeProps['textOf']): string {
  const highest = groups.reduce<Group | null>(
    (most, group) =>
      group.value !== null && group.value > (most?.value ?? Number.NEGATIVE_INFINITY) ? group : most,
    null,
  )
  return highest ? `${title}. Highest: ${textOf(highest)}.` : `${title}. No values.`
}
