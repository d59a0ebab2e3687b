import { wordParam } from '../../search-params.ts'

/** The tabs beside the text. */
const itemTabs = ['edit', 'chunks', 'ask'] as const
type ItemTab = (typeof itemTabs)[number]

/** The page's parameters in the address; invalid ones are left out. */
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
  /** What the item is to answer: its text begins with it. */
  question?: string | undefined
}

export function newItemSearch({ question }: Record<string, unknown>): NewItemSearch {
  return typeof question === 'string' && question.length <= questionCharsMax ? { question } : {}
}

/** Where the text of an item for a question begins: below the question as a heading, which searches count. */
export function textFor(question: string): string {
  return `## ${question.replace(/\s+/g, ' ').trim()}\n\n`
}
