import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import type { CallRows } from '../../../../calls/reading/call-rows.ts'
import type { FrozenSet } from '../../../../calls/review/call-sets.ts'
import { callsQuery, firstQuery, type Pages, rowsPerPage, rowsQuery, seenQuery } from './call-queries.ts'
import { type ChosenFilters, faultsOf } from './chosen-filters.ts'
import { newRows, rowsOf, withNewestPage, withRows } from './pages.ts'

export type CallListData = ReturnType<typeof useCallList>

/**
 * The calls that filters leave. The newest ones are requested again when the project changes. In other orders than the
 * newest first new calls can stand anywhere, so they wait until the person wants to see them.
 * @param isReading whether somebody reads the list, so that new calls wait as well
 */
export function useCallList(project: string, filters: ChosenFilters, isReading: () => boolean) {
  const queryClient = useQueryClient()
  const options = callsQuery(project, filters)
  const list = useInfiniteQuery(options)
  const isShown = list.data !== undefined && !list.isPlaceholderData
  const isFollowed = isShown && faultsOf(filters).length === 0
  const isNewestFirst = filters.order === undefined
  const seen = useQuery({ ...seenQuery(project, filters), enabled: isFollowed && !isNewestFirst })
  const loaded = isNewestFirst ? list.data?.pages : seen.data && [seen.data]
  const newest = useQuery({
    ...firstQuery(project, filters),
    enabled: isFollowed && loaded !== undefined,
    initialData: isShown ? loaded?.[0] : undefined,
    initialDataUpdatedAt: isNewestFirst ? list.dataUpdatedAt : seen.dataUpdatedAt,
  })
  const { data: page, dataUpdatedAt } = newest
  /** The newest calls as they are now, if they were requested again. */
  const fresh = newest.isFetched ? page?.data : undefined
  const setPages = (change: (pages: CallRows[]) => CallRows[]) =>
    queryClient.setQueryData<Pages>(
      options.queryKey,
      (data) => {
        const pages = data && change(data.pages)
        return pages && { pages, pageParams: data.pageParams.slice(0, pages.length) }
      },
      // The list itself has not been reloaded.
      { updatedAt: list.dataUpdatedAt },
    )
  const show = useEffectEvent(() => {
    if (page && fresh && isNewestFirst && !isReading()) setPages((pages) => withNewestPage(pages, page))
  })
  useEffect(() => {
    if (dataUpdatedAt > 0) show()
  }, [dataUpdatedAt])
  const pages = list.data?.pages
  const rows = useMemo(() => {
    const now = new Map(isShown ? fresh?.map((row) => [row.id, row]) : [])
    return pages && rowsOf(pages).map((row) => now.get(row.id) ?? row)
  }, [pages, fresh, isShown])
  return {
    ...list,
    rows,
    first: (isShown ? page : undefined) ?? pages?.[0],
    setPages,
    /** Those of some calls that may have changed since they were loaded, as many as one request has. */
    changedOf: (ids: readonly string[]) =>
      ids.filter((id) => fresh?.every((row) => row.id !== id) ?? false).slice(0, Number(rowsPerPage)),
    changedQuery: (ids: readonly string[]) => rowsQuery(project, filters, ids),
    /** How many new calls are not shown yet. */
    waiting: isShown && page && loaded && filters.order !== 'createdAt' ? newRows(loaded, page).length : 0,
    showWaiting: () => {
      if (isNewestFirst && page) return setPages((pages) => withNewestPage(pages, page))
      void queryClient.resetQueries({ queryKey: seenQuery(project, filters).queryKey })
      void queryClient.resetQueries({ queryKey: options.queryKey })
    },
  }
}

/** Reloads visible calls that may have changed. @param onScreen empty while the list scrolls */
export function useFollowedRows(list: CallListData, onScreen: readonly string[]): void {
  const ids = list.changedOf(onScreen)
  const { data } = useQuery(list.changedQuery(ids))
  const take = useEffectEvent((answer: CallRows) => list.setPages((pages) => withRows(pages, ids, answer)))
  useEffect(() => {
    if (data) take(data)
  }, [data])
}

/** As many as one request can change or delete. */
export const selectedMax = 1_000

/** The calls that are selected. */
export interface Selection {
  ids: ReadonlySet<string>
  /** Whether all loaded calls are selected, or as many as can be. */
  isAll: boolean
  /** All calls that match, or the first of them, once they are selected: the ids are theirs. */
  frozen: FrozenSet | null
  freeze: (set: FrozenSet) => void
  /** @param isRange also selects everything between the previously toggled call and this one */
  toggle: (id: string, isRange?: boolean) => void
  set: (ids: readonly string[]) => void
}

const none: ReadonlySet<string> = new Set()

/** Another list begins with nothing selected. @param list its name @param rows its rows, in order */
export function useSelection(list: string, rows: readonly { id: string }[]): Selection {
  const [ids, setIds] = useState(none)
  const [last, setLast] = useState<string | null>(null)
  const [frozen, setFrozen] = useState<FrozenSet | null>(null)
  const [before, setBefore] = useState(list)
  if (before !== list) {
    setBefore(list)
    setIds(none)
    setLast(null)
    setFrozen(null)
  }
  return useMemo(() => {
    const isAll = rows.length > 0 && rows.slice(0, selectedMax).every(({ id }) => ids.has(id))
    const set = (next: readonly string[]) => {
      setIds(new Set(next.slice(0, selectedMax)))
      setFrozen(null)
    }
    const freeze = (found: FrozenSet) => {
      setIds(new Set(found.ids))
      setFrozen(found)
    }
    const toggle = (id: string, isRange = false) => {
      setLast(id)
      if (isRange && last !== null) return set([...ids, ...between(rows, last, id)])
      set(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id])
    }
    return { ids, isAll, frozen, freeze, toggle, set }
  }, [ids, frozen, last, rows])
}

function between(rows: readonly { id: string }[], one: string, other: string): string[] {
  const places = [one, other].map((id) => rows.findIndex((row) => row.id === id))
  if (places.includes(-1)) return [other]
  return rows.slice(Math.min(...places), Math.max(...places) + 1).map(({ id }) => id)
}
