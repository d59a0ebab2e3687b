import { wordParam } from '../../search-params.ts'

/** The tabs beside the text. */
export const itemTabs = ['edit', 'chunks', 'ask'] as const
export type ItemTab = (typeof itemTabs)[number]

/** The page's parameters in the address; invalid ones are left out. */
export interface ItemSearch {
  /** Defaults to the text. */
  tab?: ItemTab | undefined
}

export function itemSearch({ tab }: Record<string, unknown>): ItemSearch {
  return { tab: wordParam(tab, itemTabs) }
}
