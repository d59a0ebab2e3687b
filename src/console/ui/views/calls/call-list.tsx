import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type MouseEvent,
  type Ref,
  type RefObject,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
} from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { closestTarget, isPlain } from '../../components/clicks.ts'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { CallLine, CallLineSkeleton } from './call-line.tsx'
import classes from './call-list.module.css'
import { type ChosenFilters, type Order, orders } from './chosen-filters.ts'
import type { ColumnName } from './columns.ts'
import { byDay, type Entry, withoutDays } from './days.ts'
import { ListHead } from './list-head.tsx'
import type { OpenTab } from './open-tab.ts'
import type { Selection } from './selection.ts'
import type { CallListData } from './use-call-list.ts'
import { useFollowedRows } from './use-followed-rows.ts'
import { type CallListHandle, useRowFocus } from './use-row-focus.ts'
import { useTopWithin } from './use-top-within.ts'

/** Row heights, as in call-list.module.css. Rows that turn out higher are measured. */
const rowPx = 34
const matchRowPx = 54
const dayPx = 32
const headPx = 32
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
  shown: ReadonlySet<ColumnName>
  /** How wide the list is at least. */
  widthPx: number | undefined
  selection: Selection
  onOpen: (id: string) => void
  onOrder: (order: Order | undefined) => void
  ref: Ref<CallListHandle>
}

/** The list of calls. Only visible rows are rendered. */
export function CallList({ list, search, scroller, shown, widthPx, ref, ...rest }: CallListProps) {
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
  const { virtual, items, spaces } = useVirtualRows({ list, entries, isSearch, body, scroller })
  const onScreen = items.flatMap(({ index }) => {
    const entry = entries?.[index]
    return entry && 'row' in entry ? [entry.row.id] : []
  })
  useNextPage(list, entries, items.at(-1)?.index ?? 0)
  useFollowedRows(list, virtual.isScrolling ? [] : onScreen)
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
        data-own={widthPx !== undefined || undefined}
        style={widthPx === undefined ? undefined : toColumns(widthPx)}
        data-dated={!isUnderDays || undefined}
        data-matching={(isSearch && list.first?.foundBy === 'words') || undefined}
        data-selecting={selection.ids.size > 0 || undefined}
      >
        <ListHead
          shown={shown}
          selection={selection}
          onOrder={onOrder}
          rows={rows ?? []}
          order={orders.find((order) => order === search.order)}
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

function toColumns(widthPx: number): CSSProperties & { '--cb-columns': string } {
  return { '--cb-columns': `${widthPx}px` }
}

interface VirtualRowsOptions {
  list: CallListData
  entries: Entry<CallRow>[] | undefined
  isSearch: boolean
  body: RefObject<HTMLElement | null>
  scroller: HTMLElement | null
}

/** Which rows are visible or near, and how high the space for the others is. */
function useVirtualRows({ list, entries, isSearch, body, scroller }: VirtualRowsOptions) {
  const top = useTopWithin(body, scroller)
  const trailing = list.hasNextPage && !list.isFetchNextPageError ? skeletonRowsOfNextPage : 0
  const virtual = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: entries ? entries.length + trailing : skeletonRows,
    getScrollElement: () => scroller,
    estimateSize: (at) => {
      const entry = entries?.[at]
      return entry && 'day' in entry ? dayPx : isSearch ? matchRowPx : rowPx
    },
    getItemKey: (at) => entries?.[at]?.key ?? `skeleton ${at}`,
    scrollMargin: top,
    // Renders rows before the height of the scrolling element is known.
    initialRect: { width: 0, height: window.innerHeight },
    // The column headers stay on top.
    scrollPaddingStart: headPx,
    overscan: 6,
  })
  const items = virtual.getVirtualItems()
  const [start, end] = [items[0]?.start ?? top, items.at(-1)?.end ?? top]
  return { virtual, items, spaces: { above: start - top, below: virtual.getTotalSize() - (end - top) } }
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

interface DayLineProps {
  day: string
  at: number
  ref: Ref<HTMLTableRowElement>
}

/** The heading of a day, which may be wider than the first column. The first two columns are always shown. */
function DayLine({ day, at, ref }: DayLineProps) {
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
