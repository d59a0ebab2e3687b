import { wordParam } from '../../search-params.ts'

/** What the address says of an open call. */
export interface CallSearch {
  /** The transcript without one. */
  tab?: 'analysis' | 'raw'
}

/** Reads the address; whatever it cannot mean is left out. */
export function callSearch(search: Record<string, unknown>): CallSearch {
  const tab = wordParam(search.tab, ['analysis', 'raw'] as const)
  return tab ? { tab } : {}
}
