import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'
import { criterionPrefix, noValue } from '../../../../calls/filters.ts'
import { api, unwrap } from '../../api.ts'
import { metricsKeys, overviewKeys } from '../../query-keys.ts'
import type { Chart } from '../charts/chart-search.ts'
import { metricsRefetchMs, readMetrics } from '../charts/metrics-query.ts'
import { daysOf } from './days.ts'
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

/** Of the days of a period, the calls by evaluation. @param zone such as `Europe/Berlin` */
export function daysQuery(project: string, { from, to }: Period, zone: string) {
  return queryOptions({
    queryKey: overviewKeys.days(project, from, to, zone),
    queryFn: async ({ signal }) => {
      const read = async (evaluation?: string) =>
        (await readMetrics(project, { by: 'day', from, to, timeZone: zone, evaluation }, signal)).data
      const [all, success, fail, unevaluated] = await Promise.all([
        read(),
        read('success'),
        read('fail'),
        read(noValue),
      ])
      return daysOf(all, { success, fail, unevaluated })
    },
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

/** A number of a period, of the one before it, and of each day. */
export function trendQuery(project: string, of: Pick<Chart, 'of' | 'show'>, period: Period, zone: string) {
  const { before, from, to } = period
  return queryOptions({
    queryKey: metricsKeys.trend(project, of.of, of.show, before, from, to, zone),
    queryFn: async ({ signal }) => {
      const [days, now, earlier] = await Promise.all([
        readMetrics(project, { ...of, from, to, by: 'day', timeZone: zone }, signal),
        readMetrics(project, { ...of, from, to }, signal),
        readMetrics(project, { ...of, from: before, to: from }, signal),
      ])
      return { days: days.data, figure: { value: wholeOf(now), before: wholeOf(earlier) } }
    },
    placeholderData: keepPreviousData,
    refetchInterval: metricsRefetchMs,
  })
}

/** By what a number is looked at to see what changed it. */
export const movedBy = ['agentId', 'endedReason', 'source'] as const

/** A number of the groups of a period, and of the one before it, by each of these. */
export function groupsQuery(project: string, of: Pick<Chart, 'of' | 'show'>, period: Period) {
  const { before, from, to } = period
  return queryOptions({
    queryKey: metricsKeys.groups(project, of.of, of.show, before, from, to),
    queryFn: ({ signal }) =>
      Promise.all(
        movedBy.map(async (by) => {
          const [now, earlier] = await Promise.all([
            readMetrics(project, { ...of, from, to, by }, signal),
            readMetrics(project, { ...of, from: before, to: from, by }, signal),
          ])
          return { by, now: now.data, before: earlier.data }
        }),
      ),
    staleTime: metricsRefetchMs,
  })
}

/** The share of the calls that passed each criterion, in a period and in the one before it. */
export function criteriaQuery(project: string, ids: readonly string[], { before, from, to }: Period) {
  return queryOptions({
    queryKey: metricsKeys.criteria(project, before, from, to, ids),
    queryFn: async ({ signal }) => {
      const shareOf = async (id: string, period: { from: string; to: string }) =>
        wholeOf(
          await readMetrics(project, { of: `${criterionPrefix}${id}`, show: 'share', ...period }, signal),
        )
      const read = async (id: string) => {
        const [value, earlier] = await Promise.all([
          shareOf(id, { from, to }),
          shareOf(id, { from: before, to: from }),
        ])
        return { id, value, before: earlier }
      }
      return await Promise.all(ids.map(read))
    },
    placeholderData: keepPreviousData,
    refetchInterval: metricsRefetchMs,
  })
}

/** Of metrics without groups. */
function wholeOf({ data }: FiguresOfCalls): number | null {
  return data[0]?.value ?? null
}

function overview(project: string) {
  return api.projects({ project }).overview
}
