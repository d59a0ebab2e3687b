import { type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'
import { ApiProblem, pathOf, unwrap } from '../../api.ts'
import { useNow } from '../../components/instant.tsx'
import { useDates } from '../../components/use-dates.ts'
import { toQuery } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { type ChosenFilters, faultsOf } from '../calls/chosen-filters.ts'
import { dateRangeLabel, relativeDateOf, relativeDates } from '../calls/date-ranges.ts'
import { useResolvedFilters } from '../calls/filter-fields.tsx'
import { groupingsOf, shown, titleOf } from './chart.ts'
import { type Chart, type ChartSearch, chartOf } from './chart-search.ts'

/** Also without a change: periods move on. */
export const figuresRefetchMs = 60_000

export type Figures = FiguresOfCalls['data']
type Project = Pick<ReturnType<typeof useProject>, 'id' | 'of'>

/** What the change feed reloads of the metrics: charts, and the figures of the overview. */
export function chartsKey({ metrics }: Pick<Project['of'], 'metrics'>): QueryKey {
  return [...pathOf(metrics), 'charts']
}

/** @param query filters, and `of`, `show`, `by` and `timeZone` */
export function readFigures(of: Project['of'], query: object, signal: AbortSignal): Promise<FiguresOfCalls> {
  return unwrap(of.metrics.get({ query: toQuery(query), fetch: { signal } }))
}

/**
 * The figures of a chart by its first grouping, and, if it has two, by both.
 * @param filters as the API takes them @param zone whose days and hours are counted
 */
function chartQuery({ of }: Project, chart: Chart, filters: ChosenFilters, zone: string) {
  const { by, ...figure } = chart
  const query = { ...filters, ...asked(figure), timeZone: zone }
  const [first, second] = groupingsOf(by)
  const name = [chart.of, chart.show, by].join(' ')
  return queryOptions({
    queryKey: [...chartsKey(of), name, query],
    queryFn: async ({ signal }) => {
      const [{ data, total }, pairs] = await Promise.all([
        readFigures(of, { ...query, by: first }, signal),
        second === undefined ? null : readFigures(of, { ...query, by }, signal),
      ])
      return { data, total, pairs: pairs?.data ?? null }
    },
    // Of another period, but of no other chart, whose groups have other names.
    placeholderData: (last, before) => (before?.queryKey.includes(name) ? last : undefined),
    refetchInterval: figuresRefetchMs,
  })
}

/** A figure of all calls that filters find. */
export function figureQuery({ of }: Project, figure: Omit<Chart, 'by'>, filters: ChosenFilters) {
  const name = [figure.of, figure.show].join(' ')
  return queryOptions({
    queryKey: [...chartsKey(of), 'figure', name, filters],
    queryFn: async ({ signal }) => {
      const { data } = await readFigures(of, { ...filters, ...asked(figure) }, signal)
      return shown(figure.show, data[0]?.value ?? null)
    },
    placeholderData: (last, before) => (before?.queryKey.includes(name) ? last : undefined),
    refetchInterval: figuresRefetchMs,
  })
}

/** What is left of a share has no name in the API. */
function asked({ of, show }: Omit<Chart, 'by'>) {
  return { of, show: show === 'failed' ? 'share' : show }
}

/** The chart of an address: its figures, or why there are none, and what it and its period are called. */
export function useChart(search: ChartSearch) {
  const project = useProject()
  const dates = useDates()
  const now = useNow()
  const { chart, filters } = chartOf(search)
  const resolvedFilters = useResolvedFilters(filters)
  const faults = faultsOf(filters)
  const query = useQuery({
    ...chartQuery(project, chart, resolvedFilters, dates.zone),
    enabled: faults.length === 0,
  })
  const hasTooMany =
    query.error instanceof ApiProblem && query.error.fields.some(({ field }) => field === 'by')
  const criteria = useCriteria()
  const date = relativeDateOf(filters.date)
  const period = date ? relativeDates[date].label : dateRangeLabel(filters, dates, now) || 'All time'
  return {
    chart,
    filters,
    resolvedFilters,
    faults,
    hasTooMany,
    query,
    title: titleOf(chart, criteria),
    period,
  }
}

/** @param before the filters of the period before; null where there is none to compare with */
export function useCompared(figure: Omit<Chart, 'by'>, filters: ChosenFilters, before: ChosenFilters | null) {
  const project = useProject()
  const query = useQuery(figureQuery(project, figure, filters))
  const earlier = useQuery({ ...figureQuery(project, figure, before ?? {}), enabled: before !== null })
  const { data: value } = query
  const compared = value !== undefined && { value, before: before === null ? null : earlier.data }
  return { query, compared: compared || undefined }
}

/** The names of the project's criteria, by their ids. */
export function useCriteria(): ReadonlyMap<string, string> {
  const { data } = useQuery(rubricQuery(useProject().id))
  return new Map(data?.rubric?.criteria.map(({ id, name }) => [id, name]))
}
