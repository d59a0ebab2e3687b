/** What the address says of this page, judged: what makes no sense is left out. */
export interface CallsSearch {
  placeholder?: string
}

export function callsSearch(_search: Record<string, unknown>): CallsSearch {
  return {}
}
