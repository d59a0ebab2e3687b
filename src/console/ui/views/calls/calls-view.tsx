import { useHotkeys } from '@mantine/hooks'
import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { CallRow } from '../../../../calls/call-rows.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { isTyping } from '../../components/typing.ts'
import { useProject } from '../../session.ts'
import { CallFilters } from './call-filters.tsx'
import { CallList, type CallListHandle } from './call-list.tsx'
import { useCallList } from './call-queries.ts'
import { type FilterChange, isFiltered, readFilters } from './chosen-filters.ts'
import { NoCalls, NoHits } from './no-calls.tsx'
import { OpenCallsContext } from './open-calls.ts'
import { readOpenTab } from './open-tab.ts'
import { totalLabel } from './pages.ts'

/** From this width on a call is open beside the list, narrower over it; as in calls.css. */
const besideFromPx = 880

/** The list of calls; the call that is open is its outlet. */
export function CallsView() {
  const project = useProject()
  const { call: openId } = useParams({ strict: false })
  // The address also holds what the open call shows of itself, which is no filter.
  const search = useSearch({ strict: false })
  const { tab } = readOpenTab(search)
  const filters = readFilters(search)
  const list = useCallList(project.id, filters)
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const layout = useRef<HTMLDivElement>(null)
  const listed = useRef<CallListHandle>(null)
  const navigate = useNavigate()
  const isBeside = () => (layout.current?.clientWidth ?? 0) >= besideFromPx

  const filter = (change: FilterChange, isPause = false) => {
    const next = readFilters({ ...filters, ...change })
    // Typing on is one step: going back leads to before it.
    const replace = isPause && filters.text !== undefined && next.text !== undefined
    void navigate({ to: '/p/$project/calls', params: { project: project.id }, search: next, replace })
  }
  const clear = () => {
    void navigate({ to: '/p/$project/calls', params: { project: project.id }, search: {} })
  }
  const rows = list.rows ?? []
  const openAt = rows.findIndex(({ id }) => id === openId)
  const open = useEffectEvent((row: CallRow, isStep: boolean) => {
    void navigate({
      to: '/p/$project/calls/$call',
      params: { project: project.id, call: row.id },
      search: { ...filters, tab },
      // Moving on from call to call is one step: going back closes the call.
      replace: isStep,
      resetScroll: false,
    })
  })
  const close = useEffectEvent(() => {
    if (openId === undefined) return
    void navigate({
      to: '/p/$project/calls',
      params: { project: project.id },
      search: filters,
      resetScroll: false,
    })
  })
  const before = useRef(openId)
  useEffect(() => {
    if (before.current !== undefined && openId === undefined) listed.current?.refocus(before.current)
    before.current = openId
  }, [openId])
  const step = (by: 1 | -1) => {
    const row = openAt < 0 ? undefined : rows[openAt + by]
    if (!row) return null
    return () => {
      open(row, true)
      if (isBeside()) listed.current?.focus(row.id)
    }
  }
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isTyping(event)) return
    const isArrow = event.key === 'ArrowDown' || event.key === 'ArrowUp'
    const by = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by === undefined || (isArrow && !listed.current?.hasFocus())) return
    event.preventDefault()
    const move = openId === undefined ? null : step(by === 1 ? 1 : -1)
    if (move) move()
    else if (openId === undefined) listed.current?.move(by)
  })
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  useHotkeys([['Escape', () => close()]])
  const next = step(1)
  const previous = step(-1)
  const openCalls = { text: filters.text, openNext: next, openPrevious: previous, close }
  const isEmpty = list.data !== undefined && rows.length === 0 && !list.isPlaceholderData

  return (
    <div className="cb-calls" ref={layout} data-open={openId !== undefined || undefined}>
      <div
        className="cb-calls-side"
        id="calls-list"
        data-scroll-restoration-id="calls-list"
        ref={setScroller}
      >
        <PageHeader title="Calls" description={<Total list={list} />} />
        <CallFilters filters={filters} onChange={filter} onClear={clear} />
        {list.error && !list.data ? (
          <Problem
            title="The calls could not be loaded"
            error={list.error}
            onRetry={() => void list.refetch()}
          />
        ) : isEmpty ? (
          isFiltered(filters) ? (
            <NoHits onClear={clear} />
          ) : (
            <NoCalls />
          )
        ) : (
          <CallList
            ref={listed}
            scroller={scroller}
            list={list}
            openId={openId}
            search={{ ...filters, tab }}
          />
        )}
      </div>
      {openId !== undefined && (
        <OpenCallsContext value={openCalls}>
          <Outlet />
        </OpenCallsContext>
      )}
    </div>
  )
}

function Total({ list }: { list: ReturnType<typeof useCallList> }) {
  return (
    <span role="status" className="cb-calls-total">
      {list.first ? totalLabel(list.first) : list.error ? ' ' : 'Loading calls…'}
      {list.hasLive && <span className="cb-calls-following">refreshing while calls are live</span>}
    </span>
  )
}
