import { wholeParam, wordParam } from '../../search-params.ts'

/** The URL's parameters of an open call. */
export interface OpenTab {
  /** The transcript without one. */
  tab?: 'analysis' | 'raw'
  /** The call as a page of its own; beside the list without one. */
  view?: 'page'
  /** The moment of the recording, in seconds. */
  t?: number
}

const momentMax = 604_800

/** Reads the URL; invalid values are left out. */
export function readOpenTab(search: Record<string, unknown>): OpenTab {
  const tab = wordParam(search.tab, ['analysis', 'raw'] as const)
  const view = wordParam(search.view, ['page'] as const)
  const t = wholeParam(search.t, { min: 1, max: momentMax })
  return { ...(tab && { tab }), ...(view && { view }), ...(t !== undefined && { t }) }
}
