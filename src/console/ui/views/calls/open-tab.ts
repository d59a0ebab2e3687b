import { wordParam } from '../../search-params.ts'

/** What the address says of an open call. */
export interface OpenTab {
  /** The transcript without one. */
  tab?: 'analysis' | 'raw'
}

/** Reads the address; whatever it cannot mean is left out. */
export function readOpenTab(search: Record<string, unknown>): OpenTab {
  const tab = wordParam(search.tab, ['analysis', 'raw'] as const)
  return tab ? { tab } : {}
}
