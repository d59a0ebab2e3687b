import { Button, Group, Skeleton } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import {
  type ComponentProps,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useRef,
} from 'react'
import { Mono } from './code.tsx'
import { isShortcut } from './events.ts'
import { IconButton } from './icon-button.tsx'
import { Instant } from './instant.tsx'
import { Problem } from './problem.tsx'
import classes from './table.module.css'

type More = Partial<Pick<Column<unknown>, 'width' | 'from' | 'align'>>
type Of<Row, Value> = (row: Row) => Value

interface RowAction {
  icon: Icon
  /** Its name, such as `Revoke Laptop`. */
  label: string
  /** Its tooltip; the column's header by default. */
  hint?: string
  act: () => void
}

/** Columns of a table, by what is in them. */
interface Columns<Row> {
  cell: (header: string, of: Of<Row, ReactNode>, more?: More) => Column<Row>
  text: (
    header: string,
    of: Of<Row, string | null>,
    more?: More & { none?: string; isDimmed?: boolean },
  ) => Column<Row>
  /** A number, on the right. */
  figure: (header: string, of: Of<Row, ReactNode>, width: string, from?: Column<Row>['from']) => Column<Row>
  mono: (header: string, of: Of<Row, string | null>, more?: More) => Column<Row>
  /** A time, ISO 8601; `none` where there is none. */
  when: (
    header: string,
    of: Of<Row, string | null>,
    more?: More & { as?: NonNullable<ComponentProps<typeof Instant>['as']>; none?: string },
  ) => Column<Row>
  /** Icon buttons at the end of a row; those that do not apply are left out. */
  actions: (header: string, of: Of<Row, readonly (RowAction | false)[]>, width?: string) => Column<Row>
  /** What else stands at the end of a row. */
  end: (header: string, of: Of<Row, ReactNode>, width?: string) => Column<Row>
}

function columnsOf<Row>(): Columns<Row> {
  const cell: Columns<Row>['cell'] = (header, render, more) => ({ key: header, header, render, ...more })
  const end: Columns<Row>['end'] = (name, render, width = '48px') => {
    const header = <span className="cb-hidden">{name}</span>
    return { key: name, header, render, width, align: 'right' }
  }
  return {
    cell,
    text: (header, of, { none, isDimmed = false, ...more } = {}) =>
      cell(header, (row) => dimmedIf(isDimmed || of(row) === null, of(row) ?? none), more),
    mono: (header, of, more) => cell(header, (row) => <Mono truncate>{of(row)}</Mono>, more),
    when: (header, of, { as = 'relative', none = 'Never', ...more } = {}) => {
      const render = (row: Row) => {
        const at = of(row)
        return at === null ? dimmedIf(true, none) : <Instant at={at} as={as} />
      }
      return cell(header, render, { width: '112px', ...more })
    },
    figure: (header, of, width, from) => cell(header, of, { width, align: 'right', from }),
    actions: (header, of, width) =>
      end(header, (row) => of(row).map((action) => action && rowButton(header, action)), width),
    end,
  }
}

function rowButton(header: string, { icon, label, hint = header, act }: RowAction): ReactNode {
  return <IconButton key={label} icon={icon} label={label} hint={hint} size={24} onClick={act} />
}

function dimmedIf(isDimmed: boolean, words: ReactNode): ReactNode {
  return isDimmed ? <span className="cb-dimmed cb-truncate">{words}</span> : words
}

export interface TableProps<Row> extends Omit<ListTableProps<Row>, 'columns'> {
  columns: (of: Columns<Row>) => Column<Row>[]
}

export function Table<Row>({ columns, ...table }: TableProps<Row>) {
  return <ListTable columns={columns(columnsOf())} {...table} />
}

interface QueryTableProps<Row> extends TableProps<Row> {
  of: Pick<UseQueryResult, 'data' | 'error' | 'refetch'>
  /** Such as `The keys`. */
  what: string
}

/** A table of what a query answers, or why it failed. */
export function QueryTable<Row>({ of: { data, error, refetch }, what, ...table }: QueryTableProps<Row>) {
  if (data !== undefined || !error) return <Table {...table} />
  return <Problem error={error} title={`${what} could not be loaded`} onRetry={() => void refetch()} />
}

interface PagedTableProps<Row> extends TableProps<Row> {
  of: Pick<
    UseInfiniteQueryResult,
    'data' | 'error' | 'refetch' | 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'
  >
  what: string
  /** The button's label, such as `Load older entries`. */
  more: string
}

/** The same of a list in pages, with a button for the next one. */
export function PagedTable<Row>({ of, what, more, ...table }: PagedTableProps<Row>) {
  const retry = () => void (of.data ? of.fetchNextPage() : of.refetch())
  return (
    <>
      {(of.data !== undefined || !of.error) && <Table {...table} />}
      {of.error && <Problem error={of.error} title={`${what} could not be loaded`} onRetry={retry} />}
      {of.hasNextPage && !of.error && (
        <Group justify="center" p="md">
          <Button variant="default" loading={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()}>
            {more}
          </Button>
        </Group>
      )}
    </>
  )
}

const skeletonRows = 8

export interface Column<Row> {
  key: string
  header: ReactNode
  /** The cell's content; keep it to one line unless the row may grow. */
  render: (row: Row) => ReactNode
  /** CSS width, such as `120px` or `30%`; without one the column takes the remaining space. */
  width?: string
  align?: 'left' | 'right'
  /** The column is hidden while the table is narrower than this, in px. */
  from?: 480 | 640 | 800 | 960 | undefined
}

