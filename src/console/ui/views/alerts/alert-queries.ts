import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Alerts } from '../../../../alerts/alerts.ts'
import type { AlertChange } from '../../../../alerts/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { plusDays } from '../../components/dates.ts'
import { alertKeys } from '../../query-keys.ts'
import { type ChosenFilters, filterKey } from '../calls/chosen-filters.ts'
import { readMetrics } from '../charts/metrics-query.ts'

/** An alert is evaluated once a minute. */
const refetchMs = 15_000

export type OfferedDestination = Awaited<ReturnType<Alerts['destinations']>>[number]
export type FiredChange = Awaited<ReturnType<Alerts['changes']>>['data'][number]

/** The alerts of a project with their states. */
export function alertsQuery(project: string) {
  return queryOptions({
    queryKey: alertKeys.list(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).alerts.get({ fetch: { signal } })),
    select: ({ data }) => data,
    refetchInterval: refetchMs,
  })
}

/** Where alerts can be sent. */
export function destinationsQuery(project: string) {
  return queryOptions({
    queryKey: alertKeys.destinations(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).alerts.destinations.get({ fetch: { signal } })),
    select: ({ data }) => data,
  })
}

const daysCounted = 30

/** How many calls a day match filters. @param today the last of the days that count */
export function callsPerDayQuery(project: string, filters: ChosenFilters, today: string) {
  const from = plusDays(today, -daysCounted)
  return queryOptions({
    queryKey: alertKeys.callsPerDay(project, filterKey(filters), from),
    queryFn: async ({ signal }) =>
      (await readMetrics(project, { ...filters, from }, signal)).total / daysCounted,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** What an alert would have done in the last 30 days. */
export function previewQuery(project: string, rule: AlertChange) {
  return queryOptions({
    queryKey: alertKeys.preview(project, rule),
    queryFn: ({ signal }) =>
      unwrap(api.projects({ project }).alerts.preview.post(rule, { fetch: { signal } })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}

/** The changes of states, newest first. @param alert of one alert only */
export function changesQuery(project: string, alert?: string) {
  return infiniteQueryOptions({
    queryKey: alertKeys.changes(project, alert),
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.projects({ project }).alerts.changes.get({
          query: { ...(alert && { alert }), ...(pageParam !== null && { before: String(pageParam) }) },
          fetch: { signal },
        }),
      ),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
    // Every page would be loaded again.
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : refetchMs),
  })
}
