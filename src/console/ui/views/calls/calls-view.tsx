import { ActionIcon, Box, Button } from '@mantine/core'
import { IconArrowUp, IconDots, IconListCheck, IconSearchOff } from '@tabler/icons-react'
import { Outlet, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { ZoneNote } from '../../components/instant.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { CallFilters } from './call-filters.tsx'
import { type ColumnChoice, useColumns } from './call-line.tsx'
import { CallList } from './call-list.tsx'
import classes from './calls.module.css'
import {
  type ChosenFilters,
  type Fault,
  type FilterChange,
  faultsOf,
  filterKey,
  isFiltered,
  readFilters,
  readOpenTab,
  withoutFaults,
} from './chosen-filters.ts'
import { useResolvedFilters } from './filter-fields.tsx'
import { type CallListHandle, useCallKeys } from './list-keys.ts'
import { OpenCallsContext, useOpenCall } from './open-calls.ts'
import { totalLabel } from './pages.ts'
import { type CallListData, useCallList, useSelection } from './use-call-list.ts'

const NoCalls = lazy(async () => ({ default: (await import('../first-steps/first-call.tsx')).NoCalls }))
const SelectedCalls = lazy(() => import('./selected-calls.tsx'))
const ViewTabs = lazy(() => import('./view-tabs.tsx'))
const loadSave = () => import('./save-form.tsx')
const SavePopover = lazy(async () => ({ default: (await loadSave()).SavePopover }))
const loadQueues = () => import('./queues.tsx')
const QueueBar = lazy(async () => ({ default: (await loadQueues()).QueueBar }))
const ReviewPopover = lazy(async () => ({ default: (await loadQueues()).ReviewPopover }))
const loadMenu = () => import('./list-menu.tsx')
const ListMenu = lazy(loadMenu)

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
  const resolvedFilters = useResolvedFilters(filters)
  const list = useCallList(project.id, resolvedFilters, () => isReading())
  const rows = list.rows ?? []
  const selection = useSelection(filterKey(filters), rows)
  const columns = useColumns(openId !== undefined)
  const { filter, clear } = useFiltering(filters)
  const isBeside = () => view === undefined && (layout.current?.clientWidth ?? 0) >= besideFromPx
  const { open, openCall, openNext, openPrevious, close } = useOpenCall({
    openId,
    rows,
    isLoaded: list.rows !== undefined,
    filters,
    resolvedFilters,
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
              <ListActions
                filters={filters}
                total={list.first?.total ?? null}
                onFilter={filter}
                columns={columns}
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
                isOneLine={openId !== undefined}
              >
                {faults.length === 0 && isFiltered(filters) && <SaveButton filters={filters} />}
              </CallFilters>
            </>
          ) : (
            <Suspense fallback={<Box h={54} />}>
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
                columns={columns}
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
            <SelectedCalls
              selection={selection}
              list={list}
              resolvedFilters={resolvedFilters}
              openId={openId}
              onClose={close}
            />
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

/** Changes and clears the filters in the address. Both close the open call. */
function useFiltering(filters: ChosenFilters) {
  const navigate = useNavigate()
  const go = (search: ChosenFilters, replace: boolean) => void navigate({ ...to.calls, search, replace })
  return {
    /** @param isPause for a pause in typing */
    filter: (change: FilterChange, isPause = false) => {
      const next = readFilters({ ...filters, ...change })
      // Continued typing is one history entry.
      go(next, isPause && filters.text !== undefined && next.text !== undefined)
    },
    clear: () => go({}, false),
  }
}

interface ListActionsProps {
  filters: ChosenFilters
  /** How many calls the list has; null when they are too many to count, or not loaded. */
  total: number | null
  onFilter: (change: FilterChange) => void
  columns: ColumnChoice
}

/** Reviews the calls of the list one after the other. All else that can be made of them is in a menu. */
function ListActions({ filters, total, ...menu }: ListActionsProps) {
  const isRefused = useRefusal('change') !== null
  const review = (
    <Button variant="default" leftSection={<IconListCheck size={14} aria-hidden />}>
      Review
    </Button>
  )
  return (
    <div className="cb-row">
      {isRefused ? (
        <Guarded right="change">{review}</Guarded>
      ) : (
        <ButtonWithPopup kind="dialog" load={loadQueues} button={review}>
          {(popup) => <ReviewPopover {...popup} filters={filters} total={total} />}
        </ButtonWithPopup>
      )}
      <ButtonWithPopup
        kind="menu"
        load={loadMenu}
        button={
          <ActionIcon variant="default" size={32} aria-label="More" data-hint="Chart, alert, export, display">
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        }
      >
        {(popup) => <ListMenu {...popup} filters={filters} {...menu} />}
      </ButtonWithPopup>
    </div>
  )
}

function SaveButton({ filters }: { filters: ChosenFilters }) {
  return (
    <ButtonWithPopup
      kind="dialog"
      load={loadSave}
      button={
        <Button variant="subtle" color="gray" size="compact-sm">
          Save as view
        </Button>
      }
    >
      {(popup) => <SavePopover {...popup} filters={filters} />}
    </ButtonWithPopup>
  )
}

/** The tabs of saved views; no space without any. */
function SavedViews({ filters }: { filters: ChosenFilters }) {
  const { views } = useProject()
  if (views === 0) return null
  return (
    <Suspense fallback={<Box h={32} mb={12} />}>
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
  if (faults.length > 0 || isFiltered(filters))
    return (
      <Empty
        icon={<IconSearchOff size={24} stroke={1.6} />}
        title="No matching calls"
        action={
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        }
      >
        {faults.length > 0
          ? 'This page’s address has a value that cannot be read. Remove it above.'
          : 'No call in this project matches all of these filters. Remove a filter or search for fewer words.'}
      </Empty>
    )
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
    <span role="status" className="cb-figure">
      {list.first ? totalLabel(list.first) : list.error ? ' ' : 'Loading calls…'}
    </span>
  )
}

/** By how many criteria passed, not all calls that match are sorted. */
function SortedNote({ list, order }: { list: CallListData; order: string | undefined }) {
  const { total = 0 } = list.first ?? {}
  const isSome = total === null || total > sortedMax
  if (!isSome || !order?.endsWith('criteria')) return null
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
