import type { FilterName } from '../../../../calls/filters.ts'
import { wordParam } from '../../search-params.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import { type Chart, type ChartShow, chartOf, chartSearch } from '../charts/chart-search.ts'

/** What an alert may watch, as in the address of a new one. */
export type AlertSearch = ChosenFilters & { of?: string; show?: string; below?: 'true' }

/** Reads the address. What an alert cannot watch is left out: times, which its window takes the place of, and words. */
export function alertSearch(search: Record<string, unknown>): AlertSearch {
  const { by: _, ...rest } = chartSearch(search)
  const { date: __, ...watched } = rest
  const kept = Object.entries(watched).filter(([name]) => !unwatched.some((one) => one === name))
  const below = wordParam(search.below, ['true'] as const)
  return { ...Object.fromEntries(kept), ...(below && { below }) }
}

/** The filters of the list that an alert has none of. */
export const unwatched: readonly FilterName[] = [
  'from',
  'to',
  'completedFrom',
  'completedTo',
  'updatedFrom',
  'text',
]

/** What the address asks for. An alert is where a share of successes is low, and where any other figure is high. */
export function watchedOf({ below, ...search }: AlertSearch): Watched {
  const { chart, filters } = chartOf(search)
  const { of, show } = chart
  return { of, show, filters, side: below || show === 'share' ? 'below' : 'above' }
}

interface Watched {
  of: string
  show: ChartShow
  filters: ChosenFilters
  /** On which side of the limit an alert is. */
  side: 'above' | 'below'
}

/** The address of a new alert about what a chart shows. */
export function alertSearchOf(chart: Omit<Chart, 'by'>, filters: ChosenFilters): AlertSearch {
  return alertSearch({ ...filters, of: chart.of, show: chart.show })
}
