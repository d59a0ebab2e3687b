import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { Alerts } from '../../../../alerts/alerts.ts'
import type { AlertChange } from '../../../../alerts/schemas.ts'
import { pathOf, read, unwrap } from '../../api.ts'
import { plusDays } from '../../components/dates.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { readFigures, useCriteria } from '../charts/chart-queries.ts'
import type { Names } from './alert-words.ts'

/** An alert is evaluated once a minute. */
const refetchMs = 15_000
const daysCounted = 30

export type OfferedDestination = Awaited<ReturnType<Alerts['destinations']>>[number]
export type FiredChange = Awaited<ReturnType<Alerts['changes']>>['data'][number]
type OfProject = ReturnType<typeof useProject>['of']

/** The alerts of the project with their states. */
export function useAlerts() {
  return useQuery({ ...read(useProject().of.alerts), refetchInterval: refetchMs })
}

/** The names of the project's criteria and agents. */
export function useNames(): Names {
  const { data: facets } = useQuery(facetsQuery(useProject().id))
  const agents = facets?.agentId?.flatMap(({ value, label }) => (label ? [[value, label] as const] : []))
  return { criteria: useCriteria(), agents: new Map(agents) }
}

/** How many calls a day match filters. @param today the last of the days that count */
export function callsPerDayQuery(of: OfProject, filters: ChosenFilters, today: string) {
  const query = { ...filters, from: plusDays(today, -daysCounted) }
  return queryOptions({
    queryKey: [...pathOf(of.alerts), 'calls per day', query],
    queryFn: async ({ signal }) => (await readFigures(of, query, signal)).total / daysCounted,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** What an alert would have done in the last 30 days. */
export function previewQuery(of: OfProject, rule: AlertChange) {
  return queryOptions({
    queryKey: [...pathOf(of.alerts.preview), rule],
    queryFn: ({ signal }) => unwrap(of.alerts.preview.post(rule, { fetch: { signal } })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}

/** The changes of states, newest first. @param alert of one alert only */
export function changesQuery(of: OfProject, alert?: string) {
  return infiniteQueryOptions({
    queryKey: [...pathOf(of.alerts.changes), alert],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...(alert && { alert }), ...(pageParam !== null && { before: String(pageParam) }) }
      return unwrap(of.alerts.changes.get({ query, fetch: { signal } }))
    },
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
    // Every page would be loaded again.
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : refetchMs),
  })
}
