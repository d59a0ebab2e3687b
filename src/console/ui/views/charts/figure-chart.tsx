import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'
import { asCount, counted } from '../../components/figures.ts'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { Chart, useFirstRows } from '../overview/card.tsx'
import { Line } from '../overview/line.tsx'
import overview from '../overview/overview.module.css'
import { scaleOf } from '../overview/scale.ts'
import { formatOf, nameOfGroups } from './chart.ts'
import type { Chart as ChartOf } from './chart-search.ts'
import { type Group, groupsOf } from './groups.ts'

const barsShown = 8

interface FigureChartProps {
  title: string
  chart: ChartOf
  data: FiguresOfCalls['data']
  /** The filters of all its calls, as the API takes them. */
  filters: ChosenFilters
  isTable: boolean
}

/** Metrics as a line of time or as bars of groups, each of which leads to its calls; or as a table. */
export function FigureChart({ title, chart, data, filters, isTable }: FigureChartProps) {
  const { by, show } = chart
  const { id: project } = useProject()
  const dates = useDates()
  const facets = useQuery({ ...facetsQuery(project), enabled: by === 'agentId' })
  const agents = new Map(
    facets.data?.agentId?.flatMap(({ value, label }) => (label ? [[value, label] as const] : [])),
  )
  const groups = groupsOf(data, { by, show, filters, dates, agents })
  const { format, short, scale } = formatOf(chart)
  const written = (value: number | null) => (value === null ? '–' : format(value))
  const textOf = ({ name, value, calls }: Group) =>
    chart.of === 'calls'
      ? `${name}: ${counted(calls, 'call')}`
      : `${name}: ${written(value)} · ${counted(calls, 'call')}`
  const isOfTime = by === 'day' || by === 'hour'
  const values = groups.flatMap(({ value }) => value ?? [])
  return (
    <Chart
      summary={summaryOf(title, groups, textOf)}
      table={{
        columns: [nameOfGroups(by), ...(chart.of === 'calls' ? [] : ['Value']), 'Calls'],
        rows: groups.map(({ key, name, value, calls, filters }) => ({
          key,
          name,
          values: [...(chart.of === 'calls' ? [] : [written(value)]), asCount(calls)],
          filters,
        })),
      }}
      isTable={isTable}
    >
      {isOfTime ? (
        <Line
          label={title}
          points={groups.map((group) => ({
            ...group,
            filters: group.filters ?? filters,
            text: textOf(group),
          }))}
          scale={scaleOf(values, scale)}
          format={short}
        />
      ) : (
        <Bars groups={groups} written={written} chart={chart} />
      )}
    </Chart>
  )
}

interface BarsProps {
  groups: Group[]
  written: (value: number | null) => string
  chart: ChartOf
}

function Bars({ groups, written, chart: { of, show } }: BarsProps) {
  const project = useProject()
  const { shown, allSwitch } = useFirstRows({ data: groups, others: { values: 0, calls: 0 } }, barsShown)
  const isOfShares = show === 'share' || show === 'failed'
  const most = isOfShares ? 1 : Math.max(...groups.map(({ value }) => value ?? 0)) || 1
  return (
    <ul className={overview.bars}>
      {shown.map(({ key, name, value, calls, filters }) => (
        <li key={key}>
          {value !== null && value > 0 && (
            <span className={overview.bar} style={{ width: `${(value / most) * 100}%` }} aria-hidden />
          )}
          {filters ? (
            <Link
              to="/p/$project/calls"
              params={{ project: project.id }}
              search={filters}
              preload={false}
              className={`${overview.barLabel} ${overview.barLink}`}
            >
              <bdi>{name}</bdi>
            </Link>
          ) : (
            <span className={overview.barLabel}>
              <bdi>{name}</bdi>
            </span>
          )}
          <span className={`${overview.barShare} cb-dimmed`}>{of !== 'calls' && counted(calls, 'call')}</span>
          <span className={overview.barCount}>{written(value)}</span>
        </li>
      ))}
      {allSwitch && (
        <li className={overview.rowsAll}>
          <span className={overview.barLabel}>{allSwitch}</span>
        </li>
      )}
    </ul>
  )
}

/** The chart's message in a sentence. */
function summaryOf(title: string, groups: readonly Group[], textOf: (group: Group) => string): string {
  const highest = groups.reduce<Group | null>(
    (most, group) =>
      group.value !== null && group.value > (most?.value ?? Number.NEGATIVE_INFINITY) ? group : most,
    null,
  )
  return highest ? `${title}. Highest: ${textOf(highest)}.` : `${title}. No values.`
}