interface ListTableProps<Row> {
  /** Accessible name of the table. */
  label: string
  columns: readonly Column<Row>[]
  /** Undefined while the first page loads; skeleton rows are shown. */
  rows: readonly Row[] | undefined
  rowKey: (row: Row) => string
  /** Whether the rows belong to the previous query; they stay, dimmed, until the next ones arrive. */
  isStale?: boolean
  /** Called on a click, and on Enter for the row chosen with `j` and `k`. */
  onOpen?: (row: Row) => void
  selectedKey?: string | null
  /** Called on Escape, and when the selected row is opened again. */
  onClose?: () => void
  /** Content under a row, across all columns, such as a line of a transcript; null for none. */
  renderBelow?: (row: Row) => ReactNode
  /** Shown in place of the table when there are no rows. */
  empty?: ReactNode
  /** The number of skeleton rows: as many as a page usually has. */
  expectedRows?: number
}

/** A dense table. `j` and `k` move down and up, Enter opens, Escape closes. */
function ListTable<Row>(props: ListTableProps<Row>) {
  const { label, columns, rows, isStale = false, empty, expectedRows = skeletonRows } = props
  const body = useRef<HTMLTableSectionElement>(null)
  useRowKeys(body, props)
  useRowFocus(body, props.selectedKey)
  if (rows?.length === 0 && empty !== undefined) return <>{empty}</>
  return (
    <div className={classes.frame}>
      <table className={classes.table} aria-label={label} aria-busy={rows === undefined || isStale}>
        <thead>
          <tr>
            {columns.map(({ key, header, width, align, from }) => (
              <th key={key} scope="col" style={{ width }} data-align={align} data-from={from}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} data-stale={isStale || undefined}>
          {rows
            ? rows.map((row) => <ListRow key={props.rowKey(row)} row={row} {...props} />)
            : Array.from({ length: expectedRows }, (_, at) => String(at)).map((at) => (
                <SkeletonRow key={at} columns={columns} />
              ))}
        </tbody>
      </table>
    </div>
  )
}

function ListRow<Row>({
  row,
  columns,
  rowKey,
  onOpen,
  onClose,
  selectedKey,
  renderBelow,
}: ListTableProps<Row> & { row: Row }) {
  const isSelected = selectedKey !== undefined && selectedKey === rowKey(row)
  const openOrClose = () => (isSelected && onClose ? onClose() : onOpen?.(row))
  const open = (event: MouseEvent) => {
    if (!isOnControl(event.target)) openOrClose()
  }
  const openByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.target === event.currentTarget) openOrClose()
  }
  const below = renderBelow?.(row)
  return (
    <>
      <tr
        data-row
        data-opens={onOpen !== undefined || undefined}
        data-selected={isSelected || undefined}
        data-joined={below ? true : undefined}
        aria-current={isSelected || undefined}
        tabIndex={onOpen ? 0 : undefined}
        onClick={onOpen ? open : undefined}
        onKeyDown={onOpen ? openByKey : undefined}
      >
        {columns.map(({ key, render, align, from }) => (
          // What people or callers wrote may be written from right to left.
          <td key={key} data-align={align} data-from={from} dir="auto">
            {render(row)}
          </td>
        ))}
      </tr>
      {below && (
        <tr
          data-below
          onClick={onOpen && !isSelected ? open : undefined}
          data-opens={(onOpen && !isSelected) || undefined}
          data-selected={isSelected || undefined}
        >
          {/* Not across the columns: some of them may be hidden. */}
          <td>
            <div className={classes.below} dir="auto">
              {below}
            </div>
          </td>
        </tr>
      )}
    </>
  )
}

function SkeletonRow<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return (
    <tr>
      {columns.map(({ key, align, from }) => (
        <td key={key} data-align={align} data-from={from}>
          <Skeleton height={12} width="70%" radius="sm" />
        </td>
      ))}
    </tr>
  )
}

/** Not on a link or button in the row, and not when the click ends a text selection. */
function isOnControl(target: EventTarget): boolean {
  if (window.getSelection()?.toString()) return true
  return target instanceof Element && target.closest('a, button, input, [role="menu"]') !== null
}

type Body = RefObject<HTMLTableSectionElement | null>

function useRowKeys<Row>(body: Body, { onOpen, onClose, selectedKey }: ListTableProps<Row>): void {
  const close = useEffectEvent(() => {
    if (selectedKey) onClose?.()
  })
  const isOn = onOpen !== undefined
  useEffect(() => {
    if (!isOn) return
    const move = (event: globalThis.KeyboardEvent) => {
      if (!isShortcut(event)) return
      if (event.key === 'Escape') close()
      const step = { j: 1, k: -1 }[event.key]
      if (!step) return
      const rows = [...(body.current?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])]
      const focused = rows.findIndex((row) => row.matches(':focus'))
      const from = focused < 0 ? rows.findIndex((row) => row.dataset.selected) : focused
      const next = rows[from < 0 ? 0 : Math.min(Math.max(from + step, 0), rows.length - 1)]
      next?.focus()
      next?.scrollIntoView({ block: 'nearest' })
    }
    window.addEventListener('keydown', move)
    return () => window.removeEventListener('keydown', move)
  }, [body, isOn])
}

/** Shows the selected row, and gives it the focus back when the details that had it are closed. */
function useRowFocus(body: Body, selectedKey: string | null | undefined): void {
  const selected = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!selectedKey && document.activeElement === document.body)
      selected.current?.focus({ preventScroll: true })
    selected.current = body.current?.querySelector<HTMLElement>('tr[data-row][data-selected]') ?? null
    selected.current?.scrollIntoView({ block: 'nearest' })
  }, [body, selectedKey])
}
