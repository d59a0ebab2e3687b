import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import type { CallRows } from '../../../../calls/find-calls.ts'
import { api, unwrap } from '../../api.ts'
import { type ChosenFilters, nameOf } from './chosen-filters.ts'
import { rowsOf, withNewestPage, withoutCall } from './pages.ts'

const rowsPerPage = '50'
const liveEveryMs = 4_000
const liveCallEveryMs = 2_500

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

/** One call, whole; again and again while it is live. */
export function callQuery(project: string, id: string) {
  return queryOptions({
    queryKey: ['calls', project, 'one', id],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).calls({ id }).get({ fetch: { signal } })),
    refetchInterval: ({ state }) => (state.data?.status === 'live' ? liveCallEveryMs : false),
  })
}

/** What is known of a call beside its document; again and again while it is live. */
export function callDetailsQuery(project: string, id: string, isLive: boolean) {
  return queryOptions({
    queryKey: ['calls', project, 'details', id],
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).calls({ id }).details.get({ fetch: { signal } })),
    refetchInterval: isLive ? liveCallEveryMs : false,
  })
}

/** What filters can choose from. */
export function facetsQuery(project: string) {
  return queryOptions({
    queryKey: ['calls', project, 'facets'],
    queryFn: ({ signal }) => unwrap(api.projects({ project }).calls.facets.get({ fetch: { signal } })),
    staleTime: 60_000,
  })
}

/** The calls that are live, the newest first. */
export function liveCallsQuery(project: string, limit: number) {
  return queryOptions({
    queryKey: ['calls', project, 'live', limit],
    queryFn: ({ signal }) => fetchPage(project, { status: 'live' }, null, signal, String(limit)),
    refetchInterval: liveEveryMs,
  })
}

/** The newest call there is, whatever the period. */
export function newestCallQuery(project: string) {
  return queryOptions({
    queryKey: ['calls', project, 'newest'],
    queryFn: ({ signal }) => fetchPage(project, {}, null, signal, '1'),
  })
}

/** The calls that filters leave; the first page is asked for anew while one of the calls is live. */
export function useCallList(project: string, filters: ChosenFilters) {
  const queryClient = useQueryClient()
  const options = callsQuery(project, filters)
  const list = useInfiniteQuery(options)
  const isShown = list.data !== undefined && !list.isPlaceholderData
  const rows = list.data ? rowsOf(list.data.pages) : undefined
  const hasLive = isShown && rows?.some(({ status }) => status === 'live')
  const newest = useQuery({
    queryKey: ['calls', project, 'first', nameOf(filters)],
    queryFn: ({ signal }) => fetchPage(project, filters, null, signal),
    enabled: isShown,
    initialData: isShown ? list.data?.pages[0] : undefined,
    initialDataUpdatedAt: list.dataUpdatedAt,
    refetchInterval: hasLive ? liveEveryMs : false,
  })
  const { data: page, dataUpdatedAt } = newest
  const key = JSON.stringify(options.queryKey)
  useEffect(() => {
    if (!page || dataUpdatedAt === 0) return
    const before = queryClient.getQueryState(JSON.parse(key))
    if (!before?.data || before.dataUpdatedAt >= dataUpdatedAt) return
    queryClient.setQueryData<Pages>(JSON.parse(key), (data) => data && refreshed(data, page))
  }, [queryClient, key, page, dataUpdatedAt])
  return { ...list, rows, first: list.data?.pages[0], hasLive: hasLive === true }
}

/** Takes a deleted call out of every list that is kept. */
export function forgetCall(queryClient: QueryClient, project: string, id: string): void {
  for (const what of ['one', 'details']) queryClient.removeQueries({ queryKey: ['calls', project, what, id] })
  queryClient.setQueriesData<Pages>({ queryKey: ['calls', project, 'list'] }, (data) =>
    data ? { ...data, pages: withoutCall(data.pages, id) } : data,
  )
  queryClient.setQueriesData<CallRows>({ queryKey: ['calls', project, 'first'] }, (data) =>
    data ? withoutCall([data], id)[0] : data,
  )
  void queryClient.invalidateQueries({ queryKey: ['calls', project, 'live'] })
  void queryClient.invalidateQueries({ queryKey: ['overview', project] })
}

function refreshed({ pages, pageParams }: Pages, newest: CallRows): Pages {
  const merged = withNewestPage(pages, newest)
  return { pages: merged, pageParams: pageParams.slice(0, merged.length) }
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
