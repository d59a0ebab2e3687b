/** What the address says of this page, judged: what makes no sense is left out. */
export interface ItemSearch {
  placeholder?: string
}

export function itemSearch(_search: Record<string, unknown>): ItemSearch {
  return {}
}
