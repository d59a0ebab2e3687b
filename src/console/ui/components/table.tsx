import { Button, Group } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { IconButton } from './icon-button.tsx'
import { Instant } from './instant.tsx'
import { type Column, ListTable, type ListTableProps } from './list-table.tsx'
import { Mono } from './mono.tsx'
import { Problem } from './problem.tsx'

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
  mono: (header: string, of: Of<Row, string | null>, more?: More) => Column<Row>
  /** A time, ISO 8601; `none` where there is none. */
  when: (
    header: string,
    of: Of<Row, string | null>,
    more?: More & { as?: NonNullable<ComponentProps<typeof Instant>['as']>; none?: string },
  ) => Column<Row>
  /** Icon buttons at the end of a row; those that do not apply are left out. */
  actions: (header: string, of: Of<Row, readonly (RowAction | false)[]>, width?: string) => Column<Row>
}

function columnsOf<Row>(): Columns<Row> {
  const cell: Columns<Row>['cell'] = (header, render, more) => ({ key: header, header, render, ...more })
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
    actions: (header, of, width = '48px') => ({
      key: header,
      header: <span className="cb-hidden">{header}</span>,
      width,
      align: 'right',
      render: (row) => of(row).map((action) => action && rowButton(header, action)),
    }),
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
