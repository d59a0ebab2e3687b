import { useVirtualizer } from '@tanstack/react-virtual'
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef, useState } from 'react'
import { Problem } from '../../components/problem.tsx'
import { CallLine, CallLineSkeleton } from './call-line.tsx'
import type { useCallList } from './call-queries.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import type { OpenTab } from './open-tab.ts'
import { useTopWithin } from './use-top-within.ts'

/** As calls.css has them; a row that turns out higher is measured. */
const rowPx = 40
const matchRowPx = 60
/** Rows from the end at which the next page is asked for. */
const nextPageAheadRows = 15
const skeletonRows = 12
const skeletonRowsOfNextPage = 3

export interface CallListHandle {
  /** Puts the focus on a call, and scrolls to it. */
  focus: (id: string) => void
  /** Puts the focus back on a call that was open, where it is on the screen. */
  refocus: (id: string) => void
  /** Moves the focus down or up. */
  move: (by: number) => void
  hasFocus: () => boolean
}

interface CallListProps {
  list: ReturnType<typeof useCallList>
  openId: string | undefined
  /** What scrolls. */
  scroller: HTMLElement | null
  /** What the address says beside the call; with a text, rows have a line of the transcript in them. */
  search: ChosenFilters & OpenTab
  ref: Ref<CallListHandle>
}

/** The calls, of which only those on the screen are in the page. */
export function CallList({ list, openId, search, scroller, ref }: CallListProps) {
  const isSearch = search.text !== undefined
  const body = useRef<HTMLTableSectionElement>(null)
  const rows = list.rows
  const [wanted, setWanted] = useState<string | null>(null)
  const top = useTopWithin(body, scroller)
  const trailing = list.hasNextPage && !list.isFetchNextPageError ? skeletonRowsOfNextPage : 0
  const virtual = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: rows ? rows.length + trailing : skeletonRows,
    getScrollElement: () => scroller,
    estimateSize: () => (isSearch ? matchRowPx : rowPx),
    getItemKey: (at) => rows?.[at]?.id ?? `skeleton ${at}`,
    scrollMargin: top,
    // The filters stay on top.
    scrollPaddingStart: 96,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? 0

  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData } = list
  const isNearEnd = rows !== undefined && lastShown >= rows.length - nextPageAheadRows
  const fetchNext = useEffectEvent(() => void list.fetchNextPage())
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isPlaceholderData) {
      fetchNext()
    }
  }, [isNearEnd, hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData])

  const focused = () => document.activeElement?.closest<HTMLElement>('[data-call]')?.dataset.call
  const reach = (id: string) => {
    const at = rows?.findIndex((row) => row.id === id) ?? -1
    if (at < 0 || !body.current?.checkVisibility({ visibilityProperty: true })) return
    virtual.scrollToIndex(at, { align: 'auto' })
    setWanted(id)
  }
  useImperativeHandle(ref, () => ({
    focus: reach,
    refocus: (id) => linkOf(body.current, id)?.focus({ preventScroll: true }),
    move: (by) => {
      const from = focused()
      const at = rows?.findIndex(({ id }) => id === from) ?? -1
      const row = rows?.[at < 0 ? 0 : at + by]
      if (row) reach(row.id)
    },
    hasFocus: () => body.current?.contains(document.activeElement) ?? false,
  }))
  // A row that was out of sight is there only after it was scrolled to.
  useEffect(() => {
    if (wanted === null) return
    const link = linkOf(body.current, wanted)
    if (!link) return
    link.focus({ preventScroll: true })
    setWanted(null)
  })

  const [first, last] = [items[0], items.at(-1)]
  return (
    <>
      <table
        aria-label="Calls"
        aria-rowcount={list.first?.total ?? -1}
        aria-busy={rows === undefined || isPlaceholderData}
        className="cb-calls-table"
        data-stale={isPlaceholderData || undefined}
      >
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">From and to</th>
            <th scope="col" data-align="right">
              Duration
            </th>
            <th scope="col">Evaluation</th>
            <th scope="col">Engaged</th>
            <th scope="col">Summary</th>
          </tr>
        </thead>
        <tbody ref={body}>
          <Space heightPx={(first?.start ?? top) - top} />
          {items.map(({ index, key }) => {
            const row = rows?.[index]
            const place = { at: index, ref: virtual.measureElement }
            return row ? (
              <CallLine key={key} row={row} isOpen={row.id === openId} search={search} {...place} />
            ) : (
              <CallLineSkeleton key={key} isSearch={isSearch} {...place} />
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

/** Stands for the rows that are not on the screen. */
function Space({ heightPx }: { heightPx: number }) {
  return heightPx > 0 ? <tr aria-hidden className="cb-calls-space" style={{ height: heightPx }} /> : null
}

function linkOf(body: HTMLElement | null, id: string): HTMLElement | null {
  return body?.querySelector<HTMLElement>(`[data-call="${CSS.escape(id)}"] a`) ?? null
}
