import { Button, Group, Stack } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { type ReactNode, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { IconButton } from '../../components/icon-button.tsx'
import classes from './analysis-page.module.css'

interface RowsProps<Row extends { row: string }> {
  rows: readonly Row[]
  /** One of them, such as `criterion`. */
  what: string
  nameOf: (row: Row) => string
  max: number
  onChange: (rows: Row[]) => void
  /** Called when rows change their places. */
  onShift: () => void
  create: () => Row
  children: (row: Row, at: number, change: (change: Partial<Row>) => void) => ReactNode
}

/** A list of small forms, which can be added to, reordered and removed from by mouse and by keyboard. */
export function Rows<Row extends { row: string }>(props: RowsProps<Row>) {
  const { rows, what, nameOf, max, onChange, onShift, create, children } = props
  const list = useRef<HTMLOListElement>(null)
  const adding = useRef<HTMLButtonElement>(null)
  const [said, setSaid] = useState('')
  const labelOf = (row: Row, at: number) => nameOf(row).trim() || `${what} ${at + 1}`
  const add = () => {
    flushSync(() => onChange([...rows, create()]))
    list.current?.lastElementChild?.querySelector('input')?.focus()
  }
  const move = (row: Row, at: number, by: 1 | -1, button: HTMLButtonElement) => {
    if (at + by < 0 || at + by >= rows.length) return
    flushSync(() => {
      onShift()
      onChange(rows.toSpliced(at, 1).toSpliced(at + by, 0, row))
      setSaid(`${labelOf(row, at)} is now ${at + by + 1} of ${rows.length}`)
    })
    // Moving an element takes the focus from it.
    button.focus()
  }
  const remove = (at: number) => {
    flushSync(() => {
      onShift()
      onChange(rows.toSpliced(at, 1))
    })
    const next = list.current?.children[Math.min(at, rows.length - 2)]
    const button = next?.querySelector<HTMLElement>('[data-remove]') ?? adding.current
    button?.focus()
  }
  return (
    <>
      {rows.length > 0 && (
        <ol ref={list} className="cb-stack">
          {rows.map((row, at) => (
            <li key={row.row} className={`cb-box ${classes.row}`}>
              <Stack gap="sm" flex={1} miw={0}>
                {children(row, at, (change) => onChange(rows.with(at, { ...row, ...change })))}
              </Stack>
              <Group gap={4} className={classes.rowActions}>
                {([-1, 1] as const).map((by) => (
                  <IconButton
                    key={by}
                    icon={by < 0 ? IconArrowUp : IconArrowDown}
                    label={`Move ${labelOf(row, at)} ${by < 0 ? 'up' : 'down'}`}
                    hint={by < 0 ? 'Move up' : 'Move down'}
                    isOff={at + by < 0 || at + by >= rows.length}
                    onClick={(event) => move(row, at, by, event.currentTarget)}
                  />
                ))}
                <IconButton
                  icon={IconTrash}
                  label={`Remove ${labelOf(row, at)}`}
                  hint="Remove"
                  data-remove
                  onClick={() => remove(at)}
                />
              </Group>
            </li>
          ))}
        </ol>
      )}
      <Button
        ref={adding}
        style={{ alignSelf: 'flex-start' }}
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        onClick={add}
        disabled={rows.length >= max}
      >
        Add {what}
      </Button>
      <span role="status" className="cb-hidden">
        {said}
      </span>
    </>
  )
}
