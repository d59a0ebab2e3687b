import { Button } from '@mantine/core'
import { IconArrowUp } from '@tabler/icons-react'
import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { ZoneNote } from '../../components/zone-note.tsx'
import { useProject } from '../../session.ts'
import { CallFilters } from './call-filters.tsx'
import { CallList, type CallListHandle } from './call-list.tsx'
import { useCallList } from './call-queries.ts'
import { type FilterChange, isFiltered, readFilters } from './chosen-filters.ts'
import { useColumns } from './columns.ts'
import { ListMenus } from './list-menus.tsx'
import { NoCalls, NoHits } from './no-calls.tsx'
import { OpenCallsContext } from './open-calls.ts'
import { readOpenTab } from './open-tab.ts'
import { totalLabel } from './pages.ts'
import { SelectedCalls } from './selected-calls.tsx'
import { useSelection } from './selection.ts'
import { useCallKeys } from './use-call-keys.ts'
import { useOpenCall } from './use-open-call.ts'

/** From this width on a call is open beside the list, narrower over it; as in calls.css. */
const besideFromPx = 880
/** Whoever has scrolled further reads the list. */
const atTopPx = 16

/** The list of calls; the call that is open is its outlet. */
export function CallsView() {
  const project = useProject()
  const { call: openId } = useParams({ strict: false })
  // The address also holds what the open call shows of itself, which is no filter.
  const search = useSearch({ strict: false })
  const { tab } = readOpenTab(search)
  const filters = readFilters(search)
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const layout = useRef<HTMLDivElement>(null)
  const listed = useRef<CallListHandle>(null)
  const isReading = () =>
    openId !== undefined || selection.ids.size > 0 || (scroller?.scrollTop ?? 0) > atTopPx
  const list = useCallList(project.id, filters, () => isReading())
  const rows = list.rows ?? []
  const selection = useSelection(rows)
  const { shown, chosen, choose } = useColumns()
  const navigate = useNavigate()

  const filter = (change: FilterChange, isPause = false) => {
    const next = readFilters({ ...filters, ...change })
    // Typing on is one step: going back leads to before it.
    const replace = isPause && filters.text !== undefined && next.text !== undefined
    selection.set([])
    void navigate({ to: '/p/$project/calls', params: { project: project.id }, search: next, replace })
  }
  const clear = () => {
    selection.set([])
    void navigate({ to: '/p/$project/calls', params: { project: project.id }, search: {} })
  }
  const isBeside = () => (layout.current?.clientWidth ?? 0) >= besideFromPx
  const opened = useOpenCall({ openId, rows, isLoaded: list.rows !== undefined, filters, tab })
  const { open, close } = opened
  const step = (by: 1 | -1) => {
    const id = by === 1 ? opened.next : opened.previous
    if (id === null) return null
    return () => {
      open(id, true)
      if (isBeside()) listed.current?.focus(id)
    }
  }
  const [next, previous] = [step(1), step(-1)]
  useRefocus(openId, (id) => listed.current?.refocus(id))
  useCallKeys({
    openId,
    listed,
    panel: () => layout.current?.querySelector<HTMLElement>('.cb-call') ?? null,
    isBeside,
    selection,
    step: (by) => (by === 1 ? next : previous)?.(),
    open: (id) => open(id, false),
    close,
  })
  const showWaiting = () => {
    list.showWaiting()
    scroller?.scrollTo({ top: 0 })
  }
  // A search for a number or an id finds no words.
  const text = list.first?.foundBy === 'words' ? filters.text : undefined
  const isEmpty = list.data !== undefined && rows.length === 0 && !list.hasNextPage && !list.isPlaceholderData

  return (
    <div className="cb-calls" ref={layout} data-open={openId !== undefined || undefined}>
      <div className="cb-calls-side">
        <div className="cb-calls-top">
          <PageHeader
            title="Calls"
            description={
              <>
                <Total list={list} />
                <ZoneNote />
              </>
            }
            action={<ListMenus filters={filters} onFilter={filter} columns={chosen} onColumns={choose} />}
          />
          <CallFilters
            filters={filters}
            foundBy={list.isPlaceholderData ? null : (list.first?.foundBy ?? null)}
            onChange={filter}
            onClear={clear}
          />
        </div>
        <div className="cb-calls-body">
          <div
            className="cb-calls-scroll"
            id="calls-list"
            data-scroll-restoration-id="calls-list"
            ref={setScroller}
          >
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
                shown={shown}
                selection={selection}
                onOpen={({ id }) => open(id, false)}
              />
            )}
          </div>
          <Waiting count={list.waiting} onShow={showWaiting} />
        </div>
        <SelectedCalls selection={selection} rows={rows} openId={openId} onClose={close} />
      </div>
      {openId !== undefined && (
        <OpenCallsContext value={{ text, openNext: next, openPrevious: previous, close }}>
          <Outlet />
        </OpenCallsContext>
      )}
    </div>
  )
}

/** Gives the focus back to the row of a call that was closed. */
function useRefocus(openId: string | undefined, refocus: (id: string) => void): void {
  const before = useRef(openId)
  const give = useEffectEvent(refocus)
  useEffect(() => {
    if (before.current !== undefined && openId === undefined) give(before.current)
    before.current = openId
  }, [openId])
}

function Total({ list }: { list: ReturnType<typeof useCallList> }) {
  return (
    <span role="status" className="cb-calls-total">
      {list.first ? totalLabel(list.first) : list.error ? ' ' : 'Loading calls…'}
    </span>
  )
}

/** New calls announce themselves and never push what is being read. */
function Waiting({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div role="status" className="cb-calls-waiting">
      {count > 0 && (
        <Button
          size="compact-sm"
          radius="xl"
          leftSection={<IconArrowUp size={14} aria-hidden />}
          onClick={onShow}
        >
          {count === 1 ? '1 new call' : `${count >= 50 ? '50+' : count} new calls`}
        </Button>
      )}
    </div>
  )
}
