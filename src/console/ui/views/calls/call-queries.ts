import { infiniteQueryOptions, keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { CallRows } from '../../../../calls/reading/call-rows.ts'
import { api, read, unwrap } from '../../api.ts'
import { callKeys, overviewKeys } from '../../query-keys.ts'
import { toQuery } from '../../search-params.ts'
import { type ChosenFilters, faultsOf, filterKey, type ResolvedFilters } from './chosen-filters.ts'
import { withoutCall } from './pages.ts'

export const rowsPerPage = '50'

/** The pages of a list that are loaded. */
export interface Pages {
  pages: CallRows[]
  pageParams: (string | null)[]
}

/** A list of calls, in pages. Only `firstQuery` requests new calls; pages are not requested twice. */
export function callsQuery(project: string, filters: ChosenFilters) {
  return infiniteQueryOptions({
    queryKey: callKeys.list(project, filterKey(filters)),
    queryFn: ({ pageParam, signal }) => fetchPage(project, filters, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The newest calls that match the filters, whatever the list's order. The change feed reloads it. */
export function firstQuery(project: string, filters: ChosenFilters) {
  const { order: _, ...anyOrder } = filters
  return queryOptions({
    queryKey: callKeys.first(project, filterKey(anyOrder)),
    queryFn: ({ signal }) => fetchPage(project, anyOrder, null, signal),
    // Not kept: when the list is shown again, its cached pages tell what it showed.
    gcTime: 0,
  })
}

/** The same, as of when the list was requested. */
export function seenQuery(project: string, filters: ChosenFilters) {
  const { queryFn } = firstQuery(project, filters)
  return queryOptions({
    queryKey: callKeys.seen(project, filterKey(filters)),
    queryFn,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The current rows of some calls, without those that no longer match. @param at when they had changed */
export function rowsQuery(project: string, filters: ChosenFilters, ids: readonly string[], at: number) {
  return queryOptions({
    queryKey: callKeys.rows(project, filterKey(filters), at, ids),
    queryFn: ({ signal }) => fetchRows(project, { ...filters, id: ids, limit: rowsPerPage }, signal),
    enabled: ids.length > 0,
    gcTime: 0,
  })
}

/** One call, whole. */
export function callQuery(project: string, id: string) {
  return queryOptions({
    queryKey: callKeys.one(project, id),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).calls({ id }).get({ fetch: { signal } })),
  })
}

/** What is known about a call besides its document. */
export function callDetailsQuery(project: string, id: string) {
  return queryOptions({
    queryKey: callKeys.details(project, id),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).calls({ id }).details.get({ fetch: { signal } })),
  })
}

/** Requests a call and its details, unless they are cached. The view reloads stale ones. */
export function requestCall(queryClient: QueryClient, project: string, id: string): Promise<unknown>[] {
  const staleTime = Number.POSITIVE_INFINITY
  return [
    queryClient.prefetchQuery({ ...callQuery(project, id), staleTime }),
    queryClient.prefetchQuery({ ...callDetailsQuery(project, id), staleTime }),
  ]
}

/** The values that filters suggest. */
export function facetsQuery(project: string) {
  return { ...read(api.projects({ project })['call-facets']), staleTime: 60_000 }
}

/** How many calls have each value of a filter, among those that the other filters leave. */
export function facetCountsQuery(project: string, name: string, filters: ChosenFilters) {
  const others = { ...filters, [name]: undefined, order: undefined }
  return { ...read(api.projects({ project })['call-facets']({ name }), toQuery(others)), staleTime: 10_000 }
}

/** The calls that are live, the newest first. Silent ones are not. */
export function liveCallsQuery(project: string, limit: number) {
  return queryOptions({
    queryKey: callKeys.live(project, limit),
    queryFn: ({ signal }) =>
      fetchPage(project, { status: 'live', silent: 'false' }, null, signal, String(limit)),
  })
}

/** The newest call there is, whatever the period. */
export function newestCallQuery(project: string) {
  return queryOptions({
    queryKey: callKeys.newest(project),
    queryFn: ({ signal }) => fetchPage(project, {}, null, signal, '1'),
  })
}

/** The previous and the next call of an open one that is not in a loaded page. */
export function neighboursQuery(project: string, id: string | undefined, filters: ChosenFilters) {
  return queryOptions({
    queryKey: callKeys.neighbours(project, id, filterKey(filters)),
    queryFn: ({ signal }) =>
      unwrap(
        api
          .projects({ project })
          .calls({ id: id ?? '' })
          .neighbours.get({ query: toQuery(filters), fetch: { signal } }),
      ),
    enabled: id !== undefined && faultsOf(filters).length === 0,
  })
}

/** The first calls of a queue that nobody has reviewed. */
export function unreviewedQuery(project: string, filters: ChosenFilters) {
  return queryOptions({
    queryKey: callKeys.first(project, 'unreviewed', filterKey(filters)),
    queryFn: ({ signal }) => fetchPage(project, { ...filters, reviewed: 'false' }, null, signal, '2'),
  })
}

/** Removes a deleted call from every cached list. */
export function forgetCall(queryClient: QueryClient, project: string, id: string): void {
  for (const keys of [callKeys.one, callKeys.details, callKeys.analysis, callKeys.neighbours])
    queryClient.removeQueries({ queryKey: keys(project, id) })
  queryClient.setQueriesData<Pages>({ queryKey: callKeys.list(project) }, (data) =>
    data ? { ...data, pages: withoutCall(data.pages, id) } : data,
  )
  queryClient.setQueriesData<CallRows>({ queryKey: callKeys.first(project) }, (data) =>
    data ? withoutCall([data], id)[0] : data,
  )
  void queryClient.invalidateQueries({ queryKey: callKeys.live(project) })
  void queryClient.invalidateQueries({ queryKey: overviewKeys.all(project) })
}

function fetchPage(
  project: string,
  filters: ResolvedFilters,
  cursor: string | null,
  signal: AbortSignal,
  limit = rowsPerPage,
): Promise<CallRows> {
  if (faultsOf(filters).length > 0) return Promise.resolve(noCalls)
  return fetchRows(project, { ...filters, ...(cursor === null ? {} : { cursor }), limit }, signal)
}

/** The empty result of a filter that cannot be read. */
const noCalls: CallRows = { data: [], nextCursor: null, total: 0, totalMax: 0, foundBy: null }

function fetchRows(project: string, query: Record<string, unknown>, signal: AbortSignal): Promise<CallRows> {
  return unwrap(api.projects({ project }).calls.get({ query: toQuery(query), fetch: { signal } }))
}
