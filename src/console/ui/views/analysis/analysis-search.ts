import { wholeParam, wordParam } from '../../search-params.ts'
import { type ChosenFilters, readFilters } from '../calls/chosen-filters.ts'

export type AnalysisTab = 'past' | 'agreement'

/** The URL's parameters of the analysis page. The filters are those of past calls to analyze. */
export type AnalysisSearch = ChosenFilters & {
  /** The rubric without one. */
  tab?: AnalysisTab
  /** A version of the rubric; the one in force without one. */
  version?: number
}

/** Reads the URL; an unreadable tab or version is left out. */
export function analysisSearch(search: Record<string, unknown>): AnalysisSearch {
  const tab = wordParam(search.tab, ['past', 'agreement'] as const)
  const version = wholeParam(search.version, { min: 1, max: 999_999_999 })
  return { ...readFilters(search), ...(tab && { tab }), ...(version !== undefined && { version }) }
}
