import type { Show } from '../../../../calls/figures/measures.ts'
import { criterionPrefix, prefixOf } from '../../../../calls/filters.ts'
import { textParam } from '../../search-params.ts'
import { type ChosenFilters, readFilters } from '../calls/chosen-filters.ts'

/** What is shown of calls. `failed` is what is left of a share, which the API does not name. */
export type ChartShow = Show | 'failed'

/** What a chart shows, of which calls. */
export interface Chart {
  of: string
  show: ChartShow
  by: string
}

/** A chart as in the address: without `order`, which a chart has none of. */
export type ChartSearch = ChosenFilters & Partial<Record<keyof Chart, string>>

/** Reads the address. */
export function chartSearch(search: Record<string, unknown>): ChartSearch {
  const { order: _, ...filters } = readFilters(search)
  const named = (['of', 'show', 'by'] as const).flatMap((name) => {
    const text = textParam(search[name])
    return text === undefined ? [] : [[name, text]]
  })
  return { ...filters, ...Object.fromEntries(named) }
}

/** The chart of an address, and the filters of its calls. */
export function chartOf({ of = 'calls', show, by = 'day', ...filters }: ChartSearch) {
  const shows = showsOf(of)
  const chart: Chart = { of, show: shows.find((one) => one === show) ?? shows[0], by }
  return { chart, filters }
}

type Shows = readonly [ChartShow, ...ChartShow[]]
const ofNumbers: Shows = ['avg', 'p50', 'p90', 'p95', 'p99', 'sum', 'min', 'max']
const ofShares: Shows = ['share', 'failed']

/** What can be shown of it, the usual one first. */
export function showsOf(of: string): Shows {
  if (of === 'calls') return ['count']
  return of === 'success' || of === 'isEngaged' || prefixOf(of) === criterionPrefix ? ofShares : ofNumbers
}
