import { UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type MouseEvent,
  type Ref,
  type RefObject,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { closestTarget, isPlain } from '../../components/events.ts'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useIsPrinting } from '../../components/use-is-printing.ts'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { CallLine, CallLineSkeleton, type Column, type ColumnChoice } from './call-line.tsx'
import classes from './call-list.module.css'
import { type ChosenFilters, type OpenTab, type Order, orders } from './chosen-filters.ts'
import { type CallListHandle, useRowFocus } from './list-keys.ts'
import { byDay, type Entry, withoutDays } from './pages.ts'
import { type CallListData, type Selection, useFollowedRows } from './use-call-list.ts'
import { useTopWithin } from './use-top-within.ts'

/** Row heights, as in call-list.module.css. Rows that turn out higher are measured. */
const rowPx = { one: 34, two: 49, day: 32, head: 32, match: 20 }
/** The time of a call that is below no heading of its day has the day, too. */
const momentPx = 136
const selectPx = 32
/** How many rows before the end the next page is requested. */
const nextPageAheadRows = 15
const skeletonRows = 14
const skeletonRowsOfNextPage = 3

interface CallListProps {
  list: CallListData
  openId: string | undefined
  /** The element that scrolls. */
  scroller: HTMLElement | null
  /** The URL's search parameters besides the call. With a text, rows include a line of the transcript. */
  search: ChosenFilters & OpenTab
  columns: ColumnChoice
  selection: Selection
  onOpen: (id: string) => void
  onOrder: (order: Order | undefined) => void
  ref: Ref<CallListHandle>
}

/** The list of calls. Only visible rows are rendered. */
export function CallList({ list, search, scroller, columns, ref, ...rest }: CallListProps) {
  const { isTwoLines } = columns
  const { openId, selection, onOpen, onOrder } = rest
  const body = useRef<HTMLTableSectionElement>(null)
  const { rows, isPlaceholderData } = list
  const project = useProject()
  const dates = useDates()
  const isUnderDays = search.order === undefined || search.order === 'createdAt'
  const entries = useMemo(
    () => rows && (isUnderDays ? byDay(rows, dates, Date.now()) : withoutDays(rows)),
    [rows, isUnderDays, dates],
  )
  const isSearch = search.text !== undefined
  const shown = useMemo(
    () =>
      columns.shown.map((column) =>
        column.name === 'when' && !isUnderDays ? { ...column, px: momentPx } : column,
      ),
    [columns.shown, isUnderDays],
  )
  const callPx = rowPx[isTwoLines ? 'two' : 'one'] + (isSearch ? rowPx.match : 0)
  const isPrinting = useIsPrinting()
  const { virtual, items, spaces } = useVirtualRows({ list, entries, callPx, body, scroller, isPrinting })
  useSamePlace({ callPx, openId, entries, virtual, scroller })
  const onScreen = items.flatMap(({ index }) => {
    const entry = entries?.[index]
    return entry && 'row' in entry ? [entry.row.id] : []
  })
  useNextPage(list, entries, isPrinting ? 0 : (items.at(-1)?.index ?? 0))
  useFollowedRows(list, virtual.isScrolling || isPrinting ? [] : onScreen)
  const { reached, onFocus } = useRowFocus({
    ref,
    body,
    rows,
    openId,
    onScreen,
    scrollTo: (id) => {
      const at = entries?.findIndex(({ key }) => key === id) ?? -1
      if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' })
      return at >= 0
    },
  })
  const onClick = (event: MouseEvent) => {
    const line = closestTarget(event, '[data-call]')
    const id = line?.dataset.call
    if (id === undefined) return
    if (closestTarget(event, 'input')) {
      selection.toggle(id, event.shiftKey)
      // A checkbox takes the arrow keys for itself.
      line?.querySelector('a')?.focus({ preventScroll: true })
    } else if (closestTarget(event, 'a') ? isPlain(event) : !window.getSelection()?.toString()) {
      event.preventDefault()
      onOpen(id)
    }
  }
  /** For the links and checkboxes within, which the keyboard reaches. */
  const delegated = { onFocus, onClick }
  const [hrefBefore, hrefAfter] = [`/console/p/${project.id}/calls/`, stringifySearch({ ...search })]
  return (
    <>
      <table
        aria-label="Calls"
        aria-rowcount={list.first?.total ?? -1}
        aria-busy={rows === undefined || isPlaceholderData}
        className={classes.table}
        data-stale={isPlaceholderData || undefined}
        data-two-lines={isTwoLines || undefined}
        style={isTwoLines || isPrinting ? undefined : { minWidth: widthOf(shown) }}
        data-selecting={selection.ids.size > 0 || undefined}
      >
        <ListHead
          shown={isTwoLines ? [] : shown}
          selection={selection}
          onOrder={onOrder}
          rows={rows ?? []}
          order={search.order}
        />
        <tbody ref={body} {...delegated}>
          <Space heightPx={spaces.above} />
          {items.map(({ index, key }) => {
            const entry = entries?.[index]
            const place = { at: index, ref: virtual.measureElement }
            if (!entry) return <CallLineSkeleton key={key} isSearch={isSearch} shown={shown} {...place} />
            if ('day' in entry) return <DayLine key={key} day={entry.day} {...place} />
            const { id } = entry.row
            return (
              <CallLine
                key={key}
                isSearch={isSearch}
                shown={shown}
                {...place}
                row={entry.row}
                href={`${hrefBefore}${encodeURIComponent(id)}${hrefAfter}`}
                isOpen={id === openId}
                isSelected={selection.ids.has(id)}
                isReached={id === reached}
                isUnderDay={isUnderDays}
              />
            )
          })}
          <Space heightPx={spaces.below} />
        </tbody>
      </table>
      {list.isFetchNextPageError && (
        <Problem
          title="More calls could not be loaded"
          error={list.error}
          onRetry={() => void list.fetchNextPage()}
        />
      )}
    </>
  )
}

