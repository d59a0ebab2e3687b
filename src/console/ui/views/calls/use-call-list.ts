import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo } from 'react'
import type { CallRows } from '../../../../calls/reading/call-rows.ts'
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
