import { type QueryKey, queryOptions } from '@tanstack/react-query'
import type { FiguresOfCalls } from '../../../../calls/figures/figures.ts'
import { pathOf, unwrap } from '../../api.ts'
import { toQuery } from '../../search-params.ts'
import type { useProject } from '../../session.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { groupingsOf, shown } from './chart.ts'
import type { Chart } from './chart-search.ts'

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
export function chartQuery({ of }: Project, chart: Chart, filters: ChosenFilters, zone: string) {
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