/** How wide the list is at least. */
function widthOf(columns: readonly Column[]): number {
  return columns.reduce((sum, { px }) => sum + px, selectPx)
}

interface VirtualRowsOptions {
  list: CallListData
  entries: Entry<CallRow>[] | undefined
  /** How high the row of a call is. */
  callPx: number
  body: RefObject<HTMLElement | null>
  scroller: HTMLElement | null
  /** All that are loaded are printed. */
  isPrinting: boolean
}

/** Which rows are visible or near, and how high the space for the others is. */
function useVirtualRows({ list, entries, callPx, body, scroller, isPrinting }: VirtualRowsOptions) {
  const top = useTopWithin(body, scroller)
  const trailing = !isPrinting && list.hasNextPage && !list.isFetchNextPageError ? skeletonRowsOfNextPage : 0
  const virtual = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: entries ? entries.length + trailing : skeletonRows,
    getScrollElement: () => scroller,
    estimateSize: (at) => {
      const entry = entries?.[at]
      return entry && 'day' in entry ? rowPx.day : callPx
    },
    getItemKey: (at) => entries?.[at]?.key ?? `skeleton ${at}`,
    scrollMargin: top,
    // Renders rows before the height of the scrolling element is known.
    initialRect: { width: 0, height: window.innerHeight },
    // The column headers stay on top.
    scrollPaddingStart: rowPx.head,
    overscan: isPrinting ? (entries?.length ?? 0) : 6,
  })
  const items = virtual.getVirtualItems()
  const [start, end] = [items[0]?.start ?? top, items.at(-1)?.end ?? top]
  return { virtual, items, spaces: { above: start - top, below: virtual.getTotalSize() - (end - top) } }
}

interface PlaceOptions extends Pick<VirtualRowsOptions, 'entries' | 'scroller' | 'callPx'> {
  openId: string | undefined
  virtual: ReturnType<typeof useVirtualRows>['virtual']
}

