/** The page's parameters in the address; invalid ones are left out. */
export interface ItemSearch {
  /** Defaults to the text. */
  tab?: 'chunks' | 'ask' | undefined
}

export function itemSearch({ tab }: Record<string, unknown>): ItemSearch {
  return tab === 'chunks' || tab === 'ask' ? { tab } : {}
}
