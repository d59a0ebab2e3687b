import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import type { CallRows } from '../../../../calls/call-rows.ts'
import { api, unwrap } from '../../api.ts'
import { type ChosenFilters, nameOf } from './chosen-filters.ts'
import { newRows, rowsOf, withChanged, withNewestPage, withoutCall, withoutNew } from './pages.ts'

const rowsPerPage = '50'

interface Pages {
  pages: CallRows[]
  pageParams: (string | null)[]
}

/** A list of calls, page by page. What is new is asked for by `newestQuery` alone: pages are not asked for twice. */
export function callsQuery(project: string, filters: ChosenFilters) {
  return infiniteQueryOptions({
    queryKey: ['calls', project, 'list', nameOf(filters)],
    queryFn: ({ pageParam, signal }) => fetchPage(project, filters, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** One call, whole. */
export function callQuery(project: string, id: string) {
  return queryOptions({
    queryKey: ['calls', project, 'one', id],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).calls({ id }).get({ fetch: { signal } })),
  })
}

/** What is known of a call beside its document. */
export function callDetailsQuery(project: string, id: string) {
  return queryOptions({
    queryKey: ['calls', project, 'details', id],
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).calls({ id }).details.get({ fetch: { signal } })),
  })
}

/** What filters can choose from. */
export function facetsQuery(project: string) {
  return queryOptions({
    queryKey: ['calls', project, 'facets'],
    queryFn: ({ signal }) => unwrap(api.projects({ project })['call-facets'].get({ fetch: { signal } })),
    staleTime: 60_000,
  })
}

/** The calls that are live, the newest first. */
export function liveCallsQuery(project: string, limit: number) {
  return queryOptions({
    queryKey: ['calls', project, 'live', limit],
    queryFn: ({ signal }) => fetchPage(project, { status: 'live' }, null, signal, String(limit)),
  })
}

/** The newest call there is, whatever the period. */
export function newestCallQuery(project: string) {
  return queryOptions({
    queryKey: ['calls', project, 'newest'],
    queryFn: ({ signal }) => fetchPage(project, {}, null, signal, '1'),
  })
}

/**
 * The calls that filters leave. The first page is asked for anew when the project changes.
 * @param isReading whether somebody reads the list, so that new calls wait until they are asked for
 */
export function useCallList(project: string, filters: ChosenFilters, isReading: () => boolean) {
  const queryClient = useQueryClient()
  const options = callsQuery(project, filters)
  const list = useInfiniteQuery(options)
  const isShown = list.data !== undefined && !list.isPlaceholderData
  const newest = useQuery({
    queryKey: ['calls', project, 'first', nameOf(filters)],
    queryFn: ({ signal }) => fetchPage(project, filters, null, signal),
    enabled: isShown,
    initialData: isShown ? list.data?.pages[0] : undefined,
    initialDataUpdatedAt: list.dataUpdatedAt,
  })
  const { data: page, dataUpdatedAt } = newest
  const isOldestFirst = filters.order !== undefined
  const merge = (how: typeof withNewestPage) => {
    queryClient.setQueryData<Pages>(options.queryKey, (data) => {
      if (!data || !page) return data
      const pages = how(data.pages, page)
      return { pages, pageParams: data.pageParams.slice(0, pages.length) }
    })
  }
  const take = useEffectEvent(() => {
    const before = queryClient.getQueryState(options.queryKey)
    if (!page || !before?.data || before.dataUpdatedAt >= dataUpdatedAt) return
    merge(isOldestFirst ? withChanged : isReading() ? withoutNew : withNewestPage)
  })
  useEffect(() => {
    if (dataUpdatedAt > 0) take()
  }, [dataUpdatedAt])
  const pages = list.data?.pages
  return {
    ...list,
    rows: pages && rowsOf(pages),
    first: pages?.[0],
    /** How many calls wait to be shown. */
    waiting: isShown && page && !isOldestFirst ? newRows(pages ?? [], page).length : 0,
    showWaiting: () => merge(withNewestPage),
  }
}

/** The calls before and after an open one that is not among the loaded ones. */
export function neighboursQuery(project: string, id: string | undefined, filters: ChosenFilters) {
  return queryOptions({
    queryKey: ['calls', project, 'neighbours', id, nameOf(filters)],
    queryFn: ({ signal }) =>
      unwrap(
        api
          .projects({ project })
          .calls({ id: id ?? '' })
          .neighbours.get({ query: filters, fetch: { signal } }),
      ),
    enabled: id !== undefined,
  })
}

/** Takes a deleted call out of every list that is kept. */
export function forgetCall(queryClient: QueryClient, project: string, id: string): void {
  for (const what of ['one', 'details', 'neighbours'])
    queryClient.removeQueries({ queryKey: ['calls', project, what, id] })
  queryClient.setQueriesData<Pages>({ queryKey: ['calls', project, 'list'] }, (data) =>
    data ? { ...data, pages: withoutCall(data.pages, id) } : data,
  )
  queryClient.setQueriesData<CallRows>({ queryKey: ['calls', project, 'first'] }, (data) =>
    data ? withoutCall([data], id)[0] : data,
  )
  void queryClient.invalidateQueries({ queryKey: ['calls', project, 'live'] })
  void queryClient.invalidateQueries({ queryKey: ['overview', project] })
}

function fetchPage(
  project: string,
  filters: ChosenFilters,
  cursor: string | null,
  signal: AbortSignal,
  limit = rowsPerPage,
): Promise<CallRows> {
  const query = { ...filters, ...(cursor === null ? {} : { cursor }), limit }
  return unwrap(api.projects({ project }).calls.get({ query, fetch: { signal } }))
}
