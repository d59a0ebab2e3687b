import { UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import type { CSSProperties } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import classes from './call-list.module.css'
import type { Order } from './chosen-filters.ts'
import { type ColumnName, columns, isFigure } from './columns.ts'
import type { Selection } from './selection.ts'

/** Columns that sort the list, and the orders in which they do. */
const orders: { [Name in ColumnName]?: Record<'ascending' | 'descending', Order | undefined> } = {
  when: { ascending: 'createdAt', descending: undefined },
  duration: { ascending: 'duration', descending: '-duration' },
  cost: { ascending: 'cost', descending: '-cost' },
  latency: { ascending: 'latency', descending: '-latency' },
  criteria: { ascending: 'criteria', descending: '-criteria' },
}

interface ListHeadProps {
  shown: ReadonlySet<ColumnName>
  rows: readonly CallRow[]
  selection: Selection
  order: Order | undefined
  onOrder: (order: Order | undefined) => void
}

/** The names of the columns. Those that can sort the list are buttons. */
export function ListHead({ shown, rows, selection, order, onOrder }: ListHeadProps) {
  const { isAll } = selection
  return (
    <thead>
      <tr>
        <th scope="col" data-cell="select">
          <input
            type="checkbox"
            className={classes.check}
            aria-label="Select all loaded calls"
            checked={isAll}
            ref={(box) => {
              if (box) box.indeterminate = !isAll && selection.ids.size > 0
            }}
            onChange={() => selection.set(isAll ? [] : rows.map(({ id }) => id))}
          />
        </th>
        {columns.map(
          ({ name, label, px }) =>
            shown.has(name) && (
              <ColumnHead key={name} name={name} label={label} px={px} order={order} onOrder={onOrder} />
            ),
        )}
      </tr>
    </thead>
  )
}

/** Narrow lists have other widths: see call-list.module.css. */
function toWidth(px: number): CSSProperties & { '--cb-width': string } {
  return { '--cb-width': `${px}px` }
}

type ColumnHeadProps = Pick<ListHeadProps, 'order' | 'onOrder'> & {
  name: ColumnName
  label: string
  px: number
}

function ColumnHead({ name, label, px, order, onOrder }: ColumnHeadProps) {
  const by = orders[name]
  const isDescending = by !== undefined && order === by.descending
  const sorted = isDescending ? 'descending' : order === by?.ascending ? 'ascending' : 'none'
  const Arrow = isDescending ? IconArrowDown : IconArrowUp
  return (
    <th
      scope="col"
      data-cell={name}
      style={name === 'summary' ? undefined : toWidth(px)}
      data-align={isFigure(name) ? 'right' : undefined}
      aria-sort={by && sorted}
    >
      {by ? (
        <UnstyledButton
          className={classes.sort}
          onClick={() => onOrder(isDescending ? by.ascending : by.descending)}
        >
          {label}
          {sorted !== 'none' && <Arrow size={12} stroke={2} aria-hidden />}
        </UnstyledButton>
      ) : (
        label
      )}
    </th>
  )
}
