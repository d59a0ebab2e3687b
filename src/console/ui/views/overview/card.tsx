import { ActionIcon, Tooltip } from '@mantine/core'
import { IconChartBar, IconTable } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'

interface CardProps<Data> {
  title: string
  /** At the right of the title. */
  aside?: ReactNode
  query: { data: Data | undefined; error: Error | null; isPlaceholderData: boolean; refetch: () => unknown }
  /** As high as what comes. */
  skeleton: ReactNode
  children: (data: Data) => ReactNode
}

/** One part of the overview, with its own query: it loads and fails alone. */
export function Card<Data>({ title, aside, query, skeleton, children }: CardProps<Data>) {
  const { data, error, isPlaceholderData, refetch } = query
  return (
    <Panel title={title} aside={aside}>
      <div
        className="cb-card"
        aria-busy={data === undefined && !error}
        data-stale={isPlaceholderData || undefined}
      >
        {data !== undefined ? (
          children(data)
        ) : error ? (
          <Problem error={error} onRetry={() => void refetch()} />
        ) : (
          skeleton
        )}
      </div>
    </Panel>
  )
}

interface ChartProps {
  /** What the chart says, in a sentence. */
  summary: string
  /** The same numbers, for who does not see them or would rather read them. */
  table: { columns: string[]; rows: (string | number)[][] }
  isTable: boolean
  children: ReactNode
}

/** A chart that is also a table: beside it for screen readers, instead of it for who asks. */
export function Chart({ summary, table: { columns, rows }, isTable, children }: ChartProps) {
  return (
    <figure className="cb-chart">
      {!isTable && <div aria-hidden>{children}</div>}
      <figcaption className="cb-hidden">{summary}</figcaption>
      <section
        className={isTable ? 'cb-chart-table' : 'cb-hidden'}
        aria-label={summary}
        tabIndex={isTable ? 0 : undefined}
      >
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
            {rows.map(([name, ...values]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {values.map((value, at) => (
                  <td key={columns[at + 1]}>{value.toLocaleString()}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </figure>
  )
}

/** Whether a chart is shown as a table, and the button that changes it. */
export function useTableSwitch(): { isTable: boolean; tableSwitch: ReactNode } {
  const [isTable, setIsTable] = useState(false)
  const label = isTable ? 'Show as chart' : 'Show as table'
  const tableSwitch = (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        aria-label={label}
        onClick={() => setIsTable(!isTable)}
      >
        {isTable ? <IconChartBar size={16} /> : <IconTable size={16} />}
      </ActionIcon>
    </Tooltip>
  )
  return { isTable, tableSwitch }
}
