import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  queryOptions,
} from '@tanstack/react-query'
import type { CallRows } from '../../../../calls/reading/call-rows.ts'
import { api, pathOf, read, unwrap } from '../../api.ts'
import { toQuery } from '../../search-params.ts'
import type { useProject } from '../../session.ts'
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
    queryKey: [...listKey(project), filterKey(filters)],
    queryFn: ({ pageParam, signal }) => {
      if (faultsOf(filters).length > 0) return noCalls
      const query = { ...filters, ...(pageParam !== null && { cursor: pageParam }), limit: rowsPerPage }
      return unwrap(api.projects({ project }).calls.get({ query: toQuery(query), fetch: { signal } }))
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The newest calls that match the filters, whatever the list's order. The change feed reloads it. */
export function firstQuery(project: string, { order: _, ...filters }: ChosenFilters) {
  // Not kept: when the list is shown again, its cached pages tell what it showed.
  return { ...readRows(api.projects({ project }), { ...filters, limit: rowsPerPage }), gcTime: 0 }
}

/** The same, as of when the list was requested. */
export function seenQuery(project: string, filters: ChosenFilters) {
  const { queryFn } = firstQuery(project, filters)
  return queryOptions({
    queryKey: ['seen calls', project, filterKey(filters)],
    queryFn,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The current rows of some calls, without those that no longer match. The change feed reloads them. */
export function rowsQuery(project: string, filters: ChosenFilters, ids: readonly string[]) {
  const rows = readRows(api.projects({ project }), { ...filters, id: ids, limit: rowsPerPage })
  return { ...rows, enabled: ids.length > 0, gcTime: 0 }
}

/** Requests a call and its details, unless they are cached. The view reloads stale ones. */
export function requestCall(queryClient: QueryClient, project: string, id: string): Promise<unknown>[] {
  const call = api.projects({ project }).calls({ id })
  const staleTime = Number.POSITIVE_INFINITY
  return [
    queryClient.prefetchQuery({ ...read(call), staleTime }),
    queryClient.prefetchQuery({ ...read(call.details), staleTime }),
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
  return readRows(api.projects({ project }), { status: 'live', silent: 'false', limit: String(limit) })
}

/** The newest call there is, whatever the period. */
export function newestCallQuery(project: string) {
  return readRows(api.projects({ project }), { limit: '1' })
}

/** The previous and the next call of an open one that is not in a loaded page. */
export function neighboursQuery(project: string, id: string | undefined, filters: ChosenFilters) {
  const { calls } = api.projects({ project })
  const { queryFn } = read(calls({ id: id ?? '' }).neighbours, toQuery(filters))
  return queryOptions({
    queryKey: neighboursKey(project, id ?? '', filterKey(filters)),
    queryFn,
    enabled: id !== undefined && faultsOf(filters).length === 0,
  })
}

/** Not below the call, since neighbours change with the list. */
export function neighboursKey(project: string, ...call: string[]): string[] {
  return ['neighbours', project, ...call]
}

/** The first calls of a queue that nobody has reviewed. */
export function unreviewedQuery(project: string, filters: ChosenFilters) {
  return readRows(api.projects({ project }), { ...filters, reviewed: 'false', limit: '2' })
}

/** Removes a deleted call from every cached list. */
export function forgetCall(queryClient: QueryClient, project: string, id: string): void {
  const of = api.projects({ project })
  for (const queryKey of [pathOf(of.calls({ id })), neighboursKey(project, id)])
    queryClient.removeQueries({ queryKey })
  queryClient.setQueriesData<Pages>({ queryKey: listKey(project) }, (data) =>
    data ? { ...data, pages: withoutCall(data.pages, id) } : data,
  )
  queryClient.setQueriesData<CallRows>({ queryKey: rowsKey(of) }, (data) =>
    data ? withoutCall([data], id)[0] : data,
  )
  for (const queryKey of [rowsKey(of), pathOf(of.metrics)]) void queryClient.invalidateQueries({ queryKey })
}

function listKey(project: string): QueryKey {
  return ['calls', project]
}

type Project = ReturnType<typeof useProject>
type RowsQuery = ResolvedFilters & { limit: string; id?: readonly string[] }

/** What the change feed reloads of the lists of calls. No call has a space in its id. */
export function rowsKey({ calls }: Pick<Project['of'], 'calls'>): string[] {
  return [...pathOf(calls), 'rows of lists']
}

/** Calls as they are now. */
export function readRows(of: Pick<Project['of'], 'calls'>, query: RowsQuery) {
  const rows = toQuery(query)
  return { ...read(of.calls, rows), queryKey: [...rowsKey(of), rows] }
}

/** The empty result of a filter that cannot be read. */
const noCalls: CallRows = { data: [], nextCursor: null, total: 0, totalMax: 0, foundBy: null }
