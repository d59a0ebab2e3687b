import { tagsParam, textParam, wordParam } from '../../search-params.ts'

/** The tabs beside the text. */
const itemTabs = ['edit', 'chunks', 'ask'] as const
type ItemTab = (typeof itemTabs)[number]

/** The parameters of an item's page in the address, as of the pages below; invalid ones are left out. */
interface ItemSearch {
  /** Defaults to the text. */
  tab?: ItemTab | undefined
}

export function itemSearch({ tab }: Record<string, unknown>): ItemSearch {
  return { tab: wordParam(tab, itemTabs) }
}

const questionCharsMax = 2_000

/** The parameters of a new item. */
interface NewItemSearch {
  /** What the item is to answer. */
  question?: string | undefined
  /** The id of the gap that it is to close. */
  gap?: string | undefined
}

export function newItemSearch({ question, gap }: Record<string, unknown>): NewItemSearch {
  return typeof question === 'string' && question.length <= questionCharsMax
    ? { question, gap: textParam(gap) }
    : {}
}

/** The parameters of the list of items. */
interface KnowledgeSearch {
  /** Part of an item's name, or words of its text. */
  find?: string | undefined
  /** Items with one of these. */
  tags?: string[] | undefined
}

export function knowledgeSearch({ find, tags }: Record<string, unknown>): KnowledgeSearch {
  return { find: textParam(find)?.trim() || undefined, tags: tagsParam(tags) }
}
