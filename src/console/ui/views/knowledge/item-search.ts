/** What the address says of this page, judged: what makes no sense is left out. */
export interface ItemSearch {
  /** The text, when there is none. */
  tab?: 'chunks' | 'ask' | undefined
}

export function itemSearch({ tab }: Record<string, unknown>): ItemSearch {
  return tab === 'chunks' || tab === 'ask' ? { tab } : {}
}
