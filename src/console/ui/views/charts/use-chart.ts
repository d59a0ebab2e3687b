import { useQuery } from '@tanstack/react-query'
import { ApiProblem } from '../../api.ts'
import { useNow } from '../../components/instant.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { type ChosenFilters, faultsOf } from '../calls/chosen-filters.ts'
import { dateRangeLabel, relativeDateOf, relativeDates } from '../calls/date-ranges.ts'
import { useResolvedFilters } from '../calls/use-resolved-filters.ts'
import { titleOf } from './chart.ts'
import { chartQuery, figureQuery } from './chart-queries.ts'
import { type Chart, type ChartSearch, chartOf } from './chart-search.ts'

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
