import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import type { CallRows } from '../../../../calls/reading/call-rows.ts'
import { callsQuery, firstQuery, type Pages, rowsQuery, seenQuery } from './call-queries.ts'
import { type ChosenFilters, faultsOf } from './chosen-filters.ts'
import { newRows, rowsOf, withAsked, withChanged, withNewestPage, withoutNew } from './pages.ts'

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
  const change = (how: (pages: CallRows[]) => CallRows[]) => {
    queryClient.setQueryData<Pages>(
      options.queryKey,
      (data) => {
        if (!data) return data
        const pages = how(data.pages)
        return { pages, pageParams: data.pageParams.slice(0, pages.length) }
      },
      // The list itself has not been reloaded.
      { updatedAt: list.dataUpdatedAt },
    )
  }
  const take = useEffectEvent(() => {
    const before = queryClient.getQueryData<Pages>(options.queryKey)
    if (!page || !before || !isFetched) return
    const how = !isNewestFirst ? withChanged : isReading() ? withoutNew : withNewestPage
    change((pages) => how(pages, page))
    const known = new Set(page.data.map(({ id }) => id))
    setChanged(new Set(rowsOf(before.pages).flatMap(({ id }) => (known.has(id) ? [] : [id]))))
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
    /** Applies the answer: updates these calls, or removes them from the list. */
    take: (ids: readonly string[], answer: CallRows) => {
      // If another page follows, missing calls may be on that one.
      const told = answer.nextCursor === null ? ids : answer.data.map(({ id }) => id)
      change((pages) => withAsked(pages, told, answer.data))
      setChanged((before) => new Set([...before].filter((id) => !told.includes(id))))
    },
    /** How many new calls are not shown yet. */
    waiting: isShown && page && loaded && filters.order !== 'createdAt' ? newRows(loaded, page).length : 0,
    showWaiting: () => {
      if (isNewestFirst && page) return change((pages) => withNewestPage(pages, page))
      void queryClient.resetQueries({ queryKey: seenQuery(project, filters).queryKey })
      void queryClient.resetQueries({ queryKey: options.queryKey })
    },
  }
}