/** Keeps a call where it is on the screen while it is opened or closed, when all rows change their height. */
function useSamePlace({ callPx, openId, entries, virtual, scroller }: PlaceOptions): void {
  const before = useRef({ callPx, openId })
  const movedPx = useRef(0)
  // Once the space above and below the rows is as high as it will be.
  useLayoutEffect(() => {
    if (movedPx.current !== 0) scroller?.scrollBy({ top: movedPx.current })
    movedPx.current = 0
  })
  const measure = useEffectEvent(() => {
    const id = openId ?? before.current.openId
    const at = entries?.findIndex(({ key }) => key === id) ?? -1
    const above = entries?.slice(0, Math.max(0, at)).filter((entry) => 'row' in entry) ?? []
    movedPx.current = above.length * (callPx - before.current.callPx)
    virtual.measure()
  })
  useLayoutEffect(() => {
    if (before.current.callPx !== callPx) measure()
    before.current = { callPx, openId }
  }, [callPx, openId])
}

/** Requests the next page before its rows become visible. */
function useNextPage(list: CallListData, entries: Entry<CallRow>[] | undefined, lastShown: number): void {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData } = list
  const isNearEnd = entries !== undefined && lastShown >= entries.length - nextPageAheadRows
  const fetchNext = useEffectEvent(() => void list.fetchNextPage())
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isPlaceholderData) {
      fetchNext()
    }
  }, [isNearEnd, hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData])
}

interface ListHeadProps {
  shown: readonly Column[]
  rows: readonly CallRow[]
  selection: Selection
  order: string | undefined
  onOrder: (order: Order | undefined) => void
}

/** The names of the columns, of which those that can sort the list are buttons. Without columns, how it is sorted. */
function ListHead({ shown, rows, selection, order, onOrder }: ListHeadProps) {
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
        {shown.length === 0 && <th scope="col">{orders[order as Order] ?? 'Newest first'}</th>}
        {shown.map((column) => (
          <ColumnHead key={column.name} column={column} order={order} onOrder={onOrder} />
        ))}
      </tr>
    </thead>
  )
}

function ColumnHead({
  column: { name, label, px, isFigure, order: by },
  order,
  onOrder,
}: Pick<ListHeadProps, 'order' | 'onOrder'> & { column: Column }) {
  // The list is sorted by time without an order, the newest first.
  const descending = by === 'createdAt' ? undefined : by && (`-${by}` as Order)
  const isDescending = by !== undefined && order === descending
  const sorted = isDescending ? 'descending' : order === by ? 'ascending' : 'none'
  const Arrow = isDescending ? IconArrowDown : IconArrowUp
  return (
    <th
      scope="col"
      data-cell={name}
      style={name === 'summary' ? undefined : { width: px }}
      data-align={isFigure ? 'right' : undefined}
      aria-sort={by && sorted}
    >
      {by ? (
        <UnstyledButton className={classes.sort} onClick={() => onOrder(isDescending ? by : descending)}>
          {label}
          {sorted !== 'none' && <Arrow size={12} stroke={2} aria-hidden />}
        </UnstyledButton>
      ) : (
        // An icon's column has no room for its name.
        <span className={name === 'review' ? 'cb-hidden' : undefined}>{label}</span>
      )}
    </th>
  )
}

/** The heading of a day, which may be wider than the first column. The first two columns are always shown. */
function DayLine({ day, at, ref }: { day: string; at: number; ref: Ref<HTMLTableRowElement> }) {
  return (
    <tr ref={ref} data-index={at} className={classes.day}>
      <th scope="rowgroup" colSpan={2}>
        {day}
      </th>
    </tr>
  )
}

/** Takes the space of rows that are not rendered. */
function Space({ heightPx }: { heightPx: number }) {
  return heightPx > 0 ? <tr aria-hidden className={classes.space} style={{ height: heightPx }} /> : null
}
