import { textParam, wordParam } from '../../search-params.ts'

export const questionTabs = ['gap', 'answered', 'dismissed', 'golden'] as const
export type QuestionTab = (typeof questionTabs)[number]

/** The parameters of the questions in the address; invalid ones are left out. */
export interface QuestionsSearch {
  /** Gaps by default. */
  tab?: QuestionTab | undefined
  /** The open question. */
  question?: string | undefined
  /** The id of the item that was just written for it. */
  written?: string | undefined
  /** The id of a person, or `none`. */
  assignee?: string | undefined
}

export function questionsSearch(search: Record<string, unknown>): QuestionsSearch {
  const shown = wordParam(search.tab, questionTabs)
  return {
    tab: shown === 'gap' ? undefined : shown,
    question: textParam(search.question),
    written: textParam(search.written),
    assignee: textParam(search.assignee),
  }
}
