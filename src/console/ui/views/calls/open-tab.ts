import { wordParam } from '../../search-params.ts'

/** The URL's parameters of an open call. */
export interface OpenTab {
  /** The transcript without one. */
  tab?: 'analysis' | 'raw'
}

/** Reads the URL; invalid values are left out. */
export function readOpenTab(search: Record<string, unknown>): OpenTab {
  const tab = wordParam(search.tab, ['analysis', 'raw'] as const)
  return tab ? { tab } : {}
}
