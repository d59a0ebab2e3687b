import { queryOptions } from '@tanstack/react-query'
import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'
import { api, unwrap } from '../../api.ts'
import { metricsKeys } from '../../query-keys.ts'
import { toQuery } from '../../search-params.ts'
import { type ChosenFilters, filterKey } from '../calls/chosen-filters.ts'
import type { Chart } from './chart-search.ts'

/** Metrics read every call that their filters find, so they are not read at every change. */
export const metricsRefetchMs = 60_000

/** @param filters as the API takes them @param zone whose days and hours are counted */
export function metricsQuery(project: string, chart: Chart, filters: ChosenFilters, zone: string) {
  const { show, ...rest } = chart
  const asked = { ...filters, ...rest, show: show === 'failed' ? 'share' : show, timeZone: zone }
  return queryOptions({
    queryKey: metricsKeys.chart(project, filterKey(asked)),
    queryFn: ({ signal }) => readMetrics(project, asked, signal),
    refetchInterval: metricsRefetchMs,
  })
}

/** @param query filters, and `of`, `show`, `by` and `timeZone` */
export function readMetrics(project: string, query: object, signal: AbortSignal): Promise<FiguresOfCalls> {
  return unwrap(api.projects({ project }).metrics.get({ query: toQuery(query), fetch: { signal } }))
}
