import { Checkbox } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useMemo, useRef, useState } from 'react'
import type { CallRow } from '../../../../calls/call-rows.ts'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { CallLine, CallLineSkeleton } from './call-line.tsx'
import type { useCallList } from './call-queries.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import { type ColumnName, columns } from './columns.ts'
import { byDay, type Entry } from './days.ts'
import type { OpenTab } from './open-tab.ts'
import type { Selection } from './selection.ts'
import { useTopWithin } from './use-top-within.ts'

/** As calls-list.css has them; a row that turns out higher is measured. */
const rowPx = 34
const matchRowPx = 54
const dayPx = 32
const headPx = 32
/** Rows from the end at which the next page is asked for. */
const nextPageAheadRows = 15
const skeletonRows = 14
const skeletonRowsOfNextPage = 3

export interface CallListHandle {
  /** Puts the focus on a call, and scrolls to it. */
  focus: (id: string) => void
  /** Puts the focus back on a call that was open, where it is on the screen. */
  refocus: (id: string) => void
  /** Moves the focus down or up. */
  move: (by: number) => void
  /** The call that has the focus. */
  focused: () => string | undefined
}

interface CallListProps {
  list: ReturnType<typeof useCallList>
  openId: string | undefined
  /** What scrolls. */
  scroller: HTMLElement | null
  /** What the address says beside the call; with a text, rows have a line of the transcript in them. */
  search: ChosenFilters & OpenTab
  shown: ReadonlySet<ColumnName>
  selection: Selection
  onOpen: (row: CallRow) => void
  ref: Ref<CallListHandle>
}

/** The calls, of which only those on the screen are in the page. */
export function CallList({ list, openId, search, scroller, shown, selection, onOpen, ref }: CallListProps) {
  const isSearch = search.text !== undefined
  const body = useRef<HTMLTableSectionElement>(null)
  const { rows, isPlaceholderData } = list
  const dates = useDates()
  const entries = useMemo(() => rows && byDay(rows, dates, Date.now()), [rows, dates])
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
    // The names of the columns stay on top.
    scrollPaddingStart: headPx,
    overscan: 10,
  })
  const items = virtual.getVirtualItems()
  useNextPage(list, entries, items.at(-1)?.index ?? 0)

  const [active, setActive] = useState<string | undefined>(openId)
  const [wanted, setWanted] = useState<string | null>(null)
  const focused = () => document.activeElement?.closest<HTMLElement>('[data-call]')?.dataset.call
  const reach = (id: string) => {
    const at = entries?.findIndex(({ key }) => key === id) ?? -1
    if (at < 0 || !body.current?.checkVisibility({ visibilityProperty: true })) return
    virtual.scrollToIndex(at, { align: 'auto' })
    setWanted(id)
  }
  useImperativeHandle(ref, () => ({
    focus: reach,
    refocus: (id) => linkOf(body.current, id)?.focus({ preventScroll: true }),
    move: (by) => {
      const from = focused() ?? active
      const at = rows?.findIndex(({ id }) => id === from) ?? -1
      const row = rows?.[at < 0 ? 0 : at + by]
      if (row) reach(row.id)
    },
    focused,
  }))
  // A row that was out of sight is there only after it was scrolled to.
  useEffect(() => {
    if (wanted === null) return
    const link = linkOf(body.current, wanted)
    if (!link) return
    link.focus({ preventScroll: true })
    setWanted(null)
  })
  const onScreen = items.flatMap(({ index }) => {
    const entry = entries?.[index]
    return entry && 'row' in entry ? [entry.row.id] : []
  })
  const reached = onScreen.find((id) => id === active) ?? onScreen.find((id) => id === openId) ?? onScreen[0]
  const [first, last] = [items[0], items.at(-1)]
  return (
    <>
      <table
        aria-label="Calls"
        aria-rowcount={list.first?.total ?? -1}
        aria-busy={rows === undefined || isPlaceholderData}
        className="cb-calls-table"
        data-stale={isPlaceholderData || undefined}
        data-selecting={selection.ids.size > 0 || undefined}
      >
        <Head shown={shown} rows={rows ?? []} selection={selection} />
        <tbody
          ref={body}
          onFocus={({ target }) => setActive(target.closest<HTMLElement>('[data-call]')?.dataset.call)}
        >
          <Space heightPx={(first?.start ?? top) - top} />
          {items.map(({ index, key }) => {
            const entry = entries?.[index]
            const place = { at: index, ref: virtual.measureElement }
            if (!entry) return <CallLineSkeleton key={key} isSearch={isSearch} shown={shown} {...place} />
            if ('day' in entry) return <DayLine key={key} day={entry.day} {...place} />
            const { id } = entry.row
            return (
              <CallLine
                key={key}
                row={entry.row}
                isOpen={id === openId}
                isSelected={selection.ids.has(id)}
                isReached={id === reached}
                search={search}
                shown={shown}
                onSelect={selection.toggle}
                onOpen={onOpen}
                {...place}
              />
            )
          })}
          <Space heightPx={virtual.getTotalSize() - ((last?.end ?? top) - top)} />
        </tbody>
      </table>
      {list.isFetchNextPageError && (
        <Problem
          title="The next calls could not be loaded"
          error={list.error}
          onRetry={() => void list.fetchNextPage()}
        />
      )}
    </>
  )
}

/** Asks for the next page before its place comes on the screen. */
function useNextPage(
  list: ReturnType<typeof useCallList>,
  entries: Entry<CallRow>[] | undefined,
  lastShown: number,
): void {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData } = list
  const isNearEnd = entries !== undefined && lastShown >= entries.length - nextPageAheadRows
  const fetchNext = useEffectEvent(() => void list.fetchNextPage())
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isPlaceholderData) {
      fetchNext()
    }
  }, [isNearEnd, hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData])
}

interface HeadProps {
  shown: ReadonlySet<ColumnName>
  rows: readonly CallRow[]
  selection: Selection
}

function Head({ shown, rows, selection }: HeadProps) {
  const isAll = rows.length > 0 && rows.every(({ id }) => selection.ids.has(id))
  return (
    <thead>
      <tr>
        <th scope="col" data-cell="select">
          <Checkbox
            size="xs"
            aria-label="Select all loaded calls"
            checked={isAll}
            indeterminate={!isAll && selection.ids.size > 0}
            onChange={() => selection.set(isAll ? [] : rows.map(({ id }) => id))}
          />
        </th>
        {columns.map(
          ({ name, label }) =>
            shown.has(name) && (
              <th
                key={name}
                scope="col"
                data-cell={name}
                data-align={name === 'duration' ? 'right' : undefined}
              >
                {label}
              </th>
            ),
        )}
      </tr>
    </thead>
  )
}

interface DayLineProps {
  day: string
  at: number
  ref: Ref<HTMLTableRowElement>
}

/** Its name may be wider than the first columns, which are always there. */
function DayLine({ day, at, ref }: DayLineProps) {
  return (
    <tr ref={ref} data-index={at} className="cb-calls-day">
      <th scope="rowgroup" colSpan={2}>
        {day}
      </th>
    </tr>
  )
}

/** Stands for the rows that are not on the screen. */
function Space({ heightPx }: { heightPx: number }) {
  return heightPx > 0 ? <tr aria-hidden className="cb-calls-space" style={{ height: heightPx }} /> : null
}

function linkOf(body: HTMLElement | null, id: string): HTMLElement | null {
  return body?.querySelector<HTMLElement>(`[data-call="${CSS.escape(id)}"] a`) ?? null
}
