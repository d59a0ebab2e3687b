/** What the address says of this page, judged: what makes no sense is left out. */
export interface CallSearch {
  placeholder?: string
}

export function callSearch(_search: Record<string, unknown>): CallSearch {
  return {}
}
