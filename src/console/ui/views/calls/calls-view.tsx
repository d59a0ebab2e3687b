import { Button } from '@mantine/core'
import { IconArrowUp } from '@tabler/icons-react'
import { Outlet, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { asCount } from '../../components/figures.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { ZoneNote } from '../../components/zone-note.tsx'
import { useProject } from '../../session.ts'
import { CallFilters } from './call-filters.tsx'
import { CallList } from './call-list.tsx'
import classes from './calls.module.css'
import {
  type ChosenFilters,
  type Fault,
  faultsOf,
  isFiltered,
  nameOf,
  ordersOfNewest,
  readFilters,
  withoutFaults,
} from './chosen-filters.ts'
import { useColumns } from './columns.ts'
import { ListMenus } from './list-menus.tsx'
import { NoHits } from './no-hits.tsx'
import { OpenCallsContext } from './open-calls.ts'
import { readOpenTab } from './open-tab.ts'
import { totalLabel } from './pages.ts'
import { useSelection } from './selection.ts'
import { useAsked } from './use-asked.ts'
import { useCallKeys } from './use-call-keys.ts'
import { type CallListData, useCallList } from './use-call-list.ts'
import { useFiltering } from './use-filtering.ts'
import { useOpenCall } from './use-open-call.ts'
import type { CallListHandle } from './use-row-focus.ts'

const NoCalls = lazy(() => import('./no-calls.tsx'))
const SelectedCalls = lazy(() => import('./selected-calls.tsx'))
const ViewTabs = lazy(() => import('./view-tabs.tsx'))
const QueueBar = lazy(() => import('./queue-bar.tsx'))

/** From this width on, a call opens beside the list, otherwise over it; as in call.module.css. */
const besideFromPx = 880
/** Beyond this, the person is reading the list. */
const atTopPx = 16
const codeOfCallsAfterMs = 500
/** As the service sorts. */
const sortedMax = 10_000

/** The list of calls; the call that is open is its outlet. */
export function CallsView() {
  const project = useProject()
  const { call: openId } = useParams({ strict: false })
  // The URL also has parameters of the open call, which are not filters.
  const search = useSearch({ strict: false })
  const { tab, view } = readOpenTab(search)
  const filters = readFilters(search)
  const faults = faultsOf(filters)
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const layout = useRef<HTMLDivElement>(null)
  const listed = useRef<CallListHandle>(null)
  const isReading = () =>
    openId !== undefined || selection.ids.size > 0 || (scroller?.scrollTop ?? 0) > atTopPx
  const asked = useAsked(filters)
  const list = useCallList(project.id, asked, () => isReading())
  const rows = list.rows ?? []
  const selection = useSelection(nameOf(filters), rows)
  const { shown, widthPx, chosen, choose } = useColumns()
  const { filter, clear } = useFiltering(filters)
  const isBeside = () => view === undefined && (layout.current?.clientWidth ?? 0) >= besideFromPx
  const { open, openCall, openNext, openPrevious, close } = useOpenCall({
    openId,
    rows,
    isLoaded: list.rows !== undefined,
    filters,
    asked,
    tab,
    view,
    onStep: (id) => isBeside() && listed.current?.focus(id),
  })
  useRefocus(openId, (id) => listed.current?.refocus(id))
  useCodeOfCalls(rows.length > 0)
  useCallKeys({
    openId,
    listed,
    isBeside,
    selection,
    open,
    close,
    panel: () => document.getElementById('call'),
    step: (by) => (by === 1 ? openNext : openPrevious)?.(),
  })
  const showWaiting = () => {
    list.showWaiting()
    scroller?.scrollTo({ top: 0 })
  }
  // A search for a number or an id finds no words.
  const text = list.first?.foundBy === 'words' ? filters.text : undefined

  return (
    <div className={classes.calls} ref={layout} data-open={openId !== undefined || undefined}>
      <div className={classes.side}>
        <div className={classes.top}>
          <PageHeader
            title="Calls"
            description={
              <>
                <Total list={list} />
                <SortedNote list={list} order={filters.order} />
                <ZoneNote />
              </>
            }
            action={
              <ListMenus
                filters={filters}
                total={list.first?.total ?? null}
                onFilter={filter}
                columns={chosen}
                onColumns={choose}
              />
            }
          />
          {filters.set === undefined ? (
            <>
              <SavedViews filters={filters} />
              <CallFilters
                filters={filters}
                faults={faults}
                foundBy={list.isPlaceholderData ? null : (list.first?.foundBy ?? null)}
                onChange={filter}
                onClear={clear}
              />
            </>
          ) : (
            <Suspense fallback={<div className={classes.queueLoading} />}>
              <QueueBar filters={filters} />
            </Suspense>
          )}
        </div>
        <div className={classes.body}>
          <div
            className={classes.scroll}
            id="calls-list"
            data-scroll-restoration-id="calls-list"
            ref={setScroller}
          >
            <ListOrInstead list={list} filters={filters} faults={faults} onClear={clear}>
              <CallList
                ref={listed}
                scroller={scroller}
                list={list}
                openId={openId}
                shown={shown}
                widthPx={widthPx}
                selection={selection}
                search={{ ...withoutFaults(filters, faults), tab }}
                onOpen={open}
                onOrder={(order) => filter({ order })}
              />
            </ListOrInstead>
          </div>
          <Waiting count={list.waiting} onShow={showWaiting} />
        </div>
        {selection.ids.size > 0 && (
          <Suspense>
            <SelectedCalls selection={selection} list={list} asked={asked} openId={openId} onClose={close} />
          </Suspense>
        )}
      </div>
      {openId !== undefined && (
        <OpenCallsContext value={{ text, openNext, openPrevious, openCall, close }}>
          <Outlet />
        </OpenCallsContext>
      )}
    </div>
  )
}

/** The tabs of saved views; no space without any. */
function SavedViews({ filters }: { filters: ChosenFilters }) {
  const { views } = useProject()
  if (views === 0) return null
  return (
    <Suspense fallback={<div className={classes.tabsLoading} />}>
      <ViewTabs filters={filters} />
    </Suspense>
  )
}

interface ListOrInsteadProps {
  list: CallListData
  filters: ChosenFilters
  faults: readonly Fault[]
  onClear: () => void
  children: ReactNode
}

/** The list, or why there is none. */
function ListOrInstead({ list, filters, faults, onClear, children }: ListOrInsteadProps) {
  const { error, data, rows = [], hasNextPage, isPlaceholderData } = list
  if (error && !data) {
    const retry = () => void list.refetch()
    return <Problem title="The calls could not be loaded" error={error} onRetry={retry} />
  }
  if (!data || rows.length > 0 || hasNextPage || isPlaceholderData) return children
  const isFaulty = faults.length > 0
  if (isFaulty || isFiltered(filters)) return <NoHits isFaulty={isFaulty} onClear={onClear} />
  return (
    <Suspense>
      <NoCalls />
    </Suspense>
  )
}

/** Loads the code of the call's page shortly after the list is shown. */
function useCodeOfCalls(hasCalls: boolean): void {
  const router = useRouter()
  useEffect(() => {
    if (!hasCalls) return
    const load = () => void router.loadRouteChunk(router.routesById['/p/$project/calls/$call'])
    const timer = setTimeout(load, codeOfCallsAfterMs)
    return () => clearTimeout(timer)
  }, [hasCalls, router])
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

function Total({ list }: { list: CallListData }) {
  return (
    <span role="status" className={classes.total}>
      {list.first ? totalLabel(list.first) : list.error ? ' ' : 'Loading calls…'}
    </span>
  )
}

/** Where not all calls that match are sorted, which ones are. */
function SortedNote({ list, order }: { list: CallListData; order: string | undefined }) {
  const { total = 0 } = list.first ?? {}
  const isSome = total === null || total > sortedMax
  if (!isSome || !ordersOfNewest.some((one) => one === order)) return null
  return <> Sorted within the newest {asCount(sortedMax)} of them.</>
}

/** Offers new calls instead of moving what is being read. */
function Waiting({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div role="status" className={classes.waiting}>
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
