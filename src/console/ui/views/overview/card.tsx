import { ActionIcon, Anchor } from '@mantine/core'
import { IconChartBar, IconTable } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { FirstValues } from '../../../../calls/reading/overview.ts'
import { asCount } from '../../components/figures.ts'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import classes from './overview.module.css'

interface CardProps<Data> {
  title: string
  /** On the right of the title. */
  aside?: ReactNode
  query: { data: Data | undefined; error: Error | null; isPlaceholderData: boolean; refetch: () => unknown }
  /** As high as the content it stands for. */
  skeleton: ReactNode
  children: (data: Data) => ReactNode
}

/** One part of the overview. It has its own query, so it loads and fails on its own. */
export function Card<Data>({ title, aside, query, skeleton, children }: CardProps<Data>) {
  const { data, error, isPlaceholderData, refetch } = query
  return (
    <Panel title={title} aside={aside}>
      <div
        className={classes.card}
        aria-busy={data === undefined && !error}
        data-stale={isPlaceholderData || undefined}
      >
        {data !== undefined ? (
          children(data)
        ) : error ? (
          <Problem title={`${title} could not be loaded`} error={error} onRetry={() => void refetch()} />
        ) : (
          skeleton
        )}
      </div>
    </Panel>
  )
}

export interface ChartTable {
  columns: string[]
  /** Without filters, a row leads nowhere. */
  rows: { key: string; name: string; values: string[]; filters: ChosenFilters | null }[]
}

interface ChartProps {
  /** The chart's message in a sentence. */
  summary: string
  /** The same numbers as a table, whose rows link to their calls. */
  table: ChartTable
  isTable: boolean
  children: ReactNode
}

/** A chart whose bars say what they stand for, or a table of its numbers in its place. */
export function Chart({ summary, table: { columns, rows }, isTable, children }: ChartProps) {
  const project = useProject()
  return (
    <figure className={classes.chart}>
      <figcaption className="cb-hidden">{summary}</figcaption>
      {isTable ? (
        <section className={classes.chartTable} aria-label={summary}>
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, name, values, filters }) => (
                <tr key={key}>
                  <th scope="row">
                    {filters ? (
                      <Link to="/p/$project/calls" params={{ project: project.id }} search={filters}>
                        <bdi>{name}</bdi>
                      </Link>
                    ) : (
                      <bdi>{name}</bdi>
                    )}
                  </th>
                  {values.map((value, at) => (
                    <td key={columns[at + 1]}>{value}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        children
      )}
    </figure>
  )
}

/** Whether a chart is shown as a table, and the button that switches. */
export function useTableSwitch(): { isTable: boolean; tableSwitch: ReactNode } {
  const [isTable, setIsTable] = useState(false)
  const label = isTable ? 'Show as chart' : 'Show as table'
  const tableSwitch = (
    <ActionIcon
      data-hint={label}
      variant="subtle"
      color="gray"
      size={28}
      aria-label={label}
      onClick={() => setIsTable(!isTable)}
    >
      {isTable ? <IconChartBar size={16} /> : <IconTable size={16} />}
    </ActionIcon>
  )
  return { isTable, tableSwitch }
}

/** The first of some rows, or all of them, and the button that switches. A single further row takes the button's place. */
export function useFirstRows<Row>({ data, others }: FirstValues<Row>, rowsMax: number) {
  const [isOpen, setIsOpen] = useState(false)
  const isShort = data.length <= rowsMax + 1
  const isAll = isOpen || isShort
  const more =
    asCount(data.length - rowsMax) +
    (others.values > 0 ? ` of ${asCount(data.length - rowsMax + others.values)}` : '')
  const allSwitch = !isShort && (
    <Anchor
      component="button"
      type="button"
      size="sm"
      aria-expanded={isOpen}
      onClick={() => setIsOpen(!isOpen)}
    >
      {isOpen ? 'Show fewer' : `Show ${more} more`}
    </Anchor>
  )
  return { shown: isAll ? data : data.slice(0, rowsMax), isAll, allSwitch }
}
