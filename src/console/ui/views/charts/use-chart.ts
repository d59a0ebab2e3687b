import { useQuery } from '@tanstack/react-query'
import { criterionPrefix } from '../../../../calls/filters.ts'
import { ApiProblem } from '../../api.ts'
import { useDates } from '../../components/use-dates.ts'
import { useNow } from '../../components/use-now.ts'
import { useProject } from '../../session.ts'
import { rubricQuery } from '../analysis/analysis-queries.ts'
import { faultsOf } from '../calls/chosen-filters.ts'
import { dateRangeLabel, relativeDateOf, relativeDates } from '../calls/date-ranges.ts'
import { useResolvedFilters } from '../calls/use-resolved-filters.ts'
import { chartOf, titleOf } from './chart.ts'
import type { ChartSearch } from './chart-search.ts'
import { metricsQuery } from './metrics-query.ts'

/** The chart of an address: its metrics, or why there are none, and what it and its period are called. */
export function useChart(search: ChartSearch) {
  const { id: project } = useProject()
  const dates = useDates()
  const now = useNow()
  const { chart, filters } = chartOf(search)
  const asked = useResolvedFilters(filters)
  const faults = faultsOf(filters)
  const query = useQuery({
    ...metricsQuery(project, chart, asked, dates.zone),
    enabled: faults.length === 0,
  })
  const hasTooMany =
    query.error instanceof ApiProblem && query.error.fields.some(({ field }) => field === 'by')
  const isOfCriterion = chart.of.startsWith(criterionPrefix)
  const { data } = useQuery({ ...rubricQuery(project), enabled: isOfCriterion })
  const criteria = new Map(data?.rubric?.criteria.map(({ id, name }) => [id, name]))
  const date = relativeDateOf(filters.date)
  const period = date ? relativeDates[date].label : dateRangeLabel(filters, dates, now) || 'All time'
  return { chart, filters, asked, faults, hasTooMany, query, title: titleOf(chart, criteria), period }
}
