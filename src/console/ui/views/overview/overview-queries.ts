import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import type { Period } from './overview-search.ts'

// One query per card, so that each card fails on its own. A card keeps its content until the next period has loaded.

export function figuresQuery(project: string, { before, from, to }: Period) {
  return queryOptions({
    queryKey: ['overview', project, 'figures', before, from, to],
    queryFn: ({ signal }) =>
      unwrap(overview(project).figures.get({ query: { before, from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

/** @param zone such as `Europe/Berlin` */
export function daysQuery(project: string, { from, to }: Period, zone: string) {
  return queryOptions({
    queryKey: ['overview', project, 'days', from, to, zone],
    queryFn: ({ signal }) =>
      unwrap(overview(project).days.get({ query: { from, to, zone }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function durationsQuery(project: string, { from, to }: Period) {
  return queryOptions({
    queryKey: ['overview', project, 'durations', from, to],
    queryFn: ({ signal }) =>
      unwrap(overview(project).durations.get({ query: { from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function endReasonsQuery(project: string, { from, to }: Period) {
  return queryOptions({
    queryKey: ['overview', project, 'end-reasons', from, to],
    queryFn: ({ signal }) =>
      unwrap(overview(project)['end-reasons'].get({ query: { from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function originsQuery(project: string, { from, to }: Period) {
  return queryOptions({
    queryKey: ['overview', project, 'origins', from, to],
    queryFn: ({ signal }) =>
      unwrap(overview(project).origins.get({ query: { from, to }, fetch: { signal } })),
    placeholderData: keepPreviousData,
  })
}

export function knowledgeQuery(project: string) {
  return queryOptions({
    queryKey: ['overview', project, 'knowledge'],
    queryFn: ({ signal }) => unwrap(overview(project).knowledge.get({ fetch: { signal } })),
    // While chunks are pending, their number keeps changing.
    refetchInterval: ({ state }) => (state.data && state.data.pendingChunks > 0 ? 5_000 : false),
  })
}

/** The newest calls of a period that failed. */
export function failedCallsQuery(project: string, { from, to }: Period, limit: number) {
  return queryOptions({
    queryKey: ['overview', project, 'failed', from, to, limit],
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
