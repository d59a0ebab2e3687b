import { Anchor } from '@mantine/core'
import { IconChartBar, IconTable } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { asCount } from '../../components/figures.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import classes from './charts.module.css'

interface CardProps<Data> {
  title: string
  /** Whether the title is shown, as it is by default. */
  isTitled?: boolean
  /** On the right of the title. */
  aside?: ReactNode
  query: { data: Data | undefined; error: Error | null; isPlaceholderData: boolean; refetch: () => unknown }
  /** As high as the content it stands for. */
  skeleton: ReactNode
  children: (data: Data) => ReactNode
}

/** One part of the overview. It has its own query, so it loads and fails on its own. */
export function Card<Data>({ title, isTitled = true, aside, query, skeleton, children }: CardProps<Data>) {
  const { data, error, isPlaceholderData, refetch } = query
  return (
    <Panel title={isTitled && title} aside={aside}>
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

/** Whether a chart is shown as a table, and the button that switches. */
export function useTableSwitch(): { isTable: boolean; tableSwitch: ReactNode } {
  const [isTable, setTable] = useState(false)
  const tableSwitch = (
    <IconButton
      icon={isTable ? IconChartBar : IconTable}
      label={isTable ? 'Show as chart' : 'Show as table'}
      onClick={() => setTable(!isTable)}
    />
  )
  return { isTable, tableSwitch }
}

/** The first of some rows, or all of them, and the button that switches. A single further row takes the button's place. */
export function useFirstRows<Row>(rows: readonly Row[], rowsMax: number) {
  const [isOpen, setOpen] = useState(false)
  const isShort = rows.length <= rowsMax + 1
  const allSwitch = !isShort && (
    <Anchor
      component="button"
      type="button"
      size="sm"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      {isOpen ? 'Show fewer' : `Show ${asCount(rows.length - rowsMax)} more`}
    </Anchor>
  )
  return { shown: isOpen || isShort ? rows : rows.slice(0, rowsMax), allSwitch }
}
