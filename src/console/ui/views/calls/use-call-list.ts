import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import type { CallRows } from '../../../../calls/reading/call-rows.ts'
import { callsQuery, firstQuery, type Pages, rowsQuery, seenQuery } from './call-queries.ts'
import { type ChosenFilters, faultsOf } from './chosen-filters.ts'
import { type ListEvent, newRows, nextList, rowsOf } from './pages.ts'

export type CallListData = ReturnType<typeof useCallList>

/**
 * The calls that filters leave. The newest ones are asked for anew when the project changes. In the order of durations
 * new calls can stand anywhere, so they wait until they are asked for.
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
  const { data: page, dataUpdatedAt, isFetched } = newest
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set())
  const dispatch = (event: ListEvent) => {
    const data = queryClient.getQueryData<Pages>(options.queryKey)
    if (!data) return
    const next = (before: typeof changed) => nextList({ pages: data.pages, changed: before }, event)
    setChanged((before) => next(before).changed)
    const { pages } = next(changed)
    queryClient.setQueryData<Pages>(
      options.queryKey,
      { pages, pageParams: data.pageParams.slice(0, pages.length) },
      // The list itself has not been reloaded.
      { updatedAt: list.dataUpdatedAt },
    )
  }
  const take = useEffectEvent(() => {
    if (page && isFetched)
      dispatch({ type: 'newest loaded', newest: page, isNewestFirst, isReading: isReading() })
  })
  useEffect(() => {
    if (dataUpdatedAt > 0) take()
  }, [dataUpdatedAt])
  const pages = list.data?.pages
  return {
    ...list,
    rows: pages && rowsOf(pages),
    first: isNewestFirst ? pages?.[0] : (page ?? pages?.[0]),
    /** Calls that may have changed since they were loaded. */
    changed,
    /** Requests such calls. */
    changedQuery: (ids: readonly string[]) => rowsQuery(project, filters, ids, dataUpdatedAt),
    take: (asked: readonly string[], answer: CallRows) => dispatch({ type: 'changed loaded', asked, answer }),
    /** How many new calls are not shown yet. */
    waiting: isShown && page && loaded && filters.order !== 'createdAt' ? newRows(loaded, page).length : 0,
    showWaiting: () => {
      if (isNewestFirst && page) return dispatch({ type: 'waiting asked for', newest: page })
      void queryClient.resetQueries({ queryKey: seenQuery(project, filters).queryKey })
      void queryClient.resetQueries({ queryKey: options.queryKey })
    },
  }
}
