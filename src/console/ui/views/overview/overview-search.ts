/** What the address says of this page, judged: what makes no sense is left out. */
export interface OverviewSearch {
  placeholder?: string
}

export function overviewSearch(_search: Record<string, unknown>): OverviewSearch {
  return {}
}
