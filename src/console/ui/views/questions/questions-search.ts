import { textParam, wordParam } from '../../search-params.ts'

export const questionTabs = ['gap', 'answered', 'dismissed', 'golden'] as const
export type QuestionTab = (typeof questionTabs)[number]

/** The parameters of the questions in the address; invalid ones are left out. */
export interface QuestionsSearch {
  /** Gaps by default. */
  tab?: QuestionTab | undefined
  /** The open question. */
  question?: string | undefined
  /** The id of a person, or `none`. */
  assignee?: string | undefined
}

export function questionsSearch({ tab, question, assignee }: Record<string, unknown>): QuestionsSearch {
  const shown = wordParam(tab, questionTabs)
  return {
    tab: shown === 'gap' ? undefined : shown,
    question: textParam(question),
    assignee: textParam(assignee),
  }
}
