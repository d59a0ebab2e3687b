import type { Show } from '../../../../calls/figures/measures.ts'
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
