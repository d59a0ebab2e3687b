import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { overviewKeys } from '../../query-keys.ts'
import type { Period } from './overview-search.ts'

// One query per card, so that each card fails on its own. A card keeps its content until the next period has loaded.

export function figuresQuery(project: string, { before, from, to }: Period) {
  return queryOptions({
    queryKey: overviewKeys.figures(project, before, from, to),
    queryFn: ({ signal }) =>
      unwrap(overview(project).figures.get({ query: { before, from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

/** @param zone such as `Europe/Berlin` */
export function daysQuery(project: string, { from, to }: Period, zone: string) {
  return queryOptions({
    queryKey: overviewKeys.days(project, from, to, zone),
    queryFn: ({ signal }) =>
      unwrap(overview(project).days.get({ query: { from, to, zone }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function durationsQuery(project: string, { from, to }: Period) {
  return queryOptions({
    queryKey: overviewKeys.durations(project, from, to),
    queryFn: ({ signal }) =>
      unwrap(overview(project).durations.get({ query: { from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function endReasonsQuery(project: string, { from, to }: Period) {
  return queryOptions({
    queryKey: overviewKeys.endReasons(project, from, to),
    queryFn: ({ signal }) =>
      unwrap(overview(project)['end-reasons'].get({ query: { from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function originsQuery(project: string, { from, to }: Period) {
  return queryOptions({
    queryKey: overviewKeys.origins(project, from, to),
    queryFn: ({ signal }) =>
      unwrap(overview(project).origins.get({ query: { from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function knowledgeQuery(project: string) {
  return queryOptions({
    queryKey: overviewKeys.knowledge(project),
    queryFn: ({ signal }) => unwrap(overview(project).knowledge.get({ fetch: { signal } })),
    // While chunks are pending, their number keeps changing.
    refetchInterval: ({ state }) => (state.data && state.data.pendingChunks > 0 ? 5_000 : false),
  })
}

/** The newest calls of a period that failed. */
export function failedCallsQuery(project: string, { from, to }: Period, limit: number) {
  return queryOptions({
    queryKey: overviewKeys.failed(project, from, to, limit),
    queryFn: ({ signal }) => {
      const query = { evaluation: 'fail', from, to, limit: String(limit) }
      return unwrap(api.projects({ project }).calls.get({ query, fetch: { signal } }))
    },
    placeholderData: keepPreviousData,
  })
}

function overview(project: string) {
  return api.projects({ project }).overview
}
